//! Source text of a step: written in the playbook, or loaded from a file or a web server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use noetl_types::{ErrorKind, ToolError, Value};

use crate::fields::scalar_text;
use crate::http::Sender;
use crate::{Call, Fields, ProcessConfig};

pub struct SourceText {
    pub text: Arc<str>,
    /// The line of the playbook that the text begins at; 1 for loaded text.
    pub line: u32,
    /// What errors call it.
    pub name: Option<Arc<str>>,
    /// The folder of the file it was loaded from.
    pub folder: Option<PathBuf>,
}

impl SourceText {
    /// The text of `code`, else of `script`; nothing if the step has neither.
    pub async fn get(
        call: &Call,
        fields: Fields<'_>,
        process: &ProcessConfig,
        sender: &Sender,
    ) -> Result<Option<SourceText>, ToolError> {
        if let Some(code) = &call.code {
            let (text, name) = (code.text.clone(), code.name.clone());
            return Ok(Some(SourceText { text, line: code.line, name, folder: None }));
        }
        if let Some(text) = fields.text("code")? {
            return Ok(Some(SourceText { text: text.into(), line: 1, name: None, folder: None }));
        }
        match fields.value("script") {
            None => Ok(None),
            Some(script) => SourceText::load(script, call, fields, process, sender).await.map(Some),
        }
    }

    /// The text that a `script` setting names.
    pub async fn load(
        script: &Value,
        call: &Call,
        fields: Fields<'_>,
        process: &ProcessConfig,
        sender: &Sender,
    ) -> Result<SourceText, ToolError> {
        let source = script.get("source");
        let setting = |name: &str| {
            let found = source.and_then(|source| source.get(name)).or_else(|| script.get(name));
            found.filter(|value| !value.is_null())
        };
        let uri = script.as_str().map(str::to_owned).or_else(|| setting("uri").and_then(scalar_text));
        let endpoint = setting("endpoint").or_else(|| setting("url")).and_then(scalar_text);
        let inline = setting("code").or_else(|| setting("content")).and_then(scalar_text);
        let kind =
            setting("type").and_then(scalar_text).unwrap_or_else(|| match (&uri, &endpoint, &inline) {
                (None, None, Some(_)) => "inline".to_owned(),
                (_, Some(_), _) => "http".to_owned(),
                (Some(uri), ..) => scheme_of(uri).to_owned(),
                _ => "file".to_owned(),
            });
        match kind.as_str() {
            "inline" => {
                let text = inline.ok_or_else(|| fields.missing("script.source.code"))?;
                Ok(SourceText { text: text.into(), line: 1, name: uri.map(Into::into), folder: None })
            }
            "file" | "local" => {
                let uri = uri.ok_or_else(|| fields.missing("script.uri"))?;
                read_file(&process.resolve(Path::new(uri.strip_prefix("file://").unwrap_or(&uri)))).await
            }
            "http" | "https" => {
                let url = endpoint
                    .filter(|endpoint| endpoint.contains("://"))
                    .or(uri)
                    .ok_or_else(|| fields.missing("script.uri"))?;
                let text = sender.fetch_text(&url, setting("auth"), call).await?;
                let name = url.split('?').next().unwrap_or(&url);
                Ok(SourceText { text: text.into(), line: 1, name: Some(name.into()), folder: None })
            }
            other => Err(fields.fault(format!(
                "scripts of source type '{other}' are not available here; use file, http or inline"
            ))),
        }
    }
}

fn scheme_of(uri: &str) -> &str {
    match uri.split_once("://") {
        Some((scheme, _)) => scheme,
        None => "file",
    }
}

async fn read_file(path: &Path) -> Result<SourceText, ToolError> {
    let text = tokio::fs::read_to_string(path).await.map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            _ => ErrorKind::StorageAccess,
        };
        ToolError::new(kind, format!("the script {} cannot be read: {error}", path.display()))
    })?;
    Ok(SourceText {
        text: text.into(),
        line: 1,
        name: Some(path.to_string_lossy().into()),
        folder: path.parent().map(Path::to_path_buf),
    })
}
