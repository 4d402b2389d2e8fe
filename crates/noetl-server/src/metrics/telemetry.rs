//! What the exporter of traces counts.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::text::Text;
use super::{SPANS_EXPORTED, TRACES_DROPPED, TRACES_EXPORTED};

#[derive(Debug, Default)]
pub struct TelemetryMetrics {
    /// Runs whose spans were delivered.
    pub executions: AtomicU64,
    /// Spans that were delivered.
    pub spans: AtomicU64,
    /// Runs that were passed over because too many waited.
    pub dropped_full: AtomicU64,
    /// News that were missed, which may have been about the ends of runs.
    pub dropped_lagged: AtomicU64,
    /// Runs whose spans nobody took.
    pub dropped_refused: AtomicU64,
}

impl TelemetryMetrics {
    pub(super) fn write(&self, text: &mut Text) {
        text.single(&TRACES_EXPORTED, self.executions.load(Relaxed) as f64);
        text.begin(&TRACES_DROPPED);
        for (reason, count) in [
            ("queue_full", &self.dropped_full),
            ("lagged", &self.dropped_lagged),
            ("refused", &self.dropped_refused),
        ] {
            text.sample(TRACES_DROPPED.name, &[("reason", reason)], count.load(Relaxed) as f64);
        }
        text.single(&SPANS_EXPORTED, self.spans.load(Relaxed) as f64);
    }
}
