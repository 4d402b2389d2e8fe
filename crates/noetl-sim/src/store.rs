//! The store: what outlives a crash. Everything goes through JSON on its way in.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_engine::{Effect, Ended, Run, apply, item_result};
use noetl_types::{
    Command, CommandKey, Event, EventBody, ExecutionId, Item, Map, Outcome, ParentLink, Slot, StoredValue,
    TimerKey, Timestamp, Value, VisitId,
};

/// What is kept of one run.
#[derive(Debug)]
pub struct RunFile {
    pub plan: Arc<Plan>,
    pub log: Vec<Event>,
    /// The sequence number each snapshot was taken at, and its JSON.
    pub snapshots: Vec<(u64, String)>,
    pub timers: BTreeMap<TimerKey, Timestamp>,
    /// Commands that are given out, by what they work on.
    pub commands: BTreeMap<(VisitId, Item), CommandRow>,
}

/// A command that a worker may take, or has taken.
#[derive(Clone, Debug)]
pub struct CommandRow {
    pub key: CommandKey,
    pub attempt: u16,
    pub json: String,
    /// The job that has the lease.
    pub holder: Option<u64>,
}

#[derive(Debug, Default)]
pub struct Store {
    pub runs: BTreeMap<ExecutionId, RunFile>,
    pub values: BTreeMap<String, Value>,
    /// Runs that were started for a command of another.
    pub children: BTreeMap<(ExecutionId, CommandKey), ExecutionId>,
}

/// What is written at once, or not at all.
#[derive(Debug, Default)]
pub struct Commit {
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
    pub values: Vec<(String, Value)>,
    /// The timer whose firing led to this.
    pub answered: Option<TimerKey>,
}

/// What a commit asks of the world around the store.
#[derive(Clone, Debug)]
pub enum Errand {
    StartChild {
        command: CommandKey,
        path: String,
        payload: Value,
        parent: ParentLink,
    },
    CancelChild(ExecutionId),
    /// The job may stop: nobody waits for its outcome.
    StopJob(u64),
    Ended(Box<Ended>),
}

impl Store {
    pub fn file(&self, execution: ExecutionId) -> Result<&RunFile, String> {
        self.runs.get(&execution).ok_or_else(|| format!("run {execution} is not in the store"))
    }

    /// Writes a commit. Events are what comes back from their JSON.
    pub fn commit(
        &mut self,
        execution: ExecutionId,
        plan: &Arc<Plan>,
        commit: Commit,
    ) -> Result<Vec<Errand>, String> {
        self.values.extend(commit.values);
        let file = self.runs.entry(execution).or_insert_with(|| RunFile {
            plan: plan.clone(),
            log: Vec::new(),
            snapshots: Vec::new(),
            timers: BTreeMap::new(),
            commands: BTreeMap::new(),
        });
        if let Some(timer) = commit.answered {
            file.timers.remove(&timer);
        }
        for event in commit.events {
            file.close_command(&event.body);
            let json = serde_json::to_string(&event)
                .map_err(|error| format!("event {} as JSON: {error}", event.seq))?;
            let back: Event =
                serde_json::from_str(&json).map_err(|error| format!("reading {json}: {error}"))?;
            if back != event {
                return Err(format!(
                    "event {} changes when it is stored: {event:?} comes back as {back:?}",
                    event.seq
                ));
            }
            file.log.push(back);
        }
        let mut errands = Vec::new();
        for effect in commit.effects {
            errands.extend(file.carry_out(effect)?);
        }
        Ok(errands)
    }

