//! Commands for workers of other makes, found and claimed by the event that issued them.
//!
//! Such a worker calls one tool per command and knows nothing of rules and pipelines. So the interpreter runs here: the
//! command carries the call that it wants next, with everything rendered, and what the call came to is fed back to it
//! (see `events`). A pipeline of many tasks is a row of such commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_engine::Input;
use noetl_engine::pipeline::{Next, Pipeline, TaskCall};
use noetl_store::{Claim, CommandStatus, StoredCommand};
use noetl_types::{EventId, Item, Map, Outcome, Report, Slot, Value};

use super::{App, Code, Error};
use crate::drive::{AtHand, Dispatched, DriveError};

/// A command as such a worker needs it.
#[derive(Clone, Debug)]
pub struct Rendered {
    pub stored: StoredCommand,
    pub kind: Arc<str>,
    pub context: Value,
    pub meta: Value,
}

/// What the interpreter wants of a command.
pub(super) enum Wanted {
    /// This one call.
    Call(Box<TaskCall>),
    /// Nothing: its outcome is clear without a tool.
    Nothing(Box<Outcome>),
    /// Several calls at once, for which a worker must know the interpreter.
    TooMuch,
}

impl App {
    /// The command that an event issued.
    pub async fn command_by_event(&self, event: EventId) -> Result<Rendered, Error> {
        let not_found =
            || Error::new(Code::CommandNotFound, format!("event {event} has issued no open command"));
        let stored = self.store().find_command_by_event(event).await?.ok_or_else(not_found)?;
        let dispatched = self.work_of(&stored).await?.ok_or_else(not_found)?;
        match self.wanted(&dispatched).await?.1 {
            Wanted::Call(call) => Ok(render(stored, &dispatched, &call)),
            Wanted::Nothing(_) | Wanted::TooMuch => Err(not_found()),
        }
    }

    /// Takes a command for a worker. A worker that has it already gets it again. Every refusal that is not about the store
    /// is final: such workers try again whatever is not a conflict.
    pub async fn claim_by_event(&self, event: EventId, worker: Arc<str>) -> Result<Rendered, Error> {
        let Some(stored) = self.store().find_command_by_event(event).await? else {
            return Err(conflict(format!("event {event} has issued no command")));
        };
        let waiting = self.take_out(&stored);
        let claim = self.claim_stored(&stored, waiting.is_some(), &worker).await;
        let claimed = match claim {
            Ok(claim) => claim,
            Err(error) => {
                if let Some(dispatched) = waiting {
                    self.drive().shared().dispatcher.dispatch(vec![dispatched]);
                }
                return Err(error.into());
            }
        };
        let stored = match claimed {
            Claim::Taken(stored) => *stored,
            Claim::Held { holder, .. } => {
                return Err(conflict(format!("the command is claimed by '{holder}'")));
            }
            Claim::Closed(CommandStatus::Cancelled) => return Err(conflict("the command was cancelled")),
            Claim::Closed(_) => return Err(conflict("the command has come to an end")),
            Claim::NotFound => return Err(conflict("the command is gone")),
        };
        let dispatched = match waiting {
            Some(dispatched) => Some(dispatched),
            None => self.work_of(&stored).await?,
        };
        let Some(dispatched) = dispatched else {
            return Err(conflict("the run does not wait for this command any more"));
        };
        match self.wanted(&dispatched).await?.1 {
            Wanted::Call(call) => Ok(render(stored, &dispatched, &call)),
            Wanted::Nothing(outcome) => {
                let (execution, command, attempt) = dispatched.attempt();
                self.drive().input(execution, Input::Ended { command, attempt, outcome: *outcome }).await?;
                Err(conflict("the command needed no worker and has come to an end"))
            }
            Wanted::TooMuch => {
                let (execution, key, attempt) = dispatched.attempt();
                self.store().release_command(execution, key, attempt, &worker).await?;
                self.queue_again(dispatched).await?;
                Err(conflict("the command is left to workers that run whole pipelines"))
            }
        }
    }

    /// Takes a command out of the line in which it waits for other workers.
    fn take_out(&self, stored: &StoredCommand) -> Option<Dispatched> {
        let wanted = (stored.execution, stored.row.key, stored.row.attempt);
        let mut found = None;
        self.drive().shared().dispatcher.queue().queue.retain(|waiting| {
            if waiting.attempt() == wanted {
                found = Some(waiting.clone());
            }
            waiting.attempt() != wanted
        });
        found
    }

