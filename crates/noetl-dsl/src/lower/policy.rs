//! What happens after a task (`spec.policy.rules`) and who is let into a step (`spec.policy.admit`).

use std::sync::Arc;

use noetl_expr::Template;
use noetl_types::Value;

use super::Lowering;
use super::context::given;
use crate::codes;
use crate::plan::{Action, AdmitRule, Backoff, Retry, Rule, SetEntry};
use crate::shape::head;
use crate::suggest::{did_you_mean, listed};
use crate::yaml::{Node, Span};

/// Tries all told, unless the rule says otherwise.
const DEFAULT_ATTEMPTS: i64 = 3;
/// Seconds between tries, unless the rule says otherwise.
const DEFAULT_DELAY: f64 = 1.0;

/// Where a task stands in its pipeline.
#[derive(Clone, Copy)]
pub(super) struct Seat<'p> {
    pub labels: &'p [Arc<str>],
    pub position: usize,
}

impl Lowering<'_> {
    pub(super) fn rules(&mut self, tool: &Node, seat: Seat<'_>) -> Vec<Rule> {
        let list =
            tool.get("spec").and_then(|spec| spec.get("policy")).and_then(|policy| policy.get("rules"));
        let mut rules = Vec::new();
        let mut always: Option<u32> = None;
        for node in list.and_then(Node::as_list).unwrap_or_default() {
            if node.as_map().is_none() {
                continue;
            }
            if let Some(line) = always {
                self.report.add(
                    &codes::SHADOWED_RULE,
                    head(node),
                    format!("this rule never applies, because the one on line {line} always does"),
                );
            }
            let before = rules.len();
            self.rule(node, seat, &mut rules);
            let applies_always = |rule: &Rule| match &rule.when {
                None => true,
                Some(condition) => condition.source().as_bool() == Some(true),
            };
            if always.is_none() {
                always = rules[before..].iter().find(|rule| applies_always(rule)).map(|rule| rule.line);
            }
        }
        rules
    }

    /// A rule with both `when` and `else` is two: one for each answer.
    fn rule(&mut self, node: &Node, seat: Seat<'_>, rules: &mut Vec<Rule>) {
        let line = self.line(head(node));
        let when = given(node, "when");
        let then = given(node, "then");
        let otherwise = node.entry("else");
        if let Some(when) = when {
            let condition = self.condition(when);
            let (action, set) = self.decision(node, seat);
            rules.push(Rule { when: Some(condition), action, set, line });
        }
        let Some(otherwise) = otherwise else {
            if when.is_none() {
                let (action, set) = self.decision(node, seat);
                rules.push(Rule { when: None, action, set, line });
            }
            return;
        };
        let decision = match (given(&otherwise.value, "then"), otherwise.value.is_null()) {
            (Some(then), _) => then,
            (None, false) => &otherwise.value,
            (None, true) => {
                self.report.add_with_help(
                    &codes::OLD_SPELLING,
                    otherwise.key_span,
                    "`else` beside `then` is an older spelling of `else: {then: …}`",
                    "move `then` into `else`".to_owned(),
                );
                then.unwrap_or(&otherwise.value)
            }
        };
        let line = self.line(otherwise.key_span);
        let (action, set) = self.action(decision, otherwise.key_span, seat);
        rules.push(Rule { when: None, action, set, line });
    }

    /// What the rule's `then` says.
    fn decision(&mut self, rule: &Node, seat: Seat<'_>) -> (Action, Vec<SetEntry>) {
        match given(rule, "then") {
            Some(then) => self.action(then, head(then), seat),
            None => {
                self.report.add(&codes::MISSING_KEY, head(rule), "a rule needs `then`");
                (Action::Continue, Vec::new())
            }
        }
    }

    fn action(&mut self, then: &Node, at: Span, seat: Seat<'_>) -> (Action, Vec<SetEntry>) {
        let set = self.assignments(then);
        let action = match given(then, "do").and_then(Node::as_str) {
            None => {
                if given(then, "do").is_none() {
                    self.report.add_with_help(
                        &codes::MISSING_ACTION,
                        at,
                        "a rule without `do` continues",
                        format!("add `do`: it takes {}", listed(crate::keys::ACTIONS.iter().copied(), "or")),
                    );
                }
                Action::Continue
            }
            Some("retry") => Action::Retry(self.retry(then)),
            Some("break") => Action::Break,
            Some("jump") => self.jump(then, at, seat),
            Some("fail") => Action::Fail,
            // Words that are no action are reported with the key's shape.
            Some(_) => Action::Continue,
        };
        (action, set)
    }

    fn retry(&mut self, then: &Node) -> Retry {
        let attempts = match given(then, "attempts") {
            Some(node) => self.template(node),
            None => Template::literal(Value::Int(DEFAULT_ATTEMPTS)),
        };
        let delay = match given(then, "delay") {
            Some(node) => self.template(node),
            None => Template::literal(Value::Float(DEFAULT_DELAY)),
        };
        let backoff = match given(then, "backoff").and_then(Node::as_str) {
            Some("fixed") => Backoff::Fixed,
            Some("linear") => Backoff::Linear,
            Some("exponential") => Backoff::Exponential,
            _ => Backoff::None,
        };
        Retry { attempts, backoff, delay }
    }

    fn jump(&mut self, then: &Node, at: Span, seat: Seat<'_>) -> Action {
        let Some(to) = given(then, "to") else {
            self.report.add(&codes::MISSING_KEY, at, "a rule with `do: jump` needs `to`");
            return Action::Continue;
        };
        let Some(label) = to.as_str() else {
            return Action::Continue;
        };
        if let Some(position) = seat.labels.iter().position(|known| &**known == label) {
            return Action::Jump(position);
        }
        if matches!(label, "previous" | "prev" | "_previous" | "@previous") {
            if let Some(position) = seat.position.checked_sub(1) {
                return Action::Jump(position);
            }
            self.report.add(
                &codes::UNKNOWN_LABEL,
                to.span,
                "the first task of a pipeline has none before it to jump to",
            );
            return Action::Continue;
        }
        let labels = seat.labels.iter().map(|label| &**label);
        let help = did_you_mean(label, labels.clone())
            .unwrap_or_else(|| format!("the pipeline has {}", listed(labels, "and")));
        self.report.add_with_help(
            &codes::UNKNOWN_LABEL,
            to.span,
            format!("the pipeline has no task `{label}` to jump to"),
            help,
        );
        Action::Continue
    }

    pub(super) fn admit(&mut self, step: &Node) -> Vec<AdmitRule> {
        let list = step
            .get("spec")
            .and_then(|spec| spec.get("policy"))
            .and_then(|policy| policy.get("admit"))
            .and_then(|admit| admit.get("rules"));
        let mut rules = Vec::new();
        for node in list.and_then(Node::as_list).unwrap_or_default() {
            let then = given(node, "then");
            if let Some(when) = given(node, "when") {
                let when = self.condition(when);
                rules.push(AdmitRule { when: Some(when), allow: self.allows(then, head(node)) });
            } else if node.entry("else").is_none() {
                rules.push(AdmitRule { when: None, allow: self.allows(then, head(node)) });
            }
            if let Some(otherwise) = node.entry("else") {
                let decision = match given(&otherwise.value, "then") {
                    Some(then) => Some(then),
                    None if otherwise.value.is_null() => then,
                    None => Some(&otherwise.value).filter(|otherwise| given(otherwise, "allow").is_some()),
                };
                rules.push(AdmitRule { when: None, allow: self.allows(decision, otherwise.key_span) });
            }
        }
        rules
    }

    /// A `then` without `allow` is reported with its shape.
    fn allows(&mut self, then: Option<&Node>, at: Span) -> bool {
        if then.is_none() {
            self.report.add(&codes::MISSING_KEY, at, "an admission rule needs `then: {allow: …}`");
        }
        then.and_then(|then| given(then, "allow")).and_then(Node::as_bool).unwrap_or(true)
    }
}
