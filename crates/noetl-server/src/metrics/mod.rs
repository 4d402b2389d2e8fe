//! Numbers for operators, in the text format of Prometheus. The names are promised; `docs/metrics.md` explains them.

mod drive;
mod histogram;
mod process;
mod requests;
mod telemetry;
mod text;

use std::sync::atomic::Ordering::Relaxed;

use noetl_store::{WorkerFilter, WorkerKind};
use noetl_types::RunStatus;

pub use drive::DriveMetrics;
pub use process::Process;
pub use requests::{Connected, Requests};
pub use telemetry::TelemetryMetrics;
use text::Text;

use crate::app::{App, Error};

/// Values of one name.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub name: &'static str,
    pub kind: Kind,
    pub help: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
    Histogram,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

/// Makes the families and the list of all of them.
macro_rules! families {
    ($($constant:ident = $kind:ident $name:literal: $help:literal;)*) => {
        $(const $constant: Family = Family { name: $name, kind: Kind::$kind, help: $help };)*

        /// Every family there is.
        pub const FAMILIES: &[Family] = &[$($constant),*];
    };
}

families! {
    BUILD_INFO = Gauge "noetl_server_build_info": "Always 1, with the version of the server";
    UPTIME = Gauge "noetl_uptime_seconds": "How long the server runs";
    HTTP_REQUESTS = Counter "noetl_http_requests_total": "Requests that were answered, by route and status";
    HTTP_DURATION = Histogram "noetl_http_request_duration_seconds": "From the head of a request to the beginning of its answer";
    HTTP_CONNECTIONS = Gauge "noetl_http_connections": "Connections that are open";
    EXECUTIONS_STARTED = Counter "noetl_executions_started_total": "Executions that were started here";
    EXECUTIONS_ENDED = Counter "noetl_executions_ended_total": "Executions that came to an end here, by status";
    EXECUTIONS_OPEN = Gauge "noetl_executions_open": "Executions in the store that are not over";
    EVENTS = Counter "noetl_events_total": "Events that were recorded here";
    COMMANDS_DISPATCHED = Counter "noetl_commands_dispatched_total": "Commands that went out to workers, and those done at once because they need none";
    COMMANDS_CLAIMED = Counter "noetl_commands_claimed_total": "Commands that a worker has begun";
    COMMANDS_LOST = Counter "noetl_commands_lost_total": "Commands whose worker went silent";
    DRIVE_BATCH = Histogram "noetl_drive_batch_executions": "Executions that changed in one commit";
    DRIVE_COMMIT = Histogram "noetl_drive_commit_duration_seconds": "How long a commit took";
    DRIVE_MAILBOX = Gauge "noetl_drive_mailbox_depth": "Inputs that wait for the drive loop";
    WORKERS = Gauge "noetl_workers": "Workers that were heard of within the last minute";
    TRACES_EXPORTED = Counter "noetl_telemetry_executions_exported_total": "Executions whose traces were delivered";
    TRACES_DROPPED = Counter "noetl_telemetry_executions_dropped_total": "Executions whose traces were not delivered, by reason";
    SPANS_EXPORTED = Counter "noetl_telemetry_spans_exported_total": "Spans that were delivered";
    PROCESS_MEMORY = Gauge "process_resident_memory_bytes": "Memory of the process";
    PROCESS_CPU = Counter "process_cpu_seconds_total": "Processor time of the process";
    PROCESS_FILES = Gauge "process_open_fds": "Files and connections that the process has open";
}

/// What is counted outside the drive loop.
#[derive(Debug, Default)]
pub struct Metrics {
    pub requests: Requests,
    pub telemetry: TelemetryMetrics,
}

impl App {
    /// All metrics as text.
    pub async fn render_metrics(&self) -> Result<String, Error> {
        let mut text = Text::default();
        text.begin(&BUILD_INFO);
        text.sample(BUILD_INFO.name, &[("version", self.version())], 1.0);
        text.single(&UPTIME, self.now().since(self.started_at()).as_secs_f64());
        self.metrics().requests.write(&mut text);
        self.write_drive(&mut text);
        self.metrics().telemetry.write(&mut text);
        text.single(&EXECUTIONS_OPEN, self.open_executions().await? as f64);
        text.single(&WORKERS, self.live_workers().await? as f64);
        let process = Process::look();
        for (family, value) in [
            (PROCESS_MEMORY, process.resident_bytes.map(|bytes| bytes as f64)),
            (PROCESS_CPU, process.cpu_seconds),
            (PROCESS_FILES, process.open_files.map(|files| files as f64)),
        ] {
            if let Some(value) = value {
                text.single(&family, value);
            }
        }
        Ok(text.finish())
    }

    fn write_drive(&self, text: &mut Text) {
        let drive = self.drive().metrics();
        text.single(&EXECUTIONS_STARTED, drive.started.load(Relaxed) as f64);
        text.begin(&EXECUTIONS_ENDED);
        for (status, count) in
            [("completed", &drive.completed), ("failed", &drive.failed), ("cancelled", &drive.cancelled)]
        {
            text.sample(EXECUTIONS_ENDED.name, &[("status", status)], count.load(Relaxed) as f64);
        }
        for (family, count) in [
            (EVENTS, &drive.events),
            (COMMANDS_DISPATCHED, &drive.dispatched),
            (COMMANDS_CLAIMED, &drive.begun),
            (COMMANDS_LOST, &drive.lost),
        ] {
            text.single(&family, count.load(Relaxed) as f64);
        }
        text.begin(&DRIVE_BATCH);
        text.histogram(DRIVE_BATCH.name, &[], &drive.batches);
        text.begin(&DRIVE_COMMIT);
        text.histogram(DRIVE_COMMIT.name, &[], &drive.commits);
        text.single(&DRIVE_MAILBOX, self.drive().mailbox_depth() as f64);
    }

    /// Executions that are not over.
    pub async fn open_executions(&self) -> Result<u64, Error> {
        let counts = self.store().count_executions().await?;
        let open = |status: &RunStatus| !status.is_terminal();
        Ok(counts.iter().filter(|(status, _)| open(status)).map(|(_, count)| count).sum())
    }

    /// Workers that were heard of lately.
    pub async fn live_workers(&self) -> Result<usize, Error> {
        const LATELY: i64 = 60_000_000;
        let since = noetl_types::Timestamp(self.now().0 - LATELY);
        let filter = WorkerFilter {
            kind: Some(WorkerKind::WorkerPool),
            alive_since: Some(since),
            ..WorkerFilter::default()
        };
        Ok(self.store().list_workers(&filter).await?.len())
    }
}
