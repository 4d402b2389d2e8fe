//! Holds a document against the tables of [`crate::keys`]: unknown keys, older spellings, wrong types, missing keys.
//!
//! What the tables cannot say, such as whether an arc's target exists, is left to lowering.

use crate::codes;
use crate::diagnostic::Report;
use crate::keys::{Construct, Key, Shape, Status, TASK, Unknown};
use crate::kinds::KindTable;
use crate::suggest::{closest, did_you_mean, listed};
use crate::types::{Types, describe_node, is_template};
use crate::yaml::{Data, Entry, Node, Span};

pub(crate) struct ShapeChecker<'a> {
    pub kinds: &'a KindTable,
    pub report: &'a mut Report,
}

impl ShapeChecker<'_> {
    /// Checks a map against its table. `at` is where to report what is missing.
    pub fn construct(&mut self, node: &Node, construct: &'static Construct, at: Span) {
        if node.is_null() {
            self.missing_keys(&[], construct, at);
            return;
        }
        let Some(entries) = node.as_map() else {
            let message = format!("{} must be a map, not {}", construct.title, describe_node(node));
            self.report.add(&codes::WRONG_TYPE, head(node), message);
            return;
        };
        for entry in entries {
            match construct.find_key(&entry.key) {
                Some(key) => self.entry(entry, key, construct),
                None => self.unknown_key(entry, construct),
            }
        }
        self.missing_keys(entries, construct, at);
    }

    fn missing_keys(&mut self, entries: &[Entry], construct: &'static Construct, at: Span) {
        for key in construct.keys.iter().filter(|key| key.required) {
            let there = entries.iter().any(|entry| &*entry.key == key.name && !entry.value.is_null());
            if !there {
                self.report.add_with_help(
                    &codes::MISSING_KEY,
                    at,
                    format!("{} needs `{}`", construct.title, key.name),
                    misspelt_key(entries, construct, key.name),
                );
            }
        }
    }

    fn unknown_key(&mut self, entry: &Entry, construct: &'static Construct) {
        let code = match construct.unknown {
            Unknown::Allow => return,
            Unknown::Warn => &codes::UNKNOWN_KEY,
            Unknown::Refuse(code) => code,
        };
        let known: Vec<&str> = construct.current_names().collect();
        let help = did_you_mean(&entry.key, known.iter().copied())
            .unwrap_or_else(|| format!("{} has {}", construct.title, listed(known, "and")));
        self.report.add_with_help(
            code,
            entry.key_span,
            format!("`{}` is not a key of {}", entry.key, construct.title),
            help,
        );
    }

    fn entry(&mut self, entry: &Entry, key: &'static Key, construct: &'static Construct) {
        match key.status {
            Status::Current => {}
            Status::OldFor(current) => self.report.add_with_help(
                &codes::OLD_SPELLING,
                entry.key_span,
                format!("`{}` is an older spelling of `{current}`", key.name),
                old_spelling_help(key.name, current),
            ),
            Status::Ignored(instead) => {
                self.report.add_with_help(
                    &codes::IGNORED_KEY,
                    entry.key_span,
                    format!("`{}` of {} has no effect", key.name, construct.title),
                    instead.to_owned(),
                );
                return;
            }
            Status::Removed(instead) => {
                self.report.add_with_help(
                    &codes::REMOVED_KEY,
                    entry.key_span,
                    format!("`{}` is no longer a key of {}", key.name, construct.title),
                    instead.to_owned(),
                );
                return;
            }
        }
        self.value(entry, &key.shape);
    }

    fn value(&mut self, entry: &Entry, shape: &'static Shape) {
        let node = &entry.value;
        if node.is_null() {
            return;
        }
        match shape {
            Shape::Is(types) => self.types(entry, *types),
            Shape::AtLeast(types, least) => {
                self.types(entry, *types);
                self.at_least(entry, *least);
            }
            Shape::Words(words) => self.words(entry, words),
            Shape::Hints(words) => hinted_word(self.report, entry, words.iter().copied()),
            Shape::Of(construct) => self.construct(node, construct, entry.key_span),
            Shape::ListOf(construct) => self.list_of(entry, construct),
            Shape::NamedOf(construct) => self.named_of(entry, construct),
            Shape::EachOf(construct) => self.each_of(entry, construct),
            Shape::Either(shapes) => match shapes.iter().find(|shape| types_of(shape).accept(node)) {
                Some(shape) => self.value(entry, shape),
                None => {
                    let types = shapes.iter().fold(Types::NONE, |types, shape| types.or(types_of(shape)));
                    self.wrong_type(entry, &types.describe());
                }
            },
            Shape::Condition => self.types(entry, types_of(shape)),
            Shape::Assignments => self.types(entry, Types::MAP),
            Shape::Tool => match &node.data {
                Data::Map(_) => self.tool(node, entry.key_span),
                Data::List(_) => self.tasks(node),
                _ => self.wrong_type(entry, "a map with `kind`, or a list of such maps"),
            },
            Shape::Tasks => match &node.data {
                Data::List(_) => self.tasks(node),
                _ => self.wrong_type(entry, "a list"),
            },
        }
    }

    fn list_of(&mut self, entry: &Entry, construct: &'static Construct) {
        let Some(items) = entry.value.as_list() else {
            return self.wrong_type(entry, "a list");
        };
        for item in items {
            // A bare name is the old way to write an arc; lowering says so.
            if construct.name == "arc" && item.as_str().is_some() {
                continue;
            }
            self.construct(item, construct, head(item));
        }
    }

    fn named_of(&mut self, entry: &Entry, construct: &'static Construct) {
        let Some(entries) = entry.value.as_map() else {
            return self.list_of(entry, construct);
        };
        for named in entries {
            let Some(keys) = named.value.as_map() else {
                self.construct(&named.value, construct, named.key_span);
                continue;
            };
            for entry in keys {
                match construct.find_key(&entry.key) {
                    Some(key) => self.entry(entry, key, construct),
                    None => self.unknown_key(entry, construct),
                }
            }
        }
    }

    fn each_of(&mut self, entry: &Entry, construct: &'static Construct) {
        let Some(entries) = entry.value.as_map() else {
            return self.wrong_type(entry, "a map");
        };
        for named in entries {
            match named.value.as_list() {
                Some(_) => self.list_of(named, construct),
                None => self.construct(&named.value, construct, named.key_span),
            }
        }
    }

    fn tasks(&mut self, list: &Node) {
        for item in list.as_list().unwrap_or_default() {
            let (tool, at) = match keyed_task(item) {
                Some(entry) => (&entry.value, entry.key_span),
                None => (item, head(item)),
            };
            match tool.as_map() {
                Some(_) => self.tool(tool, at),
                None => {
                    let message = format!("a task must be a map with `kind`, not {}", describe_node(tool));
                    self.report.add(&codes::WRONG_TYPE, head(tool), message);
                }
            }
        }
    }

    /// The keys that all tools have. Those of the tool's kind are judged once the tool is resolved.
    fn tool(&mut self, tool: &Node, at: Span) {
        let kind = tool.get("kind").and_then(Node::as_str).and_then(|kind| self.kinds.find(kind));
        for entry in tool.as_map().unwrap_or_default() {
            let own_field = kind.is_some_and(|kind| kind.find_field(&entry.key).is_some());
            if own_field && &*entry.key != "name" {
                if kind.is_some_and(|kind| kind.name == "task_sequence") && &*entry.key == "tasks" {
                    self.value(entry, &Shape::Tasks);
                }
                continue;
            }
            if let Some(key) = TASK.find_key(&entry.key) {
                self.entry(entry, key, &TASK);
            }
        }
        let spec_has_kind = tool.get("spec").and_then(|spec| spec.get("kind")).is_some();
        if !spec_has_kind {
            self.missing_keys(tool.as_map().unwrap_or_default(), &TASK, at);
        }
    }

    fn types(&mut self, entry: &Entry, types: Types) {
        if !types.accept(&entry.value) {
            self.wrong_type(entry, &types.describe());
        }
    }

    fn wrong_type(&mut self, entry: &Entry, expected: &str) {
        wrong_type(self.report, entry, expected);
    }

    fn at_least(&mut self, entry: &Entry, least: f64) {
        if number_of(&entry.value).is_some_and(|number| number < least) {
            self.report.add(
                &codes::OUT_OF_RANGE,
                entry.value.span,
                format!("`{}` must be at least {least}", entry.key),
            );
        }
    }

    fn words(&mut self, entry: &Entry, words: &[&'static str]) {
        let Some(word) = entry.value.as_str() else {
            return self.wrong_type(entry, &format!("one of {}", listed(words.iter().copied(), "and")));
        };
        if !words.contains(&word) {
            let help = did_you_mean(word, words.iter().copied())
                .unwrap_or_else(|| format!("it takes {}", listed(words.iter().copied(), "or")));
            self.report.add_with_help(
                &codes::UNKNOWN_VALUE,
                entry.value.span,
                format!("`{}` cannot be `{word}`", entry.key),
                help,
            );
        }
    }
}

