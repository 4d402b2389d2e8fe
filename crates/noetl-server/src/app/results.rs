//! Values that are too large for their events: putting them aside, and finding them by their references.

use std::sync::Arc;
use std::time::Duration;

use noetl_engine::Run;
use noetl_store::{ResultInfo, ResultRef, ResultRow, ResultsDeletion};
use noetl_types::{EventBody, ExecutionId, Slot, StoredValue, Value, VisitId};

use super::{App, Code, Error};
use crate::drive::load_run;

/// A value to put aside.
#[derive(Clone, Debug)]
pub struct Put {
    pub name: String,
    pub data: Value,
    pub scope: Option<String>,
    pub source_step: Option<String>,
    /// After which it may go.
    pub ttl: Option<Duration>,
}

/// How long values may matter.
const SCOPES: [&str; 4] = ["step", "execution", "workflow", "permanent"];

/// Events that are read at a time to find a loop that a later visit of its step has replaced.
const PAGE: usize = 500;

impl App {
    /// Stores a value and says where.
    pub async fn put_result(&self, execution: ExecutionId, put: Put) -> Result<ResultInfo, Error> {
        if put.name.is_empty() || put.name.contains('\0') {
            return Err(Error::new(Code::BodyInvalid, "the name of a value must not be empty"));
        }
        let scope = put.scope.as_deref().unwrap_or("execution");
        if !SCOPES.contains(&scope) {
            return Err(Error::new(Code::BodyInvalid, format!("there is no scope '{scope}'"))
                .help(format!("a scope is one of {}", SCOPES.join(", "))));
        }
        self.require_execution(execution).await?;
        let at = ResultRef { execution, name: put.name.into(), id: self.ids().next() };
        let now = self.now();
        let row = ResultRow {
            scope: scope.into(),
            source_step: put.source_step.map(Into::into),
            expires_at: put.ttl.map(|ttl| now.after(ttl)),
            ..ResultRow::json(at, put.data.to_string().into_bytes(), now)
        };
        self.store().put_result(&row).await?;
        Ok(ResultInfo {
            at: row.at,
            scope: row.scope,
            source_step: row.source_step,
            size: row.content.len() as u64,
            sha256: row.sha256,
            media_type: row.media_type,
            created_at: row.created_at,
            expires_at: row.expires_at,
        })
    }

    /// The JSON of a stored value, or of the results of a loop.
    pub async fn resolve_result(&self, reference: &str) -> Result<Arc<[u8]>, Error> {
        if let Some((execution, visit)) = loop_reference(reference) {
            return self.resolve_loop(reference, execution, visit).await;
        }
        if let Some(tail) = object_tail(reference) {
            return match self.store().find_blob_by_tail(&tail).await {
                Ok(Some(blob)) => Ok(blob.bytes),
                Ok(None) => Err(not_found(reference)),
                Err(error) => Err(damaged(error)),
            };
        }
        let at: ResultRef = reference.parse().map_err(|_| {
            let message = format!("'{reference}' is no reference to a stored value");
            Error::new(Code::ReferenceInvalid, message).help(
                "references look like noetl://execution/<execution>/result/<name>/<id>, or \
                     noetl://<tenant>/<project>/results/<execution>/<step>/<frame>/<row>/<attempt>",
            )
        })?;
        match self.store().find_result(&at).await {
            Ok(Some(row)) => Ok(row.content),
            Ok(None) => Err(not_found(reference)),
            Err(error) => Err(damaged(error)),
        }
    }

    /// The newest value of a name.
    pub async fn latest_result(&self, execution: ExecutionId, name: &str) -> Result<Arc<[u8]>, Error> {
        match self.store().find_latest_result(execution, name).await {
            Ok(Some(row)) => Ok(row.content),
            Ok(None) => Err(not_found(&format!("'{name}' of execution {execution}"))),
            Err(error) => Err(damaged(error)),
        }
    }

