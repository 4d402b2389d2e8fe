//! A span: something that took its time within a trace.

use std::sync::Arc;

use noetl_types::{SpanId, Timestamp, TraceId, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub trace: TraceId,
    pub id: SpanId,
    /// The span it is a part of; nothing at the beginning of a trace.
    pub parent: Option<SpanId>,
    /// What other systems in the trace want to be passed on.
    pub state: Option<Arc<str>>,
    pub name: String,
    pub start: Timestamp,
    pub end: Timestamp,
    /// Text, numbers and flags.
    pub attributes: Vec<(&'static str, Value)>,
    pub ending: Ending,
}

/// How a span ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Well,
    /// With this error.
    Badly(String),
    /// It was ended from outside.
    Stopped,
}
