//! Judges the arcs of a step.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::{SetEntry, SetScope, Step, StepIndex, Target};
use noetl_expr::{EvalError, Scope, View};
use noetl_types::{
    Assignment, ContextCause, ErrorKind, EventBody, Report, SkipReason, Slot, StepStatus, TakenArc,
    Timestamp, ToolError, Value,
};

use super::skip;
use crate::command::context_for;
use crate::effect::Decision;
use crate::names::{Names, OutputRoot};
use crate::run::Run;
use crate::values::Resolver;

/// The run's data for templates that read these paths.
pub fn data_scope<'p>(
    run: &Run,
    plan: &Plan,
    paths: impl IntoIterator<Item = &'p String>,
    from: Option<&Arc<str>>,
    resolver: &Arc<Resolver>,
) -> Names {
    let mut reads = Vec::new();
    for path in paths {
        let mut parts = path.split('.');
        match (parts.next(), parts.next()) {
            (Some("steps" | "ctx"), Some(name)) => reads.extend(plan.find_step(name)),
            (Some("steps"), None) => reads.extend(0..plan.steps.len()),
            (Some(name), _) => reads.extend(plan.find_step(name)),
            (None, _) => {}
        }
    }
    Names {
        data: Arc::new(context_for(run, plan, &reads, from)),
        local: Arc::default(),
        ctx_overlay: Arc::default(),
        resolver: resolver.clone(),
    }
}

/// How a step came out, as its `set` and arcs see it.
pub struct Ending<'a> {
    pub step: &'a Step,
    pub output: Arc<OutputRoot>,
    pub result: Slot,
    pub error: Option<ToolError>,
    pub is_loop: bool,
    pub skipped: bool,
}

impl Ending<'_> {
    /// Turns it into a failure, whatever the step's work came to.
    pub fn fail(&mut self, error: ToolError) {
        let report = Report { error: Some(error.clone()), ..(*self.output.report).clone() };
        self.output = Arc::new(OutputRoot {
            report: Arc::new(report),
            attempt: self.output.attempt,
            resolver: self.output.resolver.clone(),
        });
        self.error = Some(error);
    }

    /// The scope of the step's `set` and arcs.
    pub fn scope(&self, run: &Run, plan: &Plan, now: Timestamp, resolver: &Arc<Resolver>) -> Scope {
        let step = self.step;
        let sets = step.set.iter().chain(step.router.arcs.iter().flat_map(|arc| &arc.set));
        let conditions = step.router.arcs.iter().filter_map(|arc| arc.when.as_ref());
        let paths = sets.flat_map(|set| set.value.paths()).chain(conditions.flat_map(|when| when.paths()));
        let mut names = data_scope(run, plan, paths, None, resolver);
        let mut local: BTreeMap<Arc<str>, View> = BTreeMap::new();
        if !self.skipped {
            let own = crate::values::result_view(&self.result, resolver);
            local.insert("result".into(), own.clone());
            local.insert("response".into(), own.clone());
            local.insert(step.name.clone(), own);
            // The step's name also stands for this visit's result in `steps.<name>`.
            let data = Arc::make_mut(&mut names.data);
            data.steps.insert(step.name.clone(), self.result.clone());
        }
        local.insert("output".into(), View::Lazy(self.output.clone()));
        local.insert("event".into(), View::Value(self.event(now)));
        let error = self.error.as_ref().map_or(Value::Null, |error| error.to_value());
        local.insert("error".into(), View::Value(error));
        local.insert("step".into(), View::Value(Value::Text(step.name.clone())));
        names.local = Arc::new(local);
        names.scope(now)
    }

    fn event(&self, now: Timestamp) -> Value {
        let failed = self.error.is_some();
        let names: &[&str] = match (self.skipped, self.is_loop, failed) {
            (true, _, _) => &["step.skipped"],
            (_, true, false) => &["loop.done", "step.done", "call.done", "step.exit"],
            (_, true, true) => &["loop.done", "step.failed", "call.error"],
            (_, false, false) => &["step.done", "call.done", "step.exit"],
            (_, false, true) => &["step.failed", "call.error"],
        };
        let payload = match &self.result {
            Slot::Inline(value) => value.clone(),
            Slot::Stored(stored) => stored.extract.clone(),
        };
        Value::map([
            ("name", Value::from(names[0])),
            ("_names", Value::list(names.iter().map(|name| Value::from(*name)))),
            ("step", Value::Text(self.step.name.clone())),
            ("status", Value::from(if failed { "FAILED" } else { "COMPLETED" })),
            ("payload", payload),
            ("timestamp", Value::text(now.to_string())),
        ])
    }
}

/// The arcs that fire, or the fault that kept them from being judged.
pub fn judge(
    step: &Step,
    scope: &Scope,
    after_failure: bool,
    first_only: bool,
) -> Result<Vec<usize>, EvalError> {
    let mut fired = Vec::new();
    for (at, arc) in step.router.arcs.iter().enumerate() {
        if after_failure && !arc.sees_failure {
            continue;
        }
        let holds = match &arc.when {
            None => true,
            Some(when) => match when.holds(scope) {
                Ok(holds) => holds,
                // After a failure a condition that can't be evaluated counts as one that does not hold.
                Err(_) if after_failure => false,
                Err(error) => return Err(error),
            },
        };
        if holds {
            fired.push(at);
            if !step.router.inclusive || first_only {
                break;
            }
        }
    }
    Ok(fired)
}

/// The arcs as they are recorded.
pub fn taken(plan: &Plan, step: &Step, fired: &[usize]) -> Vec<TakenArc> {
    fired
        .iter()
        .map(|&at| TakenArc {
            arc: at as u32,
            to: match step.router.arcs[at].target {
                Target::Step(index) => Some(plan.steps[index].name.clone()),
                Target::End => None,
            },
        })
        .collect()
}

