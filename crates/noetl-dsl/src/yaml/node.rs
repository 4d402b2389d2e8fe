//! The tree: values with their places.

use std::sync::Arc;

use noetl_types::{Map, Value};

use super::text_map::Written;
use crate::positions::line_of;

/// A stretch of the source, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// An empty stretch.
    pub fn at(offset: usize) -> Span {
        Span { start: offset, end: offset }
    }

    pub fn contains(&self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Nothing is written, as after `key:`.
    Absent,
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
    /// A list or map in brackets.
    Flow,
    /// A list or map by indentation.
    Block,
}

/// A value and where it stands.
///
/// The span covers the value as written, quotes, brackets and the `|` of a block included, anchors and tags not. Values that
/// came through an alias have the spans of their definition.
#[derive(Clone, Debug)]
pub struct Node {
    pub span: Span,
    pub data: Data,
    pub(super) form: Form,
}

/// What of the source is needed beyond the span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) style: Style,
    /// Where the text of a scalar starts: behind the quote, or at the first character of a block.
    pub(super) text_start: usize,
    /// An anchor or a tag stands before the value.
    pub(super) has_properties: bool,
    /// The value came through an alias or a merge key.
    pub(super) is_aliased: bool,
}

#[derive(Clone, Debug)]
pub enum Data {
    Null,
    Bool(bool),
    Int(i64),
    /// Only for integers above `i64::MAX`.
    UInt(u64),
    Float(f64),
    Text(Arc<str>),
    List(Vec<Node>),
    /// In document order; no key occurs twice.
    Map(Vec<Entry>),
}

/// A key and its value. Keys that are no text are printed as text.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: Arc<str>,
    /// The key as written, quotes included.
    pub key_span: Span,
    pub value: Node,
}

impl Node {
    /// The value of a key; nothing if this is no map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| &*entry.key == key)
    }

    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.data {
            Data::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        self.as_text().map(|text| &**text)
    }

    /// As [`Node::as_str`], for those who want to share the text.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self.data {
            Data::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        match self.data {
            Data::Int(number) => Some(number),
            _ => None,
        }
    }

    /// Any number, as a float.
    pub fn as_f64(&self) -> Option<f64> {
        match self.data {
            Data::Int(number) => Some(number as f64),
            Data::UInt(number) => Some(number as f64),
            Data::Float(number) => Some(number),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }

    pub fn style(&self) -> Style {
        self.form.style
    }

    /// Whether an anchor or a tag stands before the value.
    pub fn has_properties(&self) -> bool {
        self.form.has_properties
    }

    /// Whether the value is used here through an alias or a merge key. Its span is that of its definition.
    pub fn is_aliased(&self) -> bool {
        self.form.is_aliased
    }

    /// The name of the type as playbook authors know it.
    pub fn type_name(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "boolean",
            Data::Int(_) | Data::UInt(_) | Data::Float(_) => "number",
            Data::Text(_) => "text",
            Data::List(_) => "list",
            Data::Map(_) => "map",
        }
    }

    /// The value without its places.
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(*flag),
            Data::Int(number) => Value::Int(*number),
            Data::UInt(number) => Value::UInt(*number),
            Data::Float(number) => Value::Float(*number),
            Data::Text(text) => Value::Text(text.clone()),
            Data::List(items) => Value::list(items.iter().map(Node::to_value)),
            Data::Map(entries) => {
                let map: Map =
                    entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect();
                Value::Map(Arc::new(map))
            }
        }
    }

    /// Where in the source a place in this text stands. `source` is what the node was parsed from, `text_offset` counts bytes
    /// of the decoded text; the result is always within the node's span. The start of the span for a value that is no text.
    pub fn source_offset(&self, source: &str, text_offset: usize) -> usize {
        self.source_offsets(source, &[text_offset])[0]
    }

    /// As [`Node::source_offset`], for many places of a text. It is read once for all of them.
    pub fn source_offsets(&self, source: &str, text_offsets: &[usize]) -> Vec<usize> {
        match &self.data {
            Data::Text(_) => self.written(source).source_offsets(text_offsets),
            _ => vec![self.span.start; text_offsets.len()],
        }
    }

    pub(super) fn written<'s>(&self, source: &'s str) -> Written<'s> {
        Written { source, span: self.span, style: self.form.style, text_start: self.form.text_start }
    }

    /// The line (from 1) on which the first line of the text stands: for `code: |` the one after the key.
    pub fn first_text_line(&self, source: &str) -> usize {
        line_of(source, self.source_offset(source, 0))
    }

    pub(super) fn mark_aliased(&mut self) {
        self.form.is_aliased = true;
        match &mut self.data {
            Data::List(items) => items.iter_mut().for_each(Node::mark_aliased),
            Data::Map(entries) => entries.iter_mut().for_each(|entry| entry.value.mark_aliased()),
            _ => {}
        }
    }
}
