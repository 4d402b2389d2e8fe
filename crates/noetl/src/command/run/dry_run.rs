//! What a run would do, without doing it.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use noetl_dsl::plan::{Plan, Step, Target};
use noetl_engine::pipeline::{Next, Pipeline};
use noetl_engine::{Effect, Input, NoValues, Run, StartRequest, Values, accept, advance, start};
use noetl_types::{Event, EventId, ExecutionId, Value};

use crate::documents::Document;
use crate::exit::Exit;
use crate::output::{Output, complain};

pub fn run(document: &Document, payload: Value, target: Option<&str>, out: &mut Output) -> Result<Exit> {
    let checked = noetl_dsl::check(&document.text, &noetl_dsl::Options::default());
    let Some(plan) = checked.plan else {
        return Ok(Exit::Invalid);
    };
    let request = StartRequest {
        execution: ExecutionId(0),
        path: plan.path.clone(),
        payload,
        entry: target.map(Arc::from),
        ..StartRequest::default()
    };
    let started = match start(&plan, request, Default::default()) {
        Ok(started) => started,
        Err(error) => {
            complain(format_args!("{error}"));
            return Ok(Exit::Usage);
        }
    };
    writeln!(out, "playbook {} ({})", plan.path, document.name)?;
    writeln!(out, "workload {}", started.workload)?;
    writeln!(out, "steps")?;
    for (index, step) in plan.steps.iter().enumerate() {
        let entry = if started.entry.as_deref() == Some(&step.name) { " (entry)" } else { "" };
        let reach = if plan.graph.is_reachable(index) { "" } else { " (never reached)" };
        writeln!(out, "  {}{entry}: {}{}{reach}", step.name, tools(step), arcs(&plan, step))?;
    }
    needs(&plan, out)?;
    first_step(&plan, started, out)?;
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

/// Tools, credentials and playbooks that a run may ask for.
fn needs(plan: &Plan, out: &mut Output) -> Result<()> {
    let mut kinds = BTreeSet::new();
    let mut credentials = BTreeSet::new();
    let mut playbooks = BTreeSet::new();
    for task in plan.steps.iter().flat_map(|step| &step.tasks) {
        kinds.insert(task.kind.to_string());
        let settings = task.config.source();
        for key in ["auth", "credential"] {
            if let Some(alias) = settings.get(key).and_then(Value::as_str) {
                credentials.insert(alias.to_owned());
            }
        }
        if &*task.kind == "playbook" {
            playbooks.extend(settings.get("path").and_then(Value::as_str).map(str::to_owned));
        }
    }
    for (what, names) in [("tools", kinds), ("credentials", credentials), ("playbooks", playbooks)] {
        if !names.is_empty() {
            writeln!(out, "needs {what}: {}", names.into_iter().collect::<Vec<_>>().join(", "))?;
        }
    }
    Ok(())
}

/// The first command that would be given to a worker, rendered.
fn first_step(plan: &Arc<Plan>, started: noetl_types::Started, out: &mut Output) -> Result<()> {
    let values: Arc<dyn Values> = Arc::new(NoValues);
    let mut run = Run::new();
    let decision = accept(&run, plan, Input::Start(Box::new(started)), Default::default(), &values);
    let mut record =
        |run: &Run, body| Event { id: EventId(0), seq: run.seq + 1, at: Default::default(), body };
    let (effects, _) = advance(&mut run, plan, decision, Default::default(), &values, &mut record);
    let command = effects.into_iter().find_map(|effect| match effect {
        Effect::Dispatch(command) => Some(*command),
        _ => None,
    });
    let Some(command) = command else {
        writeln!(out, "no step needs a worker at the start")?;
        return Ok(());
    };
    let step = command.step.clone();
    let mut pipeline = Pipeline::new(plan.clone(), command, Default::default(), values);
    match pipeline.next(Default::default()) {
        Next::Call(calls) => {
            for call in calls {
                writeln!(out, "first: {step} calls {}", call.kind)?;
                writeln!(out, "  settings {}", call.config)?;
                writeln!(out, "  input {}", call.input)?;
            }
        }
        Next::Report(_) | Next::Wait | Next::Load(_) => writeln!(out, "first: {step}")?,
    }
    Ok(())
}
