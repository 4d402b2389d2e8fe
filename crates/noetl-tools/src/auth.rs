//! The `auth` setting, in all the forms that playbooks write it.

use noetl_types::{Map, Value};

use crate::fields::scalar_text;

/// What a step says under `auth`.
pub struct AuthSetting {
    /// The credential to look up.
    pub alias: Option<String>,
    /// What is written in the step itself. It wins over the credential.
    pub written: Map,
}

impl AuthSetting {
    /// Nothing if the step asks for no authentication.
    pub fn read(value: &Value) -> Option<AuthSetting> {
        match value {
            Value::Text(alias) if alias.trim().is_empty() => None,
            Value::Text(alias) => Some(AuthSetting { alias: Some(alias.to_string()), written: Map::new() }),
            Value::Map(map) => AuthSetting::read_map(map),
            _ => None,
        }
    }

    fn read_map(map: &Map) -> Option<AuthSetting> {
        let text = |name: &str| map.get(name).and_then(scalar_text).filter(|text| !text.is_empty());
        // A map with one map in it names the service: `{crm: {type: bearer, …}}`.
        if let [Value::Map(named)] = map.values().collect::<Vec<_>>()[..] {
            return AuthSetting::read_map(named);
        }
        if text("type").is_some_and(|kind| kind == "none") || map.is_empty() {
            return None;
        }
        let alias = text("credential").or_else(|| {
            let source = text("source").or_else(|| text("provider"))?;
            let from_store = matches!(source.as_str(), "credential" | "credentials" | "credential_store");
            from_store.then(|| text("key")).flatten()
        });
        let mut written = map.clone();
        if alias.is_some() {
            // With a credential, `key` is its name and not a key.
            written.retain(|name, _| !matches!(&**name, "credential" | "source" | "provider" | "key"));
        }
        Some(AuthSetting { alias, written })
    }
}
