//! Which steps, arcs and rules of playbooks the cases reached.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use noetl_dsl::Plan;

use crate::address::target;
use crate::trace::Trace;

/// What was reached, by the path of the playbook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    by_path: BTreeMap<Arc<str>, Reached>,
}

/// Parts of one playbook, by their positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Reached {
    steps: BTreeSet<usize>,
    /// Step and arc.
    arcs: BTreeSet<(usize, usize)>,
    /// Step, task and rule.
    rules: BTreeSet<(usize, usize, usize)>,
}

/// How much of a playbook was reached, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    pub steps: Share,
    pub arcs: Share,
    pub rules: Share,
    /// In the order of the playbook.
    pub missed: Vec<Missed>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub reached: usize,
    pub of: usize,
}

/// A part that no case reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// `step`, `arc` or `rule`.
    pub kind: &'static str,
    pub what: String,
    /// In the playbook, from 1.
    pub line: u32,
}

impl Share {
    /// In hundredths. Nothing to reach is all of it.
    pub fn percent(self) -> f64 {
        if self.of == 0 { 100.0 } else { self.reached as f64 * 100.0 / self.of as f64 }
    }

    pub fn and(self, other: Share) -> Share {
        Share { reached: self.reached + other.reached, of: self.of + other.of }
    }

    fn count(&mut self, reached: bool) {
        self.of += 1;
        self.reached += usize::from(reached);
    }
}

impl Covered {
    /// Steps, arcs and rules together.
    pub fn all(&self) -> Share {
        self.steps.and(self.arcs).and(self.rules)
    }
}

impl Coverage {
    /// What the runs of a case reached.
    pub fn of(trace: &Trace) -> Coverage {
        let mut coverage = Coverage::default();
        for run in trace.runs() {
            let plan = &run.playbook.plan;
            let reached = coverage.by_path.entry(plan.path.clone()).or_default();
            reached.steps.extend(run.entered().filter_map(|step| plan.find_step(step)));
            for (from, arc) in run.followed() {
                reached.arcs.extend(plan.find_step(from).map(|step| (step, arc.arc as usize)));
            }
            for (step, decision) in run.decisions() {
                let (Some(step), Some(rule)) = (plan.find_step(step), decision.rule) else {
                    continue;
                };
                let task = plan.steps[step].tasks.iter().position(|task| task.label == decision.task);
                reached.rules.extend(task.map(|task| (step, task, rule as usize)));
            }
        }
        coverage
    }

    pub fn add(&mut self, other: Coverage) {
        for (path, more) in other.by_path {
            let reached = self.by_path.entry(path).or_default();
            reached.steps.extend(more.steps);
            reached.arcs.extend(more.arcs);
            reached.rules.extend(more.rules);
        }
    }

    /// How much of a playbook that is.
    pub fn hold_against(&self, plan: &Plan) -> Covered {
        let nothing = Reached::default();
        let reached = self.by_path.get(&plan.path).unwrap_or(&nothing);
        let mut covered = Covered::default();
        for (at, step) in plan.steps.iter().enumerate() {
            let is_reached = reached.steps.contains(&at);
            covered.steps.count(is_reached);
            if !is_reached {
                covered.missed.push(Missed { kind: "step", what: step.name.to_string(), line: step.line });
            }
            for (task_at, task) in step.tasks.iter().enumerate() {
                for (rule_at, rule) in task.rules.iter().enumerate() {
                    let is_reached = reached.rules.contains(&(at, task_at, rule_at));
                    covered.rules.count(is_reached);
                    if !is_reached {
                        let of = if step.single {
                            step.name.to_string()
                        } else {
                            format!("{}.{}", step.name, task.label)
                        };
                        let otherwise = if rule.when.is_none() { " (else)" } else { "" };
                        let what = format!("{} of {of}{otherwise}", rule_at + 1);
                        covered.missed.push(Missed { kind: "rule", what, line: rule.line });
                    }
                }
            }
            for (arc_at, arc) in step.router.arcs.iter().enumerate() {
                let is_reached = reached.arcs.contains(&(at, arc_at));
                covered.arcs.count(is_reached);
                if !is_reached {
                    let what = format!("{} -> {}", step.name, target(plan, arc.target));
                    covered.missed.push(Missed { kind: "arc", what, line: arc.line });
                }
            }
        }
        covered.missed.sort_by_key(|missed| missed.line);
        covered
    }
}
