//! Applying a batch.

use std::sync::Arc;

use noetl_types::ExecutionId;

use super::state::{Message, MessageState, Run, State, Timer};
use crate::{
    Batch, CommandClose, CommandRow, CommandStatus, Committed, Duplicate, Execution, ExecutionWrite,
    LastEvent, LoopResult, StoredCommand,
};

impl State {
    /// The batch has been validated.
    pub fn commit(&mut self, batch: &Batch) -> Committed {
        let mut committed = Committed::default();
        for write in &batch.executions {
            if let Some(original) = self.original_of(write) {
                committed.duplicates.push(Duplicate { execution: write.execution, original });
            } else if self.fits(write) {
                self.apply(write);
            } else {
                committed.lost.push(write.execution);
            }
        }
        committed
    }

    fn fits(&self, write: &ExecutionWrite) -> bool {
        match self.runs.get(&write.execution) {
            None => write.expected_seq == 0,
            Some(run) => {
                run.execution.seq == write.expected_seq
                    && write.events.iter().all(|event| !run.event_ids.contains_key(&event.id))
            }
        }
    }

    /// The other execution that has the key of this one already.
    fn original_of(&self, write: &ExecutionWrite) -> Option<ExecutionId> {
        let wanted = write.reserve.as_ref()?;
        let holder = self.reserved_by(wanted.scope, &wanted.key, wanted.seen_at)?;
        (holder != write.execution).then_some(holder)
    }

    fn apply(&mut self, write: &ExecutionWrite) {
        let execution = write.execution;
        let run = self.runs.entry(execution).or_insert_with(|| Arc::new(Run::begin(write)));
        let run = Arc::make_mut(run);
        run.update(write);
        self.feed.extend(write.events.iter().map(|event| (execution, event.seq)));
        for row in &write.issue {
            self.issue(execution, row);
        }
        for close in &write.close {
            self.close(execution, close);
        }
        for key in &write.cancel_timers {
            self.timers.remove(&(execution, *key));
        }
        for timer in &write.start_timers {
            let row = Timer { due: timer.due, visible_at: timer.due };
            self.timers.insert((execution, timer.key), row);
        }
        for row in &write.outbox {
            if self.message_events.insert((execution, row.event)) {
                self.last_message += 1;
                let state = MessageState::Waiting(row.available_at);
                let message = Message { execution, row: row.clone(), state, attempts: 0, error: None };
                self.messages.insert(self.last_message, message);
            }
        }
        for result in &write.results {
            self.results.entry((execution, result.at.id)).or_insert_with(|| Arc::new(result.clone()));
        }
        self.borrows.extend(write.borrows_from.iter().map(|lender| (*lender, execution)));
        self.reserve(write);
        write.audit.iter().for_each(|row| self.append_audit(row));
    }

    fn issue(&mut self, execution: ExecutionId, row: &CommandRow) {
        let status = if row.lease.is_some() { CommandStatus::Claimed } else { CommandStatus::Pending };
        let command = StoredCommand {
            execution,
            row: row.clone(),
            status,
            claimed_at: row.lease.as_ref().map(|_| row.issued_at),
            closed_at: None,
        };
        let run = self.run_mut(execution);
        if let Some(replaced) = run.commands.insert((row.key, row.attempt), command) {
            self.open.remove(&(replaced.row.event, execution, row.key, row.attempt));
        }
        self.open.insert((row.event, execution, row.key, row.attempt));
    }

    fn close(&mut self, execution: ExecutionId, close: &CommandClose) {
        let Some(command) = self.run_mut(execution).commands.get_mut(&(close.key, close.attempt)) else {
            return;
        };
        if command.status.is_open() {
            command.status = close.status;
            command.closed_at = Some(close.at);
            command.row.body = Arc::new([]);
            if let Some(lease) = &mut command.row.lease {
                lease.until = close.at;
            }
            let event = command.row.event;
            self.open.remove(&(event, execution, close.key, close.attempt));
        }
    }

    fn run_mut(&mut self, execution: ExecutionId) -> &mut Run {
        Arc::make_mut(
            self.runs.get_mut(&execution).expect("only executions of a batch being applied are asked for"),
        )
    }
}

impl Run {
    fn begin(write: &ExecutionWrite) -> Run {
        let first = write.events.first().expect("validation refuses a new execution without an event");
        Run {
            execution: Execution {
                id: write.execution,
                seq: 0,
                row: write.row.clone(),
                last: LastEvent {
                    id: first.id,
                    event_type: first.body.type_name().into(),
                    step: None,
                    at: first.at,
                },
            },
            events: Vec::new(),
            event_ids: Default::default(),
            commands: Default::default(),
            snapshot: None,
            loop_results: Default::default(),
        }
    }

    fn update(&mut self, write: &ExecutionWrite) {
        let row = &mut self.execution.row;
        row.status = write.row.status;
        row.ended_at = write.row.ended_at;
        row.error.clone_from(&write.row.error);
        row.result.clone_from(&write.row.result);
        row.meta = write.row.meta.clone();
        if let Some(last) = LastEvent::after(&write.events, self.execution.last.step.clone()) {
            self.execution.last = last;
        }
        self.execution.seq = write.last_seq();
        for event in &write.events {
            self.event_ids.insert(event.id, event.seq);
            if let Some(place) = LoopResult::place(&event.body) {
                self.loop_results.insert(place, event.seq);
            }
            self.events.push(Arc::new(event.clone()));
        }
        if write.snapshot.is_some() {
            self.snapshot.clone_from(&write.snapshot);
        }
    }
}
