//! Traces: which one a run belongs to, and what its spans are called.
//!
//! Ids follow from what they stand for. Whoever looks at the same run comes to the same spans, in whichever process and
//! however often.

use std::fmt;
use std::sync::Arc;

use crate::{CommandKey, ExecutionId, Item, Map, Value, VisitId};

/// Names a trace. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub u128);

/// Names a span within a trace. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId(pub u64);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl SpanId {
    pub fn of_execution(execution: ExecutionId) -> SpanId {
        derived(execution, 1, &[])
    }

    pub fn of_visit(execution: ExecutionId, visit: VisitId) -> SpanId {
        derived(execution, 2, &[u64::from(visit.0)])
    }

    /// One item of a visit's loop.
    pub fn of_item(execution: ExecutionId, visit: VisitId, index: u32) -> SpanId {
        derived(execution, 3, &[u64::from(visit.0), u64::from(index)])
    }

    pub fn of_attempt(execution: ExecutionId, command: CommandKey, attempt: u16) -> SpanId {
        derived(execution, 4, &attempt_parts(command, attempt))
    }

    /// One try at a task within an attempt, by its place among all of them.
    pub fn of_try(execution: ExecutionId, command: CommandKey, attempt: u16, place: u32) -> SpanId {
        let [visit, item, rest] = attempt_parts(command, attempt);
        derived(execution, 5, &[visit, item, rest, u64::from(place)])
    }

    /// What a command is a share of: the item of a loop, or the whole visit.
    pub fn of_share(execution: ExecutionId, command: CommandKey) -> SpanId {
        match command.item {
            Item::At(index) => SpanId::of_item(execution, command.visit, index),
            Item::Whole | Item::Claim(_) => SpanId::of_visit(execution, command.visit),
        }
    }
}

fn attempt_parts(command: CommandKey, attempt: u16) -> [u64; 3] {
    let item = match command.item {
        Item::Whole => 0,
        Item::At(index) => 1 << 32 | u64::from(index),
        Item::Claim(frame) => 2 << 32 | u64::from(frame),
    };
    [u64::from(command.visit.0), item, u64::from(command.part) << 16 | u64::from(attempt)]
}

/// Far from anything that ids have in common.
const SALT: u64 = 0x9e37_79b9_7f4a_7c15;

fn derived(execution: ExecutionId, kind: u64, parts: &[u64]) -> SpanId {
    let start = mix((execution.0 as u64).wrapping_add(SALT) ^ kind.rotate_right(8));
    let id = parts.iter().fold(start, |id, part| mix(id ^ mix(part.wrapping_add(SALT))));
    SpanId(id.max(1))
}

/// Strews neighbours far apart, and no two onto each other: the last step of SplitMix64.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// The trace that a run belongs to, and the span outside that it hangs from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTrace {
    pub trace: TraceId,
    /// Nothing when the trace begins with the run.
    pub parent: Option<SpanId>,
    /// Whether somebody wants to see it.
    pub is_sampled: bool,
    /// What other systems on the way want to be passed on.
    pub state: Option<Arc<str>>,
}

impl RunTrace {
    /// A trace that begins with a run.
    pub fn own(execution: ExecutionId) -> RunTrace {
        let id = execution.0 as u64;
        let trace = u128::from(mix(id ^ SALT)) << 64 | u128::from(mix(id.wrapping_add(SALT)));
        RunTrace { trace: TraceId(trace.max(1)), parent: None, is_sampled: true, state: None }
    }

    /// The trace that a run was started with, in the facts that are kept with it. What is no W3C trace context is none.
    pub fn given(meta: &Value) -> Option<RunTrace> {
        let trace = meta.get("trace")?;
        let state = trace.get("tracestate").and_then(Value::as_str).filter(|state| !state.is_empty());
        let parent = trace.get("traceparent").and_then(Value::as_str)?;
        Some(RunTrace { state: state.map(Into::into), ..RunTrace::parse(parent)? })
    }

    /// Reads `00-<trace>-<span>-<flags>`. Later versions may add to it.
    pub fn parse(traceparent: &str) -> Option<RunTrace> {
        let mut parts = traceparent.splitn(5, '-');
        let version = hex(parts.next()?, 2)?;
        let (trace, span) = (hex(parts.next()?, 32)?, hex(parts.next()?, 16)?);
        let flags = hex(parts.next()?, 2)?;
        let has_more = parts.next().is_some();
        if version == 0xff || (version == 0 && has_more) || trace == 0 || span == 0 {
            return None;
        }
        Some(RunTrace {
            trace: TraceId(trace),
            parent: Some(SpanId(u64::try_from(span).ok()?)),
            is_sampled: flags & 1 == 1,
            state: None,
        })
    }

