//! Access to a service: written in the step, taken from a credential, or both.

use noetl_types::{ErrorKind, Map, ToolError};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use super::Outgoing;
use crate::auth::AuthSetting;
use crate::fields::scalar_text;
use crate::{Call, Credential};

const DEFAULT_KEY_HEADER: &str = "X-API-Key";

/// How a request shows that it may.
pub enum Access {
    Bearer(String),
    Basic { username: String, password: String },
    ApiKey { name: String, value: String, place: Place },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Header,
    Query,
}

impl Access {
    pub async fn granted_by(auth: &AuthSetting, call: &Call) -> Result<Option<Access>, ToolError> {
        let stored = match &auth.alias {
            Some(alias) => Some(call.credentials.get(alias).await?),
            None => None,
        };
        let setting = Merged { written: &auth.written, stored: stored.as_ref() };
        let access = setting.access()?;
        match &access {
            Access::Bearer(secret) | Access::ApiKey { value: secret, .. } => call.secrets.learn(secret),
            Access::Basic { password, .. } => call.secrets.learn(password),
        }
        Ok(Some(access))
    }

    /// Adds the access to a request. A header that the step sets itself is left alone.
    pub fn put_into(&self, outgoing: &mut Outgoing) -> Result<(), ToolError> {
        let (name, value) = match self {
            Access::Bearer(token) => (AUTHORIZATION, format!("Bearer {token}")),
            Access::Basic { username, password } => {
                use base64::Engine;
                let pair = base64::engine::general_purpose::STANDARD.encode(format!("{username}:{password}"));
                (AUTHORIZATION, format!("Basic {pair}"))
            }
            Access::ApiKey { name, value, place: Place::Query } => {
                outgoing.url.query_pairs_mut().append_pair(name, value);
                return Ok(());
            }
            Access::ApiKey { name, value, place: Place::Header } => {
                let header = HeaderName::from_bytes(name.as_bytes())
                    .map_err(|_| fault(format!("'{name}' is not a header name")))?;
                (header, value.clone())
            }
        };
        let mut value = HeaderValue::from_str(value.trim())
            .map_err(|_| fault("the token or key has characters that a header cannot carry".to_owned()))?;
        value.set_sensitive(true);
        outgoing.headers.entry(name).or_insert(value);
        outgoing.keep_to_origin = true;
        Ok(())
    }
}

fn fault(what: String) -> ToolError {
    ToolError::new(ErrorKind::Config, format!("http: `auth`: {what}"))
}

/// What is written, over what is stored.
struct Merged<'a> {
    written: &'a Map,
    stored: Option<&'a Credential>,
}

impl Merged<'_> {
    fn text(&self, names: &[&str]) -> Option<String> {
        let written = names.iter().filter_map(|name| self.written.get(*name)).find_map(scalar_text);
        written.or_else(|| self.stored?.text(names))
    }

    fn needed(&self, names: &[&str], kind: &str) -> Result<String, ToolError> {
        self.text(names).ok_or_else(|| match self.stored {
            Some(stored) => fault(format!("credential '{}' has no {}", stored.name, names[0])),
            None => fault(format!("type {kind} needs {}", names[0])),
        })
    }

    fn access(&self) -> Result<Access, ToolError> {
        let written_kind = self.written.get("type").and_then(scalar_text);
        let kind = written_kind.or_else(|| Some(self.stored?.kind.clone())).unwrap_or_default();
        match kind.to_ascii_lowercase().as_str() {
            "bearer" | "bearer_token" | "token" | "oauth2" | "jwt" => self.bearer(&kind),
            "basic" | "http_basic" => Ok(Access::Basic {
                username: self.needed(&["username", "user", "login"], &kind)?,
                password: self.text(&["password", "pass"]).unwrap_or_default(),
            }),
            "api_key" | "apikey" | "header" => self.api_key(&kind),
            "secret" => self.bearer(&kind),
            "" if self.text(&["token", "access_token"]).is_some() => self.bearer("bearer"),
            "" if self.text(&["username", "user"]).is_some() => Ok(Access::Basic {
                username: self.needed(&["username", "user"], "basic")?,
                password: self.text(&["password"]).unwrap_or_default(),
            }),
            "" if self.text(&["api_key"]).is_some() => self.api_key("api_key"),
            "gcp_adc" | "google_oauth" => Err(fault(format!(
                "type {kind} is not available here; fetch a token in the keychain and use type bearer"
            ))),
            other => Err(fault(match self.stored {
                Some(stored) => format!(
                    "credential '{}' has type '{other}'; http can use bearer, basic and api_key",
                    stored.name
                ),
                None => format!("there is no type '{other}'; use bearer, basic, api_key or none"),
            })),
        }
    }

    fn bearer(&self, kind: &str) -> Result<Access, ToolError> {
        self.needed(&["token", "access_token", "bearer_token", "secret", "value"], kind).map(Access::Bearer)
    }

    /// With `value`, the `key` is the name of the header or parameter; alone it is the key itself.
    fn api_key(&self, kind: &str) -> Result<Access, ToolError> {
        let value = self.text(&["value", "token", "api_key", "apikey"]);
        let key = self.text(&["key"]);
        let (value, name) = match (value, key) {
            (Some(value), name) => (value, name),
            (None, Some(key)) => (key, None),
            (None, None) => (self.needed(&["token", "value"], kind)?, None),
        };
        let place = match self.text(&["in", "location", "place"]).as_deref() {
            Some("query" | "params") => Place::Query,
            _ => Place::Header,
        };
        let name = match place {
            Place::Header => self.text(&["header", "header_name", "name"]),
            Place::Query => self.text(&["param", "query", "name"]),
        }
        .or(name)
        .unwrap_or_else(|| if place == Place::Query { "api_key" } else { DEFAULT_KEY_HEADER }.to_owned());
        Ok(Access::ApiKey { name, value, place })
    }
}
