//! The keychain of a playbook: secrets that templates name as `keychain.<entry>.<field>`, resolved here and nowhere else.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::KeychainEntry;
use noetl_expr::{Lookup, Scope, View};
use noetl_tools::{Credential, Credentials, Secrets};
use noetl_types::{CommandContext, ErrorKind, Map, Timestamp, ToolError, Value};

/// Settings that say how an entry is resolved; whatever else a `static` entry has is its data.
const SETTINGS: [&str; 12] = [
    "kind",
    "provider",
    "auth",
    "credential",
    "scope",
    "map",
    "auto_renew",
    "region",
    "residency",
    "allowed_regions",
    "no_broker_fallback",
    "data",
];

/// Resolves the entries at these positions, in order, so that one may use those before it. The secrets learn them.
pub(crate) async fn resolve(
    plan: &Plan,
    entries: &[usize],
    context: &Arc<CommandContext>,
    credentials: &dyn Credentials,
    secrets: &Secrets,
    now: Timestamp,
) -> Result<Value, ToolError> {
    let mut resolved = Map::new();
    for &at in entries {
        let entry = &plan.keychain[at];
        let names = EntryNames { context: context.clone(), keychain: resolved.clone().into() };
        let settings = entry.settings.render(&Scope::new(Arc::new(names), now)).map_err(|error| {
            ToolError::new(ErrorKind::Template, format!("keychain entry '{}': {error}", entry.name))
        })?;
        let value = resolve_entry(entry, &settings, credentials, secrets).await?;
        resolved.insert(entry.name.clone(), value);
    }
    Ok(resolved.into())
}

async fn resolve_entry(
    entry: &KeychainEntry,
    settings: &Value,
    credentials: &dyn Credentials,
    secrets: &Secrets,
) -> Result<Value, ToolError> {
    let text = |key: &str| settings.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let alias = text("credential").or_else(|| text("auth"));
    let kind = text("kind").or_else(|| alias.map(|_| "credential")).unwrap_or_default();
    match kind {
        "credential" | "credential_ref" => {
            let alias = alias.ok_or_else(|| fault(entry, "names no `credential`".to_owned()))?;
            let credential = credentials.get(alias).await?;
            secrets.learn_credential(&credential);
            mapped(entry, &credential.data, settings.get("map"))
        }
        "bearer" => {
            let Some(token) = settings.get("token").filter(|token| !token.is_null()) else {
                return Err(fault(entry, "is of kind bearer but has no `token`".to_owned()));
            };
            Ok(known(entry, kind, Value::map([("token", token.clone())]), secrets))
        }
        "static" => Ok(known(entry, kind, static_fields(settings), secrets)),
        "" => Err(fault(entry, "has no `kind`; use credential, static or bearer".to_owned())),
        other => {
            let provider =
                text("provider").map_or(String::new(), |provider| format!(" with provider '{provider}'"));
            let what = format!(
                "is of kind '{other}'{provider}, which is not supported yet; use credential, static or bearer"
            );
            Err(fault(entry, what))
        }
    }
}

fn fault(entry: &KeychainEntry, what: String) -> ToolError {
    ToolError::new(ErrorKind::Config, format!("keychain entry '{}' {what}", entry.name))
}

/// Data that stands in the playbook is a secret like that of a credential.
fn known(entry: &KeychainEntry, kind: &str, data: Value, secrets: &Secrets) -> Value {
    let credential = Credential { name: entry.name.to_string(), kind: kind.to_owned(), data };
    secrets.learn_credential(&credential);
    credential.data
}

/// `data`, and whatever else is not a setting, as the fields of the entry.
fn static_fields(settings: &Value) -> Value {
    let mut fields = settings.get("data").and_then(Value::as_map).cloned().unwrap_or_default();
    for (key, value) in settings.as_map().into_iter().flatten() {
        if !SETTINGS.contains(&&**key) {
            fields.insert(key.clone(), value.clone());
        }
    }
    fields.into()
}

/// With `map: {alias: field}`, one field per alias; else all fields as they are.
fn mapped(entry: &KeychainEntry, data: &Value, map: Option<&Value>) -> Result<Value, ToolError> {
    let Some(map) = map.and_then(Value::as_map) else {
        return Ok(data.clone());
    };
    let mut fields = Map::new();
    for (alias, path) in map {
        let path = path.as_str().unwrap_or(alias);
        let found = path.split('.').try_fold(data, |value, key| value.get(key));
        let value = found
            .ok_or_else(|| fault(entry, format!("maps '{alias}' to '{path}', which the credential lacks")))?;
        fields.insert(alias.clone(), value.clone());
    }
    Ok(fields.into())
}

/// What the settings of an entry can name: the run's data that is at hand, and earlier entries.
#[derive(Debug)]
struct EntryNames {
    context: Arc<CommandContext>,
    keychain: Value,
}

impl Lookup for EntryNames {
    fn get(&self, key: &str) -> Option<View> {
        let context = &self.context;
        let value = match key {
            "keychain" => Some(self.keychain.clone()),
            "workload" => Some(context.workload.clone()),
            "ctx" => Some(Value::map(
                context.ctx.iter().filter_map(|(key, slot)| Some((key.clone(), slot.as_inline()?.clone()))),
            )),
            _ => context
                .ctx
                .get(key)
                .and_then(|slot| slot.as_inline().cloned())
                .or_else(|| context.workload.get(key).cloned())
                .or_else(|| context.identity.get(key).cloned()),
        };
        value.map(View::Value)
    }
}
