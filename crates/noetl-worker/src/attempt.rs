//! One attempt at a command, from its first template to its report.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt, future};
use noetl_dsl::Plan;
use noetl_dsl::plan::Step;
use noetl_engine::pipeline::{Next, Pipeline, TaskCall};
use noetl_expr::View;
use noetl_tools::Secrets;
use noetl_types::{
    Command, CommandContext, ErrorKind, Outcome, Report, StoredValue, Timestamp, ToolError, Value,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::backoff::until_answered;
use crate::calls::duration;
use crate::credentials::CommandCredentials;
use crate::logs::CommandLogs;
use crate::needs::StepNeeds;
use crate::shared::Shared;
use crate::values::CommandValues;
use crate::{Assigned, AttemptId, CommandReport, Released, aside, clock, keychain, redact};

/// Where an attempt begins.
pub(crate) enum Start {
    Fresh(Box<Command>),
    Begun(Box<Begun>),
}

/// A command that the interpreter has begun with.
pub(crate) struct Begun {
    pub pipeline: Pipeline,
    /// What it wants next.
    pub next: Next,
    pub values: Arc<CommandValues>,
}

/// How an attempt ended.
enum Ending {
    Outcome(Outcome),
    /// Nobody waits for it any more.
    Stopped,
    GivenBack,
}

pub(crate) struct Attempt {
    pub(crate) shared: Arc<Shared>,
    id: AttemptId,
    pub(crate) plan: Arc<Plan>,
    step: usize,
    needs: StepNeeds,
    pub(crate) context: Arc<CommandContext>,
    deadline: Option<Timestamp>,
    /// Fires when the control plane wants no more of it.
    stopped: CancellationToken,
    /// Fires then, and whenever else its tools are to end.
    pub(crate) tool_cancel: CancellationToken,
    pub(crate) secrets: Secrets,
    pub(crate) logs: Arc<CommandLogs>,
    pub(crate) credentials: Arc<CommandCredentials>,
    pub(crate) trace: Option<Value>,
    began: OnceLock<Timestamp>,
    has_begun: Notify,
}

impl Attempt {
    pub fn new(shared: Arc<Shared>, assigned: Assigned, needs: &StepNeeds) -> Attempt {
        let id = AttemptId::of(&assigned.command);
        let stopped = shared.running.add(id, assigned.lease);
        Attempt {
            id,
            step: assigned.command.step_index as usize,
            needs: needs.clone(),
            context: assigned.command.context.clone(),
            deadline: assigned.command.deadline,
            tool_cancel: stopped.child_token(),
            stopped,
            secrets: Secrets::default(),
            logs: shared.logs.open(&assigned.command),
            credentials: Arc::new(CommandCredentials::new(shared.control.clone(), id.execution)),
            trace: assigned.trace,
            began: OnceLock::new(),
            has_begun: Notify::new(),
            plan: assigned.plan,
            shared,
        }
    }

    pub(crate) fn step(&self) -> &Step {
        &self.plan.steps[self.step]
    }

    /// A tool is about to be called.
    pub(crate) fn begin(&self) {
        self.began.get_or_init(clock::now);
        self.has_begun.notify_one();
    }

    /// Works until there is an outcome, and reports it.
    pub async fn run(self, start: Start) {
        match self.supervise(start).await {
            Ending::Outcome(outcome) => self.conclude(outcome).await,
            Ending::Stopped => self.shared.running.remove(self.id),
            Ending::GivenBack => self.give_back().await,
        }
    }

    /// Watches over the work: ends it when its time is over or nobody wants it, and says that it has begun.
    async fn supervise(&self, start: Start) -> Ending {
        let mut work = pin!(AssertUnwindSafe(self.work(start)).catch_unwind());
        let mut time_is_over = pin!(self.time_is_over());
        let mut long_at_work = pin!(self.long_at_work());
        let mut announced = false;
        let (stopping, abandoned) = (&self.shared.stopping, &self.shared.abandoned);
        let ending = loop {
            let not_begun = self.began.get().is_none();
            tokio::select! {
                biased;
                ended = &mut work => break Ending::Outcome(ended.unwrap_or_else(|panic| {
                    Outcome::finished(panicked("the step", panic.as_ref()))
                })),
                () = self.stopped.cancelled() => {
                    self.end_tools(work.as_mut()).await;
                    break Ending::Stopped;
                }
                limit = &mut time_is_over => {
                    self.end_tools(work.as_mut()).await;
                    break Ending::Outcome(Outcome::finished(Report::failure(limit)));
                }
                () = stopping.cancelled(), if not_begun => {
                    // It may have begun since this was asked.
                    if self.began.get().is_none() {
                        break Ending::GivenBack;
                    }
                }
                () = abandoned.cancelled() => {
                    self.end_tools(work.as_mut()).await;
                    break Ending::GivenBack;
                }
                () = &mut long_at_work, if !announced => {
                    announced = true;
                    self.report(None).await;
                }
            }
        };
        self.logs.finish();
        ending
    }

    /// Tells the tools to end and gives them a moment for it. What they come to is of no interest.
    async fn end_tools<T>(&self, work: Pin<&mut impl Future<Output = T>>) {
        self.tool_cancel.cancel();
        let _ = tokio::time::timeout(self.shared.config.stop_grace, work).await;
    }

    /// Comes back when the step's own deadline has passed.
    async fn time_is_over(&self) -> ToolError {
        let Some(deadline) = self.deadline else {
            return future::pending().await;
        };
        tokio::time::sleep(deadline.since(clock::now())).await;
        let message = format!("step '{}' was stopped at its deadline of {deadline}", self.step().name);
        ToolError::new(ErrorKind::Timeout, message).with_code("TIMEOUT")
    }

    /// Comes back when the work has gone on so long that people should know of it.
    async fn long_at_work(&self) {
        self.has_begun.notified().await;
        tokio::time::sleep(self.shared.config.announce_after).await;
    }

    /// Interprets the step to its outcome.
    async fn work(&self, start: Start) -> Outcome {
        let begun = match start {
            Start::Begun(begun) => Ok(*begun),
            Start::Fresh(command) => self.open(*command).await,
        };
        match begun {
            Ok(Begun { pipeline, next, values }) => self.drive(pipeline, next, &values).await,
            Err(error) => Outcome::finished(Report::failure(error)),
        }
    }

    async fn open(&self, command: Command) -> Result<Begun, ToolError> {
        let mut names = self.shared.inline.worker_names(&self.needs, command.key);
        if !self.needs.keychain.is_empty() {
            let (credentials, secrets) = (&*self.credentials, &self.secrets);
            let keychain = keychain::resolve(
                &self.plan,
                &self.needs.keychain,
                &self.context,
                credentials,
                secrets,
                clock::now(),
            );
            names.insert("keychain".into(), View::Value(keychain.await?));
        }
        let values = Arc::new(CommandValues::new(self.shared.loader.clone()));
        let mut pipeline = Pipeline::new(self.plan.clone(), command, names, values.clone());
        let next = pipeline.next(clock::now());
        Ok(Begun { pipeline, next, values })
    }

    /// Does what the interpreter wants until it reports.
    async fn drive(&self, mut pipeline: Pipeline, mut next: Next, values: &CommandValues) -> Outcome {
        let mut under_way = FuturesUnordered::new();
        loop {
            match next {
                Next::Report(outcome) => return *outcome,
                Next::Load(missing) => {
                    if let Err(error) = self.load(values, &missing).await {
                        return Outcome::finished(Report::failure(error));
                    }
                    next = pipeline.next(clock::now());
                    continue;
                }
                Next::Call(calls) => {
                    if let (true, Some(delay)) = (under_way.is_empty(), self.delay_to_put_down(&calls)) {
                        return pipeline.suspend_for_delay(delay);
                    }
                    for call in calls {
                        under_way.push(async move {
                            let report = self.call(&call).await;
                            (call, report)
                        });
                    }
                }
                Next::Wait => {}
            }
            let Some((call, report)) = under_way.next().await else {
                let message = "the interpreter waits for calls that were never made";
                return Outcome::finished(Report::failure(ToolError::new(ErrorKind::Unknown, message)));
            };
            pipeline.finished(&call, report);
            next = pipeline.next(clock::now());
        }
    }

    /// The delay of a sole call that is too long to hold the command for. The items of a task's own loop are waited for in
    /// place, since the loop can't be put down with one of them half done.
    fn delay_to_put_down(&self, calls: &[TaskCall]) -> Option<f64> {
        let [call] = calls else {
            return None;
        };
        let too_long =
            duration(call.delay_seconds).is_some_and(|delay| delay > self.shared.config.longest_wait);
        let in_a_loop = self.step().tasks.get(call.task).is_some_and(|task| task.looping.is_some());
        (too_long && !in_a_loop).then_some(call.delay_seconds)
    }

    async fn load(&self, values: &CommandValues, missing: &[Arc<StoredValue>]) -> Result<(), ToolError> {
        let loads = missing.iter().map(|stored| async move {
            let loaded = until_answered("loading a value", || values.load(self.id.execution, stored)).await;
            loaded.map_err(|error| {
                let message = format!("the stored value {} could not be read: {error}", stored.uri);
                ToolError::new(ErrorKind::StorageAccess, message)
            })
        });
        future::try_join_all(loads).await.map(|_| ())
    }

    /// Makes the outcome fit to be recorded and reports it.
    async fn conclude(&self, outcome: Outcome) {
        let mut outcome = redact::redact(outcome, &self.secrets);
        if self.shared.control.stores_values() {
            let control = &*self.shared.control;
            let execution = self.id.execution;
            let stored = until_answered("storing a value", || {
                let mut copy = outcome.clone();
                async move {
                    aside::store_large_values(control, execution, self.step(), &mut copy).await?;
                    Ok(copy)
                }
            });
            outcome = stored.await.unwrap_or_else(|error| {
                let message = format!("the result could not be stored: {error}");
                Outcome::finished(Report::failure(ToolError::new(ErrorKind::StorageAccess, message)))
            });
        }
        self.began.get_or_init(clock::now);
        self.report(Some(outcome)).await;
    }

    async fn report(&self, outcome: Option<Outcome>) {
        let report = CommandReport {
            attempt: self.id,
            worker: self.shared.config.name.clone(),
            began_at: self.began.get().copied(),
            outcome,
        };
        // The reporter outlives all attempts; only a worker that was dropped as a whole has none.
        let _ = self.shared.reports.send(vec![report]).await;
    }

    async fn give_back(&self) {
        let released = [Released { attempt: self.id, began: self.began.get().is_some() }];
        let control = &self.shared.control;
        let release =
            until_answered("giving back a command", || control.release(&self.shared.config.name, &released));
        if let Ok(Err(error)) = tokio::time::timeout(GIVE_BACK_PATIENCE, release).await {
            tracing::warn!(attempt = %self.id, %error, "the command was not given back; its lease will run out");
        }
        self.shared.running.remove(self.id);
    }
}

/// How long to try to give a command back. After that its lease runs out by itself.
const GIVE_BACK_PATIENCE: Duration = Duration::from_secs(3);

/// What a panic comes to: an error of the step it happened in.
pub(crate) fn panicked(what: &str, panic: &(dyn Any + Send)) -> Report {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = format!("{what} crashed: {}", text.unwrap_or("no message"));
    Report::failure(ToolError::new(ErrorKind::Unknown, message).with_code("CRASH"))
}
