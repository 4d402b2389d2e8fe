//! Commands and their leases.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{CommandKey, EventId, ExecutionId, Item, Timestamp, VisitId};

use super::MemoryStore;
use super::state::State;
use crate::{Claim, CommandFilter, CommandStatus, Commands, Error, Lease, StoredCommand};

impl State {
    fn command(&self, execution: ExecutionId, key: CommandKey, attempt: u16) -> Option<&StoredCommand> {
        self.runs.get(&execution)?.commands.get(&(key, attempt))
    }

    fn command_mut(
        &mut self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
    ) -> Option<&mut StoredCommand> {
        Arc::make_mut(self.runs.get_mut(&execution)?).commands.get_mut(&(key, attempt))
    }

    fn open_commands(&self) -> impl Iterator<Item = &StoredCommand> {
        self.open.iter().filter_map(|(_, execution, key, attempt)| self.command(*execution, *key, *attempt))
    }
}

fn matches(filter: &CommandFilter, command: &StoredCommand) -> bool {
    filter.execution.is_none_or(|execution| command.execution == execution)
        && filter.pool.as_ref().is_none_or(|pool| *command.row.pool == **pool)
        && filter
            .held_by
            .as_ref()
            .is_none_or(|worker| command.row.lease.as_ref().is_some_and(|lease| *lease.worker == **worker))
        && filter.free_at.is_none_or(|now| command.row.lease.as_ref().is_none_or(|lease| lease.until <= now))
}

/// Above every command of the same event and execution.
const LAST: (CommandKey, u16) =
    (CommandKey { visit: VisitId(u32::MAX), item: Item::Claim(u32::MAX), part: u16::MAX }, u16::MAX);

#[async_trait]
impl Commands for MemoryStore {
    async fn list_open_commands(
        &self,
        filter: &CommandFilter,
        limit: usize,
    ) -> Result<Vec<StoredCommand>, Error> {
        let start = filter.after.map_or(Bound::Unbounded, |(event, execution)| {
            Bound::Excluded((event, execution, LAST.0, LAST.1))
        });
        self.with(|state| {
            let listed = state.open.range((start, Bound::Unbounded));
            let commands =
                listed.filter_map(|(_, execution, key, attempt)| state.command(*execution, *key, *attempt));
            commands.filter(|command| matches(filter, command)).take(limit).cloned().collect()
        })
    }

    async fn find_command(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
    ) -> Result<Option<StoredCommand>, Error> {
        self.with(|state| state.command(execution, key, attempt).cloned())
    }

    async fn find_command_by_event(&self, event: EventId) -> Result<Option<StoredCommand>, Error> {
        self.with(|state| {
            let all = state.runs.values().flat_map(|run| run.commands.values());
            all.into_iter().find(|command| command.row.event == event).cloned()
        })
    }

    async fn claim_command(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
        lease: Lease,
        now: Timestamp,
    ) -> Result<Claim, Error> {
        self.with(|state| {
            let Some(command) = state.command_mut(execution, key, attempt) else {
                return Claim::NotFound;
            };
            if !command.status.is_open() {
                return Claim::Closed(command.status);
            }
            match &command.row.lease {
                Some(held) if held.worker != lease.worker && held.until > now => {
                    return Claim::Held { holder: held.worker.clone(), until: held.until };
                }
                Some(held) if held.worker == lease.worker => {}
                _ => command.claimed_at = Some(now),
            }
            command.status = CommandStatus::Claimed;
            command.row.lease = Some(lease);
            Claim::Taken(Box::new(command.clone()))
        })
    }

    async fn release_command(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
        worker: &str,
    ) -> Result<bool, Error> {
        self.with(|state| match state.command_mut(execution, key, attempt) {
            Some(command)
                if command.status == CommandStatus::Claimed
                    && command.row.lease.as_ref().is_some_and(|lease| *lease.worker == *worker) =>
            {
                command.status = CommandStatus::Pending;
                command.row.lease = None;
                command.claimed_at = None;
                true
            }
            _ => false,
        })
    }

    async fn renew_leases(&self, worker: &str, until: Timestamp) -> Result<u64, Error> {
        self.with(|state| {
            let held = |command: &&StoredCommand| {
                command.row.lease.as_ref().is_some_and(|lease| *lease.worker == *worker)
            };
            let places: Vec<_> = state
                .open_commands()
                .filter(held)
                .map(|command| (command.execution, command.row.key, command.row.attempt))
                .collect();
            for (execution, key, attempt) in &places {
                let command = state.command_mut(*execution, *key, *attempt);
                if let Some(lease) = command.and_then(|command| command.row.lease.as_mut()) {
                    lease.until = lease.until.max(until);
                }
            }
            places.len() as u64
        })
    }

    async fn list_expired_leases(&self, now: Timestamp, limit: usize) -> Result<Vec<StoredCommand>, Error> {
        self.with(|state| {
            let mut expired: Vec<(Timestamp, &StoredCommand)> = state
                .open_commands()
                .filter_map(|command| Some((command.row.lease.as_ref()?.until, command)))
                .filter(|(until, _)| *until <= now)
                .collect();
            expired.sort_by_key(|(until, command)| {
                (*until, command.execution, command.row.key, command.row.attempt)
            });
            expired.into_iter().take(limit).map(|(_, command)| command.clone()).collect()
        })
    }
}
