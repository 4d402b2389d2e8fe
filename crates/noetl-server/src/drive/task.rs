//! One drive task: takes what waits, commits it, tells the world.

use std::sync::Arc;

use noetl_store::{Batch, Committed, Duplicate};
use tokio::sync::mpsc;

use super::sessions::Sessions;
use super::turn::{After, Turn};
use super::{Applied, DriveError, Job, Shared, Work, route};

/// How often an execution that others keep moving is tried within one turn.
const TRIES: usize = 8;

pub struct Task {
    shared: Arc<Shared>,
    number: usize,
    mailboxes: Vec<mpsc::WeakSender<Job>>,
    sessions: Sessions,
}

impl Task {
    pub fn new(shared: Arc<Shared>, number: usize, mailboxes: Vec<mpsc::WeakSender<Job>>) -> Task {
        let sessions = Sessions::new(shared.config.session_bytes);
        Task { shared, number, mailboxes, sessions }
    }

    pub async fn run(mut self, mut inbox: mpsc::Receiver<Job>) {
        let mut jobs = Vec::new();
        while inbox.recv_many(&mut jobs, self.shared.config.batch.max(1)).await > 0 {
            self.work_off(std::mem::take(&mut jobs)).await;
        }
        tracing::debug!(task = self.number, "drive task ends");
    }

    /// Sees a batch of jobs through: those that lost a race are tried again with what is stored now.
    async fn work_off(&mut self, mut jobs: Vec<Job>) {
        for attempt in 1..=TRIES {
            let mut turn = Turn::new(self.shared.clone());
            let mut answers = Vec::with_capacity(jobs.len());
            for job in &jobs {
                answers.push(turn.handle(&mut self.sessions, job.execution, job.work.clone()).await);
            }
            let batch = turn.batch();
            let Committed { lost, duplicates } = match self.commit(&batch).await {
                Ok(mut committed) => {
                    committed.lost.extend(turn.broken());
                    committed
                }
                Err(error) => {
                    // What was decided is not in the store for certain, so nothing of it is kept.
                    let error = Arc::new(error);
                    for job in jobs {
                        answer(job, Err(DriveError::Store(error.clone())));
                    }
                    return;
                }
            };
            let not_begun = duplicates.iter().map(|duplicate| duplicate.execution);
            let dropped: Vec<_> = lost.iter().copied().chain(not_begun).collect();
            let after = turn.finish(&mut self.sessions, &dropped);
            self.tell(after);
            let mut again = Vec::new();
            for (job, result) in jobs.into_iter().zip(answers) {
                let taken = duplicates.iter().find(|duplicate| duplicate.execution == job.execution);
                if let Some(&Duplicate { original, .. }) = taken {
                    answer(job, Err(DriveError::Duplicate { original }));
                } else if result.is_ok() && lost.contains(&job.execution) {
                    again.push(job);
                } else {
                    answer(job, result);
                }
            }
            if again.is_empty() {
                return;
            }
            tracing::debug!(
                task = self.number,
                attempt,
                executions = again.len(),
                "others were faster, trying again"
            );
            jobs = again;
        }
        for job in jobs {
            let error = DriveError::Contended(job.execution);
            answer(job, Err(error));
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

    /// Everything that follows from a commit: workers are rung, watchers told, other runs given their news.
    fn tell(&self, after: After) {
        self.shared.metrics.told(&after.progress, after.dispatched.len());
        for progress in after.progress {
            // Nobody may be watching.
            let _ = self.shared.progress.send(progress);
        }
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
}

fn answer(job: Job, result: Result<Applied, DriveError>) {
    if let (None, Err(error)) = (&job.reply, &result) {
        let what = match &job.work {
            Work::Start(_) => "start",
            Work::Input(_) => "input",
            Work::Recover => "recovery",
        };
        tracing::warn!(execution = %job.execution, what, %error, "news for a run did not take effect");
    }
    if let Some(reply) = job.reply {
        // The caller may have gone away.
        let _ = reply.send(result);
    }
}
