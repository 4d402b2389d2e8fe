//! What all commands of a worker have in common.

use std::sync::Arc;

use noetl_tools::Toolbox;
use tokio_util::sync::CancellationToken;

use crate::inline::Inline;
use crate::limits::KindLimits;
use crate::logs::LogHandle;
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
    pub inline: Inline,
    pub logs: LogHandle,
    pub reports: Reports,
    /// Fires when the worker is to end: what has not begun is given back.
    pub stopping: CancellationToken,
    /// Fires when the time to end is over: what still runs is stopped and given back.
    pub abandoned: CancellationToken,
}
