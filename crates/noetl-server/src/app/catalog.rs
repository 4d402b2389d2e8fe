//! Registering documents and finding them again.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use noetl_dsl::Diagnostic;
use noetl_store::{CatalogEntry, NewCatalogEntry};
use noetl_types::Value;

use super::{App, Code, Error};
use crate::catalog::{Playbook, Reference};

/// A document that is now in the catalog.
#[derive(Clone, Debug)]
pub struct Registered {
    pub id: i64,
    pub path: Arc<str>,
    pub version: i64,
    pub kind: Arc<str>,
    pub warnings: Vec<Diagnostic>,
}

impl App {
    /// Checks a document and stores it as the next version of its path.
    pub async fn register(&self, content: &str, resource_type: Option<&str>) -> Result<Registered, Error> {
        let text = decoded(content);
        let kind = kind_of(&text).or(resource_type.map(str::to_lowercase));
        match kind.as_deref() {
            None | Some("playbook") => {
                let (playbook, warnings) = self.drive().playbooks().register(&text).await?;
                let Playbook { catalog_id: id, path, version, .. } = playbook;
                Ok(Registered { id, path, version, kind: "playbook".into(), warnings })
            }
            Some(kind) => self.register_other(&text, kind).await,
        }
    }

    /// Documents that don't run: they have a path, a kind and their text.
    async fn register_other(&self, text: &str, kind: &str) -> Result<Registered, Error> {
        let diagnostics = match kind {
            "subscription" => noetl_dsl::check_subscription(text, &noetl_dsl::Options::default()).diagnostics,
            _ => Vec::new(),
        };
        let first_error = diagnostics.iter().find(|found| found.severity == noetl_dsl::Severity::Error);
        if let Some(first) = first_error {
            let message = format!("the {kind} is invalid: line {}: {}", first.line, first.message);
            return Err(Error { diagnostics, ..Error::new(Code::DocumentInvalid, message) });
        }
        let document = parsed(text)?;
        let metadata = document.get("metadata");
        let name = |key: &str| metadata.and_then(|metadata| metadata.get(key)).and_then(Value::as_str);
        let Some(path) = name("path").or_else(|| name("name")) else {
            return Err(Error::new(
                Code::DocumentInvalid,
                "the document has neither metadata.path nor metadata.name",
            ));
        };
        let entry = NewCatalogEntry {
            id: self.ids().next(),
            path: path.into(),
            kind: kind.into(),
            content: text.into(),
            layout: Value::Null,
            payload: document.clone(),
            meta: metadata.and_then(|metadata| metadata.get("labels")).cloned().unwrap_or_default(),
            created_at: self.now(),
        };
        let CatalogEntry { entry, version, .. } = self.store().register(&entry).await?;
        Ok(Registered { id: entry.id, path: entry.path, version, kind: entry.kind, warnings: diagnostics })
    }

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
}

/// The text of a document that may have come in base64. YAML that happens to be valid base64 has no line break and no
/// colon, so that no document is taken for the other.
fn decoded(content: &str) -> String {
    let compact: String = content.split_ascii_whitespace().collect();
    let decoded = STANDARD.decode(compact).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match decoded {
        Some(text) if text.contains(':') => text,
        _ => content.to_owned(),
    }
}

/// The document's own word for its kind, in lower case.
fn kind_of(text: &str) -> Option<String> {
    let document = parsed(text).ok()?;
    document.get("kind").and_then(Value::as_str).map(str::to_lowercase)
}

fn parsed(text: &str) -> Result<Value, Error> {
    noetl_dsl::yaml::parse(text, &noetl_dsl::yaml::Limits::default())
        .map(|document| document.root.to_value())
        .map_err(|error| {
            Error::new(Code::DocumentInvalid, format!("the document is not YAML: {}", error.message))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_plain_or_in_base64() {
        let text = "kind: Playbook\nmetadata: {name: a}\n";
        assert_eq!(decoded(text), text);
        assert_eq!(decoded(&STANDARD.encode(text)), text);
        assert_eq!(decoded(&format!("{}\n", STANDARD.encode(text))), text);
        assert_eq!(decoded("abcd"), "abcd");
    }
}
