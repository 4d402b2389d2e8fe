//! Finds tools by kind, and does what every call needs: it measures the time and masks secrets.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use noetl_types::{ErrorKind, Report, ToolError, Value};

use crate::credentials::WatchedCredentials;
use crate::http::{HttpTool, Sender};
use crate::logs::RedactedLogs;
use crate::noop::NoopTool;
use crate::postgres::{Database, PostgresTool};
use crate::python::PythonTool;
use crate::rhai::RhaiTool;
use crate::shell::ShellTool;
use crate::transfer::TransferTool;
use crate::{Call, KindDescription, Tool, ToolConfig};

/// Tools by kind.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<&'static str, Arc<dyn Tool>>,
}

impl Toolbox {
    /// A toolbox with nothing in it.
    pub fn new() -> Toolbox {
        Toolbox::default()
    }

    /// All kinds of this crate.
    pub fn builtin(config: ToolConfig) -> Toolbox {
        let sender = Arc::new(Sender::new(config.http));
        let database = Database::new(config.postgres);
        let mut toolbox = Toolbox::new();
        toolbox.add(NoopTool);
        toolbox.add(ShellTool::new(config.process.clone()));
        toolbox.add(PythonTool::new(config.process.clone(), config.python, sender.clone()));
        toolbox.add(PostgresTool::new(database.clone(), config.process, sender.clone()));
        toolbox.add(TransferTool::new(database, sender.clone()));
        toolbox.add(RhaiTool::new(config.rhai, sender.clone()));
        toolbox.add(HttpTool::new(sender));
        toolbox
    }

    /// Adds a tool, in place of any other of its kind.
    pub fn add(&mut self, tool: impl Tool + 'static) {
        self.tools.insert(tool.kind(), Arc::new(tool));
    }

    pub fn find(&self, kind: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(kind)
    }

    /// Every kind there is, by name.
    pub fn kinds(&self) -> impl Iterator<Item = &'static KindDescription> {
        self.tools.values().map(|tool| tool.describe())
    }

    /// Calls the tool of a kind.
    pub async fn call(&self, kind: &str, mut call: Call) -> Report {
        let Some(tool) = self.find(kind) else {
            let known: Vec<_> = self.tools.keys().copied().collect();
            let message = format!("there is no tool of kind '{kind}'; this worker has {}", known.join(", "));
            return Report::failure(ToolError::new(ErrorKind::Config, message));
        };
        let secrets = call.secrets.clone();
        let logs = Arc::new(RedactedLogs::new(call.logs, secrets.clone()));
        call.logs = logs.clone();
        call.credentials = Arc::new(WatchedCredentials { inner: call.credentials, secrets: secrets.clone() });

        let start = Instant::now();
        let mut report = tool.call(call).await;
        report.duration_ms = start.elapsed().as_secs_f64() * 1000.0;

        logs.finish();
        if !secrets.is_empty() {
            if let Some(error) = &mut report.error {
                secrets.redact_error(error);
            }
            if report.facets != Value::Null {
                report.facets = secrets.redact_value(&report.facets);
            }
        }
        report
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}
