//! `loop`, on steps and on tasks of a pipeline.

use std::sync::Arc;

use super::Lowering;
use super::context::given;
use super::task::plain_task;
use crate::codes;
use crate::plan::{Cursor, Loop, LoopFailure, LoopMode, LoopSource};
use crate::shape::number_of;
use crate::yaml::{Entry, Node, Span};

/// How often a frame is tried, unless it says otherwise.
const DEFAULT_FRAME_ATTEMPTS: u16 = 3;

impl Lowering<'_> {
    /// The loop of a step or task. Nothing if it has none, or none that makes sense.
    pub(super) fn looping(&mut self, owner: &Node) -> Option<Loop> {
        let entry = owner.entry("loop").filter(|entry| entry.value.as_map().is_some())?;
        let node = &entry.value;
        let spec = given(node, "spec");
        let setting = |key: &str| spec.and_then(|spec| given(spec, key));
        let mode = self.loop_mode(node, spec, entry.key_span);
        let iterator = given(node, "iterator").and_then(Node::as_text).cloned();
        if let (Some(name), Some(place)) = (&iterator, given(node, "iterator")) {
            self.check_name(name, place.span, "iterator");
        }
        let source = match (given(node, "in"), given(node, "cursor")) {
            (Some(items), None) => Some(LoopSource::In(self.template(items))),
            (None, Some(cursor)) => Some(LoopSource::Cursor(Box::new(self.cursor(cursor, setting("frame"))))),
            (Some(_), Some(cursor)) => {
                let message = "a loop has either `in` or `cursor`, not both";
                self.report.add(&codes::LOOP_SOURCE, cursor.span, message);
                None
            }
            (None, None) => {
                let message = "a loop needs `in` or `cursor` to say what it goes over";
                self.report.add(&codes::LOOP_SOURCE, entry.key_span, message);
                None
            }
        };
        let max_in_flight = setting("max_in_flight")
            .or_else(|| given(node, "max_in_flight"))
            .or_else(|| given(node, "concurrency"))
            .map(|node| self.template(node));
        let on_error = self.on_error(setting("policy"));
        Some(Loop {
            source: source?,
            iterator: iterator.unwrap_or_else(|| Arc::from("item")),
            mode,
            max_in_flight,
            on_error,
        })
    }

    fn loop_mode(&mut self, node: &Node, spec: Option<&Node>, at: Span) -> LoopMode {
        let written = spec.and_then(|spec| given(spec, "mode")).or_else(|| given(node, "mode"));
        let has_cursor = given(node, "cursor").is_some();
        let mode = match written.and_then(Node::as_str) {
            Some("parallel") => LoopMode::Parallel,
            Some("async") => {
                let span = written.map(|node| node.span).unwrap_or(at);
                self.report.add_with_help(
                    &codes::OLD_SPELLING,
                    span,
                    "`async` is an older spelling of `parallel`",
                    "write `parallel`".to_owned(),
                );
                LoopMode::Parallel
            }
            Some("cursor") => LoopMode::Cursor,
            _ => LoopMode::Sequential,
        };
        let span = written.map_or(at, |node| node.span);
        match (mode, has_cursor) {
            (LoopMode::Cursor, false) => {
                self.report.add(&codes::LOOP_SOURCE, span, "`mode: cursor` needs a `cursor` in the loop");
            }
            (LoopMode::Sequential | LoopMode::Parallel, true) => {
                let message = "a loop with a `cursor` needs `spec: {mode: cursor}`";
                self.report.add(&codes::LOOP_SOURCE, span, message);
            }
            _ => {}
        }
        mode
    }

    fn on_error(&mut self, policy: Option<&Node>) -> LoopFailure {
        let Some(node) = policy.and_then(|policy| given(policy, "on_error")) else {
            return LoopFailure::Report;
        };
        if let Some(threshold) = given(node, "threshold") {
            let share = number_of(threshold).unwrap_or(0.0);
            if share > 1.0 {
                self.report.add_with_help(
                    &codes::OUT_OF_RANGE,
                    threshold.span,
                    "`threshold` must be at most 1",
                    "it is a share of the iterations: 0.1 lets one in ten fail".to_owned(),
                );
            }
            return LoopFailure::Threshold(share);
        }
        match node.as_str() {
            Some("continue") => LoopFailure::Continue,
            Some("fail") => LoopFailure::Fail,
            _ => LoopFailure::Report,
        }
    }

    fn cursor(&mut self, node: &Node, frame: Option<&Node>) -> Cursor {
        let kind: Arc<str> =
            given(node, "kind").and_then(Node::as_text).cloned().unwrap_or_else(|| Arc::from("postgres"));
        let kind = match self.kinds.find(&kind) {
            Some(known) => Arc::from(&*known.name),
            None => {
                let span = node.get("kind").map_or(node.span, |kind| kind.span);
                self.unknown_kind(&kind, span);
                kind
            }
        };
        let mut settings: Vec<Entry> = node
            .as_map()
            .unwrap_or_default()
            .iter()
            .filter(|entry| !matches!(&*entry.key, "kind" | "options"))
            .cloned()
            .collect();
        for entry in &mut settings {
            // The claim is the statement that the tool runs.
            if &*entry.key == "claim" {
                entry.key = Arc::from("query");
            }
        }
        for option in given(node, "options").and_then(Node::as_map).unwrap_or_default() {
            if !settings.iter().any(|entry| entry.key == option.key) {
                settings.push(option.clone());
            }
        }
        let config = self.template_of(&settings);
        let claim = plain_task(Arc::from("claim"), kind, config, self.line(node.span));
        let frame_setting = |key: &str| frame.and_then(|frame| given(frame, key));
        let max_rows = frame_setting("max_rows").map(|node| self.template(node));
        let row_concurrency = frame_setting("row_concurrency").map(|node| self.template(node));
        let whole_frame = frame_setting("process").and_then(Node::as_str) == Some("frame");
        let max_attempts = frame_setting("max_attempts")
            .and_then(|node| self.fixed_count(node, "max_attempts"))
            .unwrap_or(DEFAULT_FRAME_ATTEMPTS);
        let rest: Vec<Entry> = frame
            .and_then(Node::as_map)
            .unwrap_or_default()
            .iter()
            .filter(|entry| {
                !matches!(&*entry.key, "max_rows" | "row_concurrency" | "process" | "max_attempts")
            })
            .cloned()
            .collect();
        Cursor { claim, max_rows, row_concurrency, whole_frame, max_attempts, frame: self.template_of(&rest) }
    }

    /// A whole number that is part of the plan, so it cannot be a template.
    pub(super) fn fixed_count(&mut self, node: &Node, key: &str) -> Option<u16> {
        let count = number_of(node).filter(|number| (1.0..=f64::from(u16::MAX)).contains(number));
        if count.is_none() && number_of(node).is_none() && node.as_str().is_some() {
            let message = format!("a template in `{key}` has no effect");
            self.report.add_with_help(&codes::IGNORED_KEY, node.span, message, "write a number".to_owned());
        }
        count.map(|number| number as u16)
    }
}

/// Whether iterations of the loop may overlap.
pub(super) fn overlaps(looping: &Loop) -> bool {
    match (looping.mode, &looping.source) {
        (LoopMode::Parallel, _) => {
            looping.max_in_flight.as_ref().and_then(|most| most.as_literal()).and_then(|most| most.as_i64())
                != Some(1)
        }
        (_, LoopSource::Cursor(cursor)) => cursor
            .row_concurrency
            .as_ref()
            .is_some_and(|rows| rows.as_literal().and_then(|rows| rows.as_i64()) != Some(1)),
        _ => false,
    }
}