    /// What values an execution has put aside, by id, those after `after`.
    pub async fn list_results(
        &self,
        execution: ExecutionId,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<ResultInfo>, Error> {
        self.require_execution(execution).await?;
        Ok(self.store().list_results(execution, after, limit).await?)
    }

    /// Removes the values of an execution that has ended and that no other refers to.
    pub async fn delete_results(&self, execution: ExecutionId) -> Result<u64, Error> {
        let found = self.store().find_execution(execution).await?;
        if found.is_some_and(|found| !found.row.status.is_terminal()) {
            let message = format!("execution {execution} runs and may need its values");
            return Err(Error::new(Code::ExecutionRunning, message).help("cancel it, or wait until it ends"));
        }
        match self.store().delete_results(execution).await? {
            ResultsDeletion::Deleted { values } => Ok(values),
            ResultsDeletion::Needed { by } => {
                let message = format!("execution {by} took over values of execution {execution}");
                Err(Error::new(Code::Conflict, message).help("they can go when that execution is gone"))
            }
        }
    }

    async fn require_execution(&self, execution: ExecutionId) -> Result<(), Error> {
        match self.store().find_execution(execution).await? {
            Some(_) => Ok(()),
            None => Err(Error::execution_not_found(execution)),
        }
    }

    async fn resolve_loop(
        &self,
        reference: &str,
        execution: ExecutionId,
        visit: VisitId,
    ) -> Result<Arc<[u8]>, Error> {
        let Some((run, _)) = load_run(&**self.store(), execution).await? else {
            return Err(not_found(reference));
        };
        let stored = match in_run(&run, reference) {
            Some(stored) => Some(stored),
            None => self.in_events(execution, visit, reference).await?,
        };
        let Some(stored) = stored else {
            return Err(not_found(reference));
        };
        let value = self.drive().values().load(&**self.store(), &stored).await.map_err(damaged)?;
        Ok(value.to_string().into_bytes().into())
    }

    /// Looks for the end of a visit in the log, from its newest event back to the one that began the visit.
    async fn in_events(
        &self,
        execution: ExecutionId,
        visit: VisitId,
        reference: &str,
    ) -> Result<Option<Arc<StoredValue>>, Error> {
        let mut before = u64::MAX;
        loop {
            let events = self.store().load_events_back(execution, before, PAGE).await?;
            for event in &events {
                match &event.body {
                    EventBody::StepExited { result: Some(Slot::Stored(stored)), .. }
                        if stored.uri == reference =>
                    {
                        return Ok(Some(stored.clone()));
                    }
                    EventBody::StepEntered { visit: entered, .. } if *entered == visit => return Ok(None),
                    _ => {}
                }
            }
            match events.last() {
                Some(oldest) if events.len() == PAGE => before = oldest.seq,
                _ => return Ok(None),
            }
        }
    }
}

/// The results of a loop stay in the log; its reference names the visit.
fn loop_reference(reference: &str) -> Option<(ExecutionId, VisitId)> {
    let (execution, visit) = reference.strip_prefix("noetl://execution/")?.split_once("/loop/")?;
    Some((ExecutionId(execution.parse().ok()?), VisitId(visit.parse().ok()?)))
}

/// Where the value is kept that workers name `noetl://<tenant>/<project>/results/<execution>/<step>/<frame>/<row>/<attempt>`:
/// the end of the key of an object.
fn object_tail(reference: &str) -> Option<String> {
    let mut parts = reference.strip_prefix("noetl://")?.splitn(4, '/');
    let (tenant, project, results) = (parts.next()?, parts.next()?, parts.next()?);
    let (execution, place) = parts.next()?.split_once('/')?;
    let is_known = !tenant.is_empty() && !project.is_empty() && results == "results";
    let is_whole = place.split('/').filter(|part| !part.is_empty()).count() >= 4;
    let execution: i64 = execution.parse().ok().filter(|_| is_known && is_whole)?;
    Some(format!("/execution={execution}/results/{place}.json"))
}

fn in_run(run: &Run, reference: &str) -> Option<Arc<StoredValue>> {
    run.steps.values().find_map(|record| match &record.result {
        Some(Slot::Stored(stored)) if stored.uri == reference => Some(stored.clone()),
        _ => None,
    })
}

fn not_found(what: &str) -> Error {
    Error::new(Code::ResultNotFound, format!("there is no stored value {what}"))
        .help("it may have expired, or its execution was removed")
}

/// A value that is not what was stored is told apart from other trouble with the store.
fn damaged(error: noetl_store::Error) -> Error {
    match error {
        noetl_store::Error::Corrupt { .. } => Error::new(Code::ResultDamaged, error.to_string()),
        noetl_store::Error::NotFound { what } => not_found(&what),
        error => error.into(),
    }
}
