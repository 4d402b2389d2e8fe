//! The worker: takes commands while it has room, and drains when it is told to end.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use noetl_tools::Toolbox;
use noetl_types::Outcome;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tracing::{Instrument, debug_span, info, warn};

use crate::attempt::{Attempt, Begun, Start};
use crate::backoff::{Backoff, until_answered};
use crate::heartbeat::{follow_stops, renew_leases};
use crate::inline::{Inline, Progress};
use crate::limits::KindLimits;
use crate::logs::LogShipper;
use crate::needs::StepNeeds;
use crate::reporting::Reporter;
use crate::running::Running;
use crate::shared::Shared;
use crate::values::{CommandValues, ValueLoader};
use crate::{
    Assigned, AttemptId, CommandReport, ControlError, ControlPlane, WorkerConfig, WorkerInfo, clock,
};

/// How long to try to say goodbye.
const GOODBYE_PATIENCE: Duration = Duration::from_secs(5);

/// Runs the commands of some pools.
pub struct Worker {
    config: WorkerConfig,
    control: Arc<dyn ControlPlane>,
    tools: Toolbox,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("config", &self.config)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

impl Worker {
    pub fn new(config: WorkerConfig, control: Arc<dyn ControlPlane>, tools: Toolbox) -> Worker {
        Worker { config, control, tools }
    }

    /// Works until `shutdown` fires or the control plane shuts down, then drains: takes no more, gives back what has not
    /// begun, lets the rest end within the time for it, and says goodbye. Fails only if it is refused at the start.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), ControlError> {
        let Worker { config, control, tools } = self;
        let info = WorkerInfo {
            name: config.name.clone(),
            pools: config.pools.clone(),
            kinds: tools.kinds().map(|description| description.kind.into()).collect(),
            capacity: config.concurrency,
        };
        tokio::select! {
            registered = until_answered("registering", || control.register(&info)) => registered?,
            () = shutdown.cancelled() => return Ok(()),
        }
        info!(worker = %info.name, pools = ?info.pools, "worker started");

        let running = Arc::new(Running::default());
        let (reporter, reports) = Reporter::new(control.clone(), running.clone());
        let (shipper, logs) = LogShipper::new(control.clone(), config.logs.clone());
        let logs_end = CancellationToken::new();
        let reporter = spawn(reporter.run());
        let shipper = spawn(shipper.run(logs_end.clone()));
        let _renewals = spawn(renew_leases(control.clone(), info.name.clone(), running.clone()));
        let _stops = spawn(follow_stops(control.clone(), info.name.clone(), running.clone()));

        let shared = Arc::new(Shared {
            loader: Arc::new(ValueLoader::new(control.clone(), config.value_cache)),
            limits: KindLimits::new(&config.kind_limits),
            inline: Inline::new(&config, tools.clone()),
            stopping: CancellationToken::new(),
            abandoned: CancellationToken::new(),
            config,
            control: control.clone(),
            tools,
            running,
            logs,
            reports,
        });
        // A worker that is dropped in mid-work leaves no tool behind.
        let _abandon = shared.abandoned.clone().drop_guard();
        let attempts = TaskTracker::new();
        take_commands(&shared, &attempts, &shutdown).await;
        drain(&shared, &attempts).await;

        // With the last of the senders the reporter ends, once everything has arrived.
        let patience = shared.config.drain;
        drop(shared);
        if timeout(patience, reporter).await.is_err() {
            warn!(worker = %info.name, "some outcomes could not be reported; their leases will run out");
        }
        logs_end.cancel();
        let _ = timeout(GOODBYE_PATIENCE, shipper).await;
        let goodbye = until_answered("deregistering", || control.deregister(&info.name));
        if let Err(error) = timeout(GOODBYE_PATIENCE, goodbye).await.unwrap_or(Ok(())) {
            warn!(worker = %info.name, %error, "the worker was not deregistered");
        }
        info!(worker = %info.name, "worker ended");
        Ok(())
    }
}

