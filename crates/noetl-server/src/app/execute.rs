//! Starting runs.

use std::sync::Arc;
use std::time::Duration;

use noetl_store::{Execution, ExecutionRow, Reservation};
use noetl_types::{CommandKey, ExecutionId, Kept, Map, ParentLink, RunTrace, SpanId, Value, VisitId};

use super::audit::{Deed, Outcome};
use super::{App, Code, Error};
use crate::catalog::{Playbook, Reference};
use crate::drive::{DriveError, ExecuteRequest};

/// How long a start waits for room before the caller is asked to come back.
const PATIENCE: Duration = Duration::from_secs(5);

/// A run to start.
#[derive(Clone, Debug)]
pub struct Start {
    pub playbook: Reference,
    pub payload: Value,
    pub entry: Option<Arc<str>>,
    /// Begin at these steps too.
    pub also_at: Vec<Arc<str>>,
    /// The run that this one repeats, with what it takes over from there.
    pub rerun_of: Option<(ExecutionId, Kept)>,
    /// The run that this one belongs to, without a step of it waiting for the outcome. It need not be known here: what a
    /// subscription starts belongs to the subscription.
    pub parent: Option<ExecutionId>,
    pub pool: Option<String>,
    pub trace: Option<Value>,
    pub once: Option<Once>,
    /// Who is to stand in the audit trail for it, which becomes durable with the start.
    pub asked_by: Option<String>,
}

/// Of starts with the same key and parent within the window, the first alone begins a run.
#[derive(Clone, Debug)]
pub struct Once {
    pub key: String,
    pub window: Duration,
}

/// A run that has begun, now or by an earlier start with the same key.
#[derive(Clone, Debug)]
pub struct Started {
    pub execution: ExecutionId,
    pub playbook: Playbook,
    /// How many commands went out at once.
    pub commands: usize,
    pub is_duplicate: bool,
}

/// The longest key that starts share.
const LONGEST_KEY: usize = 1024;

/// The longest time for which a key counts: 30 days.
const LONGEST_WINDOW: Duration = Duration::from_secs(30 * 24 * 3600);

impl App {
    /// Starts a run and returns once that is durable.
    pub async fn execute(&self, start: Start) -> Result<Started, Error> {
        self.execute_as(ExecutionId(self.ids().next()), start).await
    }

    /// Starts a run and waits for its end, for so long at most. Without an end it goes on.
    pub async fn execute_and_wait(
        &self,
        start: Start,
        wait: Duration,
    ) -> Result<(Started, Option<ExecutionRow>), Error> {
        let execution = ExecutionId(self.ids().next());
        let end = self.drive().ends().expect(execution);
        let started = self.execute_as(execution, start).await?;
        let ended = if started.is_duplicate {
            self.wait_for_end(started.execution, wait).await?
        } else {
            self.wait_on(end, wait).await?
        };
        Ok((started, ended))
    }

    async fn execute_as(&self, execution: ExecutionId, start: Start) -> Result<Started, Error> {
        if !matches!(start.payload, Value::Map(_) | Value::Null) {
            return Err(Error::new(Code::BodyInvalid, "the payload is not an object")
                .help("give the values as {\"name\": value}"));
        }
        let reserve = start.once.as_ref().map(|once| self.reservation(start.parent, once)).transpose()?;
        let playbook = self.drive().playbooks().get(&start.playbook).await?;
        if !self.drive().has_room(PATIENCE).await {
            return Err(Error::new(
                Code::TooManyRequests,
                "the server has more to do than it can; try again",
            )
            .help("wait for the time in Retry-After; when it stays like this, start more workers")
            .retry_after(PATIENCE));
        }
        let audit = start.asked_by.as_ref().map(|actor| {
            self.audit_row(Deed {
                actor: actor.clone(),
                action: "execution.start".to_owned(),
                target: playbook.path.to_string(),
                outcome: Outcome::Success,
                execution: Some(execution),
                details: Value::map([("version", Value::from(playbook.version))]),
            })
        });
        let request = ExecuteRequest {
            playbook: Reference::Id(playbook.catalog_id),
            meta: self.meta(&start).await?,
            payload: start.payload,
            entry: start.entry,
            also_at: start.also_at,
            rerun_of: start.rerun_of,
            parent: start.parent.map(|execution| ParentLink {
                execution,
                command: CommandKey::whole(VisitId(0)),
                detached: true,
                return_step: None,
            }),
            reserve,
            audit,
        };
        match self.drive().execute_as(execution, request).await {
            Ok(applied) => {
                let (execution, commands) = (applied.execution, applied.commands);
                Ok(Started { execution, playbook, commands, is_duplicate: false })
            }
            Err(DriveError::Duplicate { original }) => {
                // It may be a run of another version, or of another playbook.
                let reference = Reference::Id(self.execution(original).await?.row.catalog_id);
                let playbook = self.drive().playbooks().get(&reference).await.unwrap_or(playbook);
                Ok(Started { execution: original, playbook, commands: 0, is_duplicate: true })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn reservation(&self, scope: Option<ExecutionId>, once: &Once) -> Result<Reservation, Error> {
        if once.key.is_empty() || once.key.len() > LONGEST_KEY {
            let message = format!("a dedup key has 1 to {LONGEST_KEY} bytes");
            return Err(Error::new(Code::BodyInvalid, message));
        }
        if once.window.is_zero() || once.window > LONGEST_WINDOW {
            let message = format!("a dedup window has 1 to {} seconds", LONGEST_WINDOW.as_secs());
            return Err(Error::new(Code::BodyInvalid, message));
        }
        let seen_at = self.now();
        let expires_at = seen_at.after(once.window);
        Ok(Reservation { scope, key: once.key.as_str().into(), seen_at, expires_at })
    }

    /// The context for what hangs from an execution as a whole.
    fn trace_below(&self, parent: &Execution) -> Option<Value> {
        let own = || self.drive().config().traces.then(|| RunTrace::own(parent.id));
        match RunTrace::given(&parent.row.meta).or_else(own) {
            Some(trace) => Some(trace.passed_on(SpanId::of_execution(parent.id))),
            // What is no trace context here may be one for others.
            None => parent.row.meta.get("trace").cloned(),
        }
    }

    /// Pool and trace as asked for, else those of the parent.
    async fn meta(&self, start: &Start) -> Result<Value, Error> {
        let parent = match start.parent {
            Some(parent) => self.store().find_execution(parent).await?,
            None => None,
        };
        let pool = || parent.as_ref().and_then(|parent| parent.row.meta.get("execution_pool")).cloned();
        let trace = || parent.as_ref().and_then(|parent| self.trace_below(parent));
        let given = [
            ("execution_pool", start.pool.clone().map(Value::from).or_else(pool)),
            ("trace", start.trace.clone().or_else(trace)),
        ];
        let meta: Map =
            given.into_iter().filter_map(|(key, value)| value.map(|value| (key.into(), value))).collect();
        Ok(if meta.is_empty() { Value::Null } else { meta.into() })
    }
}
