//! Playbooks as they were compiled.

use std::sync::Arc;

use noetl_dsl::{Options, Plan, Severity, check};

use super::register::decoded;
use crate::app::{App, Code, Error};
use crate::catalog::Reference;

impl App {
    /// The plan of a playbook of the catalog.
    pub async fn plan_of_entry(&self, catalog_id: i64) -> Result<Arc<Plan>, Error> {
        Ok(self.drive().playbooks().get(&Reference::Id(catalog_id)).await?.plan)
    }

    /// The plan of a text, which is checked for it.
    pub fn plan_of_text(&self, content: &str) -> Result<Arc<Plan>, Error> {
        let checked = check(&decoded(content), &Options::default());
        checked.plan.ok_or_else(|| {
            let first = checked.diagnostics.iter().find(|found| found.severity == Severity::Error);
            let what =
                first.map_or(String::new(), |first| format!(": line {}: {}", first.line, first.message));
            let message = format!("the playbook is invalid{what}");
            Error { diagnostics: checked.diagnostics, ..Error::new(Code::PlaybookInvalid, message) }
        })
    }
}
