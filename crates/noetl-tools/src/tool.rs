//! What a tool is, and what it is called with.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use noetl_types::{Map, Report, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    Credentials, Deadline, DiscardLogs, Fields, FixedCredentials, KindDescription, LogSink, Secrets,
};

/// A kind of step. One value serves all calls of its kind at the same time.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The kind, its fields and its result, for checks and documentation.
    fn describe(&self) -> &'static KindDescription;

    /// Does the work. It ends soon after `call.cancel` fires or the time is over, and leaves no process behind.
    /// Dropping the future ends the work too.
    async fn call(&self, call: Call) -> Report;

    fn kind(&self) -> &'static str {
        self.describe().kind
    }
}

/// One call: rendered parameters and the means to do the work.
#[derive(Clone)]
pub struct Call {
    /// The settings of the kind.
    pub config: Value,
    /// The step's `input` map.
    pub input: Value,
    /// Source text, for kinds that run code.
    pub code: Option<CodeText>,
    /// Who is calling: `execution_id`, `step`, `variables` and whatever else Python's `context` should hold.
    pub names: Value,
    pub credentials: Arc<dyn Credentials>,
    pub cancel: CancellationToken,
    /// A limit from outside the tool's own settings; the shorter one counts.
    pub timeout: Option<Duration>,
    pub logs: Arc<dyn LogSink>,
    /// Values that must not show up where people read. Credentials that are looked up on the way are added.
    pub secrets: Secrets,
    /// The W3C trace context, for tools that call others: `traceparent`, `tracestate`.
    pub trace: Option<Value>,
}

/// Source text and where it stands in the playbook.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeText {
    pub text: Arc<str>,
    /// The line of the playbook that the first line of the text is on, from 1.
    pub line: u32,
    /// The name that tracebacks show; `<playbook>` when there is none.
    pub name: Option<Arc<str>>,
}

impl CodeText {
    pub fn new(text: impl Into<Arc<str>>) -> CodeText {
        CodeText { text: text.into(), line: 1, name: None }
    }
}

impl Call {
    /// A call with these settings, no input, no credentials and no limits.
    pub fn new(config: Value) -> Call {
        Call {
            config,
            input: Value::from(Map::new()),
            code: None,
            names: Value::from(Map::new()),
            credentials: Arc::new(FixedCredentials::default()),
            cancel: CancellationToken::new(),
            timeout: None,
            logs: Arc::new(DiscardLogs),
            secrets: Secrets::default(),
            trace: None,
        }
    }

    /// The settings, read by the names and aliases of `description`.
    pub(crate) fn fields(&self, description: &'static KindDescription) -> Fields<'_> {
        Fields::of(description, &self.config)
    }

    /// When to stop: at the tool's `own` limit or the call's, whichever comes first, or when cancelled.
    pub(crate) fn deadline(&self, own: Option<Duration>) -> Deadline {
        let limit = match (self.timeout, own) {
            (Some(outer), Some(own)) => Some(outer.min(own)),
            (outer, own) => outer.or(own),
        };
        Deadline::new(limit, self.cancel.clone())
    }
}

impl fmt::Debug for Call {
    /// Leaves the settings and the input out: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("names", &self.names)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