    async fn claim_stored(
        &self,
        stored: &StoredCommand,
        waited: bool,
        worker: &Arc<str>,
    ) -> Result<Claim, noetl_store::Error> {
        let (execution, key, attempt) = (stored.execution, stored.row.key, stored.row.attempt);
        if let (true, Some(holder)) = (waited, self.drive().shared().dispatcher.holder()) {
            // Workers of this process have the lease of whatever waits.
            self.store().release_command(execution, key, attempt, &holder).await?;
        }
        self.store().claim_command(execution, key, attempt, self.new_lease(worker), self.now()).await
    }

    /// The work of a stored command, if its run still waits for it.
    pub(super) async fn work_of(&self, stored: &StoredCommand) -> Result<Option<Dispatched>, DriveError> {
        self.drive().find_work(stored.execution, stored.row.key, stored.row.attempt).await
    }

    /// Takes the interpreter as far as it goes without a tool.
    pub(super) async fn wanted(&self, dispatched: &Dispatched) -> Result<(Interpreter, Wanted), Error> {
        let mut interpreter = Interpreter::new(self, dispatched);
        let wanted = match interpreter.next(self).await? {
            Next::Report(outcome) => Wanted::Nothing(outcome),
            Next::Call(calls) => match <[TaskCall; 1]>::try_from(calls) {
                Ok([call]) if loops(dispatched, &call) => Wanted::TooMuch,
                Ok([call]) if call.delay_seconds > 0.0 => {
                    Wanted::Nothing(Box::new(interpreter.pipeline.suspend_for_delay(call.delay_seconds)))
                }
                Ok([call]) => Wanted::Call(Box::new(call)),
                Err(_) => Wanted::TooMuch,
            },
            Next::Wait | Next::Load(_) => Wanted::TooMuch,
        };
        Ok((interpreter, wanted))
    }
}

/// The interpreter of one command, with the values that its templates need.
pub(super) struct Interpreter {
    pipeline: Pipeline,
    at_hand: Arc<AtHand>,
}

impl Interpreter {
    fn new(app: &App, dispatched: &Dispatched) -> Interpreter {
        let at_hand = AtHand::new(app.drive().values());
        let (plan, command) = (dispatched.plan.clone(), dispatched.command.clone());
        Interpreter { pipeline: Pipeline::new(plan, command, BTreeMap::new(), at_hand.clone()), at_hand }
    }

    /// What it wants next. Values that it lacks are loaded, and what needs no tool is done here.
    async fn next(&mut self, app: &App) -> Result<Next, Error> {
        loop {
            match self.pipeline.next(app.now()) {
                Next::Call(calls) if calls.iter().all(is_immediate) => {
                    for call in &calls {
                        self.pipeline.finished(call, nothing_done(call));
                    }
                }
                Next::Load(missing) => {
                    for stored in missing {
                        self.at_hand.pin(&stored.uri, app.load_value(&stored).await?);
                    }
                }
                next => return Ok(next),
            }
        }
    }

    /// What the command comes to when its call came to this. What the interpreter wants then goes on as a command of its
    /// own, after the delay that it asks for.
    pub(super) async fn outcome(
        &mut self,
        app: &App,
        call: &TaskCall,
        report: Report,
    ) -> Result<Option<Outcome>, Error> {
        self.pipeline.finished(call, report);
        Ok(match self.next(app).await? {
            Next::Report(outcome) => Some(*outcome),
            Next::Call(calls) => {
                let delay = calls.iter().map(|call| call.delay_seconds).fold(0.0, f64::max);
                Some(self.pipeline.suspend_for_delay(delay))
            }
            Next::Wait | Next::Load(_) => None,
        })
    }
}

fn is_immediate(call: &TaskCall) -> bool {
    &*call.kind == "noop" && call.delay_seconds <= 0.0
}

/// What `noop` comes to: its `result`, or its `message`.
fn nothing_done(call: &TaskCall) -> Report {
    let message = || call.config.get("message").map(|message| Value::map([("message", message.clone())]));
    Report::success(call.config.get("result").cloned().or_else(message).unwrap_or_default())
}

/// Whether a call belongs to a loop of its task, which can't be put down between two items.
fn loops(dispatched: &Dispatched, call: &TaskCall) -> bool {
    let step = &dispatched.plan.steps[dispatched.command.step_index as usize];
    let is_claim = matches!(dispatched.command.key.item, Item::Claim(_));
    !is_claim && step.tasks.get(call.task).is_some_and(|task| task.looping.is_some())
}

fn conflict(message: impl Into<String>) -> Error {
    Error::new(Code::CommandTaken, message)
}

