//! Calls of tools: what a call gets from the worker, and what is made of a tool that misbehaves.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use noetl_engine::pipeline::TaskCall;
use noetl_tools::{Call, CodeText};
use noetl_types::{Map, Report, Value};

use crate::attempt::{Attempt, panicked};

impl Attempt {
    /// Waits out the delay and its turn, then calls the tool.
    pub(crate) async fn call(&self, call: &TaskCall) -> Report {
        if let Some(delay) = duration(call.delay_seconds) {
            tokio::time::sleep(delay).await;
        }
        let _place = self.shared.limits.acquire(&call.kind).await;
        self.begin();
        let with = Call {
            config: call.config.clone(),
            input: call.input.clone(),
            code: call.code.as_ref().map(|(text, line)| CodeText {
                text: text.clone(),
                line: *line,
                name: Some(self.plan.path.clone()),
            }),
            names: self.names(call),
            credentials: self.credentials.clone(),
            cancel: self.tool_cancel.clone(),
            timeout: call.timeout.and_then(duration),
            logs: self.logs.clone(),
            secrets: self.secrets.clone(),
            trace: self.trace.clone(),
        };
        AssertUnwindSafe(self.shared.tools.call(&call.kind, with))
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| panicked(&format!("the {} tool", call.kind), panic.as_ref()))
    }

    /// Who is calling. Code also gets the variables of the run, as far as they are at hand.
    fn names(&self, call: &TaskCall) -> Value {
        let identity = &self.context.identity;
        let mut names = identity.as_map().cloned().unwrap_or_default();
        names.insert("step".into(), Value::Text(self.step().name.clone()));
        names.insert("worker_id".into(), Value::Text(self.shared.config.name.clone()));
        if let Some(url) = &self.shared.config.server_url {
            names.insert("server_url".into(), Value::Text(url.clone()));
        }
        if call.code.is_some() {
            names.insert("variables".into(), self.variables().into());
        }
        names.into()
    }

    /// The workload with what was set under `ctx` on top.
    fn variables(&self) -> Map {
        let mut variables = self.context.workload.as_map().cloned().unwrap_or_default();
        for (key, slot) in self.context.ctx.iter() {
            if let Some(value) = slot.as_inline() {
                variables.insert(key.clone(), value.clone());
            }
        }
        variables
    }
}

/// A time that was written as a number of seconds. Nothing and less is no time.
pub(crate) fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero())
}
