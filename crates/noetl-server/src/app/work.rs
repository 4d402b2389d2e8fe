//! Work for workers in other processes: given out under leases, reported on, renewed, given back.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use noetl_engine::Input;
use noetl_store::{Claim, Lease, LogChunk, LogLimit, WorkerKind};
use noetl_types::{Outcome, StoredValue, Value};
use tokio::sync::oneshot;

use super::{App, Code, Error};
use crate::drive::{Attempt, Dispatched, DriveError, WorkQueue};

/// News of one attempt.
#[derive(Clone, Debug)]
pub struct WorkerReport {
    pub attempt: Attempt,
    /// A tool was called.
    pub began: bool,
    /// Nothing while it goes on.
    pub outcome: Option<Outcome>,
}

/// An attempt that is given back.
#[derive(Clone, Copy, Debug)]
pub struct GivenBack {
    pub attempt: Attempt,
    /// A tool was called already, so the work may be half done.
    pub began: bool,
}

impl App {
    fn queue(&self) -> &WorkQueue {
        self.drive().shared().dispatcher.queue()
    }

    pub fn lease(&self) -> Duration {
        self.drive().config().lease
    }

    /// A lease for this worker that begins now.
    pub(super) fn new_lease(&self, worker: &Arc<str>) -> Lease {
        Lease { worker: worker.clone(), until: self.now().after(self.lease()) }
    }

    /// Waits for work of these pools and gives out at most `room` commands. What is given out is claimed in the store at
    /// that moment: if the answer is lost, the lease runs out and the work is given out again.
    pub async fn take(
        &self,
        worker: Arc<str>,
        pools: &[Arc<str>],
        room: usize,
        wait: Duration,
    ) -> Result<Vec<Dispatched>, Error> {
        self.expect_worker(&worker).await?;
        let taken = match tokio::time::timeout(wait, self.queue().queue.take(pools, room)).await {
            Err(_) => return Ok(Vec::new()),
            Ok(taken) if taken.is_empty() => return Err(DriveError::Closed.into()),
            Ok(taken) => taken,
        };
        // The worker may go away at any time. What was taken for it must not go with it, so a task of its own has it.
        let (answer, answered) = oneshot::channel();
        tokio::spawn(give(self.clone(), worker, taken, answer));
        answered.await.unwrap_or_else(|_| Err(DriveError::Closed.into()))
    }

    /// Claims a command that was taken out of the queue.
    async fn claim_taken(&self, dispatched: &Dispatched, lease: Lease) -> Result<Claim, noetl_store::Error> {
        let (execution, key, attempt) = dispatched.attempt();
        if let Some(holder) = self.drive().shared().dispatcher.holder() {
            // The workers of this process have the lease of everything that waits; the one that takes it gets it.
            self.store().release_command(execution, key, attempt, &holder).await?;
        }
        self.store().claim_command(execution, key, attempt, lease, self.now()).await
    }

    /// Puts a command that nobody has into the queue.
    pub(super) async fn queue_again(&self, dispatched: Dispatched) -> Result<(), Error> {
        if let Some(holder) = self.drive().shared().dispatcher.holder() {
            let (execution, key, attempt) = dispatched.attempt();
            let lease = self.new_lease(&holder);
            let claim = self.store().claim_command(execution, key, attempt, lease, self.now()).await?;
            if !matches!(claim, Claim::Taken(_)) {
                return Ok(());
            }
        }
        self.drive().shared().dispatcher.dispatch(vec![dispatched]);
        Ok(())
    }

    /// Feeds reports to their runs and says of each whether its run exists. Returns once they are durable. News that come
    /// twice or too late are noted and change nothing.
    pub async fn report(&self, worker: &Arc<str>, reports: Vec<WorkerReport>) -> Result<Vec<bool>, Error> {
        let mut inputs = Vec::with_capacity(reports.len() * 2);
        let mut ends = Vec::with_capacity(reports.len());
        for report in reports {
            let (execution, command, attempt) = report.attempt;
            if report.began {
                inputs.push((execution, Input::Began { command, attempt, worker: worker.clone() }));
            }
            if let Some(outcome) = report.outcome {
                inputs.push((execution, Input::Ended { command, attempt, outcome }));
            }
            ends.push(inputs.len());
        }
        let mut answers = self.drive().inputs(inputs).await.into_iter();
        let mut counted = Vec::with_capacity(ends.len());
        let mut from = 0;
        for to in ends {
            let mut known = true;
            for answer in answers.by_ref().take(to - from) {
                match answer {
                    Ok(_) => {}
                    Err(DriveError::NotFound(_)) => known = false,
                    Err(error) => return Err(error.into()),
                }
            }
            counted.push(known);
            from = to;
        }
        Ok(counted)
    }

