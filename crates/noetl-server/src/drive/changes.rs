//! What is to be written for one execution in one turn.

use std::collections::HashMap;
use std::sync::Arc;

use noetl_store::{
    AuditRow, CommandClose, CommandRow, CommandStatus, ExecutionWrite, OutboxRow, Reservation, ResultRow,
    Snapshot, TimerRow,
};
use noetl_types::{CommandKey, Event, EventBody, EventId, ExecutionId, TimerKey};

use super::DriveConfig;
use super::session::Session;

/// A finished run gets a snapshot when folding its events again would take longer than reading it.
const WORTH_A_SNAPSHOT: u64 = 64;

/// What is to be written for one execution.
pub struct Changes {
    pub execution: ExecutionId,
    pub expected_seq: u64,
    pub events: Vec<Event>,
    /// The events that issued commands in this turn, with the tool.
    pub issued: HashMap<CommandKey, (EventId, Arc<str>)>,
    pub issue: Vec<CommandRow>,
    pub close: Vec<CommandClose>,
    pub start_timers: Vec<TimerRow>,
    pub cancel_timers: Vec<TimerKey>,
    pub outbox: Vec<OutboxRow>,
    pub results: Vec<ResultRow>,
    /// The key that the run is started with.
    pub reserve: Option<Reservation>,
    /// The runs whose stored values it refers to.
    pub borrows_from: Vec<ExecutionId>,
    /// What the audit trail says of whoever asked for it.
    pub audit: Option<AuditRow>,
}

impl Changes {
    pub fn new(execution: ExecutionId, expected_seq: u64) -> Changes {
        Changes {
            execution,
            expected_seq,
            events: Vec::new(),
            issued: HashMap::new(),
            issue: Vec::new(),
            close: Vec::new(),
            start_timers: Vec::new(),
            cancel_timers: Vec::new(),
            outbox: Vec::new(),
            results: Vec::new(),
            reserve: None,
            borrows_from: Vec::new(),
            audit: None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.cancel_timers.is_empty()
    }

    /// Notes the attempt that an event begins or brings to an end.
    pub fn note_commands(&mut self, event: &Event) {
        let (key, attempt, status) = match &event.body {
            EventBody::CommandIssued { command, tool, .. } => {
                self.issued.insert(*command, (event.id, tool.clone()));
                return;
            }
            EventBody::CallDone { command, attempt, .. } => (*command, *attempt, CommandStatus::Completed),
            EventBody::CallFailed { command, attempt, .. } => (*command, *attempt, CommandStatus::Failed),
            EventBody::CallSuspended { command, attempt, .. } => {
                (*command, *attempt, CommandStatus::Suspended)
            }
            EventBody::CommandLost { command, attempt, .. } => (*command, *attempt, CommandStatus::Lost),
            _ => return,
        };
        if attempt > 0 {
            self.close.push(CommandClose { key, attempt, status, at: event.at });
        }
    }

    pub fn into_row(self, session: &Session, config: &DriveConfig) -> ExecutionWrite {
        let mut write = ExecutionWrite::new(self.execution, self.expected_seq, session.row());
        write.snapshot = snapshot(session, config, &self);
        write.events = self.events;
        write.issue = self.issue;
        write.close = self.close;
        write.start_timers = self.start_timers;
        write.cancel_timers = self.cancel_timers;
        write.outbox = self.outbox;
        write.results = self.results;
        write.reserve = self.reserve;
        write.borrows_from = self.borrows_from;
        write.audit = self.audit;
        write
    }
}

fn snapshot(session: &Session, config: &DriveConfig, write: &Changes) -> Option<Snapshot> {
    let since = session.run.seq - session.snapshot_seq;
    let due = since >= config.snapshot_every || (session.is_over() && since >= WORTH_A_SNAPSHOT);
    if !due {
        return None;
    }
    let last_event = write.events.iter().map(|event| event.id).max()?;
    match serde_json::to_vec(&session.run) {
        Ok(state) => Some(Snapshot { seq: session.run.seq, last_event, state: state.into() }),
        Err(error) => {
            tracing::warn!(execution = %write.execution, %error, "no snapshot could be made");
            None
        }
    }
}
