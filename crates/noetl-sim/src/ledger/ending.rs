//! Exits of steps and the end of the run.

use std::sync::Arc;

use noetl_dsl::plan::{LoopFailure, StepIndex};
use noetl_types::{ErrorKind, RunStatus, Slot, StepStatus, TakenArc, ToolError, VisitId};

use super::conditions::Facts;
use super::{Ledger, Load, OpenVisit, whole};
use crate::tally::Tally;

/// What `step.exit` says.
pub struct Exit<'e> {
    pub status: StepStatus,
    pub taken: &'e [TakenArc],
    pub result: Option<&'e Slot>,
    pub error: Option<&'e ToolError>,
    pub handled: bool,
}

impl Ledger {
    pub(super) fn exit(
        &mut self,
        step: &str,
        visit: VisitId,
        exit: &Exit<'_>,
        load: &Load<'_>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let index = self.index(step)?;
        let state =
            self.visits.remove(&visit).ok_or_else(|| format!("'{step}' exits and is not under way"))?;
        if state.step != index {
            return Err(format!("visit {} of '{}' exits as '{step}'", visit.0, self.name(state.step)));
        }
        if let Some((_, open)) = self.commands.iter().find(|((of, _), _)| *of == visit) {
            return Err(format!("'{step}' exits while {open:?} is open"));
        }
        if (exit.status == StepStatus::Failed) != exit.error.is_some() {
            return Err(format!("'{step}' exits {} with {:?}", exit.status, exit.error));
        }
        let facts = self.check_work(index, &state, exit, load)?;
        tally.loops += u64::from(state.looping.is_some());
        self.check_routing(index, &state, exit, &facts, load)?;
        if !exit.taken.iter().any(|arc| arc.to.is_some()) && (exit.error.is_none() || exit.handled) {
            let end_ran = self.leaf.is_some_and(|leaf| self.name(leaf) == "end");
            if !end_ran {
                self.leaf = Some(index);
            }
        }
        if step == "end" && exit.error.is_none() {
            self.leaf = Some(index);
        }
        if exit.error.is_some() && !exit.handled {
            self.failures.push(index);
        }
        self.follow(index, exit.taken)
    }

    /// The exit says what the work came to.
    fn check_work(
        &self,
        index: StepIndex,
        state: &OpenVisit,
        exit: &Exit<'_>,
        load: &Load<'_>,
    ) -> Result<Facts, String> {
        let name = self.name(index);
        let is_loop = self.plan.steps[index].looping.is_some();
        let mut facts = Facts { is_loop, ..Facts::default() };
        if state.timed_out {
            facts.failed = true;
        } else if let Some(looping) = &state.looping {
            if !looping.is_done() {
                return Err(format!("'{name}' exits before its loop is done"));
            }
            let result = exit.result.ok_or_else(|| format!("the loop '{name}' exits without a result"))?;
            facts.data = whole(result, load)?;
            facts.failed = self.loop_fails(index, looping);
            looping.check_result(result, facts.failed, load)?;
        } else {
            let report =
                state.report.as_ref().ok_or_else(|| format!("'{name}' exits before its work is done"))?;
            facts.data = whole(&report.data, load)?;
            let excused =
                self.plan.executor.lenient && report.error.as_ref().is_some_and(|error| error.answered);
            facts.failed = report.is_error() && !excused;
        }
        // A step may still fail over its own set or arcs, but an error never goes away.
        let kind = exit.error.map(|error| error.kind);
        let own_fault = matches!(kind, Some(ErrorKind::Template | ErrorKind::Config));
        if facts.failed != exit.error.is_some() && (!own_fault || facts.failed) {
            return Err(format!(
                "the work of '{name}' failed: {}; its exit says {:?}",
                facts.failed, exit.error
            ));
        }
        let sets = !self.plan.steps[index].set.is_empty();
        if exit.error.is_none() && sets != state.set_applied {
            return Err(format!("'{name}' completes and its set was applied: {}", state.set_applied));
        }
        Ok(facts)
    }

