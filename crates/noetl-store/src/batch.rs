//! What one commit carries, and what came of it.

use std::collections::HashSet;

use noetl_types::{Event, ExecutionId, TimerKey};

use crate::{
    AuditRow, CommandClose, CommandRow, Duplicate, Error, ExecutionRow, OutboxRow, Reservation, ResultRow,
    Snapshot, TimerRow,
};

/// Everything a drive task decided in one turn, over many executions.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub executions: Vec<ExecutionWrite>,
}

/// What changes for one execution. All of it commits, or none of it.
#[derive(Clone, Debug)]
pub struct ExecutionWrite {
    pub execution: ExecutionId,
    /// The last seq of the execution before this write; 0 for one that does not exist yet.
    pub expected_seq: u64,
    pub row: ExecutionRow,
    /// Their seqs go on from `expected_seq` without a gap.
    pub events: Vec<Event>,
    /// Attempts that a worker may now take.
    pub issue: Vec<CommandRow>,
    /// Attempts that came to an end. Unknown ones are passed over.
    pub close: Vec<CommandClose>,
    /// A timer that exists under the same key starts anew. Cancelling comes before starting.
    pub start_timers: Vec<TimerRow>,
    pub cancel_timers: Vec<TimerKey>,
    pub outbox: Vec<OutboxRow>,
    /// Replaces an older snapshot of the execution.
    pub snapshot: Option<Snapshot>,
    /// Values too large for their events.
    pub results: Vec<ResultRow>,
    /// A key that the execution takes with its first write. It does not begin when another has the key.
    pub reserve: Option<Reservation>,
    /// Earlier executions whose stored values this one refers to from its first write on. They stay as long as it does.
    pub borrows_from: Vec<ExecutionId>,
    /// What the audit trail says of whoever asked for this.
    pub audit: Option<AuditRow>,
}

impl ExecutionWrite {
    /// A write that changes the row alone.
    pub fn new(execution: ExecutionId, expected_seq: u64, row: ExecutionRow) -> ExecutionWrite {
        ExecutionWrite {
            execution,
            expected_seq,
            row,
            events: Vec::new(),
            issue: Vec::new(),
            close: Vec::new(),
            start_timers: Vec::new(),
            cancel_timers: Vec::new(),
            outbox: Vec::new(),
            snapshot: None,
            results: Vec::new(),
            reserve: None,
            borrows_from: Vec::new(),
            audit: None,
        }
    }

    /// The last seq of the execution after this write.
    pub fn last_seq(&self) -> u64 {
        self.expected_seq + self.events.len() as u64
    }

    fn validate(&self) -> Result<(), Error> {
        let execution = self.execution;
        if self.expected_seq == 0 && self.events.is_empty() {
            return Err(Error::invalid(format!("execution {execution} begins without an event")));
        }
        if self.expected_seq > 0 && self.reserve.is_some() {
            return Err(Error::invalid(format!("execution {execution} has begun and cannot reserve a key")));
        }
        if self.expected_seq > 0 && !self.borrows_from.is_empty() {
            return Err(Error::invalid(format!("execution {execution} has begun and cannot borrow values")));
        }
        let mut ids = HashSet::with_capacity(self.events.len());
        for (event, seq) in self.events.iter().zip(self.expected_seq + 1..) {
            if event.seq != seq {
                return Err(Error::invalid(format!(
                    "event {} of execution {execution} has seq {}, expected {seq}",
                    event.id, event.seq
                )));
            }
            if !ids.insert(event.id) {
                return Err(Error::invalid(format!(
                    "event {} of execution {execution} is given twice",
                    event.id
                )));
            }
        }
        if self.snapshot.as_ref().is_some_and(|snapshot| snapshot.seq > self.last_seq()) {
            return Err(Error::invalid(format!(
                "the snapshot of execution {execution} is ahead of its events"
            )));
        }
        match self.results.iter().find(|result| result.at.execution != execution) {
            Some(result) => {
                Err(Error::invalid(format!("{} is written with execution {execution}", result.at)))
            }
            None => Ok(()),
        }
    }
}

impl Batch {
    /// Finds what no store could take: gaps in seq, an event or an execution given twice, a new execution without an
    /// event. Every adapter calls this before it writes.
    pub fn validate(&self) -> Result<(), Error> {
        let mut executions = HashSet::with_capacity(self.executions.len());
        for write in &self.executions {
            if !executions.insert(write.execution) {
                return Err(Error::invalid(format!("execution {} is twice in one batch", write.execution)));
            }
            write.validate()?;
        }
        Ok(())
    }
}

/// What came of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// Executions that were left out because they moved meanwhile: load them again and decide anew. In batch order.
    pub lost: Vec<ExecutionId>,
    /// Executions that did not begin because their key is taken. In batch order.
    pub duplicates: Vec<Duplicate>,
}