/// Warns about a word that is not among the known ones.
pub(crate) fn hinted_word<'w>(
    report: &mut Report,
    entry: &Entry,
    words: impl Iterator<Item = &'w str> + Clone,
) {
    let Some(word) = entry.value.as_str() else {
        return wrong_type(report, entry, "text");
    };
    if !is_template(word) && !words.clone().any(|known| known.eq_ignore_ascii_case(word)) {
        let help = did_you_mean(word, words.clone())
            .unwrap_or_else(|| format!("the known values are {}", listed(words, "and")));
        let message = format!("`{word}` is not a known value of `{}`", entry.key);
        report.add_with_help(&codes::UNKNOWN_OPTION, entry.value.span, message, help);
    }
}

pub(crate) fn wrong_type(report: &mut Report, entry: &Entry, expected: &str) {
    report.add(
        &codes::WRONG_TYPE,
        head(&entry.value),
        format!("`{}` must be {expected}, not {}", entry.key, describe_node(&entry.value)),
    );
}

/// `- label: {kind: …}`: a task whose label is its only key.
pub(crate) fn keyed_task(item: &Node) -> Option<&Entry> {
    match item.as_map() {
        Some([only]) if only.value.as_map().is_some() && TASK.find_key(&only.key).is_none() => Some(only),
        _ => None,
    }
}

