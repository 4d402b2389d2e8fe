//! How a test file names the parts of playbooks: `step`, `step.task`, `path/of/playbook/step`, `from -> to`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use noetl_dsl::did_you_mean;
use noetl_dsl::plan::{LoopSource, Plan, Step, Target, Task};

/// The name of the task that claims the rows of a cursor loop.
pub const CLAIM: &str = "claim";

/// The playbook under test, and those that it may call.
#[derive(Clone, Debug)]
pub struct Playbooks {
    /// The path of the one under test.
    pub main: Arc<str>,
    pub by_path: BTreeMap<Arc<str>, Playbook>,
}

#[derive(Clone, Debug)]
pub struct Playbook {
    pub plan: Arc<Plan>,
    /// The file, as the user would call it.
    pub file: Arc<str>,
}

impl Playbooks {
    /// `others` are the playbooks that may be called; the one under test may be among them.
    pub fn new(main: Playbook, others: impl IntoIterator<Item = Playbook>) -> Playbooks {
        let path = main.plan.path.clone();
        let mut by_path: BTreeMap<Arc<str>, Playbook> =
            others.into_iter().map(|other| (other.plan.path.clone(), other)).collect();
        by_path.insert(path.clone(), main);
        Playbooks { main: path, by_path }
    }

    pub fn main(&self) -> &Playbook {
        &self.by_path[&self.main]
    }

    /// The step that an address is of.
    pub fn step(&self, address: &Address) -> Option<&Step> {
        let plan = &self.by_path.get(&address.playbook)?.plan;
        plan.find_step(&address.step).map(|at| &plan.steps[at])
    }

    /// What a text addresses, or what to say about it.
    pub fn resolve(&self, text: &str) -> Result<Address, Unresolved> {
        if let Some(found) = find_in(self.main(), text)? {
            return Ok(found);
        }
        let called = self.by_path.iter().filter(|(path, _)| **path != self.main);
        for (path, playbook) in called {
            let Some(rest) = text.strip_prefix(&**path).and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            return match find_in(playbook, rest)? {
                Some(found) => Ok(found),
                None => Err(unknown_step(&playbook.plan, rest)),
            };
        }
        Err(unknown_step(&self.main().plan, text))
    }

    /// The arc that a text names, or what to say about it.
    pub fn resolve_arc(&self, text: &str) -> Result<ArcAddress, Unresolved> {
        let Some((from, to)) = text.split_once("->").map(|(from, to)| (from.trim(), to.trim())) else {
            let message = format!("`{text}` is no arc");
            return Err(Unresolved { message, help: Some("write it as `from -> to`".to_owned()) });
        };
        let Address { playbook, step, .. } = self.resolve(from)?;
        let plan = &self.by_path[&playbook].plan;
        let arc = ArcAddress { playbook: playbook.clone(), from: step, to: to.into() };
        if arc.positions(plan).next().is_some() {
            return Ok(arc);
        }
        let from = plan.find_step(&arc.from).map(|at| &plan.steps[at]);
        let targets: Vec<&str> =
            from.into_iter().flat_map(|step| &step.router.arcs).map(|arc| target(plan, arc.target)).collect();
        let help = did_you_mean(to, targets.iter().copied()).unwrap_or_else(|| match targets.as_slice() {
            [] => format!("`{}` has no arcs", arc.from),
            _ => format!("its arcs lead to {}", quoted(&targets)),
        });
        let message = format!("no arc of step `{}` leads to `{to}`", arc.from);
        Err(Unresolved { message, help: Some(help) })
    }
}

/// A text that addresses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    pub message: String,
    pub help: Option<String>,
}

/// A step of a playbook, or one task of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    pub playbook: Arc<str>,
    pub step: Arc<str>,
    pub task: Option<Arc<str>>,
}

/// An arc of a playbook. Several arcs of a step may lead to the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArcAddress {
    pub playbook: Arc<str>,
    pub from: Arc<str>,
    pub to: Arc<str>,
}

impl ArcAddress {
    /// The positions of the arcs that are meant, among those of the step they come from.
    pub fn positions<'p>(&'p self, plan: &'p Plan) -> impl Iterator<Item = usize> + 'p {
        let step = plan.find_step(&self.from).map(|at| &plan.steps[at]);
        let arcs = step.into_iter().flat_map(|step| step.router.arcs.iter().enumerate());
        arcs.filter(|(_, arc)| target(plan, arc.target) == &*self.to).map(|(at, _)| at)
    }
}

impl fmt::Display for ArcAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

/// The name of the step that an arc leads to.
pub fn target(plan: &Plan, target: Target) -> &str {
    match target {
        Target::Step(index) => &plan.steps[index].name,
        Target::End => "end",
    }
}

/// The task of a step by its label. For a loop over a cursor, that is also the claim of its rows.
pub fn task_of<'p>(step: &'p Step, label: &str) -> Option<&'p Task> {
    step.tasks.iter().find(|task| &*task.label == label).or_else(|| claim_of(step).filter(|_| label == CLAIM))
}

pub fn claim_of(step: &Step) -> Option<&Task> {
    match step.looping.as_ref().map(|looping| &looping.source) {
        Some(LoopSource::Cursor(cursor)) => Some(&cursor.claim),
        _ => None,
    }
}

fn find_in(playbook: &Playbook, text: &str) -> Result<Option<Address>, Unresolved> {
    let plan = &playbook.plan;
    let of = |step: &Step, task: Option<&Task>| Address {
        playbook: plan.path.clone(),
        step: step.name.clone(),
        task: task.map(|task| task.label.clone()),
    };
    if let Some(at) = plan.find_step(text) {
        return Ok(Some(of(&plan.steps[at], None)));
    }
    for (dot, _) in text.match_indices('.') {
        let (name, label) = (&text[..dot], &text[dot + 1..]);
        let Some(at) = plan.find_step(name) else {
            continue;
        };
        let step = &plan.steps[at];
        if let Some(task) = task_of(step, label) {
            return Ok(Some(of(step, Some(task))));
        }
        let labels = labels(step);
        let help = did_you_mean(label, labels.iter().copied())
            .unwrap_or_else(|| format!("its tasks are {}", quoted(&labels)));
        let message = format!("step `{name}` has no task `{label}`");
        return Err(Unresolved { message, help: Some(help) });
    }
    Ok(None)
}

/// The names of a step's tasks, as a test file may use them.
pub fn labels(step: &Step) -> Vec<&str> {
    step.tasks.iter().chain(claim_of(step)).map(|task| &*task.label).collect()
}

fn unknown_step(plan: &Plan, text: &str) -> Unresolved {
    let names = plan.steps.iter().map(|step| &*step.name);
    let help = did_you_mean(text, names.clone()).unwrap_or_else(|| {
        let names: Vec<&str> = names.take(20).collect();
        format!("its steps are {}", quoted(&names))
    });
    Unresolved { message: format!("playbook `{}` has no step `{text}`", plan.path), help: Some(help) }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
