//! What waits for a commit: runs to be put back, and what is to be told once their changes are durable.

use noetl_store::{Batch, ExecutionRow};
use noetl_types::{Command, CommandKey, ExecutionId};

use super::dispatch::Dispatched;
use super::session::Session;
use super::sessions::Sessions;
use super::trace::of_attempt;
use super::{Progress, Work};

/// What is to be told about one execution once its changes are durable.
#[derive(Default)]
pub struct Told {
    pub dispatched: Vec<Command>,
    /// Commands that needed no worker.
    pub done_at_once: usize,
    pub cancelled: Vec<(CommandKey, u16)>,
    pub news: Vec<(ExecutionId, Work)>,
    pub timer_started: bool,
}

/// The runs of a turn while its commit is under way.
pub struct Committing {
    pub runs: Vec<(ExecutionId, Session, Told)>,
    /// Executions whose part was given up half way.
    pub broken: Vec<ExecutionId>,
    /// Every run belongs to a trace.
    pub traces: bool,
}

/// What is to be told after a commit.
#[derive(Default)]
pub struct After {
    pub progress: Vec<Progress>,
    pub ended: Vec<(ExecutionId, ExecutionRow)>,
    pub dispatched: Vec<Dispatched>,
    pub done_at_once: usize,
    pub cancelled: Vec<(ExecutionId, CommandKey, u16)>,
    pub news: Vec<(ExecutionId, Work)>,
    pub timer_started: bool,
}

impl Committing {
    /// Puts the runs back and says what is to be told, for all executions that did not lose their race. Names those that
    /// are to be tried again.
    pub fn finish(
        self,
        batch: Batch,
        mut lost: Vec<ExecutionId>,
        sessions: &mut Sessions,
    ) -> (After, Vec<ExecutionId>) {
        let mut after = After::default();
        for (execution, session, mut told) in self.runs {
            if lost.contains(&execution) {
                continue;
            }
            let playbook = &session.playbook;
            let pool = &session.pool;
            let started = &session.run.started;
            after.dispatched.extend(told.dispatched.drain(..).map(|command| Dispatched {
                trace: of_attempt(started, self.traces, execution, command.key, command.attempt),
                command,
                plan: playbook.plan.clone(),
                catalog_id: playbook.catalog_id,
                pool: pool.clone(),
            }));
            after.done_at_once += told.done_at_once;
            let cancelled = told.cancelled.iter().map(|&(command, attempt)| (execution, command, attempt));
            after.cancelled.extend(cancelled);
            after.news.append(&mut told.news);
            after.timer_started |= told.timer_started;
            if !session.is_over() {
                sessions.put(execution, session);
            }
        }
        for write in batch.executions {
            if write.events.is_empty() || lost.contains(&write.execution) {
                continue;
            }
            after.progress.push(Progress { execution: write.execution, events: write.events.into() });
            if write.row.status.is_terminal() {
                after.ended.push((write.execution, write.row));
            }
        }
        lost.extend(self.broken);
        (after, lost)
    }
}