    /// The context for whatever hangs from a span of the run.
    pub fn passed_on(&self, span: SpanId) -> Value {
        let flags = u8::from(self.is_sampled);
        let mut context = Map::new();
        context.insert("traceparent".into(), format!("00-{}-{span}-{flags:02x}", self.trace).into());
        if let Some(state) = &self.state {
            context.insert("tracestate".into(), Value::Text(state.clone()));
        }
        context.into()
    }
}

/// A number of exactly so many lower-case hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == digits && text.bytes().all(is_hex)).then(|| u128::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn meta(traceparent: &str) -> Value {
        Value::map([(
            "trace",
            Value::map([("traceparent", traceparent.into()), ("tracestate", "a=1".into())]),
        )])
    }

    #[test]
    fn the_context_of_others_is_read_and_passed_on() {
        let given = RunTrace::given(&meta(PARENT)).expect("a context");
        assert_eq!(given.trace.to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(given.parent.map(|span| span.to_string()).as_deref(), Some("b7ad6b7169203331"));
        let passed_on = given.passed_on(SpanId(0xabc));
        let expected = "00-0af7651916cd43dd8448eb211c80319c-0000000000000abc-01";
        assert_eq!(passed_on.get("traceparent").and_then(Value::as_str), Some(expected));
        assert_eq!(passed_on.get("tracestate").and_then(Value::as_str), Some("a=1"));
        let unwanted = RunTrace::parse(&PARENT.replace("-01", "-00")).expect("a context");
        assert!(!unwanted.is_sampled);
        let later = PARENT.replacen("00", "cc", 1) + "-more";
        assert!(RunTrace::parse(&later).is_some_and(|later| later.is_sampled), "later versions say more");
    }

    #[test]
    fn what_is_no_context_is_none() {
        for wrong in [
            "",
            "00-1",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-+1",
        ] {
            assert_eq!(RunTrace::given(&meta(wrong)), None, "{wrong}");
        }
        assert_eq!(RunTrace::given(&Value::Null), None);
    }

    #[test]
    fn everything_in_a_run_has_a_span_of_its_own() {
        let mut ids = BTreeSet::new();
        let mut count = 0;
        let mut add = |id: SpanId| {
            ids.insert(id);
            count += 1;
        };
        for execution in [1, 2, 350_000_000_000_000_001].map(ExecutionId) {
            add(SpanId::of_execution(execution));
            for visit in (1..20).map(VisitId) {
                add(SpanId::of_visit(execution, visit));
                for index in 0..20 {
                    add(SpanId::of_item(execution, visit, index));
                    for (part, attempt) in [(0, 1), (0, 2), (1, 1)] {
                        let command = CommandKey { visit, item: Item::At(index), part };
                        add(SpanId::of_attempt(execution, command, attempt));
                        add(SpanId::of_try(execution, command, attempt, 0));
                    }
                }
                add(SpanId::of_attempt(execution, CommandKey::whole(visit), 1));
                let claim = CommandKey { visit, item: Item::Claim(0), part: 0 };
                add(SpanId::of_attempt(execution, claim, 1));
            }
        }
        assert_eq!(ids.len(), count);
        assert!(!ids.contains(&SpanId(0)));
    }

    #[test]
    fn ids_stay_the_same_in_later_releases() {
        let execution = ExecutionId(350_000_000_000_000_001);
        let command = CommandKey { visit: VisitId(3), item: Item::At(1), part: 0 };
        let ids = [
            SpanId::of_execution(execution),
            SpanId::of_visit(execution, VisitId(3)),
            SpanId::of_item(execution, VisitId(3), 1),
            SpanId::of_attempt(execution, command, 1),
            SpanId::of_try(execution, command, 1, 2),
        ];
        assert_eq!(
            ids.map(|id| id.to_string()),
            [
                "09a69613fc7850ec",
                "1528b539696d6400",
                "df824a886482d3fd",
                "b338f936f307175a",
                "4efde8dfab0d72c3",
            ]
        );
        assert_eq!(RunTrace::own(execution).trace.to_string(), "cbc11a1652d2c801b020a3a47d1125e5");
    }
}
