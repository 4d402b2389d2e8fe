//! What a step's templates ask of the worker besides data: worked out once per playbook and kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use noetl_dsl::Plan;
use noetl_dsl::plan::{Action, Loop, LoopSource, SetEntry, Step, Task};
use noetl_expr::{Condition, Template};

/// Plans that are remembered at most.
const PLANS_KEPT: usize = 256;

/// What one step asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StepNeeds {
    /// Positions of the keychain entries that its templates name, in the order of the playbook.
    pub keychain: Vec<usize>,
    /// Its templates name something that only the worker knows, such as `worker_id`.
    pub worker_names: bool,
    /// Its first task needs no tool that could take time.
    pub begins_at_once: bool,
    /// None of its tasks does.
    pub ends_at_once: bool,
}

/// Needs by plan.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// By the address of the plan, which stays taken because the plan is kept with it.
    by_plan: Mutex<HashMap<usize, Known>>,
}

#[derive(Debug)]
struct Known {
    steps: Arc<[StepNeeds]>,
    _plan: Arc<Plan>,
}

impl Needs {
    /// The needs of every step of a plan.
    pub fn of(&self, plan: &Arc<Plan>) -> Arc<[StepNeeds]> {
        let mut by_plan = self.by_plan.lock().unwrap_or_else(PoisonError::into_inner);
        let address = Arc::as_ptr(plan) as usize;
        if let Some(known) = by_plan.get(&address) {
            return known.steps.clone();
        }
        if by_plan.len() >= PLANS_KEPT {
            by_plan.clear();
        }
        let steps: Arc<[StepNeeds]> = plan.steps.iter().map(|step| needs_of(plan, step)).collect();
        by_plan.insert(address, Known { steps: steps.clone(), _plan: plan.clone() });
        steps
    }
}

/// Names that only the worker can bind.
pub(crate) const WORKER_NAMES: [&str; 3] = ["worker_id", "server_url", "command_id"];

fn needs_of(plan: &Plan, step: &Step) -> StepNeeds {
    let mut needs = StepNeeds {
        begins_at_once: step.tasks.first().is_some_and(|task| runs_at_once(&task.kind)),
        ends_at_once: step.tasks.iter().all(|task| runs_at_once(&task.kind)),
        ..StepNeeds::default()
    };
    let mut entries = vec![false; plan.keychain.len()];
    let mut see = |path: &str| {
        let (root, rest) = path.split_once('.').unwrap_or((path, ""));
        needs.worker_names |= WORKER_NAMES.contains(&root);
        if root == "keychain" {
            let name = rest.split('.').next().unwrap_or_default();
            for (entry, needed) in plan.keychain.iter().zip(&mut entries) {
                *needed |= name.is_empty() || *entry.name == *name;
            }
        }
    };
    let claim = step.looping.as_ref().and_then(|looping| match &looping.source {
        LoopSource::Cursor(cursor) => Some(&cursor.claim),
        LoopSource::In(_) => None,
    });
    for task in step.tasks.iter().chain(claim) {
        paths_of_task(task, &mut see);
    }
    with_earlier_entries(plan, &mut entries);
    needs.keychain = (0..entries.len()).filter(|&at| entries[at]).collect();
    needs
}

/// `noop` gives back what it is given; `playbook` and `wait` put the command down at once.
pub(crate) fn runs_at_once(kind: &str) -> bool {
    matches!(kind, "noop" | "playbook" | "wait")
}

/// An entry may name entries before it.
fn with_earlier_entries(plan: &Plan, entries: &mut [bool]) {
    for at in (0..entries.len()).rev().filter(|&at| plan.keychain[at].settings.as_literal().is_none()) {
        if !entries[at] {
            continue;
        }
        for path in plan.keychain[at].settings.paths() {
            let Some(name) = path.strip_prefix("keychain.").and_then(|rest| rest.split('.').next()) else {
                continue;
            };
            for (entry, needed) in plan.keychain[..at].iter().zip(entries.iter_mut()) {
                *needed |= *entry.name == *name;
            }
        }
    }
}

fn paths_of_task(task: &Task, see: &mut dyn FnMut(&str)) {
    let mut templates: Vec<&Template> = vec![&task.config, &task.input];
    templates.extend(task.code.as_ref().map(|code| &code.template));
    templates.extend(&task.timeout);
    let mut conditions: Vec<&Condition> = Vec::new();
    if let Some(Loop { source, max_in_flight, .. }) = &task.looping {
        templates.extend(max_in_flight);
        if let LoopSource::In(source) = source {
            templates.push(source);
        }
    }
    let mut sets: Vec<&SetEntry> = task.set.iter().collect();
    for rule in &task.rules {
        conditions.extend(&rule.when);
        sets.extend(&rule.set);
        if let Action::Retry(retry) = &rule.action {
            templates.extend([&retry.attempts, &retry.delay]);
        }
    }
    templates.extend(sets.into_iter().map(|set| &set.value));
    let paths = templates
        .into_iter()
        .flat_map(Template::paths)
        .chain(conditions.into_iter().flat_map(Condition::paths));
    paths.for_each(|path| see(path));
}

#[cfg(test)]
mod tests {
    use noetl_dsl::{Options, check};

    use super::*;

    fn needs(tool: &str) -> StepNeeds {
        let source = format!(
            "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: n, path: n}}\nkeychain:\n\
             - {{name: a, kind: bearer, token: x}}\n- {{name: b, kind: bearer, token: '{{{{ keychain.a.token }}}}'}}\n\
             - {{name: c, kind: bearer, token: y}}\nworkflow:\n- step: start\n  tool: {tool}\n"
        );
        let checked = check(&source, &Options::default());
        let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
        Needs::default().of(&plan)[0].clone()
    }

    #[test]
    fn only_entries_that_are_named_are_needed_and_those_they_name() {
        assert_eq!(needs("{kind: noop, result: 1}").keychain, [] as [usize; 0]);
        assert_eq!(needs("{kind: noop, result: '{{ keychain.c.token }}'}").keychain, [2]);
        assert_eq!(needs("{kind: noop, result: '{{ keychain.b.token }}'}").keychain, [0, 1]);
    }

    #[test]
    fn a_name_that_is_worked_out_needs_all_entries() {
        assert_eq!(needs("{kind: noop, result: '{{ keychain[workload.which].token }}'}").keychain, [0, 1, 2]);
    }

    #[test]
    fn rules_and_assignments_are_looked_at_too() {
        let rule = "{kind: noop, result: 1, spec: {policy: {rules: [{when: '{{ keychain.c.token }}', then: {do: break}}]}}}";
        assert_eq!(needs(rule).keychain, [2]);
        assert_eq!(needs("{kind: noop, result: 1, set: {ctx.k: '{{ keychain.c.token }}'}}").keychain, [2]);
    }

    #[test]
    fn names_of_the_worker_are_noticed() {
        assert!(needs("{kind: noop, result: '{{ worker_id }}'}").worker_names);
        assert!(!needs("{kind: noop, result: '{{ workload.worker_id }}'}").worker_names);
    }
}