fn spawn(service: impl Future<Output = ()> + Send + 'static) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(service))
}

/// Takes as many commands as there is room for, until the end.
async fn take_commands(shared: &Arc<Shared>, attempts: &TaskTracker, shutdown: &CancellationToken) {
    let (control, config) = (&shared.control, &shared.config);
    let slots = Arc::new(Semaphore::new(config.concurrency.clamp(1, Semaphore::MAX_PERMITS)));
    let mut backoff = Backoff::new();
    loop {
        let room = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            slot = slots.acquire() => {
                drop(slot.expect("the semaphore is never closed"));
                // Only this loop takes slots, so there can only be more of them by the time they are used.
                slots.available_permits()
            }
        };
        let taken = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            taken = control.take(&config.name, &config.pools, room) => taken,
        };
        match taken {
            Ok(Some(assigned)) => {
                backoff = Backoff::new();
                begin(shared, attempts, &slots, assigned).await;
            }
            Ok(None) => return,
            Err(error) => {
                warn!(worker = %config.name, %error, "no commands could be taken; trying again");
                tokio::select! {
                    () = shutdown.cancelled() => return,
                    () = backoff.wait() => {}
                }
            }
        }
    }
}

/// Runs what can be run on the spot and gives the rest tasks of their own.
async fn begin(
    shared: &Arc<Shared>,
    attempts: &TaskTracker,
    slots: &Arc<Semaphore>,
    assigned: Vec<Assigned>,
) {
    let mut ended = Vec::new();
    for assigned in assigned {
        let needs = shared.inline.needs(&assigned.plan);
        let needs = &needs[assigned.command.step_index as usize];
        let began_at = clock::now();
        match go_as_far_as_possible(shared, &assigned, needs) {
            Ok(outcome) => ended.push(CommandReport {
                attempt: AttemptId::of(&assigned.command),
                worker: shared.config.name.clone(),
                began_at: Some(began_at),
                outcome: Some(*outcome),
            }),
            Err(start) => {
                // There is a slot, unless the control plane gave more than was asked for.
                let slot = slots.clone().acquire_owned().await.expect("the semaphore is never closed");
                let span = debug_span!("attempt", id = %AttemptId::of(&assigned.command), step = %assigned.command.step);
                let attempt = Attempt::new(shared.clone(), assigned, needs);
                let work = async move {
                    attempt.run(start).await;
                    drop(slot);
                };
                attempts.spawn(work.instrument(span));
            }
        }
    }
    if !ended.is_empty() {
        // The reporter lives as long as this worker does.
        let _ = shared.reports.send(ended).await;
    }
}

/// The outcome of a command that takes no time, or where an attempt at it is to begin.
fn go_as_far_as_possible(
    shared: &Shared,
    assigned: &Assigned,
    needs: &StepNeeds,
) -> Result<Box<Outcome>, Start> {
    if !needs.begins_at_once || !needs.keychain.is_empty() {
        return Err(Start::Fresh(Box::new(assigned.command.clone())));
    }
    let values = Arc::new(CommandValues::new(shared.loader.clone()));
    match shared.inline.begin(&assigned.plan, &assigned.command, needs, values.clone(), clock::now) {
        Progress::Ended(outcome) => Ok(outcome),
        Progress::Wants(pipeline, next) => {
            Err(Start::Begun(Box::new(Begun { pipeline: *pipeline, next, values })))
        }
    }
}

/// Lets attempts end within the time for it, and stops those that don't.
async fn drain(shared: &Shared, attempts: &TaskTracker) {
    shared.stopping.cancel();
    attempts.close();
    if timeout(shared.config.drain, attempts.wait()).await.is_err() {
        warn!(worker = %shared.config.name, left = attempts.len(), "stopping commands that did not end in time");
        shared.abandoned.cancel();
        if timeout(shared.config.stop_grace + GOODBYE_PATIENCE, attempts.wait()).await.is_err() {
            warn!(worker = %shared.config.name, left = attempts.len(), "leaving commands whose leases will run out");
        }
    }
}
