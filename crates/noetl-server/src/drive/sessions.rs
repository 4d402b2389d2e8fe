//! The runs that a drive task has in memory, bounded by bytes.

use std::collections::{BTreeMap, HashMap};

use noetl_types::ExecutionId;

use super::session::Session;

/// Keeps what was used last.
#[derive(Debug)]
pub struct Sessions {
    limit: usize,
    bytes: usize,
    turn: u64,
    by_execution: HashMap<ExecutionId, (Session, u64)>,
    by_turn: BTreeMap<u64, ExecutionId>,
}

impl Sessions {
    pub fn new(limit: usize) -> Sessions {
        Sessions { limit, bytes: 0, turn: 0, by_execution: HashMap::new(), by_turn: BTreeMap::new() }
    }

    /// Takes a run out, to be worked on.
    pub fn take(&mut self, execution: ExecutionId) -> Option<Session> {
        let (session, turn) = self.by_execution.remove(&execution)?;
        self.by_turn.remove(&turn);
        self.bytes -= session.bytes;
        Some(session)
    }

    /// Puts a run back, and forgets those unused for longest when all together take too much. Of two states of a run the
    /// later one stays.
    pub fn put(&mut self, execution: ExecutionId, mut session: Session) {
        if let Some(known) = self.take(execution)
            && known.run.seq > session.run.seq
        {
            session = known;
        }
        session.measure();
        self.turn += 1;
        self.bytes += session.bytes;
        self.by_turn.insert(self.turn, execution);
        self.by_execution.insert(execution, (session, self.turn));
        while self.bytes > self.limit && self.by_execution.len() > 1 {
            let Some((_, oldest)) = self.by_turn.pop_first() else {
                break;
            };
            if let Some((session, _)) = self.by_execution.remove(&oldest) {
                self.bytes -= session.bytes;
            }
        }
    }
}
