//! Starting the runs that steps of other runs call.

use noetl_types::{CommandKey, ErrorKind, ExecutionId, SpanId, Started, ToolError, Value};

use noetl_engine::Input;

use super::trace::trace_of;
use super::turn::{Part, Turn};
use super::{Beginning, DriveError, Work};
use crate::catalog::{CatalogError, Playbook, Reference};

impl Turn {
    /// Decides on the child's id together with the parent, so that starting it again after a crash finds it.
    pub(super) async fn start_child(
        &self,
        part: &mut Part,
        command: CommandKey,
        reference: Reference,
        payload: Value,
        parent: noetl_types::ParentLink,
    ) -> Result<Input, DriveError> {
        let refused = |kind: ErrorKind, message: String| Input::ChildRefused {
            command,
            error: ToolError::new(kind, message),
        };
        let playbook = match self.shared.playbooks.get(&reference).await {
            Ok(playbook) => playbook,
            Err(CatalogError::Store(error)) => return Err(error.into()),
            Err(error) => return Ok(refused(ErrorKind::NotFound, error.to_string())),
        };
        let child = ExecutionId(self.shared.ids.next());
        match self.child_start(child, &playbook, payload, parent, &part.session.run.started) {
            Ok(work) => {
                part.told.news.push((child, work));
                Ok(Input::ChildStarted { command, child })
            }
            Err(error) => Ok(Input::ChildRefused { command, error }),
        }
    }

    pub(super) fn child_start(
        &self,
        child: ExecutionId,
        playbook: &Playbook,
        payload: Value,
        parent: noetl_types::ParentLink,
        caller: &Started,
    ) -> Result<Work, ToolError> {
        // A child works in the pool of its parent, and its trace hangs from the step or the item that called it.
        let pool = caller.meta.get("execution_pool").cloned();
        let trace = match trace_of(caller, self.shared.config.traces) {
            Some(trace) => Some(trace.passed_on(SpanId::of_share(caller.execution, parent.command))),
            // What is no trace context here may be one for others.
            None => caller.meta.get("trace").cloned(),
        };
        let inherited = [("execution_pool", pool), ("trace", trace)]
            .into_iter()
            .filter_map(|(key, value)| value.map(|value| (key, value)));
        let request = noetl_engine::StartRequest {
            execution: child,
            path: playbook.path.clone(),
            version: playbook.version,
            catalog_id: playbook.catalog_id,
            payload,
            entry: None,
            also_at: Vec::new(),
            rerun_of: None,
            parent: Some(parent),
            meta: Value::map(inherited),
        };
        let started = noetl_engine::start(&playbook.plan, request, self.now)?;
        Ok(Work::Start(Box::new(Beginning::new(playbook.clone(), started))))
    }
}
