//! Entering and skipping steps.

use std::time::Duration;

use noetl_dsl::plan::StepIndex;
use noetl_types::{LoopEntry, SkipReason, TakenArc, VisitId};

use super::conditions::Facts;
use super::{Ledger, Load, OpenVisit};
use crate::tally::Tally;

impl Ledger {
    #[expect(clippy::too_many_arguments, reason = "the fields of one event, and what is counted")]
    pub(super) fn enter(
        &mut self,
        step: &str,
        visit: VisitId,
        looping: Option<&LoopEntry>,
        is_final: bool,
        time: Option<Duration>,
        load: &Load<'_>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let index = self.index(step)?;
        if visit.0 != self.last_visit + 1 {
            return Err(format!("visit {} of '{step}' comes after visit {}", visit.0, self.last_visit));
        }
        self.last_visit = visit.0;
        if is_final {
            self.check_final(index)?;
            self.final_step_done = true;
        } else {
            self.leave_reached(index)?;
            if let Some(failed) = self.failures.iter().find(|&&failed| self.reach.can(failed, index)) {
                return Err(format!("'{step}' is entered behind the failure of '{}'", self.name(*failed)));
            }
        }
        self.check_admission(index)?;
        let plan_step = &self.plan.steps[index];
        let promised = plan_step.timeout.as_ref().and_then(|timeout| timeout.as_literal()?.as_f64());
        if promised.is_some_and(|seconds| time != Some(Duration::from_secs_f64(seconds)))
            && !self.fails_at_once(looping)
        {
            return Err(format!("'{step}' has {time:?} and its timeout is {promised:?} s"));
        }
        let looping = match looping {
            Some(entry) => Some(self.open_loop(index, entry, load)?),
            None => None,
        };
        tally.steps_entered += 1;
        tally.joins_entered += u64::from(self.reach.is_join(index));
        tally.revisits += u64::from(!self.ran.insert(index));
        let visit_state = OpenVisit {
            step: index,
            looping,
            report: None,
            set_applied: false,
            timed_out: false,
            has_deadline: time.is_some(),
        };
        self.visits.insert(visit, visit_state);
        Ok(())
    }

    /// A step whose settings can't be evaluated is entered without them.
    fn fails_at_once(&self, looping: Option<&LoopEntry>) -> bool {
        looping.is_none()
    }

    pub(super) fn skip(
        &mut self,
        step: &str,
        reason: SkipReason,
        taken: &[TakenArc],
        load: &Load<'_>,
    ) -> Result<(), String> {
        let index = self.index(step)?;
        if reason == SkipReason::NotReached {
            return self.check_not_reached(index, taken);
        }
        self.must_not_be_paused()?;
        let at_the_end = !self.reached.contains(&index) && self.plan.executor.final_step == Some(index);
        if at_the_end && reason != SkipReason::FailureBefore {
            self.check_final(index)?;
            self.final_step_done = true;
        } else {
            self.leave_reached(index)?;
        }
        self.ran.insert(index);
        let plan_step = self.plan.steps[index].clone();
        match reason {
            SkipReason::FailureBefore => {
                if !self.failures.iter().any(|&failed| self.reach.can(failed, index)) {
                    return Err(format!("'{step}' is skipped for a failure that can't reach it"));
                }
            }
            SkipReason::NotAdmitted => {
                if plan_step.admit.is_empty() {
                    return Err(format!("'{step}' admits everyone and is not admitted"));
                }
            }
            SkipReason::Guard => {
                let Some(when) = &plan_step.when else {
                    return Err(format!("'{step}' is skipped by a guard it does not have"));
                };
                if self.holds(when, None) == Some(true) {
                    return Err(format!("'{step}' is skipped although its guard holds"));
                }
                if taken.len() > 1 {
                    return Err(format!("'{step}' was skipped and leads on by {} arcs", taken.len()));
                }
                let facts = Facts { skipped: true, ..Facts::default() };
                self.check_arcs(index, taken, &facts, true, load)?;
            }
            SkipReason::NotReached => {}
        }
        if reason != SkipReason::Guard && !taken.is_empty() {
            return Err(format!("'{step}' was skipped and leads on"));
        }
        self.follow(index, taken)
    }

    /// Takes back that a step was reached, if it may be entered now.
    fn leave_reached(&mut self, index: StepIndex) -> Result<(), String> {
        let name = self.name(index).to_owned();
        if !self.reached.remove(&index) {
            return Err(format!("'{name}' is entered, and no arc led to it since it was entered last"));
        }
        if let Some(blocker) = self.blocker(index) {
            let blocker = self.name(blocker);
            return Err(format!("'{name}' is entered while '{blocker}' is live and can reach it"));
        }
        Ok(())
    }

    /// A live step that this one has to wait for: its own last visit, or what can still lead to a join. Of two that wait
    /// to be entered and can reach each other, either may go first.
    pub(super) fn blocker(&self, index: StepIndex) -> Option<StepIndex> {
        let mut live = self.visits.values().map(|visit| visit.step);
        let is_join = self.reach.is_join(index);
        let active = live.find(|&other| other == index || (is_join && self.reach.can(other, index)));
        active.or_else(|| {
            self.reached.iter().copied().find(|&other| {
                is_join && other != index && self.reach.can(other, index) && !self.reach.can(index, other)
            })
        })
    }

    fn check_final(&self, index: StepIndex) -> Result<(), String> {
        let name = self.name(index);
        if self.plan.executor.final_step != Some(index) {
            return Err(format!("'{name}' is not the final step"));
        }
        if self.final_step_done {
            return Err(format!("the final step '{name}' is entered twice"));
        }
        if !self.visits.is_empty() || !self.reached.is_empty() {
            return Err(format!("the final step '{name}' is entered while others are live"));
        }
        Ok(())
    }

    /// The first admission rule that holds decides; then the guard does.
    fn check_admission(&self, index: StepIndex) -> Result<(), String> {
        let step = &self.plan.steps[index];
        for rule in &step.admit {
            let holds = match &rule.when {
                Some(when) => self.holds(when, None),
                None => Some(true),
            };
            match (holds, rule.allow) {
                (Some(false), _) => {}
                (Some(true), false) => {
                    return Err(format!("'{}' is entered and was not admitted", step.name));
                }
                (Some(true), true) | (None, _) => break,
            }
        }
        match &step.when {
            Some(when) if self.holds(when, None) == Some(false) => {
                Err(format!("'{}' is entered although its guard does not hold", step.name))
            }
            _ => Ok(()),
        }
    }

    /// Nothing that is live can lead to a step that is noted as not reached.
    fn check_not_reached(&mut self, index: StepIndex, taken: &[TakenArc]) -> Result<(), String> {
        let name = self.name(index);
        let mut live = self.visits.values().map(|visit| visit.step).chain(self.reached.iter().copied());
        if let Some(other) = live.find(|&other| other == index || self.reach.can(other, index)) {
            return Err(format!(
                "'{name}' is noted as not reached while '{}' can reach it",
                self.name(other)
            ));
        }
        if self.ran.contains(&index) || !taken.is_empty() {
            return Err(format!("'{name}' is noted as not reached after it ran"));
        }
        Ok(())
    }

    pub(super) fn time_out(&mut self, visit: VisitId) -> Result<(), String> {
        self.commands.retain(|(of, _), _| *of != visit);
        let state = self.visits.get_mut(&visit).ok_or("a visit that is over times out")?;
        if !state.has_deadline {
            return Err("a visit without a timeout times out".to_owned());
        }
        state.timed_out = true;
        Ok(())
    }
}
