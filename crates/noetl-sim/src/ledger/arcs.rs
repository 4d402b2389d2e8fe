//! Which arcs fire, and what they lead to.

use noetl_dsl::plan::{StepIndex, Target};
use noetl_types::{EventBody, TakenArc};

use super::conditions::Facts;
use super::{Ledger, Load};

impl Ledger {
    /// The arcs that fired are arcs of the step, and the ones that its conditions say.
    pub(super) fn check_arcs(
        &self,
        step: StepIndex,
        taken: &[TakenArc],
        facts: &Facts,
        first_only: bool,
        _load: &Load<'_>,
    ) -> Result<(), String> {
        let name = self.name(step);
        let router = &self.plan.steps[step].router;
        for arc in taken {
            let Some(written) = router.arcs.get(arc.arc as usize) else {
                return Err(format!("'{name}' has no arc {}", arc.arc));
            };
            let target = match written.target {
                Target::Step(to) => Some(self.name(to)),
                Target::End => None,
            };
            if arc.to.as_deref() != target {
                return Err(format!("arc {} of '{name}' leads to {target:?}, not to {:?}", arc.arc, arc.to));
            }
        }
        let one = first_only || !router.inclusive;
        let mut expected = Vec::new();
        for (at, arc) in router.arcs.iter().enumerate() {
            if facts.failed && !self.looks_at_failure(step, at) {
                continue;
            }
            let holds = match &arc.when {
                None => true,
                Some(when) => match self.holds(when, Some(facts)) {
                    Some(holds) => holds,
                    // A condition of another form: what follows can't be told.
                    None => return Ok(()),
                },
            };
            if holds && (!one || expected.is_empty()) {
                expected.push(at as u32);
            }
        }
        let fired: Vec<u32> = taken.iter().map(|arc| arc.arc).collect();
        if fired != expected {
            return Err(format!("arcs {fired:?} of '{name}' fire, and {expected:?} should"));
        }
        Ok(())
    }

    /// Notes where arcs lead, and that their `set` comes next.
    pub(super) fn follow(&mut self, step: StepIndex, taken: &[TakenArc]) -> Result<(), String> {
        for arc in taken {
            *self.arcs_taken.entry((step, arc.arc as usize)).or_default() += 1;
            if let Some(to) = &arc.to {
                let to = self.index(to)?;
                self.reached.insert(to);
            }
        }
        let arcs: Vec<usize> = taken.iter().map(|arc| arc.arc as usize).collect();
        let owes = arcs.iter().any(|&arc| self.sets_of_arc(step, arc).next().is_some());
        self.owed = owes.then_some((step, arcs));
        Ok(())
    }

    /// The top-level keys under `ctx` that an arc assigns.
    pub(super) fn sets_of_arc(&self, step: StepIndex, arc: usize) -> impl Iterator<Item = &str> {
        super::context::keys_of(&self.plan.steps[step].router.arcs[arc].set)
    }

    /// The `set` of arcs comes right after they fired.
    pub(super) fn check_debt(&self, event: &EventBody) -> Result<(), String> {
        match &self.owed {
            Some((step, arcs)) if !matches!(event, EventBody::ContextUpdated { .. }) => {
                Err(format!("arcs {arcs:?} of '{}' fired and their set is not applied", self.name(*step)))
            }
            _ => Ok(()),
        }
    }
}
