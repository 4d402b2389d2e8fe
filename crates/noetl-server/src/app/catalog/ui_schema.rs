//! The inputs of a playbook, described for forms: its `workload` with what trailing comments say about each value.
//!
//! `# ui:secret` hides a value, `# ui:enum=[a, b]` gives a choice, `# ui:credential=pg_*` asks for a credential, and
//! `# ui:description=…` explains, as does any other comment behind the value.

use std::sync::Arc;

use noetl_dsl::yaml::{self, Data, Entry, Node, Style};
use noetl_store::CatalogEntry;
use noetl_types::Value;

use crate::app::{App, Error};
use crate::catalog::Reference;

#[derive(Clone, Debug, PartialEq)]
pub struct UiSchema {
    pub path: Arc<str>,
    pub version: i64,
    pub kind: Arc<str>,
    pub title: String,
    pub description: String,
    pub exposed: bool,
    pub fields: Vec<Field>,
}

/// One input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    pub name: String,
    pub kind: &'static str,
    /// Null for a secret.
    pub default: Value,
    pub description: Option<String>,
    pub secret: bool,
    pub credential_glob: Option<String>,
    pub options: Option<Vec<Value>>,
    pub children: Vec<Field>,
}

impl App {
    pub async fn ui_schema(&self, reference: &Reference) -> Result<UiSchema, Error> {
        self.entry(reference).await.map(|entry| describe(&entry))
    }
}

fn describe(found: &CatalogEntry) -> UiSchema {
    let CatalogEntry { entry, version, .. } = found;
    let metadata = |key: &str| entry.payload.get("metadata").and_then(|metadata| metadata.get(key));
    let text = |key: &str| metadata(key).and_then(Value::as_str);
    // What is stored was checked when it was registered; a document that cannot be read any more has no fields.
    let document = yaml::parse(&entry.content, &yaml::Limits::default()).ok();
    let workload = document.as_ref().and_then(|document| document.root.get("workload"));
    UiSchema {
        path: entry.path.clone(),
        version: *version,
        kind: entry.kind.clone(),
        title: text("title").or_else(|| text("name")).unwrap_or(&entry.path).to_owned(),
        description: text("description").unwrap_or_default().to_owned(),
        exposed: metadata("exposed_in_ui").and_then(Value::as_bool).unwrap_or(true),
        fields: workload.map(|workload| fields(workload, &entry.content)).unwrap_or_default(),
    }
}

fn fields(node: &Node, source: &str) -> Vec<Field> {
    node.as_map().unwrap_or_default().iter().map(|entry| field(entry, source)).collect()
}

fn field(entry: &Entry, source: &str) -> Field {
    let mut field = Field {
        name: entry.key.to_string(),
        kind: kind(&entry.value.data),
        default: entry.value.to_value(),
        children: fields(&entry.value, source),
        ..Field::default()
    };
    if let Some(comment) = trailing_comment(entry, source) {
        field.heed(comment);
    }
    if field.secret {
        field.default = Value::Null;
        field.children.clear();
    }
    field
}

fn kind(data: &Data) -> &'static str {
    match data {
        Data::Null => "null",
        Data::Bool(_) => "boolean",
        Data::Int(_) | Data::UInt(_) => "integer",
        Data::Float(_) => "number",
        Data::Text(_) => "string",
        Data::List(_) => "array",
        Data::Map(_) => "object",
    }
}

/// The comment behind a value on its line; for a value of several lines, the one behind its key.
fn trailing_comment<'a>(entry: &Entry, source: &'a str) -> Option<&'a str> {
    let behind_value =
        source.get(entry.key_span.end..entry.value.span.end).is_some_and(|text| !text.contains('\n'))
            && !matches!(entry.value.style(), Style::Literal | Style::Folded);
    let from = if behind_value { entry.value.span.end } else { entry.key_span.end };
    let line = source.get(from..)?.lines().next()?;
    let at = line
        .char_indices()
        .find(|&(at, sign)| sign == '#' && line[..at].chars().next_back().is_none_or(char::is_whitespace));
    at.map(|(at, _)| line[at + 1..].trim())
}

