//! From the text of a test file to its cases, with everything there is to say about it.

mod expect;
mod mocks;

pub(crate) use expect::facts_of;

use std::collections::BTreeSet;
use std::sync::Arc;

use noetl_dsl::positions::LineIndex;
use noetl_dsl::yaml::{Entry, Limits, Node, Span};
use noetl_dsl::{Diagnostic, Findings, codes as dsl_codes, did_you_mean, has_errors, read_document};
use noetl_types::{Map, Timestamp, Value};

use crate::address::Playbooks;
use crate::codes;
use crate::keys::SUITE;
use crate::suite::{Case, Expectations, Mock, Place, Placed, Signal, Suite};

/// The instant at which cases begin that name none: the first of 2026.
const DEFAULT_CLOCK: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// A test file that was read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// There when nothing was found that refuses the file.
    pub suite: Option<Suite>,
    /// In the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// The playbook that a test file names, as it is written there.
pub fn playbook_of(source: &str) -> Option<String> {
    let document = noetl_dsl::yaml::parse(source, &Limits::default()).ok()?;
    document.root.get("playbook").and_then(Node::as_str).map(str::to_owned)
}

/// Reads a test file. `load` gives the text of a file that it names, or says why it can't.
pub fn read(
    source: &str,
    playbooks: &Playbooks,
    load: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Reading {
    let mut findings = Findings::default();
    let root = read_document(source, &SUITE, &mut findings);
    let suite = root.as_ref().map(|root| {
        let lines = LineIndex::new(source);
        Reader { source, lines, playbooks, findings: &mut findings, load, mocks_made: 0 }.suite(root)
    });
    let diagnostics = findings.finish(source, root.as_ref());
    Reading { suite: suite.filter(|_| !has_errors(&diagnostics)), diagnostics }
}

struct Reader<'r> {
    source: &'r str,
    lines: LineIndex,
    playbooks: &'r Playbooks,
    findings: &'r mut Findings,
    load: &'r mut dyn FnMut(&str) -> Result<String, String>,
    mocks_made: usize,
}

