//! What a run would do, found out without doing it.
//!
//! The run is started as usual, up to the commands that would be given to workers; their first calls are rendered, and
//! nobody makes them. What would follow depends on what the calls come to, so it ends there.

use std::collections::BTreeSet;
use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_types::{Command, Event, EventId, Outcome, Started, Timestamp, ToolError, Value};

use crate::pipeline::{Next, Pipeline, TaskCall};
use crate::{Effect, Input, NoValues, Run, StartRequest, Values, accept, advance, start};

#[derive(Clone, Debug)]
pub struct DryRun {
    /// The facts it would start with: its workload, where it begins.
    pub started: Started,
    pub needs: Needs,
    /// The steps that workers would get first, in the order in which they would; of a loop one of its items.
    pub first: Vec<FirstStep>,
}

/// What a run may ask for, as far as the playbook names it without a template.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    pub tools: BTreeSet<Arc<str>>,
    pub credentials: BTreeSet<Arc<str>>,
    pub playbooks: BTreeSet<Arc<str>>,
}

#[derive(Clone, Debug)]
pub struct FirstStep {
    pub step: Arc<str>,
    /// What its tools would be called with.
    pub calls: Vec<TaskCall>,
    /// Why nothing would be called.
    pub error: Option<ToolError>,
}

/// Says what a run of this plan would do first, or why it can't start.
pub fn dry_run(plan: &Arc<Plan>, request: StartRequest, now: Timestamp) -> Result<DryRun, ToolError> {
    let started = start(plan, request, now)?;
    let commands = first_commands(plan, started.clone(), now);
    let first = commands.into_iter().filter_map(|command| first_step(plan, command, now)).collect();
    Ok(DryRun { first, needs: needs(plan), started })
}

fn first_commands(plan: &Arc<Plan>, started: Started, now: Timestamp) -> Vec<Command> {
    let values: Arc<dyn Values> = Arc::new(NoValues);
    let mut run = Run::new();
    let decision = accept(&run, plan, Input::Start(Box::new(started)), now, &values);
    let mut record = |run: &Run, body| Event { id: EventId(0), seq: run.seq + 1, at: now, body };
    let (effects, _) = advance(&mut run, plan, decision, now, &values, &mut record);
    let mut commands: Vec<Command> = Vec::new();
    for effect in effects {
        if let Effect::Dispatch(command) = effect
            && commands.iter().all(|known| known.step != command.step)
        {
            commands.push(*command);
        }
    }
    commands
}

/// What a command would call first, or nothing when that depends on values that are stored aside.
pub fn first_step(plan: &Arc<Plan>, command: Command, now: Timestamp) -> Option<FirstStep> {
    let step = command.step.clone();
    let mut pipeline = Pipeline::new(plan.clone(), command, Default::default(), Arc::new(NoValues));
    let (calls, error) = match pipeline.next(now) {
        Next::Call(calls) => (calls, None),
        Next::Report(outcome) => match *outcome {
            Outcome::Finished { report, .. } => (Vec::new(), report.error),
            Outcome::Suspended { .. } => (Vec::new(), None),
        },
        Next::Wait => (Vec::new(), None),
        Next::Load(_) => return None,
    };
    Some(FirstStep { step, calls, error })
}

fn needs(plan: &Plan) -> Needs {
    let mut needs = Needs::default();
    for task in plan.steps.iter().flat_map(|step| &step.tasks) {
        needs.tools.insert(task.kind.clone());
        let settings = task.config.source();
        let named = |key| settings.get(key).and_then(Value::as_str).map(Arc::from);
        needs.credentials.extend(["auth", "credential"].into_iter().filter_map(named));
        if &*task.kind == "playbook" {
            needs.playbooks.extend(named("path"));
        }
    }
    needs
}
