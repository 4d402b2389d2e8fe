//! Credentials of local runs: from files, and from the environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use async_trait::async_trait;
use noetl_tools::{Credential, CredentialError, Credentials};
use noetl_types::Value;

/// Where the credentials of a local run come from: files named on the command line first, then the folder, then the
/// environment variable `NOETL_CREDENTIAL_<ALIAS>`.
#[derive(Clone, Debug, Default)]
pub struct LocalCredentials {
    given: BTreeMap<String, Credential>,
    folder: Option<PathBuf>,
    environment: BTreeMap<String, String>,
}

const PREFIX: &str = "NOETL_CREDENTIAL_";

impl LocalCredentials {
    /// Reads the files; each holds one credential or a list of them, as JSON or YAML.
    pub fn read(
        files: &[PathBuf],
        folder: Option<PathBuf>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> anyhow::Result<LocalCredentials> {
        let mut given = BTreeMap::new();
        for file in files {
            for credential in read_file(file)? {
                given.insert(credential.name.clone(), credential);
            }
        }
        let environment = environment
            .into_iter()
            .filter_map(|(key, value)| Some((key.strip_prefix(PREFIX)?.to_owned(), value)))
            .collect();
        Ok(LocalCredentials { given, folder, environment })
    }

    pub fn find(&self, alias: &str) -> anyhow::Result<Option<Credential>> {
        if let Some(credential) = self.given.get(alias) {
            return Ok(Some(credential.clone()));
        }
        if let Some(folder) = &self.folder {
            for ending in ["json", "yaml", "yml"] {
                let file = folder.join(format!("{alias}.{ending}"));
                if is_plain_name(alias) && file.is_file() {
                    let found = read_file(&file)?;
                    return Ok(found
                        .into_iter()
                        .next()
                        .map(|found| Credential { name: alias.to_owned(), ..found }));
                }
            }
        }
        let variable = alias.to_ascii_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        match self.environment.get(&variable) {
            Some(text) => parse(text, alias)
                .with_context(|| format!("the environment variable {PREFIX}{variable} is no credential"))
                .map(Some),
            None => Ok(None),
        }
    }
}

#[async_trait]
impl Credentials for LocalCredentials {
    async fn get(&self, alias: &str) -> Result<Credential, CredentialError> {
        match self.find(alias) {
            Ok(Some(credential)) => Ok(credential),
            Ok(None) => Err(CredentialError::Unknown { alias: alias.to_owned() }),
            Err(error) => {
                Err(CredentialError::Unavailable { alias: alias.to_owned(), reason: format!("{error:#}") })
            }
        }
    }
}

fn is_plain_name(alias: &str) -> bool {
    !alias.is_empty() && !alias.contains(['/', '\\']) && alias != ".." && alias != "."
}

fn read_file(file: &Path) -> anyhow::Result<Vec<Credential>> {
    let place = || format!("the credentials file {}", file.display());
    let text = std::fs::read_to_string(file).with_context(place)?;
    let name = file.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    let value = read_value(&text).with_context(place)?;
    let entries = match &value {
        Value::List(items) => items.to_vec(),
        Value::Map(map) if map.contains_key("credentials") => {
            value.get("credentials").and_then(Value::as_list).cloned().unwrap_or_default()
        }
        _ => vec![value],
    };
    entries.iter().map(|entry| credential(entry, &name)).collect::<Result<_, _>>().with_context(place)
}

fn parse(text: &str, name: &str) -> anyhow::Result<Credential> {
    credential(&read_value(text)?, name)
}

fn read_value(text: &str) -> anyhow::Result<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    match noetl_dsl::yaml::parse(text, &noetl_dsl::yaml::Limits::default()) {
        Ok(document) => Ok(document.root.to_value()),
        Err(error) => bail!("it is neither JSON nor YAML: {}", error.message),
    }
}

fn credential(value: &Value, name: &str) -> anyhow::Result<Credential> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let Some(kind) = text("type").or_else(|| text("kind")) else {
        bail!("a credential needs a type, such as bearer or postgres");
    };
    let Some(data @ Value::Map(_)) = value.get("data") else {
        bail!("a credential needs its fields under data");
    };
    Ok(Credential {
        name: text("name").unwrap_or(name).to_owned(),
        kind: kind.to_owned(),
        data: data.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_come_from_files_and_the_environment() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("many.yaml");
        std::fs::write(&file, "- {name: a, type: bearer, data: {token: t}}\n").expect("a file");
        std::fs::write(folder.path().join("b.json"), r#"{"type": "basic", "data": {}}"#).expect("a file");
        let environment =
            [("NOETL_CREDENTIAL_PG_LOCAL".to_owned(), r#"{"type": "postgres", "data": {}}"#.to_owned())];
        let credentials =
            LocalCredentials::read(&[file], Some(folder.path().to_owned()), environment).expect("readable");
        let kind = |alias: &str| credentials.find(alias).expect("readable").map(|found| found.kind);
        assert_eq!(kind("a").as_deref(), Some("bearer"));
        assert_eq!(kind("b").as_deref(), Some("basic"));
        assert_eq!(kind("pg_local").as_deref(), Some("postgres"));
        assert_eq!(kind("../b"), None);
        assert_eq!(kind("nobody"), None);
    }

    #[test]
    fn a_file_that_holds_no_credential_is_named_in_the_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("wrong.json");
        std::fs::write(&file, r#"{"data": {}}"#).expect("a file");
        let error = LocalCredentials::read(&[file], None, []).expect_err("no type");
        assert!(format!("{error:#}").contains("wrong.json"), "{error:#}");
    }
}
