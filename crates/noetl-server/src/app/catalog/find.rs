//! Finding documents.

use noetl_store::{CatalogEntry, CatalogFilter};
use noetl_types::Value;

use crate::app::{App, Code, Error};
use crate::catalog::Reference;

/// Which entries to list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub filter: CatalogFilter,
    /// Only those with `metadata.agent: true`.
    pub agents: bool,
    /// Only those whose `metadata.capabilities` has all of these.
    pub capabilities: Vec<String>,
    pub limit: usize,
}

impl Listing {
    fn takes(&self, entry: &CatalogEntry) -> bool {
        let metadata = entry.entry.payload.get("metadata");
        let has = |capability: &String| {
            let known = metadata.and_then(|metadata| metadata.get("capabilities")).and_then(Value::as_list);
            known.is_some_and(|known| known.iter().any(|known| known.as_str() == Some(capability)))
        };
        let is_agent =
            || metadata.and_then(|metadata| metadata.get("agent")).and_then(Value::as_bool).unwrap_or(false);
        (!self.agents || is_agent()) && self.capabilities.iter().all(has)
    }
}

/// Entries that are looked through at a time where the store can't tell which ones are meant.
const PAGE: usize = 200;

impl App {
    /// An entry by id, or by path and version.
    pub async fn entry(&self, reference: &Reference) -> Result<CatalogEntry, Error> {
        let found = match reference {
            Reference::Id(id) => self.store().find_entry(*id).await?,
            Reference::Latest(path) => self.store().find_latest_entry(path).await?,
            Reference::Version(path, version) => self.store().find_entry_version(path, *version).await?,
        };
        found.ok_or_else(|| {
            let what = match reference {
                Reference::Id(id) => format!("there is no catalog entry {id}"),
                Reference::Latest(path) => format!("there is no '{path}' in the catalog"),
                Reference::Version(path, version) => format!("'{path}' has no version {version}"),
            };
            Error::new(Code::CatalogEntryNotFound, what)
        })
    }

    /// Entries, the newest first.
    pub async fn list_entries(&self, listing: &Listing) -> Result<Vec<CatalogEntry>, Error> {
        let mut filter = CatalogFilter { newest_first: true, ..listing.filter.clone() };
        let mut found = Vec::new();
        loop {
            let wanted = listing.limit - found.len();
            let sifted = listing.agents || !listing.capabilities.is_empty();
            let page_size = if sifted { PAGE } else { wanted };
            let page = self.store().list_entries(&filter, page_size).await?;
            let is_last = page.len() < page_size;
            filter.before = page.last().map(|entry| entry.entry.id);
            found.extend(page.into_iter().filter(|entry| listing.takes(entry)).take(wanted));
            if is_last || found.len() >= listing.limit {
                return Ok(found);
            }
        }
    }

    /// The paths that have a visible document of a kind.
    pub async fn list_paths(&self, kind: &str) -> Result<Vec<String>, Error> {
        let mut filter =
            CatalogFilter { kind: Some(kind.to_owned()), latest_only: true, ..CatalogFilter::default() };
        let mut paths = Vec::new();
        loop {
            let page = self.store().list_entries(&filter, PAGE).await?;
            paths.extend(page.iter().map(|entry| entry.entry.path.to_string()));
            match page.last() {
                Some(last) if page.len() == PAGE => {
                    filter.after = Some((last.entry.path.to_string(), last.version));
                }
                _ => return Ok(paths),
            }
        }
    }
}
