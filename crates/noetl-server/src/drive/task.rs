//! One drive task: takes what waits, commits it, tells the world.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use noetl_store::{Batch, Committed, Duplicate};
use noetl_types::ExecutionId;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::committing::{After, Committing};
use super::sessions::Sessions;
use super::turn::Turn;
use super::{Applied, DriveError, Job, Shared, Work, route};

/// How often an execution that others keep moving is tried within one turn.
const TRIES: usize = 8;

/// How long to wait before what the store did not take is tried again.
const PAUSE: Duration = Duration::from_millis(200);

pub struct Task {
    shared: Arc<Shared>,
    number: usize,
    mailboxes: Vec<mpsc::WeakSender<Job>>,
    sessions: Sessions,
    /// Commits that the store may or may not have taken before it stopped answering. What follows from them is told once
    /// the store says that it has them.
    doubts: Vec<(Batch, Committing)>,
    /// News from other runs that could not be recorded. Nobody else sends them again.
    unheard: Vec<Job>,
    /// When to try again, while there is something to try.
    try_again: Option<Instant>,
}

/// What the store says about a commit whose answer was lost.
enum Fate {
    /// Executions whose changes it has. Nothing is stored of the others.
    Stored(BTreeSet<ExecutionId>),
    Unknown,
}

impl Task {
    pub fn new(shared: Arc<Shared>, number: usize, mailboxes: Vec<mpsc::WeakSender<Job>>) -> Task {
        let sessions = Sessions::new(shared.config.session_bytes);
        Task { shared, number, mailboxes, sessions, doubts: Vec::new(), unheard: Vec::new(), try_again: None }
    }

    pub async fn run(mut self, mut inbox: mpsc::Receiver<Job>) {
        let mut jobs = Vec::new();
        let most = self.shared.config.batch.max(1);
        loop {
            let waiting = inbox.recv_many(&mut jobs, most);
            let received = match self.try_again {
                Some(at) => tokio::time::timeout_at(at, waiting).await.ok(),
                None => Some(waiting.await),
            };
            if received == Some(0) {
                break;
            }
            self.settle_doubts().await;
            if self.try_again.is_some_and(|at| at <= Instant::now()) {
                self.try_again = None;
                jobs.append(&mut self.unheard);
            }
            if !jobs.is_empty() {
                self.work_off(std::mem::take(&mut jobs)).await;
            }
            let is_behind = !self.doubts.is_empty() || !self.unheard.is_empty();
            if is_behind && self.try_again.is_none() {
                self.try_again = Some(Instant::now() + PAUSE);
            }
        }
        tracing::debug!(task = self.number, "drive task ends");
    }

    /// Sees a batch of jobs through: those that lost a race are tried again with what is stored now.
    async fn work_off(&mut self, mut jobs: Vec<Job>) {
        for attempt in 1..=TRIES {
            let mut turn = Turn::new(self.shared.clone(), attempt == 1);
            let mut answers = Vec::with_capacity(jobs.len());
            for job in &jobs {
                answers.push(turn.handle(&mut self.sessions, job.execution, &job.work).await);
            }
            let (batch, committing) = turn.into_commit();
            let Committed { lost, duplicates } = match self.commit(&batch).await {
                Ok(committed) => committed,
                Err(error) => return self.commit_failed(error, batch, committing, jobs, answers).await,
            };
            let not_begun = duplicates.iter().map(|duplicate| duplicate.execution);
            let dropped = lost.into_iter().chain(not_begun).collect();
            let again = self.conclude(committing, batch, dropped);
            let mut left = Vec::new();
            for (job, result) in jobs.into_iter().zip(answers) {
                let taken = duplicates.iter().find(|duplicate| duplicate.execution == job.execution);
                if let Some(&Duplicate { original, .. }) = taken {
                    self.answer(job, Err(DriveError::Duplicate { original }));
                } else if result.is_ok() && again.contains(&job.execution) {
                    left.push(job);
                } else {
                    self.answer(job, result);
                }
            }
            if left.is_empty() {
                return;
            }
            tracing::debug!(
                task = self.number,
                attempt,
                executions = left.len(),
                "others were faster, trying again"
            );
            jobs = left;
        }
        for job in jobs {
            let error = DriveError::Contended(job.execution);
            self.answer(job, Err(error));
        }
    }

    async fn commit(&self, batch: &Batch) -> Result<Committed, noetl_store::Error> {
        if batch.executions.is_empty() {
            return Ok(Committed::default());
        }
        let began = std::time::Instant::now();
        let committed = self.shared.store.commit(batch).await?;
        self.shared.metrics.committed(batch.executions.len(), began.elapsed());
        Ok(committed)
    }

