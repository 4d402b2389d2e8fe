//! From the parser's events to a tree.

use std::collections::HashMap;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::char_index::CharIndex;
use super::lexer::TooMuch;
use super::node::Form;
use super::open_map::{Key, OpenMap};
use super::place::Found;
use super::{Data, Limits, Node, Span, Style, YamlError, explain, lexer, scalar};

/// A document and what is wrong with it although it could be read.
#[derive(Clone, Debug)]
pub struct Document {
    pub root: Node,
    /// Keys that occur twice in one map, in document order. Of their values, the first one is in the tree.
    pub problems: Vec<YamlError>,
}

/// Reads the one document of a source.
pub fn parse(source: &str, limits: &Limits) -> Result<Document, YamlError> {
    check_characters(source, limits)?;
    Builder::new(source, limits).build()
}

fn check_characters(source: &str, limits: &Limits) -> Result<(), YamlError> {
    let length = source.len();
    if length > limits.max_bytes {
        let message = format!("the text has {length} bytes; at most {} are accepted", limits.max_bytes);
        return Err(YamlError::new(Span::at(0), message));
    }
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    if let Some(at) = source.as_bytes().iter().position(is_control) {
        let message = format!("control character U+{:04X} in the text", source.as_bytes()[at]);
        let help = r#"write it as an escape in double quotes, such as "\x1b""#;
        return Err(YamlError::new(Span::new(at, at + 1), message).with_help(help));
    }
    Ok(())
}

/// A list or map whose end has not come yet.
struct Open {
    start: usize,
    style: Style,
    anchor: usize,
    has_properties: bool,
    /// The end of its last key or value so far.
    end: usize,
    /// The greatest height among its values so far.
    height: usize,
    /// Nodes spent when it began.
    nodes_before: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map(OpenMap),
}

/// A value that aliases may repeat.
struct Anchored {
    node: Node,
    /// How many levels of lists and maps it has.
    height: usize,
    /// How many nodes it is made of.
    nodes: usize,
}

struct Builder<'s, 'l> {
    source: &'s str,
    limits: &'l Limits,
    chars: CharIndex<'s>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    nodes: usize,
    aliases: usize,
    root: Option<Node>,
    problems: Vec<YamlError>,
    /// Where the last event ended.
    last_end: usize,
    /// The first value after `last_end`. Not kept up to date within brackets.
    next_content: usize,
    /// The end of the brackets we are in, or were in last.
    brackets_end: usize,
    /// A bracket that has no closing one.
    unclosed: Option<usize>,
}

impl<'s, 'l> Builder<'s, 'l> {
    fn new(source: &'s str, limits: &'l Limits) -> Builder<'s, 'l> {
        Builder {
            source,
            limits,
            chars: CharIndex::new(source),
            open: Vec::new(),
            anchors: HashMap::new(),
            nodes: 0,
            aliases: 0,
            root: None,
            problems: Vec::new(),
            last_end: 0,
            next_content: 0,
            brackets_end: 0,
            unclosed: None,
        }
    }

    fn build(mut self) -> Result<Document, YamlError> {
        let mut parser = Parser::new_from_str(self.source);
        self.look_from(0)?;
        while let Some(next) = parser.next_event() {
            let (event, marks) = next.map_err(|error| self.explain(&error))?;
            let start = self.chars.offset(marks.start.index());
            let span = Span::new(start, self.chars.offset(marks.end.index()).max(start));
            let end = self.last_end.max(self.end_of(&event, span));
            self.take(event, span)?;
            self.last_end = end;
            if self.last_end >= self.brackets_end && self.last_end > self.next_content {
                self.look_from(self.last_end)?;
            }
        }
        match self.root {
            Some(root) if !root.is_null() => Ok(Document { root, problems: self.problems }),
            _ => Err(YamlError::new(Span::at(0), "the document is empty")),
        }
    }

    fn explain(&self, error: &ScanError) -> YamlError {
        let at = self.chars.offset(error.marker().index());
        explain::explain(self.source, at, error.info(), self.unclosed)
    }

    fn take(&mut self, event: Event<'s>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => self.start_document(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref(), span)
            }
            Event::SequenceStart(anchor, tag) => {
                self.start(Content::List(Vec::new()), anchor, tag.as_deref(), span)
            }
            Event::MappingStart(anchor, tag) => {
                self.start(Content::Map(OpenMap::default()), anchor, tag.as_deref(), span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
        }
    }

    /// Where an event ends, so that only what stands between values comes before the next one.
    fn end_of(&self, event: &Event<'s>, span: Span) -> usize {
        match event {
            Event::Scalar(text, ScalarStyle::Plain, ..) if text.is_empty() => span.start,
            Event::Scalar(..) | Event::Alias(_) | Event::DocumentStart(true) => span.end,
            Event::SequenceEnd | Event::MappingEnd => {
                lexer::closing_bracket_end(self.source, span.start).unwrap_or(span.start)
            }
            _ => span.start,
        }
    }