/// The values of `set` entries, all seen from before any of them. Only `ctx` outlasts a step.
pub fn assignments<'s>(
    run: &Run,
    sets: impl IntoIterator<Item = &'s SetEntry>,
    scope: &Scope,
    resolver: &Resolver,
) -> Result<Vec<Assignment>, EvalError> {
    let mut assignments = Vec::new();
    for set in sets {
        if set.scope == SetScope::Ctx {
            let value = set.value.render(scope)?;
            assignments.push(Assignment { path: set.path.clone(), value: Slot::Inline(value) });
        }
    }
    Ok(whole_keys(run, assignments, resolver))
}

/// Turns assignments along dotted paths into assignments of whole top-level keys, so that values can be stored aside.
pub(crate) fn whole_keys(run: &Run, sets: Vec<Assignment>, resolver: &Resolver) -> Vec<Assignment> {
    let mut whole: Vec<Assignment> = Vec::with_capacity(sets.len());
    for set in sets {
        let Some((first, rest)) = set.path.split_once('.') else {
            whole.push(set);
            continue;
        };
        let earlier = whole.iter().rev().find(|other| &*other.path == first).map(|other| other.value.clone());
        let below = match earlier.or_else(|| run.ctx.get(first).cloned()) {
            Some(slot) => resolver.load(&slot).unwrap_or_default(),
            None => Value::Null,
        };
        let value = resolver.load(&set.value).unwrap_or_default();
        let path: Vec<&str> = rest.split('.').collect();
        let value = Slot::Inline(below.with_path(&path, value));
        whole.push(Assignment { path: Arc::from(first), value });
    }
    whole
}

/// Events for arcs that fire when a step is skipped by its own guard: the first one that matches is followed.
pub fn pass_on(
    run: &Run,
    plan: &Plan,
    index: StepIndex,
    now: Timestamp,
    resolver: &Arc<Resolver>,
) -> Decision {
    let step = &plan.steps[index];
    let output = OutputRoot { report: Arc::default(), attempt: 0, resolver: resolver.clone() };
    let ending = Ending {
        step,
        output: Arc::new(output),
        result: Slot::default(),
        error: None,
        is_loop: false,
        skipped: true,
    };
    let scope = ending.scope(run, plan, now, resolver);
    // A guard keeps the step from running; what its arcs can't evaluate simply does not match.
    let fired = judge(step, &scope, false, true).unwrap_or_default();
    let sets = fired.iter().flat_map(|&at| &step.router.arcs[at].set);
    let sets = assignments(run, sets, &scope, resolver).unwrap_or_default();
    let taken = taken(plan, step, &fired);
    let mut decision = Decision::default();
    let skipped = skip::not_reached(run, plan, index, &taken);
    decision.events.push(EventBody::StepSkipped {
        step: step.name.clone(),
        reason: SkipReason::Guard,
        taken,
    });
    if !sets.is_empty() {
        decision.events.push(EventBody::ContextUpdated {
            step: step.name.clone(),
            cause: ContextCause::Arc,
            sets,
        });
    }
    decision.events.extend(skipped);
    decision
}

/// The exit of a visit: judges the arcs and records what they do.
#[expect(clippy::too_many_arguments, reason = "what the caller has worked out about the visit")]
pub fn exit(
    run: &Run,
    plan: &Plan,
    index: StepIndex,
    visit: noetl_types::VisitId,
    mut ending: Ending<'_>,
    loop_result: Option<Slot>,
    now: Timestamp,
    resolver: &Arc<Resolver>,
) -> Decision {
    let step = &plan.steps[index];
    let (fired, sets) = loop {
        let scope = ending.scope(run, plan, now, resolver);
        let after_failure = ending.error.is_some();
        let judged = judge(step, &scope, after_failure, false).and_then(|fired| {
            let sets = fired.iter().flat_map(|&at| &step.router.arcs[at].set);
            let sets = assignments(run, sets, &scope, resolver)?;
            Ok((fired, sets))
        });
        match judged {
            Ok(judged) => break judged,
            Err(error) if after_failure => {
                ending.fail(ToolError::new(ErrorKind::Template, format!("next: {error}")));
                break (Vec::new(), Vec::new());
            }
            Err(error) => ending.fail(ToolError::new(ErrorKind::Template, format!("next: {error}"))),
        }
    };
    let handled = ending.error.is_some() && !fired.is_empty();
    let dead_end = fired.is_empty() && !step.router.arcs.is_empty() && ending.error.is_none();
    if dead_end && plan.executor.no_next_is_error {
        let message =
            format!("no arc of step '{}' matched, and executor.spec.no_next_is_error is set", step.name);
        ending.error = Some(ToolError::new(ErrorKind::Config, message));
    }
    let taken = taken(plan, step, &fired);
    let unhandled = ending.error.is_some() && !handled;
    let skipped = if unhandled { Vec::new() } else { skip::not_reached(run, plan, index, &taken) };
    let mut decision = Decision::default();
    decision.events.push(EventBody::StepExited {
        step: step.name.clone(),
        visit,
        status: if ending.error.is_some() { StepStatus::Failed } else { StepStatus::Completed },
        taken,
        result: loop_result,
        error: ending.error,
        handled,
    });
    if !sets.is_empty() {
        decision.events.push(EventBody::ContextUpdated {
            step: step.name.clone(),
            cause: ContextCause::Arc,
            sets,
        });
    }
    decision.events.extend(skipped);
    decision
}
