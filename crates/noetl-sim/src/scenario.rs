//! What one simulation is about: playbooks, of which one is run.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_dsl::{Options, Plan, check};
use noetl_types::Value;

/// A playbook as it is written.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: String,
    pub text: String,
}

#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    /// All there is in the catalog.
    pub playbooks: Vec<Source>,
    /// The path of the one that is run.
    pub main: String,
    pub payload: Value,
    /// Its runs are known to end by themselves, whatever the tools say.
    pub ends: bool,
}

impl Scenario {
    /// The plans by path. The error is what the checker says against a playbook.
    pub fn compile(&self) -> Result<BTreeMap<String, Arc<Plan>>, String> {
        let mut plans = BTreeMap::new();
        for playbook in &self.playbooks {
            let checked = check(&playbook.text, &Options::default());
            match checked.plan {
                Some(plan) => {
                    plans.insert(playbook.path.clone(), plan);
                }
                None => {
                    let findings: Vec<String> = checked
                        .diagnostics
                        .iter()
                        .map(|found| format!("{}: {}", found.code, found.message))
                        .collect();
                    return Err(format!("the checker refuses {}: {}", playbook.path, findings.join("; ")));
                }
            }
        }
        Ok(plans)
    }
}
