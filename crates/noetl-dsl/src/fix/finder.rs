//! Walks a playbook along the constructs of the language and proposes rewrites. The author's own data is not looked into,
//! except for templates.

use super::layout::Layout;
use super::rewrite::{Edit, Rewrite};
use super::spelling::{API_VERSION, OLD_API_VERSION};
use super::templates::is_authors_name;
use crate::kinds::KindTable;
use crate::yaml::{Data, Entry, Node};

pub(super) struct Finder<'s> {
    pub(super) layout: Layout<'s>,
    pub(super) kinds: &'s KindTable,
    /// `outcome` is the older name of `output` here, and not a name of the author's.
    pub(super) renames_outcome: bool,
    pub(super) found: Vec<Rewrite>,
}

impl<'s> Finder<'s> {
    pub(super) fn find(source: &'s str, root: &Node, kinds: &'s KindTable) -> Vec<Rewrite> {
        let renames_outcome = !is_authors_name(root);
        let mut finder = Finder { layout: Layout { source }, kinds, renames_outcome, found: Vec::new() };
        finder.playbook(root);
        finder.found
    }

    fn playbook(&mut self, root: &Node) {
        if let Some(entry) =
            own_entry(root, "apiVersion").filter(|entry| entry.value.as_str() == Some(OLD_API_VERSION))
        {
            self.rename_value(entry, OLD_API_VERSION, API_VERSION);
        }
        match root.get("workbook").map(|workbook| &workbook.data) {
            Some(Data::List(tasks)) => tasks.iter().for_each(|task| self.workbook_task(task)),
            Some(Data::Map(tasks)) => tasks.iter().for_each(|task| self.workbook_task(&task.value)),
            _ => {}
        }
        for step in root.get("workflow").and_then(Node::as_list).unwrap_or_default() {
            self.step(step);
        }
    }

    fn workbook_task(&mut self, task: &Node) {
        for entry in own_entries(task) {
            match &*entry.key {
                "tool" => self.tool(&entry.value),
                _ => self.templates(&entry.value),
            }
        }
    }

    fn step(&mut self, step: &Node) {
        self.args(step);
        self.assignments(step, true);
        self.next_mode(step);
        let has_mode =
            step.get("spec").and_then(|spec| spec.get("next_mode")).is_some_and(|mode| !mode.is_null());
        for entry in own_entries(step) {
            match &*entry.key {
                "when" => self.condition(&entry.value),
                "loop" => self.looping(&entry.value),
                "next" => self.router(entry, has_mode),
                "tool" => self.tool(&entry.value),
                _ => self.templates(&entry.value),
            }
        }
    }

    /// `args` of a step or tool.
    pub(super) fn args(&mut self, owner: &Node) {
        let args = own_entry(owner, "args").filter(|args| args.value.as_map().is_some());
        if let Some(args) = args.filter(|_| owner.entry("input").is_none()) {
            self.rename_key(args, "input");
        }
    }

    pub(super) fn rename_key(&mut self, entry: &Entry, to: &str) {
        let edit = self.layout.renamed(entry.key_span, to);
        self.propose(entry.key_span.start, &*entry.key, to, vec![edit]);
    }

    pub(super) fn rename_value(&mut self, entry: &Entry, from: &str, to: &str) {
        if !self.layout.text(entry.value.span).contains(from) {
            return;
        }
        let edit = self.layout.renamed(entry.value.span, to);
        let (from, to) = (format!("{}: {from}", entry.key), format!("{}: {to}", entry.key));
        self.propose(entry.key_span.start, from, to, vec![edit]);
    }

    pub(super) fn propose(
        &mut self,
        at: usize,
        from: impl Into<String>,
        to: impl Into<String>,
        edits: Vec<Edit>,
    ) {
        self.found.push(Rewrite { at, from: from.into(), to: to.into(), edits });
    }
}

/// An entry that is written where it is read, and not brought in by an alias or a merge key.
pub(super) fn own_entry<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    node.entry(key).filter(|entry| !entry.value.is_aliased() && !node.is_aliased())
}

pub(super) fn own_entries(node: &Node) -> impl Iterator<Item = &Entry> {
    let entries = if node.is_aliased() { None } else { node.as_map() };
    entries.unwrap_or_default().iter().filter(|entry| !entry.value.is_aliased())
}

/// The items of a list that stand where it is read.
pub(super) fn own_items(node: &Node) -> impl Iterator<Item = &Node> {
    let items = if node.is_aliased() { None } else { node.as_list() };
    items.unwrap_or_default().iter().filter(|item| !item.is_aliased())
}
