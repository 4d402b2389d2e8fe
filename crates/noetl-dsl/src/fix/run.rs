//! Finding, applying and proving rewrites until there is nothing left to do.

use noetl_types::Value;

use super::finder::Finder;
use super::meaning::Meaning;
use super::rewrite::{Rewrite, apply, separate};
use super::templates::is_authors_name;
use crate::kinds::KindTable;
use crate::positions::LineIndex;
use crate::yaml::{Limits, Node, parse};

/// Rewrites that are inside each other need one round each. No sensible document nests that many.
const MAX_ROUNDS: usize = 64;

/// How often the source is read in one round to find the rewrites that can be made.
const MAX_READS: usize = 100;

/// A source in current spelling, and what was changed in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    pub text: String,
    /// In the order of their lines.
    pub applied: Vec<AppliedFix>,
}

/// One spelling that was brought up to date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedFix {
    /// From 1, in the source that was given.
    pub line: usize,
    pub from: String,
    pub to: String,
}

/// Rewrites the older spellings of a playbook. What is no playbook, or cannot be read, comes back as it is.
pub fn fix(source: &str) -> Fixed {
    let kinds = KindTable::builtin();
    let mut fixed = Fixed { text: source.to_owned(), applied: Vec::new() };
    let mut lines = Lines::of(source);
    for _ in 0..MAX_ROUNDS {
        let Some(root) = read(&fixed.text) else {
            break;
        };
        let rewrites = separate(Finder::find(&fixed.text, &root, &kinds));
        let (text, taken) = proven(&fixed.text, &root, &rewrites, &kinds);
        if taken.is_empty() {
            break;
        }
        let index = LineIndex::new(&fixed.text);
        for rewrite in &taken {
            let line = lines.original(index.line(rewrite.at));
            fixed.applied.push(AppliedFix { line, from: rewrite.from.clone(), to: rewrite.to.clone() });
        }
        lines.follow(&fixed.text, &taken);
        fixed.text = text;
    }
    fixed.applied.sort_by_key(|applied| applied.line);
    fixed
}

/// The playbook in a source, if it is one and its keys are clear.
fn read(source: &str) -> Option<Node> {
    let document = parse(source, &Limits::default()).ok()?;
    let is_playbook = document.root.get("kind").is_none_or(|kind| kind.as_str() == Some("Playbook"));
    (is_playbook && document.problems.is_empty()).then_some(document.root)
}

/// Tells whether rewrites keep the meaning of a source.
struct Proof<'p> {
    source: &'p str,
    meaning: Meaning<'p>,
    before: Value,
    /// How many more times the source may be read.
    left: usize,
}

impl Proof<'_> {
    fn keeps_meaning(&mut self, text: &str) -> bool {
        self.left = self.left.saturating_sub(1);
        read(text).is_some_and(|root| self.meaning.playbook(&root) == self.before)
    }

    /// Those rewrites that keep the meaning: all of them as a rule, else what is found by halves.
    fn good(&mut self, rewrites: &[Rewrite]) -> Vec<Rewrite> {
        if rewrites.is_empty() || self.left == 0 {
            return Vec::new();
        }
        if self.keeps_meaning(&apply(self.source, rewrites)) {
            return rewrites.to_vec();
        }
        if rewrites.len() == 1 {
            return Vec::new();
        }
        let (first, second) = rewrites.split_at(rewrites.len() / 2);
        [self.good(first), self.good(second)].concat()
    }
}

/// The source with as many of the rewrites as keep its meaning, and which those are.
fn proven(source: &str, root: &Node, rewrites: &[Rewrite], kinds: &KindTable) -> (String, Vec<Rewrite>) {
    let meaning = Meaning { kinds, renames_outcome: !is_authors_name(root) };
    let before = meaning.playbook(root);
    let mut proof = Proof { source, meaning, before, left: MAX_READS };
    let good = proof.good(rewrites);
    let text = apply(source, &good);
    match good.len() == rewrites.len() || proof.keeps_meaning(&text) {
        true => (text, good),
        false => (source.to_owned(), Vec::new()),
    }
}

/// Which line of the given source each line of the current text comes from.
struct Lines {
    original: Vec<usize>,
}

impl Lines {
    fn of(source: &str) -> Lines {
        Lines { original: (1..=LineIndex::new(source).line(source.len())).collect() }
    }

    fn original(&self, line: usize) -> usize {
        self.original.get(line - 1).or(self.original.last()).copied().unwrap_or(line)
    }

    /// Takes account of rewrites that are about to be made in a text.
    fn follow(&mut self, text: &str, rewrites: &[Rewrite]) {
        let index = LineIndex::new(text);
        let mut edits: Vec<_> = rewrites.iter().flat_map(|rewrite| &rewrite.edits).collect();
        edits.sort_by_key(|edit| edit.span.start);
        let count = self.original.len();
        let mut lines = Vec::with_capacity(count);
        let mut taken = 0;
        for edit in edits {
            let first = index.line(edit.span.start);
            let removed = index.line(edit.span.end) - first;
            let added = LineIndex::new(&edit.text).line(edit.text.len()) - 1;
            let starts_line = index.line_start(first) == edit.span.start;
            let until = if starts_line { first - 1 } else { first }.clamp(taken, count);
            lines.extend_from_slice(&self.original[taken..until]);
            lines.extend(std::iter::repeat_n(self.original(first), added));
            taken = (until + removed).min(count);
        }
        lines.extend_from_slice(&self.original[taken..]);
        self.original = lines;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rewrite::Edit;
    use super::*;
    use crate::yaml::Span;

    #[test]
    fn rewrites_that_change_the_meaning_are_not_made() {
        let source = "kind: Playbook\nworkflow:\n- step: a\n  args: {a: 1}\n- step: b\n  args: {b: 1}\n";
        let at = |text: &str, to: &str| {
            let start = source.find(text).expect("there");
            let edits = vec![Edit::replace(Span::new(start, start + text.len()), to)];
            Rewrite { at: start, from: text.into(), to: to.into(), edits }
        };
        let rewrites = [
            at("args: {a", "input: {a"),
            at("step: b", "step: c"),
            at("args: {b", "inputs: {b"),
            at("{b: 1}", "{b: 1"),
        ];
        let root = read(source).expect("a playbook");
        let (text, taken) = proven(source, &root, &rewrites, &KindTable::builtin());
        assert_eq!(text, source.replacen("args", "input", 1));
        assert_eq!(taken.len(), 1);
    }
}
