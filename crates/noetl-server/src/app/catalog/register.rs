//! Checking documents and taking them into the catalog.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use noetl_dsl::{Diagnostic, Options, Severity, check, check_subscription};
use noetl_store::{CatalogEntry, NewCatalogEntry};
use noetl_types::Value;

use crate::app::{App, Code, Error};
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

/// What the checker says of a document.
#[derive(Clone, Debug)]
pub struct Checked {
    /// It could be registered.
    pub valid: bool,
    pub diagnostics: Vec<Diagnostic>,
    /// What is wrong, a sentence each.
    pub errors: Vec<String>,
}

impl App {
    /// Checks a document as registering it would, and leaves it at that.
    pub fn validate(&self, content: &str) -> Checked {
        let text = decoded(content);
        let document = match parsed(&text) {
            Ok(document) => document,
            // The checker says the same with a place.
            Err(_) => return Checked::from(check(&text, &Options::default()).diagnostics),
        };
        match kind_in(&document).as_deref() {
            None => Checked::from(findings(&text, "playbook")),
            Some(kind) => {
                let mut checked = Checked::from(findings(&text, kind));
                if path_in(&document).is_none() && checked.valid {
                    checked.valid = false;
                    checked.errors.push(NO_PATH.to_owned());
                }
                checked
            }
        }
    }

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

    /// Stores a new text of an entry as the next version of its path. The text must have the same path.
    pub async fn register_again(&self, reference: &Reference, content: &str) -> Result<Registered, Error> {
        let found = self.entry(reference).await?;
        let text = decoded(content);
        let path = parsed(&text).ok().as_ref().and_then(path_in);
        match path {
            Some(path) if path != found.entry.path => Err(Error::new(
                Code::Conflict,
                format!("the document has the path '{path}', not '{}'", found.entry.path),
            )
            .help("register it as a document of its own")),
            _ => self.register(&text, Some(&found.entry.kind)).await,
        }
    }

    /// Documents that don't run: they have a path, a kind and their text.
    async fn register_other(&self, text: &str, kind: &str) -> Result<Registered, Error> {
        let diagnostics = findings(text, kind);
        let first_error = diagnostics.iter().find(|found| found.severity == Severity::Error);
        if let Some(first) = first_error {
            let message = format!("the {kind} is invalid: line {}: {}", first.line, first.message);
            return Err(Error { diagnostics, ..Error::new(Code::DocumentInvalid, message) });
        }
        let document = parsed(text)?;
        let Some(path) = path_in(&document) else {
            return Err(Error::new(Code::DocumentInvalid, NO_PATH));
        };
        let entry = NewCatalogEntry {
            id: self.ids().next(),
            path,
            kind: kind.into(),
            content: text.into(),
            layout: Value::Null,
            meta: document
                .get("metadata")
                .and_then(|metadata| metadata.get("labels"))
                .cloned()
                .unwrap_or_default(),
            payload: document,
            created_at: self.now(),
        };
        let CatalogEntry { entry, version, .. } = self.store().register(&entry).await?;
        Ok(Registered { id: entry.id, path: entry.path, version, kind: entry.kind, warnings: diagnostics })
    }
}

/// The text of a document that may have come in base64. YAML that happens to be valid base64 has no line break and no
/// colon, so that no document is taken for the other.
pub(super) fn decoded(content: &str) -> String {
    let compact: String = content.split_ascii_whitespace().collect();
    let decoded = STANDARD.decode(compact).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match decoded {
        Some(text) if text.contains(':') => text,
        _ => content.to_owned(),
    }
}

const NO_PATH: &str = "the document has neither metadata.path nor metadata.name";

impl From<Vec<Diagnostic>> for Checked {
    fn from(diagnostics: Vec<Diagnostic>) -> Checked {
        let wrong = diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let errors: Vec<String> =
            wrong.map(|found| format!("line {}: {}", found.line, found.message)).collect();
        Checked { valid: errors.is_empty(), errors, diagnostics }
    }
}

/// What the checker finds in a document of a kind. Kinds that it does not know may hold anything.
fn findings(text: &str, kind: &str) -> Vec<Diagnostic> {
    match kind {
        "playbook" => check(text, &Options::default()).diagnostics,
        "subscription" => check_subscription(text, &Options::default()).diagnostics,
        _ => Vec::new(),
    }
}

/// The document's own word for its kind, in lower case.
fn kind_of(text: &str) -> Option<String> {
    kind_in(&parsed(text).ok()?)
}

fn kind_in(document: &Value) -> Option<String> {
    document.get("kind").and_then(Value::as_str).map(str::to_lowercase)
}

fn path_in(document: &Value) -> Option<Arc<str>> {
    let metadata = document.get("metadata")?;
    let name = |key: &str| metadata.get(key).and_then(Value::as_str).filter(|name| !name.is_empty());
    name("path").or_else(|| name("name")).map(Into::into)
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
