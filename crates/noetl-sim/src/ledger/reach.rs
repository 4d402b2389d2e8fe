//! Who can reach whom, worked out from the arcs as they are written.

use noetl_dsl::Plan;
use noetl_dsl::plan::{StepIndex, Target};

#[derive(Debug)]
pub struct Reach {
    /// For each step, the steps that one or more arcs lead to.
    after: Vec<Vec<bool>>,
    /// For each step, how many others lead to it.
    ways_in: Vec<usize>,
}

impl Reach {
    pub fn of(plan: &Plan) -> Reach {
        let count = plan.steps.len();
        let targets = |step: StepIndex| {
            plan.steps[step].router.arcs.iter().filter_map(|arc| match arc.target {
                Target::Step(to) => Some(to),
                Target::End => None,
            })
        };
        let mut after = vec![vec![false; count]; count];
        for (from, seen) in after.iter_mut().enumerate() {
            let mut open: Vec<StepIndex> = targets(from).collect();
            while let Some(step) = open.pop() {
                if !std::mem::replace(&mut seen[step], true) {
                    open.extend(targets(step));
                }
            }
        }
        let leads_to = |from: StepIndex, to: StepIndex| targets(from).any(|target| target == to);
        let ways_in = (0..count).map(|to| (0..count).filter(|&from| leads_to(from, to)).count()).collect();
        Reach { after, ways_in }
    }

    pub fn can(&self, from: StepIndex, to: StepIndex) -> bool {
        self.after[from][to]
    }

    pub fn is_join(&self, step: StepIndex) -> bool {
        self.ways_in[step] > 1
    }
}