    fn loop_fails(&self, index: StepIndex, looping: &super::OpenLoop) -> bool {
        let total = looping.entry.total.unwrap_or(looping.next_item);
        match self.plan.steps[index].looping.as_ref().map(|looping| looping.on_error) {
            Some(LoopFailure::Continue) => looping.failed_claims > 0,
            Some(LoopFailure::Threshold(share)) => {
                looping.failed_claims > 0 || f64::from(looping.failed) > share * f64::from(total)
            }
            _ => looping.failed > 0,
        }
    }

    fn check_routing(
        &self,
        index: StepIndex,
        state: &OpenVisit,
        exit: &Exit<'_>,
        facts: &Facts,
        load: &Load<'_>,
    ) -> Result<(), String> {
        let name = self.name(index);
        let step = &self.plan.steps[index];
        if exit.error.is_some() {
            if exit.handled == exit.taken.is_empty() {
                return Err(format!(
                    "the failure of '{name}' is handled: {}, by {:?}",
                    exit.handled, exit.taken
                ));
            }
            if let Some(arc) = exit.taken.iter().find(|arc| !self.looks_at_failure(index, arc.arc as usize)) {
                return Err(format!("arc {} of '{name}' fires after a failure it does not look at", arc.arc));
            }
        } else if exit.handled {
            return Err(format!("'{name}' handles a failure there was not"));
        }
        let dead_end = !facts.failed && !step.router.arcs.is_empty() && exit.taken.is_empty();
        if dead_end && self.plan.executor.no_next_is_error && exit.error.is_none() {
            return Err(format!("no arc of '{name}' matches, and that should be an error"));
        }
        // Faults in the step's own templates change what its arcs see in ways that are not worked out here.
        if facts.failed == exit.error.is_some() && !state.timed_out {
            self.check_arcs(index, exit.taken, facts, false, load)?;
        }
        Ok(())
    }

    /// The final step has had its turn, and nothing is under way.
    fn check_quiet(&self) -> Result<(), String> {
        if let Some(visit) = self.visits.values().next() {
            return Err(format!("the run ends while '{}' is under way", self.name(visit.step)));
        }
        if let Some(&step) = self.reached.iter().next() {
            return Err(format!("the run ends while '{}' waits to be entered", self.name(step)));
        }
        match self.plan.executor.final_step {
            Some(step) if !self.final_step_done && !self.ran.contains(&step) => {
                Err(format!("the run ends without its final step '{}'", self.name(step)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn complete(&mut self, from: Option<&str>) -> Result<(), String> {
        self.check_quiet()?;
        if let Some(&failed) = self.failures.first() {
            return Err(format!("the run completes although '{}' failed", self.name(failed)));
        }
        let leaf = self.leaf.map(|leaf| self.name(leaf));
        if leaf != from {
            return Err(format!("the result is that of {from:?} and should be that of {leaf:?}"));
        }
        self.status = RunStatus::Completed;
        Ok(())
    }

    pub(super) fn fail(&mut self, error: &ToolError, failed_steps: &[Arc<str>]) -> Result<(), String> {
        let out_of_time =
            error.kind == ErrorKind::Timeout && error.message.starts_with("the run took longer");
        if out_of_time {
            if self.plan.executor.timeout.is_none() {
                return Err("a run without a timeout times out".to_owned());
            }
        } else {
            self.check_quiet()?;
            let mut expected: Vec<&str> = Vec::new();
            for &step in &self.failures {
                if !expected.contains(&self.name(step)) {
                    expected.push(self.name(step));
                }
            }
            if expected.is_empty() || !failed_steps.iter().map(|step| &**step).eq(expected.iter().copied()) {
                return Err(format!("the run fails for {failed_steps:?}, and {expected:?} failed"));
            }
        }
        self.status = RunStatus::Failed;
        Ok(())
    }
}