impl Reader<'_> {
    fn suite(&mut self, root: &Node) -> Suite {
        let shared = Shared {
            payload: value(root, "payload"),
            clock: self.clock(root),
            allow: self.allowed(root),
            mocks: self.mocks(root),
            signals: self.signals(root),
            keychain: map(root, "keychain"),
            credentials: map(root, "credentials"),
        };
        let nodes = root.get("cases").and_then(Node::as_list).unwrap_or_default();
        if let Some(entry) = root.entry("cases").filter(|_| nodes.is_empty()) {
            self.findings.add(&dsl_codes::MISSING_KEY, entry.key_span, "a test file needs at least one case");
        }
        let cases: Vec<Case> = nodes.iter().map(|node| self.case(node, &shared)).collect();
        let mut names = BTreeSet::new();
        for (case, node) in cases.iter().zip(nodes) {
            if !names.insert(case.name.clone()) {
                let span = node.get("name").map_or(node.span, |name| name.span);
                self.findings.add(
                    &codes::DUPLICATE_CASE,
                    span,
                    format!("there is another case `{}`", case.name),
                );
            }
        }
        Suite { cases }
    }

    fn case(&mut self, node: &Node, shared: &Shared) -> Case {
        let recorded = self.recorded(node);
        let mut allow = shared.allow.clone();
        allow.extend(self.allowed(node));
        let mut mocks = self.mocks(node);
        mocks.extend(shared.mocks.iter().cloned());
        mocks.extend(recorded.mocks);
        let mut signals = self.signals(node);
        signals.extend(shared.signals.iter().cloned());
        signals.extend(recorded.signals);
        let payload = shared.payload.merged_deeply(&recorded.payload.unwrap_or(Value::map::<&str>([])));
        Case {
            name: node.get("name").and_then(Node::as_text).cloned().unwrap_or_default(),
            place: self.place(node.get("name").map_or(node.span, |name| name.span)),
            payload: payload.merged_deeply(&value(node, "payload")),
            clock: self.clock(node).or(recorded.clock).or(shared.clock).unwrap_or(DEFAULT_CLOCK),
            entry: self.entry_step(node),
            allow,
            mocks,
            signals,
            keychain: merged(&shared.keychain, map(node, "keychain")),
            credentials: merged(&shared.credentials, map(node, "credentials")),
            expect: match node.entry("expect").filter(|entry| entry.value.as_map().is_some()) {
                Some(entry) => self.expectations(entry),
                None => Expectations { place: self.place(node.span), ..Expectations::default() },
            },
        }
    }

    fn place(&self, span: Span) -> Place {
        let position = self.lines.position(self.source, span.start);
        Place { line: position.line as u32, column: position.column as u32 }
    }

    fn placed<T>(&self, is: T, span: Span) -> Placed<T> {
        Placed { is, place: self.place(span) }
    }

    fn clock(&mut self, node: &Node) -> Option<Timestamp> {
        let node = node.get("clock")?;
        let instant = node.as_str().and_then(Timestamp::parse);
        if instant.is_none() && node.as_str().is_some() {
            let help = "write an instant such as `2026-01-31T12:00:00Z`".to_owned();
            self.findings.add_with_help(&dsl_codes::UNKNOWN_VALUE, node.span, "`clock` is no instant", help);
        }
        instant
    }

    fn entry_step(&mut self, node: &Node) -> Option<Arc<str>> {
        let node = node.get("entry")?;
        let name = node.as_str()?;
        let plan = &self.playbooks.main().plan;
        if plan.find_step(name).is_none() {
            let help = did_you_mean(name, plan.steps.iter().map(|step| &*step.name));
            let message = format!("playbook `{}` has no step `{name}`", plan.path);
            self.findings.add_with_help(&codes::UNKNOWN_ADDRESS, node.span, message, help);
        }
        Some(name.into())
    }

    fn allowed(&mut self, node: &Node) -> BTreeSet<Arc<str>> {
        let kinds = noetl_dsl::KindTable::builtin();
        let mut allowed = BTreeSet::new();
        for item in node.get("allow").and_then(Node::as_list).unwrap_or_default() {
            let word = item.as_str().unwrap_or_default();
            match kinds.find(word) {
                Some(kind) => {
                    allowed.insert(Arc::from(&*kind.name));
                }
                None => {
                    let help = did_you_mean(word, kinds.iter().map(|kind| &*kind.name));
                    let message = format!("there is no tool of kind `{word}`");
                    self.findings.add_with_help(&dsl_codes::UNKNOWN_KIND, item.span, message, help);
                }
            }
        }
        allowed
    }

    fn signals(&mut self, node: &Node) -> Vec<Signal> {
        match node.get("signals").map(|signals| (signals.as_map(), signals.as_list())) {
            Some((Some(by_name), _)) => by_name
                .iter()
                .map(|Entry { key, value, .. }| Signal {
                    name: key.clone(),
                    payload: value.to_value(),
                    after: 0.0,
                })
                .collect(),
            Some((_, Some(in_order))) => in_order
                .iter()
                .map(|node| Signal {
                    name: node.get("name").and_then(Node::as_text).cloned().unwrap_or_default(),
                    payload: node.get("payload").map(Node::to_value).unwrap_or_default(),
                    after: node.get("after").and_then(Node::as_f64).unwrap_or(0.0),
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What a recording answers. It is a file of its own, so what is wrong in it is said where it is named.
    fn recorded(&mut self, node: &Node) -> Recorded {
        let Some(named) = node.get("recorded").filter(|named| named.as_str().is_some()) else {
            return Recorded::default();
        };
        let file = named.as_str().unwrap_or_default();
        let read = (self.load)(file).and_then(|text| {
            let (recording, diagnostics) = read_recording(&text, self.playbooks, &mut self.mocks_made);
            match diagnostics.iter().find(|found| found.severity == noetl_dsl::Severity::Error) {
                None => Ok(recording),
                Some(first) => {
                    Err(format!("line {}, column {}: {}", first.line, first.column, first.message))
                }
            }
        });
        read.unwrap_or_else(|reason| {
            let message = format!("the recording `{file}` cannot be used: {reason}");
            self.findings.add(&codes::RECORDING, named.span, message);
            Recorded::default()
        })
    }
}

/// What the cases of a file have in common.
struct Shared {
    payload: Value,
    clock: Option<Timestamp>,
    allow: BTreeSet<Arc<str>>,
    mocks: Vec<Mock>,
    signals: Vec<Signal>,
    keychain: Map,
    credentials: Map,
}

/// What a recording brings.
#[derive(Default)]
struct Recorded {
    payload: Option<Value>,
    clock: Option<Timestamp>,
    mocks: Vec<Mock>,
    signals: Vec<Signal>,
}

fn read_recording(
    source: &str,
    playbooks: &Playbooks,
    mocks_made: &mut usize,
) -> (Recorded, Vec<Diagnostic>) {
    let mut findings = Findings::default();
    let Some(root) = read_document(source, &crate::keys::RECORDING, &mut findings) else {
        return (Recorded::default(), findings.finish(source, None));
    };
    let mut reader = Reader {
        source,
        lines: LineIndex::new(source),
        playbooks,
        findings: &mut findings,
        load: &mut |_| Err("a recording names no other".to_owned()),
        mocks_made: *mocks_made,
    };
    let recorded = Recorded {
        payload: root.get("payload").map(Node::to_value),
        clock: reader.clock(&root),
        mocks: reader.mocks(&root),
        signals: reader.signals(&root),
    };
    *mocks_made = reader.mocks_made;
    (recorded, findings.finish(source, Some(&root)))
}

/// A map, empty when it is left out.
fn map(node: &Node, key: &str) -> Map {
    value(node, key).as_map().cloned().unwrap_or_default()
}

/// The value of a key that holds a map; an empty one when it is left out.
fn value(node: &Node, key: &str) -> Value {
    node.get(key).filter(|value| !value.is_null()).map_or_else(|| Value::map::<&str>([]), Node::to_value)
}

fn merged(below: &Map, above: Map) -> Map {
    Value::from(below.clone()).merged_deeply(&above.into()).as_map().cloned().unwrap_or_default()
}
