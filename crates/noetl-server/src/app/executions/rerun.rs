//! Running an execution's playbook again, as a whole or from one of its steps.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::StepIndex;
use noetl_engine::{History, Keeper, Run};
use noetl_types::{Event, ExecutionId, Kept, Value};

use crate::app::execute::{Start, Started};
use crate::app::{App, Code, Error};
use crate::catalog::Reference;

/// What is to be different this time.
#[derive(Clone, Debug, Default)]
pub struct Rerun {
    /// Laid over what the execution was started with, key by key.
    pub payload: Value,
    /// Another playbook, or another version of it.
    pub playbook: Option<Reference>,
    pub from: From,
}

/// Where the new execution begins. What the steps that it can't come to have come to is kept.
#[derive(Clone, Debug, Default)]
pub enum From {
    #[default]
    Start,
    Step(String),
    /// Where the earlier one stopped: at the steps that failed or were under way.
    Unfinished,
}

/// Events read at a time.
const PAGE: usize = 1000;

impl App {
    /// Starts a new execution with what another one was started with. Says which steps are kept.
    pub async fn rerun(&self, id: ExecutionId, rerun: Rerun) -> Result<(Started, Vec<Arc<str>>), Error> {
        let earlier = self.look(id).await?.run;
        let reference = rerun.playbook.unwrap_or(Reference::Id(earlier.started.catalog_id));
        let payload = payload(&earlier, rerun.payload)?;
        let playbook = self.drive().playbooks().get(&reference).await?;
        let (begins_at, kept) = match rerun.from {
            From::Start => (Vec::new(), Kept::default()),
            from => self.keep(id, &earlier, &playbook.plan, from).await?,
        };
        let kept_steps = kept.steps.iter().map(|kept| kept.step.clone()).collect();
        let mut begins_at = begins_at.into_iter();
        let meta = &earlier.started.meta;
        let start = Start {
            playbook: Reference::Id(playbook.catalog_id),
            payload,
            entry: begins_at.next(),
            also_at: begins_at.collect(),
            rerun_of: Some((id, kept)),
            parent: None,
            pool: meta.get("execution_pool").and_then(Value::as_str).map(str::to_owned),
            trace: None,
            once: None,
            asked_by: None,
        };
        Ok((self.execute(start).await?, kept_steps))
    }

    /// The steps to begin at, and what is kept of the others.
    async fn keep(
        &self,
        id: ExecutionId,
        earlier: &Run,
        plan: &Plan,
        from: From,
    ) -> Result<(Vec<Arc<str>>, Kept), Error> {
        if !earlier.status.is_terminal() {
            let message = format!("execution {id} is not over: what it comes to is not known yet");
            return Err(Error::new(Code::ExecutionRunning, message)
                .help("wait for its end, cancel it, or run it again as a whole"));
        }
        let mut history = History::new();
        self.each_event(id, earlier.seq, |event| history.add(event)).await?;
        let steps = match from {
            From::Step(step) => vec![step.into()],
            _ => history.unfinished().to_vec(),
        };
        if steps.is_empty() {
            let message = format!("execution {id} has no step that failed or was under way at its end");
            return Err(Error::new(Code::ExecutionRefused, message)
                .help("name a step to begin at, or run it again as a whole"));
        }
        let begins_at = beginnings(plan, &steps)?;
        let mut keeper = Keeper::new(plan, &history, &begins_at);
        self.each_event(id, earlier.seq, |event| keeper.add(event)).await?;
        Ok((begins_at.into_iter().map(|step| plan.steps[step].name.clone()).collect(), keeper.finish()))
    }

    async fn each_event(
        &self,
        id: ExecutionId,
        last: u64,
        mut see: impl FnMut(&Event) + Send,
    ) -> Result<(), Error> {
        let mut after = 0;
        while after < last {
            let events = self.store().load_events(id, after, PAGE).await?;
            let Some(end) = events.last() else {
                break;
            };
            after = end.seq;
            events.iter().for_each(&mut see);
        }
        Ok(())
    }
}

/// What the earlier execution was sent, with the given keys in the place of its own.
fn payload(earlier: &Run, over: Value) -> Result<Value, Error> {
    let sent = earlier.started.payload.as_ref().unwrap_or(&earlier.started.workload);
    match (sent, over) {
        (sent, Value::Null) => Ok(sent.clone()),
        (Value::Map(sent), Value::Map(over)) => {
            let mut payload = (**sent).clone();
            payload.extend(over.iter().map(|(key, value)| (key.clone(), value.clone())));
            Ok(payload.into())
        }
        (_, over @ Value::Map(_)) => Ok(over),
        (_, _) => Err(Error::new(Code::BodyInvalid, "the workload is not an object")),
    }
}

/// Of these steps those that no other of them leads to: the rest is come to anyway.
fn beginnings(plan: &Plan, steps: &[Arc<str>]) -> Result<Vec<StepIndex>, Error> {
    let mut all = Vec::with_capacity(steps.len());
    for step in steps {
        let Some(index) = plan.find_step(step) else {
            let message = format!("playbook '{}' has no step '{step}' to begin at", plan.path);
            return Err(Error::new(Code::StepNotFound, message));
        };
        all.push(index);
    }
    let graph = &plan.graph;
    let is_led_to =
        |step: StepIndex| all.iter().any(|&other| graph.reaches(other, step) && !graph.reaches(step, other));
    Ok(all.iter().copied().filter(|&step| !is_led_to(step)).collect())
}