    /// Extends the leases of these attempts, and of no others: what the worker does not know of is to run out. Returns
    /// those that the worker has no right to any more.
    pub async fn renew(&self, worker: &Arc<str>, running: &[Attempt]) -> Result<Vec<Attempt>, Error> {
        self.expect_worker(worker).await?;
        let lease = self.new_lease(worker);
        let now = self.now();
        let claims = running.iter().map(|&(execution, key, attempt)| {
            self.store().claim_command(execution, key, attempt, lease.clone(), now)
        });
        let mut stop = Vec::new();
        for (claim, attempt) in join_all(claims).await.into_iter().zip(running) {
            if !matches!(claim?, Claim::Taken(_)) {
                stop.push(*attempt);
            }
        }
        Ok(stop)
    }

    /// Attempts that were stopped since `after`, or since now, and where to ask on. Waits for the first.
    pub async fn stops(
        &self,
        worker: &Arc<str>,
        after: Option<&str>,
        wait: Duration,
    ) -> Result<(Vec<Attempt>, String), Error> {
        self.expect_worker(worker).await?;
        let stops = &self.queue().stops;
        // Numbers begin anew with the process, so they go with its start.
        let process = self.started_at().0;
        let seen = match after.and_then(|after| after.split_once('.')) {
            Some((of, seen)) if of.parse() == Ok(process) => seen.parse().unwrap_or_default(),
            Some(_) => 0,
            None => stops.count(),
        };
        let told = tokio::time::timeout(wait, stops.after(seen)).await;
        let (told, seen) = told.unwrap_or_else(|_| (Vec::new(), seen));
        Ok((told, format!("{process}.{seen}")))
    }

    /// Takes attempts back from the worker that has them. What has not begun goes to another worker as it is; the rest is
    /// taken up as a new attempt.
    pub async fn give_back(&self, worker: &str, attempts: &[GivenBack]) -> Result<(), Error> {
        for given_back in attempts {
            let (execution, key, attempt) = given_back.attempt;
            if given_back.began {
                let held = self.store().find_command(execution, key, attempt).await?;
                let is_its_own = held
                    .and_then(|held| held.row.lease.filter(|_| held.status.is_open()))
                    .is_some_and(|lease| &*lease.worker == worker);
                if is_its_own {
                    self.drive().input(execution, Input::LeaseExpired { command: key, attempt }).await?;
                }
            } else if self.store().release_command(execution, key, attempt, worker).await?
                && let Some(dispatched) = self.drive().find_work(execution, key, attempt).await?
            {
                self.queue_again(dispatched).await?;
            }
        }
        Ok(())
    }

    /// The content of a value that is stored aside.
    pub async fn load_value(&self, stored: &StoredValue) -> Result<Value, Error> {
        match self.drive().values().load(&**self.store(), stored).await {
            Ok(value) => Ok(value),
            Err(noetl_store::Error::NotFound { what } | noetl_store::Error::Invalid { reason: what }) => {
                Err(Error::new(Code::ValueNotFound, format!("there is no value '{}': {what}", stored.uri)))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub async fn append_logs(&self, chunks: &[LogChunk]) -> Result<(), Error> {
        Ok(self.store().append_logs(chunks, LogLimit::default()).await?)
    }

    /// The worker is alive. Who is not registered is sent to do that first.
    async fn expect_worker(&self, worker: &str) -> Result<(), Error> {
        if self.store().heartbeat(WorkerKind::WorkerPool, worker, self.now()).await? {
            return Ok(());
        }
        Err(Error::new(Code::WorkerUnknown, format!("there is no worker '{worker}'"))
            .help("register it with POST /api/worker/pool/register"))
    }
}

/// Claims what was taken and hands it over. What can't be claimed or handed over goes back.
async fn give(
    app: App,
    worker: Arc<str>,
    taken: Vec<Dispatched>,
    answer: oneshot::Sender<Result<Vec<Dispatched>, Error>>,
) {
    let lease = app.new_lease(&worker);
    let claims = join_all(taken.iter().map(|dispatched| app.claim_taken(dispatched, lease.clone()))).await;
    let mut given = Vec::with_capacity(taken.len());
    let mut failed = None;
    for (claim, dispatched) in claims.into_iter().zip(taken) {
        match claim {
            Ok(Claim::Taken(_)) => given.push(dispatched),
            // Another worker claimed it by its name, or it is over.
            Ok(Claim::Held { .. } | Claim::Closed(_) | Claim::NotFound) => {}
            Err(error) => {
                app.drive().shared().dispatcher.dispatch(vec![dispatched]);
                failed = Some(error);
            }
        }
    }
    let result = match failed {
        Some(error) if given.is_empty() => Err(error.into()),
        _ => Ok(given),
    };
    if let Err(Ok(unheard)) = answer.send(result) {
        for dispatched in unheard {
            let (execution, key, attempt) = dispatched.attempt();
            let back = async {
                app.store().release_command(execution, key, attempt, &worker).await?;
                app.queue_again(dispatched).await
            };
            if let Err(error) = back.await {
                tracing::warn!(%execution, command = %key, %error, "a command comes again when its lease has run out");
            }
        }
    }
}
