//! Says what follows from where a run stands, one small decision at a time.

mod enter;
mod fill;
mod finish;
mod issue;
mod looping;
mod route;
mod settle;
mod skip;

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_types::{RunStatus, Timestamp};

use crate::effect::Decision;
use crate::run::Run;
use crate::values::Values;

pub(crate) use enter::blocker;
pub(crate) use finish::ended;
pub(crate) use looping::{count, failures_allowed, items, number};
pub(crate) use route::whole_keys;

/// Says what should happen next. The same run, plan and instant always give the same decision; an empty one means that
/// nothing is to be done until something comes from outside. Fold the events in before asking again.
pub fn decide(run: &Run, plan: &Plan, now: Timestamp, values: &Arc<dyn Values>) -> Decision {
    if run.status.is_terminal() || run.status == RunStatus::Pending {
        return Decision::default();
    }
    if let Some(&visit) = run.agenda.settle.first() {
        return settle::decide(run, plan, visit, now, values);
    }
    if run.status == RunStatus::Paused {
        return Decision::default();
    }
    if let Some(&visit) = run.agenda.fill.first() {
        return fill::decide(run, plan, visit, values);
    }
    if !run.agenda.issue.is_empty() {
        return issue::decide(run, plan, values);
    }
    if run.agenda.enter {
        let decision = enter::decide(run, plan, now, values);
        if !decision.is_empty() {
            return decision;
        }
    }
    if run.visits.is_empty() && run.pending.is_empty() {
        return finish::decide(run, plan, now, values);
    }
    Decision::default()
}
