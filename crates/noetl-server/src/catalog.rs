//! Playbooks by path and version, compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use noetl_dsl::{Diagnostic, Options, Plan, check};
use noetl_store::{CatalogEntry, NewCatalogEntry, Store};

use crate::clock::Clock;
use crate::ids::IdSource;

/// Why a playbook can't be had.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("there is no playbook '{0}'; register it first")]
    UnknownPath(String),
    #[error("playbook '{path}' has no version {version}")]
    UnknownVersion { path: String, version: i64 },
    #[error("there is no catalog entry {0}")]
    UnknownId(i64),
    #[error("playbook '{path}' is invalid: {summary}")]
    Invalid { path: String, summary: String, diagnostics: Vec<Diagnostic> },
    #[error(transparent)]
    Store(#[from] noetl_store::Error),
}

/// A playbook ready to run.
#[derive(Clone, Debug)]
pub struct Playbook {
    pub catalog_id: i64,
    pub path: Arc<str>,
    pub version: i64,
    pub plan: Arc<Plan>,
}

/// Which playbook is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    Latest(String),
    Version(String, i64),
    Id(i64),
}

/// Compiled playbooks kept at hand.
const PLANS_KEPT: usize = 1000;

/// The catalog of playbooks. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Playbooks {
    store: Arc<dyn Store>,
    ids: Arc<IdSource>,
    clock: Arc<dyn Clock>,
    plans: Arc<Mutex<HashMap<i64, Playbook>>>,
}

impl Playbooks {
    pub fn new(store: Arc<dyn Store>, ids: Arc<IdSource>, clock: Arc<dyn Clock>) -> Playbooks {
        Playbooks { store, ids, clock, plans: Arc::default() }
    }

    /// Checks and stores a playbook as the next version of its path. Warnings come back with it.
    pub async fn register(&self, source: &str) -> Result<(Playbook, Vec<Diagnostic>), CatalogError> {
        let checked = check(source, &Options::default());
        let Some(plan) = checked.plan else {
            return Err(invalid("", checked.diagnostics));
        };
        // A document that compiles is YAML.
        let document = noetl_dsl::yaml::parse(source, &noetl_dsl::yaml::Limits::default())
            .map(|document| document.root.to_value())
            .unwrap_or_default();
        let entry = NewCatalogEntry {
            id: self.ids.next(),
            path: plan.path.clone(),
            kind: "playbook".into(),
            content: source.into(),
            layout: document.get("workflow").cloned().unwrap_or_default(),
            payload: document,
            meta: plan.metadata.get("labels").cloned().unwrap_or_default(),
            created_at: self.clock.now(),
        };
        let entry = self.store.register(&entry).await?;
        let playbook =
            Playbook { catalog_id: entry.entry.id, path: plan.path.clone(), version: entry.version, plan };
        self.keep(&playbook);
        Ok((playbook, checked.diagnostics))
    }

    pub async fn get(&self, reference: &Reference) -> Result<Playbook, CatalogError> {
        let id = match reference {
            Reference::Id(id) => *id,
            Reference::Latest(path) => self
                .store
                .find_entry_id(path, None)
                .await?
                .ok_or_else(|| CatalogError::UnknownPath(path.clone()))?,
            Reference::Version(path, version) => self
                .store
                .find_entry_id(path, Some(*version))
                .await?
                .ok_or_else(|| CatalogError::UnknownVersion { path: path.clone(), version: *version })?,
        };
        if let Some(playbook) = self.plans().get(&id) {
            return Ok(playbook.clone());
        }
        let entry = self.store.find_entry(id).await?.ok_or(CatalogError::UnknownId(id))?;
        self.compile(&entry)
    }

    fn compile(&self, entry: &CatalogEntry) -> Result<Playbook, CatalogError> {
        let checked = check(&entry.entry.content, &Options::default());
        let Some(plan) = checked.plan else {
            return Err(invalid(&entry.entry.path, checked.diagnostics));
        };
        let path = entry.entry.path.clone();
        let playbook = Playbook { catalog_id: entry.entry.id, path, version: entry.version, plan };
        self.keep(&playbook);
        Ok(playbook)
    }

    /// Drops a compiled playbook whose document is gone.
    pub fn forget(&self, id: i64) {
        self.plans().remove(&id);
    }

    fn plans(&self) -> std::sync::MutexGuard<'_, HashMap<i64, Playbook>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, playbook: &Playbook) {
        let mut plans = self.plans();
        if plans.len() >= PLANS_KEPT {
            // They are cheap to make again; runs hold on to the ones they use.
            plans.clear();
        }
        plans.insert(playbook.catalog_id, playbook.clone());
    }
}

fn invalid(path: &str, diagnostics: Vec<Diagnostic>) -> CatalogError {
    let summary = diagnostics
        .iter()
        .find(|diagnostic| diagnostic.severity == noetl_dsl::Severity::Error)
        .map_or(String::new(), |first| format!("line {}: {}", first.line, first.message));
    CatalogError::Invalid { path: path.to_owned(), summary, diagnostics }
}