impl Field {
    /// Takes what a comment says.
    fn heed(&mut self, comment: &str) {
        let mut parts = comment.split("ui:");
        self.describe(parts.next().unwrap_or_default());
        for directive in parts {
            let end = directive.find(|sign: char| sign == '=' || sign.is_whitespace());
            let (name, rest) = directive.split_at(end.unwrap_or(directive.len()));
            let value = rest.strip_prefix('=').unwrap_or_default().trim();
            match name {
                "secret" => {
                    self.secret = true;
                    self.describe(rest);
                }
                "enum" => {
                    let (list, text) = value.split_at(value.find(']').map_or(value.len(), |at| at + 1));
                    self.options = Some(options(list));
                    self.describe(text);
                }
                "credential" => {
                    let (glob, text) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
                    self.credential_glob = Some(glob.to_owned());
                    self.describe(text);
                }
                "description" => self.describe(value),
                _ => {}
            }
        }
    }

    fn describe(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.description = Some(text.trim().to_owned());
        }
    }
}

/// The values of `[a, b]`, in their own types.
fn options(list: &str) -> Vec<Value> {
    let parsed = yaml::parse(list, &yaml::Limits::default()).ok().map(|document| document.root.to_value());
    match parsed {
        Some(Value::List(values)) => values.to_vec(),
        _ => list.trim_matches(['[', ']', ' ']).split(',').map(|text| Value::text(text.trim())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(workload: &str) -> Vec<Field> {
        let document = yaml::parse(workload, &yaml::Limits::default()).expect("this is YAML");
        fields(document.root.get("workload").expect("it has a workload"), workload)
    }

    fn text_of(field: &Field) -> String {
        let Field { name, kind, default, description, secret, credential_glob, options, children } = field;
        let children: Vec<String> = children.iter().map(text_of).collect();
        format!(
            "{name} {kind} {default} {description:?} {secret} {credential_glob:?} {options:?} {children:?}"
        )
    }

    #[test]
    fn values_have_types_and_comments_describe_them() {
        let found = described(
            "workload:\n  name: world  # who is greeted\n  count: 3\n  token: 'a # b' # ui:secret ui:description=API key\n  \
             size: s # ui:enum=[s, m, 3]\n  db: x # ui:credential=pg_*\n  nested: # all of it\n    deep: true\n  \
             text: | # ui:description=long\n    # no comment\n  list: [1, 2] # some\n",
        );
        let texts: Vec<String> = found.iter().map(text_of).collect();
        assert_eq!(
            texts,
            [
                r#"name string "world" Some("who is greeted") false None None []"#,
                r#"count integer 3 None false None None []"#,
                r#"token string null Some("API key") true None None []"#,
                r#"size string "s" None false None Some(["s", "m", 3]) []"#,
                r#"db string "x" None false Some("pg_*") None []"#,
                r#"nested object {"deep":true} Some("all of it") false None None ["deep boolean true None false None None []"]"#,
                r##"text string "# no comment\n" Some("long") false None None []"##,
                r#"list array [1,2] Some("some") false None None []"#,
            ]
        );
    }

    #[test]
    fn text_behind_a_directive_describes_the_value() {
        let found = described(
            "workload:\n  size: s # ui:enum=[s, m] how large, in letters\n  db: x # ui:credential=pg_* where it goes\n  \
             key: k # ui:secret for the API\n  both: a # ui:enum=[a, b] ui:description=one of two\n",
        );
        let texts: Vec<String> = found.iter().map(text_of).collect();
        assert_eq!(
            texts,
            [
                r#"size string "s" Some("how large, in letters") false None Some(["s", "m"]) []"#,
                r#"db string "x" Some("where it goes") false Some("pg_*") None []"#,
                r#"key string null Some("for the API") true None None []"#,
                r#"both string "a" Some("one of two") false None Some(["a", "b"]) []"#,
            ]
        );
    }

    #[test]
    fn a_sign_inside_a_value_is_no_comment() {
        let found = described("workload:\n  color: \"#fff\"\n  anchor: a#b\n  plain: x\n");
        assert!(found.iter().all(|field| field.description.is_none()), "{found:?}");
    }
}