/// Where to point for a whole value: its first key, so that a long block is not underlined.
pub(crate) fn head(node: &Node) -> Span {
    match node.as_map() {
        Some([first, ..]) if first.key_span.start >= node.span.start => first.key_span,
        _ => node.span,
    }
}

/// The number a value is, or reads as.
pub(crate) fn number_of(node: &Node) -> Option<f64> {
    node.as_f64().or_else(|| node.as_str().and_then(|text| text.trim().parse().ok()))
}

/// The YAML types that a shape takes.
fn types_of(shape: &Shape) -> Types {
    match shape {
        Shape::Is(types) | Shape::AtLeast(types, _) => *types,
        Shape::Words(_) | Shape::Hints(_) => Types::TEXT,
        Shape::Of(_) | Shape::EachOf(_) | Shape::Assignments => Types::MAP,
        Shape::ListOf(_) | Shape::Tasks => Types::LIST,
        Shape::NamedOf(_) | Shape::Tool => Types::MAP.or(Types::LIST),
        Shape::Condition => Types::TEXT.or(Types::BOOL),
        Shape::Either(shapes) => shapes.iter().fold(Types::NONE, |types, shape| types.or(types_of(shape))),
    }
}

fn old_spelling_help(old: &str, current: &str) -> String {
    match old {
        "set_ctx" | "vars" => format!("write `{current}: {{ctx.<name>: …}}`"),
        "set_iter" => format!("write `{current}: {{iter.<name>: …}}`"),
        _ => format!("write `{current}`"),
    }
}

/// Says that a key which is missing may be there under a misspelt name.
fn misspelt_key(entries: &[Entry], construct: &'static Construct, missing: &str) -> Option<String> {
    let unknown = entries.iter().map(|entry| &*entry.key).filter(|name| construct.find_key(name).is_none());
    closest(missing, unknown).map(|name| format!("is `{name}` meant to be `{missing}`?"))
}