    /// Asks the store what became of the commit. What it has counts as done, whatever it answered before.
    async fn commit_failed(
        &mut self,
        error: noetl_store::Error,
        batch: Batch,
        committing: Committing,
        jobs: Vec<Job>,
        answers: Vec<Result<Applied, DriveError>>,
    ) {
        tracing::warn!(task = self.number, %error, "a commit failed");
        let fate = self.fate(&batch).await;
        let error = Arc::new(error);
        let stored = match fate {
            Fate::Stored(stored) => {
                let lost = not_among(&batch, &stored);
                self.conclude(committing, batch, lost);
                stored
            }
            Fate::Unknown => {
                self.doubts.push((batch, committing));
                BTreeSet::new()
            }
        };
        for (job, result) in jobs.into_iter().zip(answers) {
            let is_stored = stored.contains(&job.execution);
            let result = if is_stored { result } else { Err(DriveError::Store(error.clone())) };
            self.answer(job, result);
        }
    }

    async fn fate(&self, batch: &Batch) -> Fate {
        let mut stored = BTreeSet::new();
        for write in &batch.executions {
            let Some(last) = write.events.last() else {
                continue;
            };
            match self.shared.store.known_event_ids(write.execution, &[last.id]).await {
                Ok(known) if known.contains(&last.id) => {
                    stored.insert(write.execution);
                }
                Ok(_) => {}
                Err(_) => return Fate::Unknown,
            }
        }
        Fate::Stored(stored)
    }

    /// Tells what follows from commits that turn out to be stored. Runs that moved on since are not put back.
    async fn settle_doubts(&mut self) {
        while let Some((batch, committing)) = self.doubts.pop() {
            match self.fate(&batch).await {
                Fate::Stored(stored) => {
                    let lost = not_among(&batch, &stored);
                    self.conclude(committing, batch, lost);
                }
                Fate::Unknown => {
                    self.doubts.push((batch, committing));
                    return;
                }
            }
        }
    }

    /// Puts the runs of a commit back and tells what follows from it. Names the executions to be tried again.
    fn conclude(&mut self, committing: Committing, batch: Batch, lost: Vec<ExecutionId>) -> Vec<ExecutionId> {
        let (after, again) = committing.finish(batch, lost, &mut self.sessions);
        self.tell(after);
        again
    }

    /// Everything that follows from a commit: workers are rung, watchers told, other runs given their news.
    fn tell(&self, after: After) {
        self.shared.metrics.told(&after.progress, after.dispatched.len() + after.done_at_once);
        for progress in after.progress {
            // Nobody may be watching.
            let _ = self.shared.progress.send(progress);
        }
        self.shared.ends.tell(after.ended);
        for (execution, command, attempt) in after.cancelled {
            self.shared.dispatcher.cancel(execution, command, attempt);
        }
        if !after.dispatched.is_empty() {
            self.shared.dispatcher.dispatch(after.dispatched);
        }
        if after.timer_started {
            self.shared.timer_started.notify_one();
        }
        for (execution, work) in after.news {
            self.post(Job { execution, work, reply: None });
        }
    }

    /// Sends news to a run, here or at another task. A full mailbox must not keep this task waiting: two tasks could then
    /// wait for each other.
    fn post(&self, job: Job) {
        let Some(mailbox) = self.mailboxes[route(job.execution, self.mailboxes.len())].upgrade() else {
            return;
        };
        match mailbox.try_send(job) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
            Err(mpsc::error::TrySendError::Full(job)) => {
                tokio::spawn(async move {
                    let _ = mailbox.send(job).await;
                });
            }
        }
    }

    fn answer(&mut self, job: Job, result: Result<Applied, DriveError>) {
        match (job.reply, result) {
            (Some(reply), result) => {
                // The caller may have gone away.
                let _ = reply.send(result);
            }
            (None, Ok(_)) => {}
            (None, Err(error)) => self.news_failed(job.execution, job.work, &error),
        }
    }

    /// News that the store could not take are kept until it can; whoever they are for may wait for nothing else.
    fn news_failed(&mut self, execution: ExecutionId, work: Work, error: &DriveError) {
        let may_help = match error {
            DriveError::Store(error) => error.is_retryable(),
            DriveError::Contended(_) => true,
            _ => false,
        };
        tracing::warn!(%execution, %error, again = may_help, "news for a run did not take effect");
        if may_help {
            self.unheard.push(Job { execution, work, reply: None });
        }
    }
}

fn not_among(batch: &Batch, stored: &BTreeSet<ExecutionId>) -> Vec<ExecutionId> {
    let executions = batch.executions.iter().map(|write| write.execution);
    executions.filter(|execution| !stored.contains(execution)).collect()
}