    /// The value behind a reference. Results of loops are put together from the log. What is about to be committed
    /// belongs to it already.
    pub fn load(&self, stored: &StoredValue, open: &Commit) -> Result<Value, String> {
        let fresh = open.values.iter().find(|(uri, _)| *uri == stored.uri).map(|(_, value)| value);
        if let Some(value) = fresh.or_else(|| self.values.get(&stored.uri)) {
            return Ok(value.clone());
        }
        let (execution, visit) =
            loop_address(&stored.uri).ok_or_else(|| format!("nothing is stored at {}", stored.uri))?;
        let log = self.runs.get(&execution).map_or(&[][..], |file| file.log.as_slice());
        let mut results: Vec<Value> = Vec::new();
        for event in log.iter().chain(&open.events) {
            let (EventBody::CallDone { command, outcome, .. }
            | EventBody::CallFailed { command, outcome, .. }) = &event.body
            else {
                continue;
            };
            let (Item::At(index), Outcome::Finished { report, .. }) = (command.item, outcome) else {
                continue;
            };
            if command.visit != visit {
                continue;
            }
            let value = match item_result(report) {
                Slot::Inline(value) => value,
                Slot::Stored(stored) => self.load(&stored, open)?,
            };
            let at = index as usize;
            results.resize(results.len().max(at + 1), Value::Null);
            results[at] = value;
        }
        let mut map: Map = stored.extract.as_map().cloned().unwrap_or_default();
        map.insert("results".into(), results.clone().into());
        map.insert("data".into(), results.into());
        Ok(map.into())
    }

    /// The run as its events say, from the first one or from a snapshot on.
    pub fn rebuild(&self, execution: ExecutionId, snapshot: Option<usize>) -> Result<Run, String> {
        let file = self.file(execution)?;
        let mut run = match snapshot.and_then(|at| file.snapshots.get(at)) {
            Some((_, json)) => {
                serde_json::from_str(json).map_err(|error| format!("reading a snapshot: {error}"))?
            }
            None => Run::new(),
        };
        let from = usize::try_from(run.seq).unwrap_or(usize::MAX);
        for event in file.log.iter().skip(from) {
            apply(&mut run, event);
        }
        Ok(run)
    }
}

fn loop_address(uri: &str) -> Option<(ExecutionId, VisitId)> {
    let (execution, visit) = uri.strip_prefix("noetl://execution/")?.split_once("/loop/")?;
    Some((ExecutionId(execution.parse().ok()?), VisitId(visit.parse().ok()?)))
}

impl RunFile {
    /// An outcome, or the loss of its worker, takes a command off the table.
    fn close_command(&mut self, event: &EventBody) {
        let (EventBody::CallDone { command, .. }
        | EventBody::CallFailed { command, .. }
        | EventBody::CallSuspended { command, .. }
        | EventBody::CommandLost { command, .. }) = event
        else {
            return;
        };
        let key = (command.visit, command.item);
        if self.commands.get(&key).is_some_and(|row| row.key == *command) {
            self.commands.remove(&key);
        }
    }

    fn carry_out(&mut self, effect: Effect) -> Result<Option<Errand>, String> {
        Ok(match effect {
            Effect::Dispatch(command) => {
                let json =
                    serde_json::to_string(&command).map_err(|error| format!("a command as JSON: {error}"))?;
                let back: Command =
                    serde_json::from_str(&json).map_err(|error| format!("reading {json}: {error}"))?;
                if back != *command {
                    return Err(format!(
                        "a command changes when it is stored: {command:?} comes back as {back:?}"
                    ));
                }
                let row = CommandRow { key: command.key, attempt: command.attempt, json, holder: None };
                self.commands.insert((command.key.visit, command.key.item), row);
                None
            }
            Effect::CancelCommand(command) => {
                let row = self.commands.remove(&(command.visit, command.item));
                row.and_then(|row| row.holder).map(Errand::StopJob)
            }
            Effect::StartTimer { timer, at } => {
                self.timers.insert(timer, at);
                None
            }
            Effect::CancelTimer(timer) => {
                self.timers.remove(&timer);
                None
            }
            Effect::StartChild { command, path, payload, parent, .. } => {
                Some(Errand::StartChild { command, path: path.to_string(), payload, parent })
            }
            Effect::CancelChild(child) => Some(Errand::CancelChild(child)),
            Effect::Ended(ended) => Some(Errand::Ended(ended)),
        })
    }
}
