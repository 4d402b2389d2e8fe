//! Reads expectations.

use std::sync::Arc;

use noetl_dsl::codes as dsl_codes;
use noetl_dsl::did_you_mean;
use noetl_dsl::yaml::{Entry, Node};
use noetl_types::{Map, Value};

use super::Reader;
use crate::address::{Address, ArcAddress};
use crate::codes;
use crate::matcher::Matcher;
use crate::suite::{Expectations, ExpectedCall, ExpectedError, Placed};

impl Reader<'_> {
    pub(super) fn expectations(&mut self, entry: &Entry) -> Expectations {
        let node = &entry.value;
        Expectations {
            place: self.place(entry.key_span),
            status: node.entry("status").and_then(|entry| {
                let word = entry.value.as_text()?.clone();
                Some(self.placed(word, entry.key_span))
            }),
            result: self.matcher(node, "result"),
            results: self.results(node),
            steps: self.steps_in_order(node),
            ran: self.addresses(node, "ran"),
            not_run: self.addresses(node, "not_run"),
            arcs: self.arcs(node, "arcs"),
            not_taken: self.arcs(node, "not_taken"),
            calls: self.calls(node),
            error: self.error(node),
            ctx: self.context(node),
            elapsed: self.matcher(node, "elapsed"),
        }
    }

    /// The expectation under a key. Null is one too.
    fn matcher(&mut self, node: &Node, key: &str) -> Option<Placed<Matcher>> {
        let entry = node.entry(key)?;
        let matcher = self.match_entry(entry, Matcher::read)?;
        Some(self.placed(matcher, entry.key_span))
    }

    fn match_entry(
        &mut self,
        entry: &Entry,
        read: impl Fn(&Value) -> Result<Matcher, String>,
    ) -> Option<Matcher> {
        match read(&entry.value.to_value()) {
            Ok(matcher) => Some(matcher),
            Err(message) => {
                self.findings.add(&dsl_codes::UNKNOWN_VALUE, entry.value.span, message);
                None
            }
        }
    }

    fn results(&mut self, node: &Node) -> Vec<(Address, Placed<Matcher>)> {
        let mut results = Vec::new();
        for entry in node.get("results").and_then(Node::as_map).unwrap_or_default() {
            let address = self.step_address(&entry.key, entry.key_span);
            let matcher = self.match_entry(entry, Matcher::read);
            if let (Some(address), Some(matcher)) = (address, matcher) {
                results.push((address, self.placed(matcher, entry.key_span)));
            }
        }
        results
    }

    /// An address of a step as a whole.
    fn step_address(&mut self, text: &str, span: noetl_dsl::yaml::Span) -> Option<Address> {
        let address = self.address(text, span)?;
        if address.task.is_some() {
            let message = format!("`{text}` is a task; name its step");
            self.findings.add(&codes::UNKNOWN_ADDRESS, span, message);
            return None;
        }
        Some(address)
    }

    fn steps_in_order(&mut self, node: &Node) -> Option<Placed<Vec<Arc<str>>>> {
        let entry = node.entry("steps")?;
        let plan = &self.playbooks.main().plan;
        let mut steps = Vec::new();
        for item in entry.value.as_list().unwrap_or_default() {
            let name = item.as_str().unwrap_or_default();
            if plan.find_step(name).is_none() {
                let help = did_you_mean(name, plan.steps.iter().map(|step| &*step.name));
                let message = format!("playbook `{}` has no step `{name}`", plan.path);
                self.findings.add_with_help(&codes::UNKNOWN_ADDRESS, item.span, message, help);
            }
            steps.push(name.into());
        }
        Some(self.placed(steps, entry.key_span))
    }

    fn addresses(&mut self, node: &Node, key: &str) -> Vec<Placed<Address>> {
        let mut addresses = Vec::new();
        for item in node.get(key).and_then(Node::as_list).unwrap_or_default() {
            let address = self.step_address(item.as_str().unwrap_or_default(), item.span);
            addresses.extend(address.map(|address| self.placed(address, item.span)));
        }
        addresses
    }

    fn arcs(&mut self, node: &Node, key: &str) -> Vec<Placed<ArcAddress>> {
        let mut arcs = Vec::new();
        for item in node.get(key).and_then(Node::as_list).unwrap_or_default() {
            match self.playbooks.resolve_arc(item.as_str().unwrap_or_default()) {
                Ok(arc) => arcs.push(self.placed(arc, item.span)),
                Err(unresolved) => self.findings.add_with_help(
                    &codes::UNKNOWN_ADDRESS,
                    item.span,
                    unresolved.message,
                    unresolved.help,
                ),
            }
        }
        arcs
    }

    fn calls(&mut self, node: &Node) -> Vec<Placed<ExpectedCall>> {
        let mut calls = Vec::new();
        for item in node.get("calls").and_then(Node::as_list).unwrap_or_default() {
            let Some(step) = item.get("step") else {
                continue;
            };
            let Some(address) = self.address(step.as_str().unwrap_or_default(), step.span) else {
                continue;
            };
            let part = |reader: &mut Self, key: &str| {
                item.entry(key).and_then(|entry| reader.match_entry(entry, Matcher::read))
            };
            let call = ExpectedCall {
                address,
                times: item.get("times").and_then(Node::as_i64).and_then(|times| u32::try_from(times).ok()),
                input: part(self, "input"),
                settings: part(self, "settings"),
            };
            calls.push(self.placed(call, item.span));
        }
        calls
    }

    fn error(&mut self, node: &Node) -> Option<Placed<ExpectedError>> {
        let entry = node.entry("error")?;
        let mut facts = Vec::new();
        for fact in entry.value.as_map().unwrap_or_default() {
            let read = match &*fact.key {
                "step" => continue,
                "message" => Matcher::text_or,
                _ => Matcher::read,
            };
            facts.extend(self.match_entry(fact, read).map(|matcher| (fact.key.clone(), matcher)));
        }
        let step = entry.value.entry("step").and_then(|step| {
            let address = self.step_address(step.value.as_str()?, step.value.span)?;
            Some(address.step)
        });
        Some(self.placed(ExpectedError { facts: Matcher::Entries(facts), step }, entry.key_span))
    }

    fn context(&mut self, node: &Node) -> Vec<(Arc<str>, Placed<Matcher>)> {
        let mut context = Vec::new();
        for entry in node.get("ctx").and_then(Node::as_map).unwrap_or_default() {
            let matcher = self.match_entry(entry, Matcher::read);
            context.extend(matcher.map(|matcher| (entry.key.clone(), self.placed(matcher, entry.key_span))));
        }
        context
    }
}

/// The facts of an error that an expectation can name.
pub(crate) fn facts_of(error: &noetl_types::ToolError) -> Value {
    let facts: Map = [
        ("kind".into(), error.kind.as_str().into()),
        ("message".into(), error.message.as_str().into()),
        ("code".into(), error.code.clone().into()),
        ("retryable".into(), error.retryable.into()),
    ]
    .into_iter()
    .collect();
    facts.into()
}
