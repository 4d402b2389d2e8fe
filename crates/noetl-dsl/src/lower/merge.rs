//! Maps laid over each other, entry by entry, with the places of their entries.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::yaml::{Data, Entry, Node};

/// The entries of `below` with those of `above` on top. Keys keep the place of their first occurrence.
pub(super) fn overlaid(below: &[Entry], above: &[Entry]) -> Vec<Entry> {
    let mut merged = below.to_vec();
    let places: HashMap<&str, usize> =
        below.iter().enumerate().map(|(index, entry)| (&*entry.key, index)).collect();
    for entry in above {
        match places.get(&*entry.key) {
            Some(&index) => merged[index] = entry.clone(),
            None => merged.push(entry.clone()),
        }
    }
    merged
}

/// How many values there are, the node itself included.
pub(super) fn size_of(node: &Node) -> usize {
    1 + match &node.data {
        Data::List(items) => items.iter().map(size_of).sum(),
        Data::Map(entries) => size_of_all(entries),
        _ => 0,
    }
}

pub(super) fn size_of_all(entries: &[Entry]) -> usize {
    entries.iter().map(|entry| 1 + size_of(&entry.value)).sum()
}

/// The inputs of a node: `input`, and `args` below it.
pub(super) fn inputs(node: &Node) -> Vec<Entry> {
    let entries = |key| node.get(key).and_then(Node::as_map).unwrap_or_default();
    overlaid(entries("args"), entries("input"))
}

/// Moves the settings that stand under a tool's `spec` up to the tool, where it does not have them itself.
pub(super) fn hoisted(tool: &Node) -> Node {
    let mut tool = tool.clone();
    let Data::Map(entries) = &mut tool.data else {
        return tool;
    };
    let mut settings = Vec::new();
    if let Some(spec) = entries.iter_mut().find(|entry| &*entry.key == "spec")
        && let Data::Map(inner) = &mut spec.value.data
    {
        let (own, moved): (Vec<Entry>, Vec<Entry>) = std::mem::take(inner)
            .into_iter()
            .partition(|entry| matches!(&*entry.key, "policy" | "timeout" | "result"));
        *inner = own;
        settings = moved;
    }
    let own: HashSet<Arc<str>> = entries.iter().map(|entry| entry.key.clone()).collect();
    entries.extend(settings.into_iter().filter(|setting| !own.contains(&setting.key)));
    tool
}

/// A task of the workbook as a step calls it: what the caller writes wins, inputs are merged key by key.
pub(super) fn called(definition: &Node, caller: &Node) -> Node {
    let mut tool = definition.clone();
    let input = overlaid(&inputs(definition), &inputs(caller));
    let Data::Map(entries) = &mut tool.data else {
        return tool;
    };
    let input_entry =
        ["input", "args"].iter().find_map(|key| caller.entry(key).or_else(|| definition.entry(key))).cloned();
    entries.retain(|entry| !matches!(&*entry.key, "input" | "args"));
    // The caller's kind and name are those of the workbook task it calls.
    let from_caller = |entry: &&Entry| !matches!(&*entry.key, "kind" | "name" | "input" | "args");
    let above: Vec<Entry> = caller.as_map().unwrap_or_default().iter().filter(from_caller).cloned().collect();
    *entries = overlaid(entries, &above);
    if let Some(mut entry) = input_entry {
        entry.key = "input".into();
        entry.value.data = Data::Map(input);
        entries.push(entry);
    }
    tool
}