    /// Refuses brackets that nest too deep before the parser sees them.
    fn look_from(&mut self, from: usize) -> Result<(), YamlError> {
        self.next_content = lexer::skip_to_content(self.source, from);
        if matches!(self.source.as_bytes().get(self.next_content), Some(b'[' | b'{')) {
            let allowed = self.limits.max_depth.saturating_sub(self.open.len());
            let left = self.limits.max_nodes.saturating_sub(self.nodes);
            let brackets = lexer::measure_brackets(self.source, self.next_content, allowed, left);
            let brackets = brackets.map_err(|too_much| match too_much {
                TooMuch::Depth(at) => self.too_deep(at),
                TooMuch::Commas(at) => self.too_many(at),
            })?;
            self.brackets_end = brackets.end;
            self.unclosed = (!brackets.is_closed).then_some(self.next_content);
        }
        Ok(())
    }

    fn start_document(&self, span: Span) -> Result<(), YamlError> {
        if self.root.is_none() {
            return Ok(());
        }
        let error = YamlError::new(span, "a second document starts here, and only one is accepted");
        Err(error.with_help("remove the '---' line, or put the second document in a file of its own"))
    }

    fn start(
        &mut self,
        content: Content,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), YamlError> {
        let has_properties = anchor > 0 || tag.is_some();
        let start = self.collection_start(&content, has_properties, span.start);
        if let Some(tag) = tag {
            let expected = match &content {
                Content::List(_) => "seq",
                Content::Map(_) => "map",
            };
            if !tag.is_yaml_core_schema() || tag.suffix != expected {
                return Err(unknown_tag(tag, self.properties(span.start)));
            }
        }
        if self.awaits_key() {
            let error = YamlError::new(self.character_at(start), "a key must be text");
            return Err(error.with_help(r#"if this is a template, put it in quotes: "{{ ... }}""#));
        }
        if self.open.len() >= self.limits.max_depth {
            return Err(self.too_deep(start));
        }
        let nodes_before = self.nodes;
        self.spend(1, start)?;
        let style = match self.source.as_bytes().get(start) {
            Some(b'[' | b'{') => Style::Flow,
            _ => Style::Block,
        };
        let (end, height) = (start, 0);
        self.open.push(Open { start, style, anchor, has_properties, end, height, nodes_before, content });
        Ok(())
    }

    /// The first bracket, dash or key. The parser's start is that of an anchor or tag if there is one; for a list whose dashes
    /// are not indented under their key it is behind the first dash.
    fn collection_start(&self, content: &Content, has_properties: bool, start: usize) -> usize {
        let is_at =
            |indicators: &[u8]| self.source.as_bytes().get(start).is_some_and(|at| indicators.contains(at));
        match content {
            Content::List(_) if has_properties => lexer::skip_to_dash(self.source, start),
            Content::List(_) if !is_at(b"-[") => lexer::skip_to_dash(self.source, self.last_end),
            Content::Map(_) if has_properties => lexer::skip_to_content(self.source, start),
            _ => start,
        }
    }

    fn end(&mut self, span: Span) -> Result<(), YamlError> {
        let open = self.open.pop().expect("the parser ends only what it started");
        let Open { start, style, has_properties, .. } = open;
        let end = match style {
            Style::Flow => lexer::closing_bracket_end(self.source, span.start).unwrap_or(open.end),
            _ => open.end,
        };
        let data = match open.content {
            Content::List(items) => Data::List(items),
            Content::Map(map) => Data::Map(map.finish()),
        };
        let form = Form { style, text_start: start, has_properties, is_aliased: false };
        let node = Node { span: Span::new(start, end.max(start)), data, form };
        self.keep_anchored(open.anchor, &node, open.height + 1, self.nodes - open.nodes_before)?;
        self.place(node, open.height + 1, end)
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), YamlError> {
        let (length, longest) = (text.len(), self.limits.max_scalar_bytes);
        if length > longest {
            let message = format!("this text has {length} bytes; at most {longest} are accepted");
            return Err(YamlError::new(self.character_at(span.start), message));
        }
        self.spend(1, span.start)?;
        let has_properties = anchor > 0 || tag.is_some();
        let found = Found { source: self.source, span, header: self.next_content, has_properties };
        let (place, form) = found.scalar(text, style);
        let data = match (tag, form.style) {
            (Some(tag), _) => tagged(tag, text, place, self.properties(span.start))?,
            (None, Style::Plain | Style::Absent) => scalar::resolve(text),
            (None, _) => Data::Text(text.into()),
        };
        let node = Node { span: place, data, form };
        self.keep_anchored(anchor, &node, 0, 1)?;
        if self.awaits_key() {
            let is_merge = form.style == Style::Plain && text == "<<";
            self.key(&node, text, is_merge);
            return Ok(());
        }
        self.place(node, 0, place.end)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), YamlError> {
        self.aliases += 1;
        if self.aliases > self.limits.max_aliases {
            let message = format!("the document has more than {} aliases", self.limits.max_aliases);
            return Err(YamlError::new(span, message));
        }
        let Some(Anchored { nodes, height, .. }) = self.anchors.get(&anchor) else {
            return Err(YamlError::new(span, "this alias is inside the value it stands for"));
        };
        let (nodes, height) = (*nodes, *height);
        self.spend(nodes, span.start)?;
        if self.open.len() + height > self.limits.max_depth {
            return Err(self.too_deep(span.start));
        }
        let mut node = self.anchors[&anchor].node.clone();
        node.mark_aliased();
        if self.awaits_key() {
            let Some(text) = node.as_text().cloned() else {
                return Err(YamlError::new(span, "a key must be text, and this alias stands for none"));
            };
            node.span = span;
            self.key(&node, &text, false);
            return Ok(());
        }
        self.place(node, height, span.end)
    }

    /// Keeps a value for aliases to repeat.
    fn keep_anchored(
        &mut self,
        anchor: usize,
        node: &Node,
        height: usize,
        nodes: usize,
    ) -> Result<(), YamlError> {
        if anchor > 0 {
            self.spend(nodes, node.span.start)?;
            self.anchors.insert(anchor, Anchored { node: node.clone(), height, nodes });
        }
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { content: Content::Map(map), .. }) if map.awaits_key())
    }

