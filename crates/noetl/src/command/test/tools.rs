//! The tools that cases may call for real.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use noetl_test::{RealCall, RealTools};
use noetl_tools::{Call, CodeText, Credential, FixedCredentials, ToolConfig, Toolbox};
use noetl_types::{Map, Report, Value};
use tokio::runtime::Runtime;

/// The built-in tools, for callers that do not wait in a runtime of their own.
pub struct Tools {
    runtime: Runtime,
    toolbox: Toolbox,
}

impl Tools {
    pub fn new(config: ToolConfig) -> Result<Tools> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .context("no threads can be started")?;
        let toolbox = {
            let _inside = runtime.enter();
            Toolbox::builtin(config)
        };
        Ok(Tools { runtime, toolbox })
    }
}

impl RealTools for Tools {
    fn call(&self, call: RealCall<'_>) -> Report {
        let task = call.task;
        let with = Call {
            input: task.input.clone(),
            code: task.code.as_ref().map(|(text, line)| CodeText {
                text: text.clone(),
                line: *line,
                name: Some(call.playbook.clone()),
            }),
            names: call.names,
            credentials: Arc::new(credentials(call.credentials)),
            timeout: task.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            ..Call::new(task.config.clone())
        };
        self.runtime.block_on(self.toolbox.call(&task.kind, with))
    }
}

fn credentials(given: &Map) -> FixedCredentials {
    FixedCredentials::new(given.iter().map(|(name, entry)| Credential {
        name: name.to_string(),
        kind: entry.get("type").and_then(Value::as_str).unwrap_or_default().to_owned(),
        data: entry.get("data").cloned().unwrap_or_default(),
    }))
}
