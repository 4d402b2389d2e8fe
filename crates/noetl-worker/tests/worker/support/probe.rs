//! A tool that does what a test says, in place of a real one.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use noetl_tools::{Call, KindDescription, Tool};
use noetl_types::Report;

static DESCRIPTION: KindDescription = KindDescription {
    kind: "shell",
    summary: "Does what a test says.",
    fields: &[],
    result: "Whatever the test wants.",
    takes_code: false,
};

type Behaviour = dyn Fn(Call) -> BoxFuture<'static, Report> + Send + Sync;

/// Takes the place of the `shell` kind.
#[derive(Clone)]
pub struct Probe(Arc<Behaviour>);

impl Probe {
    pub fn new<F>(behaviour: impl Fn(Call) -> F + Send + Sync + 'static) -> Probe
    where
        F: Future<Output = Report> + Send + 'static,
    {
        Probe(Arc::new(move |call| Box::pin(behaviour(call))))
    }
}

#[async_trait]
impl Tool for Probe {
    fn describe(&self) -> &'static KindDescription {
        &DESCRIPTION
    }

    async fn call(&self, call: Call) -> Report {
        (self.0)(call).await
    }
}
