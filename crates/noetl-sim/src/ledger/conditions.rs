//! Evaluates the conditions that the generator writes, without the engine's template language. Others are left undecided.

use noetl_dsl::plan::StepIndex;
use noetl_expr::Condition;
use noetl_types::{Slot, Value};

use super::Ledger;

/// What the arcs of a step can see beside the run's data.
#[derive(Debug, Default)]
pub struct Facts {
    pub failed: bool,
    pub is_loop: bool,
    pub skipped: bool,
    /// `output.data`.
    pub data: Value,
}

impl Ledger {
    /// Whether a condition holds; nothing when it is of another form than these checks understand.
    pub(super) fn holds(&self, condition: &Condition, facts: Option<&Facts>) -> Option<bool> {
        match condition.source() {
            Value::Bool(flag) => Some(*flag),
            Value::Text(text) => {
                let text = text.trim();
                let text =
                    text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).unwrap_or(text).trim();
                text.split(" and ")
                    .try_fold(true, |all, part| Some(all & self.part_holds(part.trim(), facts)?))
            }
            _ => None,
        }
    }

    fn part_holds(&self, part: &str, facts: Option<&Facts>) -> Option<bool> {
        if let Some(name) = part.strip_prefix("event.name == '").and_then(|rest| rest.strip_suffix('\'')) {
            return Some(event_names(facts?).contains(&name));
        }
        if part == "error" || part == "output.status == 'error'" {
            return Some(facts?.failed);
        }
        let (left, right) = part.rsplit_once(' ')?;
        let (left, operator) = left.rsplit_once(' ')?;
        let left = match left.split_once(" % ") {
            Some((root, divisor)) => self.number(root, facts)?.rem_euclid(divisor.parse().ok()?),
            None => self.number(left, facts)?,
        };
        let right: i64 = right.parse().ok()?;
        Some(match operator {
            "==" => left == right,
            "!=" => left != right,
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            ">=" => left >= right,
            _ => return None,
        })
    }

    /// `(ctx.name | default(0))` and the like.
    fn number(&self, text: &str, facts: Option<&Facts>) -> Option<i64> {
        let path = text.strip_prefix('(')?.strip_suffix(" | default(0))")?;
        let value = match path.split_once('.')? {
            ("ctx", key) if !key.contains('.') => match self.ctx.get(key) {
                Some(Slot::Inline(value)) => Some(value),
                Some(Slot::Stored(_)) => return None,
                None => self.started.workload.get(key),
            },
            ("workload", key) if !self.ctx.contains_key(key) => self.started.workload.get(key),
            ("output", "data.v") => facts?.data.get("v"),
            _ => return None,
        };
        match value {
            None => Some(0),
            Some(Value::Int(number)) => Some(*number),
            Some(_) => None,
        }
    }

    /// Whether an arc may be followed after a failure: its condition looks at the event or the error.
    pub(super) fn looks_at_failure(&self, step: StepIndex, arc: usize) -> bool {
        let when = self.plan.steps[step].router.arcs[arc].when.as_ref();
        when.and_then(|when| when.source().as_str()).is_some_and(|text| {
            ["event", "error", "output.status", "outcome"].iter().any(|word| text.contains(word))
        })
    }
}

fn event_names(facts: &Facts) -> &'static [&'static str] {
    match (facts.skipped, facts.is_loop, facts.failed) {
        (true, _, _) => &["step.skipped"],
        (false, true, false) => &["loop.done", "step.done", "call.done", "step.exit"],
        (false, true, true) => &["loop.done", "step.failed", "call.error"],
        (false, false, false) => &["step.done", "call.done", "step.exit"],
        (false, false, true) => &["step.failed", "call.error"],
    }
}
