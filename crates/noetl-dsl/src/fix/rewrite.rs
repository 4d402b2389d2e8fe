//! Changes to a source, and applying them.

use crate::yaml::Span;

/// Puts a text in place of a stretch of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) span: Span,
    pub(super) text: String,
}

impl Edit {
    pub(super) fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit { span, text: text.into() }
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Edit {
        Edit { span: Span::at(at), text: text.into() }
    }

    pub(super) fn delete(span: Span) -> Edit {
        Edit { span, text: String::new() }
    }
}

/// The edits that bring one spelling up to date; all or none of them.
#[derive(Clone, Debug)]
pub(super) struct Rewrite {
    /// Where the old spelling stands.
    pub(super) at: usize,
    pub(super) from: String,
    pub(super) to: String,
    /// In no particular order, except that insertions at one place follow each other as given.
    pub(super) edits: Vec<Edit>,
}

impl Rewrite {
    /// From the first to the last place it touches.
    pub(super) fn extent(&self) -> Span {
        let start = self.edits.iter().map(|edit| edit.span.start).min().unwrap_or(self.at);
        let end = self.edits.iter().map(|edit| edit.span.end).max().unwrap_or(self.at);
        Span::new(start, end)
    }
}

/// Those rewrites, from the first on, whose extents don't touch.
pub(super) fn separate(mut rewrites: Vec<Rewrite>) -> Vec<Rewrite> {
    rewrites.sort_by_key(|rewrite| rewrite.extent().start);
    let mut taken: Vec<Rewrite> = Vec::new();
    for rewrite in rewrites {
        if taken.last().is_none_or(|last| last.extent().end < rewrite.extent().start) {
            taken.push(rewrite);
        }
    }
    taken
}

/// The source with the edits made. They must not overlap.
pub(super) fn apply<'r>(source: &str, rewrites: impl IntoIterator<Item = &'r Rewrite>) -> String {
    let mut edits: Vec<&Edit> = rewrites.into_iter().flat_map(|rewrite| &rewrite.edits).collect();
    edits.sort_by_key(|edit| edit.span.start);
    let mut text = String::with_capacity(source.len() + 64);
    let mut at = 0;
    for edit in edits {
        text.push_str(&source[at..edit.span.start.max(at)]);
        text.push_str(&edit.text);
        at = edit.span.end.max(at);
    }
    text.push_str(&source[at..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(edits: Vec<Edit>) -> Rewrite {
        Rewrite { at: 0, from: String::new(), to: String::new(), edits }
    }

    #[test]
    fn edits_are_made_where_they_belong_whatever_their_order() {
        let rewrites = [
            rewrite(vec![Edit::insert(4, "d"), Edit::replace(Span::new(0, 1), "A")]),
            rewrite(vec![Edit::insert(2, "x"), Edit::insert(2, "y"), Edit::delete(Span::new(2, 3))]),
        ];
        assert_eq!(apply("abcef", &rewrites), "Abxyedf");
    }

    #[test]
    fn rewrites_that_touch_wait_for_the_next_time() {
        let near = |start, end| rewrite(vec![Edit::delete(Span::new(start, end))]);
        let taken = separate(vec![near(3, 5), near(0, 2), near(5, 6), near(7, 9), near(8, 9)]);
        let extents: Vec<_> =
            taken.iter().map(|rewrite| (rewrite.extent().start, rewrite.extent().end)).collect();
        assert_eq!(extents, [(0, 2), (3, 5), (7, 9)]);
    }
}
