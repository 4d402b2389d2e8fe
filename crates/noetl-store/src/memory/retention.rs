//! Letting go of what is over.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use super::MemoryStore;
use super::state::State;
use crate::{Error, ExecutionDeletion, Purged, Retention};

impl State {
    /// Whether anyone in the family of an execution runs: itself, its ancestors, and everything below those.
    pub fn is_family_alive(&self, execution: ExecutionId) -> bool {
        let mut root = execution;
        let mut seen = BTreeSet::new();
        while let Some(parent) = self.runs.get(&root).and_then(|run| run.execution.row.parent) {
            if !self.runs.contains_key(&parent) || !seen.insert(parent) {
                break;
            }
            root = parent;
        }
        let mut family = vec![root];
        let mut seen = BTreeSet::new();
        while let Some(member) = family.pop() {
            if !seen.insert(member) {
                continue;
            }
            let is_over = |id| self.runs.get(&id).is_none_or(|run| run.execution.row.status.is_terminal());
            if !is_over(member) {
                return true;
            }
            let all = self.runs.values().map(|run| &run.execution);
            family.extend(all.filter(|run| run.row.parent == Some(member)).map(|run| run.id));
        }
        false
    }

    /// Removes an execution with what it owns and says how many events it had.
    fn remove(&mut self, execution: ExecutionId) -> u64 {
        let run = self.runs.remove(&execution);
        self.open.retain(|(_, owner, _, _)| *owner != execution);
        self.timers.retain(|(owner, _), _| *owner != execution);
        self.messages.retain(|_, message| message.execution != execution);
        self.message_events.retain(|(owner, _)| *owner != execution);
        self.results.retain(|(owner, _), _| *owner != execution);
        self.variables.retain(|(owner, _), _| *owner != execution);
        self.logs.retain(|(owner, _), _| *owner != execution);
        self.log_streams.retain(|(owner, ..), _| *owner != execution);
        self.keychain.retain(|_, entry| entry.execution != Some(execution));
        run.map_or(0, |run| run.events.len() as u64)
    }
}

#[async_trait]
impl Retention for MemoryStore {
    async fn delete_execution(&self, execution: ExecutionId) -> Result<ExecutionDeletion, Error> {
        self.with(|state| match state.runs.get(&execution) {
            None => ExecutionDeletion::NotFound,
            Some(run) if !run.execution.row.status.is_terminal() => ExecutionDeletion::Running,
            Some(_) => ExecutionDeletion::Deleted { events: state.remove(execution) },
        })
    }

    async fn purge_executions(&self, ended_before: Timestamp, limit: usize) -> Result<Purged, Error> {
        self.with(|state| {
            let all = state.runs.values().map(|run| &run.execution);
            let mut over: Vec<_> = all
                .filter(|run| run.row.status.is_terminal())
                .filter(|run| run.row.ended_at.is_some_and(|ended| ended < ended_before))
                .filter(|run| !state.is_family_alive(run.id))
                .map(|run| (run.row.started_at, run.id))
                .collect();
            over.sort();
            over.truncate(limit);
            let events = over.iter().map(|(_, execution)| state.remove(*execution)).sum();
            Purged { executions: over.len() as u64, events }
        })
    }

    async fn purge_commands(&self, closed_before: Timestamp, limit: usize) -> Result<u64, Error> {
        self.with(|state| {
            let all = state.runs.values().flat_map(|run| run.commands.values());
            let over = all.filter(|command| command.closed_at.is_some_and(|closed| closed < closed_before));
            let mut over: Vec<_> = over
                .map(|command| (command.row.event, command.execution, command.row.key, command.row.attempt))
                .collect();
            over.sort();
            over.truncate(limit);
            for (_, execution, key, attempt) in &over {
                if let Some(run) = state.runs.get_mut(execution) {
                    Arc::make_mut(run).commands.remove(&(*key, *attempt));
                }
            }
            over.len() as u64
        })
    }
}