fn render(stored: StoredCommand, dispatched: &Dispatched, call: &TaskCall) -> Rendered {
    let mut config = call.config.as_map().cloned().unwrap_or_default();
    if let Some((code, _)) = &call.code {
        config.insert("code".into(), Value::Text(code.clone()));
    }
    if !call.input.is_null() && !config.contains_key("args") {
        config.insert("args".into(), call.input.clone());
    }
    if let Some(timeout) = call.timeout {
        config.insert("timeout".into(), Value::from(timeout));
    }
    let context = Value::map([
        ("tool_config", Value::from(config)),
        ("args", Value::from(Map::new())),
        ("render_context", Value::from(names(dispatched))),
    ]);
    Rendered { meta: meta(&stored, dispatched, call), kind: call.kind.clone(), context, stored }
}

/// The data of the run, flat, for what the worker renders itself.
fn names(dispatched: &Dispatched) -> Map {
    let command = &dispatched.command;
    let context = &command.context;
    let mut names = context.workload.as_map().cloned().unwrap_or_default();
    names.insert("workload".into(), context.workload.clone());
    let slots = context.steps.iter().chain(context.ctx.iter());
    for (name, slot) in slots {
        let value = match slot {
            Slot::Inline(value) => value.clone(),
            Slot::Stored(stored) => stored.extract.clone(),
        };
        names.insert(name.clone(), value);
    }
    names.extend(context.identity.as_map().cloned().unwrap_or_default());
    let step = &dispatched.plan.steps[command.step_index as usize];
    if let (Some(item), Some(looping)) = (&command.item, &step.looping) {
        let mut place = Map::new();
        place.insert(looping.iterator.clone(), item.value.as_inline().cloned().unwrap_or_default());
        place.insert("_index".into(), Value::from(item.index));
        place.insert("_total".into(), item.total.map_or(Value::Null, Value::from));
        names.extend(place.clone());
        names.insert("iter".into(), Value::from(place));
    }
    names
}

fn meta(stored: &StoredCommand, dispatched: &Dispatched, call: &TaskCall) -> Value {
    let command = &dispatched.command;
    let step = &dispatched.plan.steps[command.step_index as usize];
    let mut meta = Map::new();
    let mut add = |key: &str, value: Value| meta.insert(key.into(), value);
    add("command_id", Value::from(command_id(stored)));
    add("step", Value::Text(command.step.clone()));
    add("tool_kind", Value::Text(call.kind.clone()));
    add("attempt", Value::from(u32::from(command.attempt)));
    add("attempts", Value::from(u32::from(command.attempt.saturating_sub(1))));
    add("max_attempts", Value::from(u32::from(step.max_attempts)));
    add("execution_id", Value::from(stored.execution.to_string()));
    add("catalog_id", Value::from(dispatched.catalog_id.to_string()));
    add("actionable", Value::Bool(true));
    if let Some(trace) = &dispatched.trace {
        add("trace", trace.clone());
    }
    if let (Some(item), Some(looping)) = (&command.item, &step.looping) {
        add("iteration_index", Value::from(item.index));
        add("iteration_total", item.total.map_or(Value::Null, Value::from));
        add("iterator_step", Value::Text(command.step.clone()));
        add("item_var", Value::Text(looping.iterator.clone()));
    }
    Value::from(meta)
}

/// The name of a command as such workers repeat it: `<execution>:<step>:<event>`, with `:i<n>` for the item of a loop.
fn command_id(stored: &StoredCommand) -> String {
    let row = &stored.row;
    let mut id = format!("{}:{}:{}", stored.execution, row.step, row.event);
    if let Item::At(index) = row.key.item {
        id.push_str(&format!(":i{index}"));
    }
    id
}

/// The event in the name of a command, which may also be the bare id.
pub(super) fn event_in(command_id: &Value) -> Option<EventId> {
    if let Some(id) = command_id.as_i64() {
        return Some(EventId(id));
    }
    let text = command_id.as_str()?;
    let without_item = match text.rsplit_once(":i") {
        Some((rest, index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => text,
    };
    without_item.rsplit(':').next()?.parse().ok().map(EventId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_is_found_in_every_form_of_a_name() {
        let event = |text: &str| event_in(&Value::text(text)).map(|event| event.0);
        assert_eq!(event("35:start:37"), Some(37));
        assert_eq!(event("35:start:37:i2"), Some(37));
        assert_eq!(event("35:a:b:37"), Some(37));
        assert_eq!(event("37"), Some(37));
        assert_eq!(event("35:start:unknown"), None);
        assert_eq!(event_in(&Value::Int(37)), Some(EventId(37)));
        assert_eq!(event_in(&Value::Null), None);
    }
}
