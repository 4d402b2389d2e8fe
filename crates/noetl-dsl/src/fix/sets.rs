//! `set_ctx`, `set_iter` and `vars`, which are `set` with scoped keys today.

use std::collections::HashSet;

use super::finder::{Finder, own_entry};
use super::rewrite::Edit;
use super::spelling::{ASSIGNMENTS, scope_prefix};
use crate::yaml::{Entry, Node, Span, Style};

/// A block of assignments in its owner.
#[derive(Clone, Copy)]
struct Block<'n> {
    entry: &'n Entry,
    scope: &'static str,
    /// Blocks with lower ranks are assigned first.
    rank: usize,
}

impl<'n> Block<'n> {
    fn entries(&self) -> &'n [Entry] {
        self.entry.value.as_map().unwrap_or_default()
    }

    fn is_current(&self) -> bool {
        &*self.entry.key == "set"
    }

    fn prefix(&self, entry: &Entry) -> String {
        if self.is_current() { String::new() } else { scope_prefix(entry, self.scope) }
    }
}

impl Finder<'_> {
    /// The assignments of a step, task, rule or arc. Arcs have no `vars`.
    pub(super) fn assignments(&mut self, owner: &Node, has_vars: bool) {
        let blocks: Vec<Block<'_>> = ASSIGNMENTS
            .iter()
            .enumerate()
            .filter(|(_, (key, _))| has_vars || *key != "vars")
            .filter_map(|(rank, (key, scope))| Some(Block { entry: own_entry(owner, key)?, scope, rank }))
            .collect();
        let is_old = blocks.iter().any(|block| !block.is_current());
        if !is_old || !blocks.iter().all(|block| is_simple(block.entry)) {
            return;
        }
        let edits = match blocks.as_slice() {
            [only] => Some(self.renamed_block(only)),
            several => self.merged_blocks(owner, several),
        };
        let old: Vec<&Block<'_>> = blocks.iter().filter(|block| !block.is_current()).collect();
        if let (Some(edits), [first, ..]) = (edits, old.as_slice()) {
            let from: Vec<&str> = old.iter().map(|block| &*block.entry.key).collect();
            self.propose(first.entry.key_span.start, from.join(", "), "set", edits);
        }
    }

    fn renamed_block(&self, block: &Block<'_>) -> Vec<Edit> {
        let mut edits = vec![self.layout.renamed(block.entry.key_span, "set")];
        edits.extend(self.prefixes(block));
        edits
    }

    fn prefixes(&self, block: &Block<'_>) -> Vec<Edit> {
        let prefixed = |entry: &Entry| {
            let prefix = block.prefix(entry);
            (!prefix.is_empty()).then(|| self.layout.prefixed(entry.key_span, &prefix))
        };
        block.entries().iter().filter_map(prefixed).collect()
    }

    /// Moves the entries of all blocks into one, in the order in which they are assigned.
    fn merged_blocks(&self, owner: &Node, blocks: &[Block<'_>]) -> Option<Vec<Edit>> {
        let mut keys = HashSet::new();
        let is_new = |block: &Block<'_>, entry: &Entry, keys: &mut HashSet<String>| {
            keys.insert(format!("{}{}", block.prefix(entry), entry.key))
        };
        if !blocks.iter().all(|block| block.entries().iter().all(|entry| is_new(block, entry, &mut keys))) {
            return None;
        }
        let target = blocks.iter().min_by_key(|block| block.entry.key_span.start)?;
        let (first, last) = match target.entries() {
            [] => return None,
            [first, .., last] => (first, last),
            [only] => (only, only),
        };
        let mut edits = Vec::new();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for block in blocks.iter().filter(|block| block.rank != target.rank) {
            let moved = match target.entry.value.style() {
                Style::Flow => self.entries_in_brackets(block)?,
                _ => self.entries_as_lines(block, self.layout.column(first.key_span.start))?,
            };
            if block.rank < target.rank {
                before.push(moved)
            } else {
                after.push(moved)
            }
            edits.push(self.layout.remove(owner, block.entry)?);
        }
        let (start, end) = (first.key_span.start, self.layout.entry_span(last).end);
        match target.entry.value.style() {
            Style::Flow => {
                edits.extend(before.iter().map(|moved| Edit::insert(start, format!("{moved}, "))));
                edits.extend(after.iter().map(|moved| Edit::insert(end, format!(", {moved}"))));
            }
            _ => {
                if !self.layout.starts_line(start) {
                    return None;
                }
                let line_break = self.layout.line_break();
                let (start, end) = (self.layout.line_start(start), self.layout.line_end(end));
                edits.extend(before.iter().map(|moved| Edit::insert(start, format!("{moved}{line_break}"))));
                edits.extend(after.iter().map(|moved| Edit::insert(end, format!("{line_break}{moved}"))));
            }
        }
        // At one place, what is moved there comes before the prefix of the key that follows it.
        edits.extend(self.renamed_block(target));
        Some(edits)
    }

    /// `ctx.a: 1, ctx.b: 2`.
    fn entries_in_brackets(&self, block: &Block<'_>) -> Option<String> {
        let entries: Option<Vec<String>> =
            block.entries().iter().map(|entry| self.entry_text(block, entry)).collect();
        entries.filter(|entries| !entries.is_empty()).map(|entries| entries.join(", "))
    }

    /// A line for each entry, in the given column.
    fn entries_as_lines(&self, block: &Block<'_>, column: usize) -> Option<String> {
        let blank = " ".repeat(column);
        let entries: Option<Vec<String>> = block
            .entries()
            .iter()
            .map(|entry| self.entry_text(block, entry).map(|text| format!("{blank}{text}")))
            .collect();
        entries.filter(|entries| !entries.is_empty()).map(|entries| entries.join(self.layout.line_break()))
    }

    /// An entry as it can be moved: on one line, without a comment that would be lost.
    fn entry_text(&self, block: &Block<'_>, entry: &Entry) -> Option<String> {
        let whole = self.layout.entry_span(entry);
        let is_alone = self.layout.is_one_line(whole) && entry.value.style() != Style::Absent;
        let key = self.layout.text(entry.key_span);
        let rest = &self.layout.source[entry.key_span.end..whole.end];
        let prefix = block.prefix(entry);
        let key = match key.starts_with(['"', '\'']) {
            true => format!("{}{prefix}{}", &key[..1], &key[1..]),
            false => format!("{prefix}{key}"),
        };
        (is_alone && !self.has_comment(block.entry)).then(|| format!("{key}{rest}"))
    }

    fn has_comment(&self, entry: &Entry) -> bool {
        let whole = Span::new(entry.key_span.start, self.layout.line_end(entry.value.span.end));
        self.layout.text(whole).contains(" #")
    }
}

/// Whether a block is a map that is written out here and nowhere else used.
fn is_simple(entry: &Entry) -> bool {
    let own_keys = |entries: &[Entry]| {
        entries
            .iter()
            .all(|inner| entry.value.span.start <= inner.key_span.start && !inner.value.is_aliased())
    };
    !entry.value.has_properties() && entry.value.as_map().is_some_and(own_keys)
}