    fn key(&mut self, node: &Node, written: &str, is_merge: bool) {
        let text: Arc<str> = match &node.data {
            Data::Text(text) => text.clone(),
            Data::Null => "null".into(),
            Data::Bool(flag) => flag.to_string().into(),
            Data::Int(number) => number.to_string().into(),
            Data::UInt(number) => number.to_string().into(),
            _ => written.into(),
        };
        if let Some(Open { content: Content::Map(map), end, .. }) = self.open.last_mut() {
            *end = (*end).max(node.span.end);
            self.problems.extend(map.add_key(Key { text, span: node.span, is_merge }));
        }
    }

    /// Puts a finished value where it belongs. `end` is where the value, or the alias for it, ends in the source.
    fn place(&mut self, node: Node, height: usize, end: usize) -> Result<(), YamlError> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.height = open.height.max(height);
        open.end = open.end.max(end);
        match &mut open.content {
            Content::List(items) => items.push(node),
            Content::Map(map) => map.add_value(node)?,
        }
        Ok(())
    }

    fn spend(&mut self, nodes: usize, at: usize) -> Result<(), YamlError> {
        self.nodes += nodes;
        if self.nodes <= self.limits.max_nodes {
            return Ok(());
        }
        Err(self.too_many(at))
    }

    fn too_many(&self, at: usize) -> YamlError {
        let message = format!("the document has more than {} values", self.limits.max_nodes);
        let error = YamlError::new(self.character_at(at), message);
        if self.aliases > 0 { error.with_help("aliases count as what they stand for") } else { error }
    }

    fn too_deep(&self, at: usize) -> YamlError {
        let message = format!("lists and maps are nested more than {} levels deep", self.limits.max_depth);
        YamlError::new(self.character_at(at), message)
    }

    /// The anchor and the tag that start here.
    fn properties(&self, start: usize) -> Span {
        let content = lexer::skip_to_content(self.source, start);
        Span::new(start, start + self.source[start..content].trim_end().len())
    }

    fn character_at(&self, at: usize) -> Span {
        Span::new(at, at + self.source[at..].chars().next().map_or(0, char::len_utf8))
    }
}

fn tagged(tag: &Tag, text: &str, span: Span, tag_span: Span) -> Result<Data, YamlError> {
    // A lone `!` says that plain text is to be left as it is.
    if tag.handle.is_empty() && tag.suffix == "!" {
        return Ok(Data::Text(text.into()));
    }
    if !tag.is_yaml_core_schema() {
        return Err(unknown_tag(tag, tag_span));
    }
    let data = match tag.suffix.as_str() {
        "str" | "timestamp" => Some(Data::Text(text.into())),
        "null" => scalar::is_null(text).then_some(Data::Null),
        "bool" => scalar::as_bool(text),
        "int" => scalar::as_int(text).filter(|data| !matches!(data, Data::Float(_))),
        "float" => scalar::as_float(text),
        _ => return Err(unknown_tag(tag, tag_span)),
    };
    data.ok_or_else(|| YamlError::new(span, format!("this value is no !!{}", tag.suffix)))
}

fn unknown_tag(tag: &Tag, span: Span) -> YamlError {
    let shown = if tag.is_yaml_core_schema() { format!("!!{}", tag.suffix) } else { tag.to_string() };
    YamlError::new(span, format!("the tag {shown} is not known"))
        .with_help("remove it, or put the value in quotes if it is text that starts with '!'")
}
