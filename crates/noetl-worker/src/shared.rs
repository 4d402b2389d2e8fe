//! What all commands of a worker have in common.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_expr::View;
use noetl_tools::{Call, Toolbox};
use noetl_types::{CommandKey, Value};
use tokio_util::sync::CancellationToken;

use crate::limits::KindLimits;
use crate::logs::LogHandle;
use crate::needs::{Needs, StepNeeds};
use crate::reporting::Reports;
use crate::running::Running;
use crate::values::ValueLoader;
use crate::{ControlPlane, WorkerConfig};

pub(crate) struct Shared {
    pub config: WorkerConfig,
    pub control: Arc<dyn ControlPlane>,
    pub tools: Toolbox,
    pub running: Arc<Running>,
    pub limits: KindLimits,
    pub loader: Arc<ValueLoader>,
    pub needs: Needs,
    pub logs: LogHandle,
    pub reports: Reports,
    /// Fires when the worker is to end: what has not begun is given back.
    pub stopping: CancellationToken,
    /// Fires when the time to end is over: what still runs is stopped and given back.
    pub abandoned: CancellationToken,
    /// A call that needs none of the means a call can have, for tools that do nothing.
    pub bare_call: Call,
}

impl Shared {
    /// Names that only the worker can bind.
    pub fn worker_names(&self, needs: &StepNeeds, key: CommandKey) -> BTreeMap<Arc<str>, View> {
        let mut names = BTreeMap::new();
        if needs.worker_names {
            names.insert("worker_id".into(), View::Value(Value::Text(self.config.name.clone())));
            names.insert("command_id".into(), View::Value(key.to_string().into()));
            if let Some(url) = &self.config.server_url {
                names.insert("server_url".into(), View::Value(Value::Text(url.clone())));
            }
        }
        names
    }
}
