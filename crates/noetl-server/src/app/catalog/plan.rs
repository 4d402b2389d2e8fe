//! Playbooks as they were compiled, and what a run of them would do.

use std::sync::Arc;

use noetl_dsl::{Options, Plan, Severity, check};
use noetl_engine::{DryRun, StartRequest, dry_run};
use noetl_types::Value;

use super::register::decoded;
use crate::app::{App, Code, Error};
use crate::catalog::Reference;

impl App {
    /// The plan of a playbook of the catalog, or of a text that need not be registered.
    pub async fn plan_of_document(
        &self,
        catalog_id: Option<i64>,
        content: Option<&str>,
    ) -> Result<Arc<Plan>, Error> {
        match (catalog_id, content) {
            (Some(id), None) => Ok(self.drive().playbooks().get(&Reference::Id(id)).await?.plan),
            (None, Some(content)) => plan_of_text(content),
            _ => Err(Error::new(Code::BodyInvalid, "either 'catalog_id' or 'content' is needed")),
        }
    }

    /// What a run with this payload would do first, or why it can't start.
    pub fn dry_run(&self, plan: &Arc<Plan>, payload: Value, entry: Option<&str>) -> Result<DryRun, Error> {
        let request = StartRequest {
            path: plan.path.clone(),
            payload,
            entry: entry.map(Arc::from),
            ..StartRequest::default()
        };
        dry_run(plan, request, self.now())
            .map_err(|refusal| Error::new(Code::ExecutionRefused, refusal.message.clone()))
    }
}

fn plan_of_text(content: &str) -> Result<Arc<Plan>, Error> {
    let checked = check(&decoded(content), &Options::default());
    checked.plan.ok_or_else(|| {
        let first = checked.diagnostics.iter().find(|found| found.severity == Severity::Error);
        let what = first.map_or(String::new(), |first| format!(": line {}: {}", first.line, first.message));
        let message = format!("the playbook is invalid{what}");
        Error { diagnostics: checked.diagnostics, ..Error::new(Code::PlaybookInvalid, message) }
    })
}
