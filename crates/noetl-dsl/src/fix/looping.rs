//! Loops: `async`, and settings that stand in `spec` today.

use super::finder::{Finder, own_entries, own_entry};
use super::rewrite::Edit;
use super::spelling::LOOP_SETTINGS;
use crate::yaml::{Data, Entry, Node};

impl Finder<'_> {
    pub(super) fn looping(&mut self, node: &Node) {
        for owner in [Some(node), node.get("spec")].into_iter().flatten() {
            let mode = own_entry(owner, "mode").filter(|mode| mode.value.as_str() == Some("async"));
            if let Some(mode) = mode {
                self.rename_value(mode, "async", "parallel");
            }
        }
        self.settings(node);
        own_entries(node).for_each(|entry| self.templates(&entry.value));
    }

    /// `mode` and `concurrency` of a loop without `spec` become one.
    fn settings(&mut self, node: &Node) {
        let both = node.get("max_in_flight").is_some() && node.get("concurrency").is_some();
        if node.entry("spec").is_some() || both || node.as_map().is_none() {
            return;
        }
        let old: Vec<(&Entry, &str)> =
            LOOP_SETTINGS.iter().filter_map(|(old, current)| Some((node.entry(old)?, *current))).collect();
        let Some((first, rest)) = old.split_first() else {
            return;
        };
        let is_simple = |entry: &Entry| {
            let is_value = !matches!(entry.value.data, Data::List(_) | Data::Map(_) | Data::Null);
            let is_plain = !entry.value.is_aliased() && !entry.value.has_properties();
            is_value && is_plain && self.layout.is_one_line(self.layout.entry_span(entry))
        };
        if !old.iter().all(|(entry, _)| is_simple(entry)) {
            return;
        }
        let written: Vec<String> = old
            .iter()
            .map(|(entry, current)| format!("{current}: {}", self.layout.text(entry.value.span)))
            .collect();
        let spec = format!("spec: {{{}}}", written.join(", "));
        let mut edits = vec![Edit::replace(self.layout.entry_span(first.0), spec)];
        for (entry, _) in rest {
            match self.layout.remove(node, entry) {
                Some(edit) => edits.push(edit),
                None => return,
            }
        }
        let names: Vec<&str> = old.iter().map(|(entry, _)| &*entry.key).collect();
        self.propose(first.0.key_span.start, format!("loop.{}", names.join(", loop.")), "loop.spec", edits);
    }
}
