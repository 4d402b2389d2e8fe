//! Do playbooks call each other on every run, so that no run ever ends?
//!
//! Recursion is fine when something stops it, so only calls that nothing can prevent are followed: those on the way from the
//! entry along unconditional arcs, outside of loops, before any rule could change the course.

use std::collections::{BTreeMap, VecDeque};

use crate::codes;
use crate::diagnostic::Report;
use crate::lower::Lowered;
use crate::plan::{Plan, StepIndex, Target};
use crate::suggest::listed;
use crate::yaml::Span;

/// A call that leads back to the playbook it is in.
#[derive(Debug)]
pub(crate) struct EndlessCall {
    /// Which of the given playbooks it is in.
    pub playbook: usize,
    span: Span,
    /// The playbooks on the way, the first one again at the end.
    cycle: Vec<String>,
}

impl EndlessCall {
    pub fn report(&self, report: &mut Report) {
        let names: Vec<String> = self.cycle.iter().map(|path| listed([path.as_str()], "")).collect();
        report.add_with_help(
            &codes::ENDLESS_CALL,
            self.span,
            format!("every run calls the playbook again, without an end: {}", names.join(" → ")),
            "put a condition on the way to the call".to_owned(),
        );
    }
}

pub(crate) fn find(playbooks: &[Option<&Lowered>]) -> Vec<EndlessCall> {
    let mut calls: BTreeMap<&str, Vec<CertainCall>> = BTreeMap::new();
    for lowered in playbooks.iter().flatten() {
        calls.entry(&lowered.plan.path).or_insert_with(|| certain_calls(&lowered.plan));
    }
    let mut endless = Vec::new();
    for (playbook, lowered) in playbooks.iter().enumerate() {
        let Some(lowered) = lowered else {
            continue;
        };
        for call in certain_calls(&lowered.plan) {
            let span = lowered.places[call.step].calls[call.task];
            let cycle = cycle_through(&lowered.plan.path, &call.path, &calls);
            if let (Some(span), Some(cycle)) = (span, cycle) {
                endless.push(EndlessCall { playbook, span, cycle });
            }
        }
    }
    endless
}

/// A call that happens on every run, if nothing fails.
#[derive(Debug)]
struct CertainCall {
    step: StepIndex,
    task: usize,
    path: String,
}

fn certain_calls(plan: &Plan) -> Vec<CertainCall> {
    let mut calls = Vec::new();
    let mut seen = vec![false; plan.steps.len()];
    let mut todo = vec![plan.executor.entry];
    while let Some(index) = todo.pop() {
        let step = &plan.steps[index];
        if std::mem::replace(&mut seen[index], true) || step.when.is_some() || !step.admit.is_empty() {
            continue;
        }
        if step.looping.is_none() {
            for (position, task) in step.tasks.iter().enumerate() {
                let path =
                    task.config.get("path").and_then(|path| path.as_literal()).and_then(|path| path.as_str());
                if let (true, Some(path), None) = (&*task.kind == "playbook", path, &task.looping) {
                    calls.push(CertainCall { step: index, task: position, path: path.to_owned() });
                }
                if !task.rules.is_empty() {
                    break;
                }
            }
        }
        // An exclusive router follows its first arc for certain only if that one has no condition.
        let judged = if step.router.inclusive { step.router.arcs.len() } else { 1 };
        let certain = step.router.arcs.iter().take(judged).filter(|arc| arc.when.is_none());
        todo.extend(certain.filter_map(|arc| match arc.target {
            Target::Step(index) => Some(index),
            Target::End => None,
        }));
    }
    calls.sort_by_key(|call| (call.step, call.task));
    calls
}

/// The shortest way from `from`, over the call of `first`, back to `from`.
fn cycle_through(from: &str, first: &str, calls: &BTreeMap<&str, Vec<CertainCall>>) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::from([(first, from)]);
    let mut todo = VecDeque::from([first]);
    while let Some(path) = todo.pop_front() {
        if path == from {
            let mut cycle = vec![path.to_owned()];
            let mut at = came_from[path];
            while at != from {
                cycle.push(at.to_owned());
                at = came_from[at];
            }
            cycle.push(from.to_owned());
            cycle.reverse();
            return Some(cycle);
        }
        for call in calls.get(path).map(Vec::as_slice).unwrap_or_default() {
            if !came_from.contains_key(&*call.path) {
                came_from.insert(&call.path, path);
                todo.push_back(&call.path);
            }
        }
    }
    None
}
