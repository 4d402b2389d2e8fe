//! Letting go of what is over.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use super::MemoryStore;
use super::state::State;
use crate::{Error, ExecutionDeletion, Purged, Retention};

impl State {
    /// An execution that refers to values of this one.
    pub fn find_borrower(&self, execution: ExecutionId) -> Option<ExecutionId> {
        self.borrowers(execution).next()
    }

    fn borrowers(&self, lender: ExecutionId) -> impl Iterator<Item = ExecutionId> {
        let all = (lender, ExecutionId(i64::MIN))..=(lender, ExecutionId(i64::MAX));
        self.borrows.range(all).map(|(_, borrower)| *borrower)
    }

    /// Whether anyone runs who may look at values of an execution: itself, its ancestors, everything below those, and
    /// those who borrow from them.
    pub fn is_family_alive(&self, execution: ExecutionId) -> bool {
        self.family(execution)
            .iter()
            .any(|id| self.runs.get(id).is_some_and(|run| !run.execution.row.status.is_terminal()))
    }

    /// Whether an execution outside the family of this one refers to values of the family.
    fn is_borrowed_from(&self, execution: ExecutionId) -> bool {
        let family = self.descent(self.root(execution), |_| Vec::new());
        family.iter().any(|member| self.borrowers(*member).any(|borrower| !family.contains(&borrower)))
    }

    /// Those who may look at each other's values, with those who borrow from them.
    fn family(&self, execution: ExecutionId) -> BTreeSet<ExecutionId> {
        self.descent(self.root(execution), |member| self.borrowers(member).collect())
    }

    /// The topmost ancestor that is stored.
    fn root(&self, execution: ExecutionId) -> ExecutionId {
        let mut root = execution;
        let mut seen = BTreeSet::new();
        while let Some(parent) = self.runs.get(&root).and_then(|run| run.execution.row.parent) {
            if !self.runs.contains_key(&parent) || !seen.insert(parent) {
                break;
            }
            root = parent;
        }
        root
    }

    /// An execution, everything below it, and below those that are to come along with a member.
    fn descent(
        &self,
        root: ExecutionId,
        along: impl Fn(ExecutionId) -> Vec<ExecutionId>,
    ) -> BTreeSet<ExecutionId> {
        let mut open = vec![root];
        let mut seen = BTreeSet::new();
        while let Some(member) = open.pop() {
            if !seen.insert(member) {
                continue;
            }
            let all = self.runs.values().map(|run| &run.execution);
            open.extend(all.filter(|run| run.row.parent == Some(member)).map(|run| run.id));
            open.extend(along(member));
        }
        seen
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
        self.projected.retain(|(owner, _), _| *owner != execution);
        self.borrows.retain(|(_, borrower)| *borrower != execution);
        run.map_or(0, |run| run.events.len() as u64)
    }
}

#[async_trait]
impl Retention for MemoryStore {
    async fn delete_execution(&self, execution: ExecutionId) -> Result<ExecutionDeletion, Error> {
        self.with(|state| match state.runs.get(&execution) {
            None => ExecutionDeletion::NotFound,
            Some(run) if !run.execution.row.status.is_terminal() => ExecutionDeletion::Running,
            Some(_) => match state.find_borrower(execution) {
                Some(by) => ExecutionDeletion::Needed { by },
                None => ExecutionDeletion::Deleted { events: state.remove(execution) },
            },
        })
    }

    async fn purge_executions(&self, ended_before: Timestamp, limit: usize) -> Result<Purged, Error> {
        self.with(|state| {
            let all = state.runs.values().map(|run| &run.execution);
            let mut over: Vec<_> = all
                .filter(|run| run.row.status.is_terminal())
                .filter(|run| run.row.ended_at.is_some_and(|ended| ended < ended_before))
                .filter(|run| !state.is_family_alive(run.id) && !state.is_borrowed_from(run.id))
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
