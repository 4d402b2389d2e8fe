//! Brings reports to the control plane: together where they come together, and until they have arrived.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use noetl_types::{ErrorKind, Outcome, Report, ToolError};
use tokio::sync::mpsc;
use tracing::{debug, error};

use crate::backoff::until_answered;
use crate::running::Running;
use crate::{Accepted, CommandReport, ControlError, ControlPlane};

/// Batches that may wait; whoever reports more waits with them.
const QUEUE: usize = 1024;

/// Reports that travel together at most.
const BATCH: usize = 1024;

/// Batches that may be under way at once: while one is made safe, the next can already be on its way.
const IN_FLIGHT: usize = 4;

/// The lease that is kept up for attempts whose report does not get through.
const LEASE_WHILE_REPORTING: Duration = Duration::from_secs(30);

/// Where reports go.
pub(crate) type Reports = mpsc::Sender<Vec<CommandReport>>;

pub(crate) struct Reporter {
    control: Arc<dyn ControlPlane>,
    running: Arc<Running>,
    queue: mpsc::Receiver<Vec<CommandReport>>,
}

impl Reporter {
    pub fn new(control: Arc<dyn ControlPlane>, running: Arc<Running>) -> (Reporter, Reports) {
        let (reports, queue) = mpsc::channel(QUEUE);
        (Reporter { control, running, queue }, reports)
    }

    /// Works until every [`Reports`] is dropped and everything has arrived.
    pub async fn run(mut self) {
        let mut under_way = FuturesUnordered::new();
        let mut open = true;
        while open || !under_way.is_empty() {
            tokio::select! {
                Some(()) = under_way.next(), if !under_way.is_empty() => {}
                first = self.queue.recv(), if open && under_way.len() < IN_FLIGHT => match first {
                    None => open = false,
                    Some(first) => {
                        let batch = collect(&mut self.queue, first).await;
                        under_way.push(deliver(self.control.clone(), self.running.clone(), batch));
                    }
                },
            }
        }
    }
}

/// What has come by now, and what others that are ready to run add in their turn.
async fn collect(
    queue: &mut mpsc::Receiver<Vec<CommandReport>>,
    mut batch: Vec<CommandReport>,
) -> Vec<CommandReport> {
    tokio::task::yield_now().await;
    while batch.len() < BATCH {
        match queue.try_recv() {
            Ok(more) => batch.extend(more),
            Err(_) => break,
        }
    }
    batch
}

async fn deliver(control: Arc<dyn ControlPlane>, running: Arc<Running>, batch: Vec<CommandReport>) {
    if let Err(refusal) = send(&control, &running, &batch).await {
        // One of them is at fault; the others must not suffer for it.
        match <[CommandReport; 1]>::try_from(batch) {
            Ok([report]) => deliver_refused(&control, &running, report, refusal).await,
            Err(batch) => {
                for report in batch {
                    if let Err(refusal) = send(&control, &running, std::slice::from_ref(&report)).await {
                        deliver_refused(&control, &running, report, refusal).await;
                    }
                }
            }
        }
    }
}

/// Tells of an outcome that the control plane does not take, in place of the outcome.
async fn deliver_refused(
    control: &Arc<dyn ControlPlane>,
    running: &Running,
    mut report: CommandReport,
    refusal: ControlError,
) {
    let attempt = report.attempt;
    error!(%attempt, %refusal, "a report was refused");
    if report.outcome.is_some() {
        let message = format!("the outcome could not be recorded: {refusal}");
        let failure = Report::failure(ToolError::new(ErrorKind::Unknown, message));
        report.outcome = Some(Outcome::finished(failure));
        if let Err(refusal) = send(control, running, std::slice::from_ref(&report)).await {
            error!(%attempt, %refusal, "the report of a refused report was refused");
        }
        running.remove(attempt);
    }
}

/// Sends until there is an answer. The leases are kept up meanwhile.
async fn send(
    control: &Arc<dyn ControlPlane>,
    running: &Running,
    batch: &[CommandReport],
) -> Result<(), ControlError> {
    let mut tries = 0;
    let accepted = until_answered("reporting", || {
        tries += 1;
        if tries == 2 {
            for report in batch.iter().filter(|report| report.outcome.is_some()) {
                running.add(report.attempt, LEASE_WHILE_REPORTING);
            }
        }
        control.report(batch.to_vec())
    })
    .await?;
    for (report, accepted) in batch.iter().zip(accepted) {
        let attempt = report.attempt;
        match (&report.outcome, accepted) {
            (Some(_), Accepted::Counted) => running.remove(attempt),
            (Some(_), Accepted::Ignored) => {
                debug!(%attempt, "the outcome came too late to count");
                running.remove(attempt);
            }
            (None, Accepted::Counted) => {}
            // It is someone else's by now, or nobody's.
            (None, Accepted::Ignored) => running.stop(attempt),
        }
    }
    Ok(())
}
