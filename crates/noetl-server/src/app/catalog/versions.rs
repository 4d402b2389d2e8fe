//! The versions of a path: what they are, what changed between two, taking them away and back.

use noetl_store::{CatalogEntry, CatalogFilter, Deletion};
use similar::{ChangeTag, TextDiff};

use crate::app::{App, Code, Error};
use crate::catalog::Reference;

/// What changed between two versions of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    pub from: i64,
    pub to: i64,
    /// Lines that only the later one has.
    pub added: usize,
    /// Lines that only the earlier one has.
    pub removed: usize,
    /// Unified; empty when nothing changed.
    pub text: String,
}

/// A version that was taken away or brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    pub id: i64,
    pub version: i64,
    /// It is hidden but kept, because executions of it exist.
    pub archived: bool,
}

/// Versions of one path that are handled in one request.
const MOST_VERSIONS: usize = 10_000;

/// Lines around a change in a diff.
const CONTEXT_LINES: usize = 3;

impl App {
    /// All versions of a path, archived ones too, the newest first.
    pub async fn versions(&self, path: &str) -> Result<Vec<CatalogEntry>, Error> {
        let filter =
            CatalogFilter { path: Some(path.to_owned()), include_archived: true, ..CatalogFilter::default() };
        let found = self.store().list_entries(&filter, MOST_VERSIONS).await?;
        if found.is_empty() {
            return Err(not_found(path, None));
        }
        Ok(found)
    }

    /// What changed between two versions. The later is the newest one if none is given, and the earlier the one before it.
    pub async fn diff(&self, path: &str, from: Option<i64>, to: Option<i64>) -> Result<Diff, Error> {
        let later = self
            .entry(&to.map_or_else(
                || Reference::Latest(path.to_owned()),
                |to| Reference::Version(path.to_owned(), to),
            ))
            .await?;
        let from = match from {
            Some(from) => from,
            None => {
                let visible = CatalogFilter { path: Some(path.to_owned()), ..CatalogFilter::default() };
                let visible = CatalogFilter { after: Some((path.to_owned(), later.version)), ..visible };
                let before = self.store().list_entries(&visible, 1).await?;
                before.first().map_or(later.version, |before| before.version)
            }
        };
        let earlier = self.entry(&Reference::Version(path.to_owned(), from)).await?;
        Ok(compare(&earlier, &later))
    }

    /// Takes a version of a path away, or all of them. What executions were started from is kept and hidden.
    pub async fn delete_entries(&self, path: &str, version: Option<i64>) -> Result<Vec<Changed>, Error> {
        let mut changed = Vec::new();
        for entry in self.chosen(path, version).await? {
            let (id, version) = (entry.entry.id, entry.version);
            match self.delete_entry(id).await? {
                Some(archived) => changed.push(Changed { id, version, archived }),
                None => continue,
            }
        }
        Ok(changed)
    }

    /// Takes one entry away. Says whether it is kept and hidden; nothing when it was not there to be taken.
    pub async fn delete_entry(&self, id: i64) -> Result<Option<bool>, Error> {
        let archived = match self.store().delete_entry(id).await? {
            Deletion::Deleted => Some(false),
            Deletion::Referenced => self.store().archive_entry(id, self.now()).await?.then_some(true),
            Deletion::NotFound => None,
        };
        if archived == Some(false) {
            self.drive().playbooks().forget(id);
        }
        Ok(archived)
    }

    /// Makes archived versions of a path visible again.
    pub async fn restore_entries(&self, path: &str, version: Option<i64>) -> Result<Vec<Changed>, Error> {
        let mut changed = Vec::new();
        for entry in self.chosen(path, version).await? {
            if self.store().restore_entry(entry.entry.id).await? {
                changed.push(Changed { id: entry.entry.id, version: entry.version, archived: false });
            }
        }
        Ok(changed)
    }

    async fn chosen(&self, path: &str, version: Option<i64>) -> Result<Vec<CatalogEntry>, Error> {
        let mut entries = self.versions(path).await?;
        if let Some(version) = version {
            entries.retain(|entry| entry.version == version);
            if entries.is_empty() {
                return Err(not_found(path, Some(version)));
            }
        }
        Ok(entries)
    }
}

fn not_found(path: &str, version: Option<i64>) -> Error {
    let what = match version {
        None => format!("there is no '{path}' in the catalog"),
        Some(version) => format!("'{path}' has no version {version}"),
    };
    Error::new(Code::CatalogEntryNotFound, what)
}

fn compare(earlier: &CatalogEntry, later: &CatalogEntry) -> Diff {
    let diff = TextDiff::from_lines(&*earlier.entry.content, &*later.entry.content);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let name = |entry: &CatalogEntry| format!("{} version {}", entry.entry.path, entry.version);
    Diff {
        from: earlier.version,
        to: later.version,
        added: count(ChangeTag::Insert),
        removed: count(ChangeTag::Delete),
        text: diff
            .unified_diff()
            .context_radius(CONTEXT_LINES)
            .header(&name(earlier), &name(later))
            .to_string(),
    }
}
