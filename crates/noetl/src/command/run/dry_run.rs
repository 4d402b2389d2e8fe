//! What a run would do, without doing it.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use noetl_dsl::plan::{Plan, Step, Target};
use noetl_engine::{FirstStep, Needs, StartRequest};
use noetl_server::clock::SystemClock;
use noetl_types::Value;

use crate::documents::Document;
use crate::exit::Exit;
use crate::output::{Output, complain};

pub fn run(document: &Document, payload: Value, target: Option<&str>, out: &mut Output) -> Result<Exit> {
    let checked = noetl_dsl::check(&document.text, &noetl_dsl::Options::default());
    let Some(plan) = checked.plan else {
        return Ok(Exit::Invalid);
    };
    let request = StartRequest {
        path: plan.path.clone(),
        payload,
        entry: target.map(Arc::from),
        ..StartRequest::default()
    };
    let found = match noetl_engine::dry_run(&plan, request, SystemClock::shared().now()) {
        Ok(found) => found,
        Err(error) => {
            complain(format_args!("{error}"));
            return Ok(Exit::Usage);
        }
    };
    writeln!(out, "playbook {} ({})", plan.path, document.name)?;
    writeln!(out, "workload {}", found.started.workload)?;
    writeln!(out, "steps")?;
    for (index, step) in plan.steps.iter().enumerate() {
        let entry = if found.started.entry.as_deref() == Some(&step.name) { " (entry)" } else { "" };
        let reach = if plan.graph.is_reachable(index) { "" } else { " (never reached)" };
        writeln!(out, "  {}{entry}: {}{}{reach}", step.name, tools(step), arcs(&plan, step))?;
    }
    show_needs(&found.needs, out)?;
    show_first(&found.first, out)?;
    Ok(Exit::Good)
}

fn tools(step: &Step) -> String {
    let kinds: Vec<&str> = step.tasks.iter().map(|task| &*task.kind).collect();
    let looped =
        step.looping.as_ref().map_or(String::new(), |looping| format!(" for each {}", looping.iterator));
    format!("{}{looped}", kinds.join(", "))
}

fn arcs(plan: &Plan, step: &Step) -> String {
    let mut targets = Vec::new();
    for arc in &step.router.arcs {
        let name = match arc.target {
            Target::Step(index) => &*plan.steps[index].name,
            Target::End => "end",
        };
        let condition = arc.when.as_ref().map_or(String::new(), |when| format!(" when {}", when.source()));
        targets.push(format!("{name}{condition}"));
    }
    if targets.is_empty() { String::new() } else { format!(" -> {}", targets.join("; ")) }
}

fn show_needs(needs: &Needs, out: &mut Output) -> Result<()> {
    let named: [(&str, &BTreeSet<Arc<str>>); 3] =
        [("tools", &needs.tools), ("credentials", &needs.credentials), ("playbooks", &needs.playbooks)];
    for (what, names) in named {
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(|name| &**name).collect();
            writeln!(out, "needs {what}: {}", names.join(", "))?;
        }
    }
    Ok(())
}

fn show_first(first: &[FirstStep], out: &mut Output) -> Result<()> {
    if first.is_empty() {
        writeln!(out, "no step needs a worker at the start")?;
    }
    for FirstStep { step, calls, error } in first {
        match error {
            Some(error) => writeln!(out, "first: {step} can't be called: {error}")?,
            None if calls.is_empty() => writeln!(out, "first: {step}")?,
            None => {}
        }
        for call in calls {
            writeln!(out, "first: {step} calls {}", call.kind)?;
            writeln!(out, "  settings {}", call.config)?;
            writeln!(out, "  input {}", call.input)?;
        }
    }
    Ok(())
}
