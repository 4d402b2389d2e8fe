//! The secret values that a call knows of, and their removal from text that people may read.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use noetl_types::{ToolError, Value};

use crate::Credential;

const MASK: &str = "[redacted]";

/// Secrets shorter than this are removed only where they stand alone, so that `pw` does not eat into `pwd`.
const STANDS_ALONE_BELOW: usize = 6;

/// Fields of credentials that are not secret. All others are.
const PUBLIC_FIELDS: &[&str] = &[
    "account",
    "auth_type",
    "bucket",
    "client_id",
    "database",
    "db_host",
    "db_name",
    "db_port",
    "db_user",
    "dbname",
    "endpoint",
    "header",
    "header_name",
    "host",
    "in",
    "location",
    "name",
    "param",
    "port",
    "project",
    "provider",
    "region",
    "role",
    "schema",
    "scopes",
    "service",
    "sf_account",
    "sf_database",
    "sf_role",
    "sf_schema",
    "sf_user",
    "sf_warehouse",
    "source",
    "sslmode",
    "type",
    "user",
    "username",
    "warehouse",
];

/// Known secret values. Clones share what they learn.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first, so that a secret that contains another is removed whole.
    values: Arc<RwLock<Vec<Arc<str>>>>,
}

impl Secrets {
    pub fn new<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Secrets {
        let secrets = Secrets::default();
        for value in values {
            secrets.learn(value.as_ref());
        }
        secrets
    }

    /// Remembers a value, also as it looks inside a URL and inside base64.
    pub fn learn(&self, value: &str) {
        if value.trim().is_empty() {
            return;
        }
        let encoded: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
        let spaced = encoded.replace('+', "%20");
        let with_slashes = spaced.replace("%2F", "/");
        let mut forms = vec![value.to_owned(), encoded, spaced, with_slashes];
        forms.extend(base64_forms(value.as_bytes()));
        let mut values = self.values.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        for form in forms {
            if !values.iter().any(|known| **known == form) {
                values.push(Arc::from(form));
            }
        }
        values.sort_by_key(|known| std::cmp::Reverse(known.len()));
    }

    /// Remembers what is secret in a credential: everything but well-known public fields.
    pub fn learn_credential(&self, credential: &Credential) {
        self.learn_fields(&credential.data);
    }

    fn learn_fields(&self, value: &Value) {
        match value {
            Value::Text(text) => self.learn_text(text),
            Value::List(items) => items.iter().for_each(|item| self.learn_fields(item)),
            Value::Map(map) => map
                .iter()
                .filter(|(key, _)| !PUBLIC_FIELDS.contains(&key.to_ascii_lowercase().as_str()))
                .for_each(|(_, value)| self.learn_fields(value)),
            _ => {}
        }
    }

    /// In a URL the secret is the password; any other text is secret as a whole, and so are the lines of a key file.
    fn learn_text(&self, text: &str) {
        match reqwest::Url::parse(text) {
            Ok(url) if url.has_host() => {
                if let Some(password) = url.password() {
                    self.learn(password);
                }
            }
            _ => {
                self.learn(text);
                text.lines().filter(|line| line.len() >= 16).for_each(|line| self.learn(line));
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.known().is_empty()
    }

    /// Whether a known secret occurs in the text.
    pub fn occur_in(&self, text: &str) -> bool {
        self.known().iter().any(|secret| find(text, secret, 0).is_some())
    }

    /// The text with every known secret masked.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.known().iter() {
            let mut from = 0;
            while let Some(at) = find(&text, secret, from) {
                text.to_mut().replace_range(at..at + secret.len(), MASK);
                from = at + MASK.len();
            }
        }
        text
    }

    /// How many bytes at the end of the text may be the beginning of a secret.
    pub(crate) fn begun_at_the_end(&self, text: &str) -> usize {
        let begun = |secret: &Arc<str>| {
            (1..secret.len().min(text.len() + 1))
                .rev()
                .find(|length| secret.is_char_boundary(*length) && text.ends_with(&secret[..*length]))
        };
        self.known().iter().filter_map(begun).max().unwrap_or(0)
    }

    /// The value with every known secret in its texts masked, those of its keys included.
    pub fn redact_value(&self, value: &Value) -> Value {
        match value {
            Value::Text(text) => match self.redact(text) {
                Cow::Borrowed(_) => value.clone(),
                Cow::Owned(text) => text.into(),
            },
            Value::List(items) => Value::list(items.iter().map(|item| self.redact_value(item))),
            Value::Map(map) => {
                let entries = map.iter().map(|(key, value)| match self.redact(key) {
                    Cow::Borrowed(_) => (key.clone(), self.redact_value(value)),
                    Cow::Owned(key) => (key.into(), self.redact_value(value)),
                });
                Value::map(entries)
            }
            other => other.clone(),
        }
    }

    /// Masks every known secret in the message and the details.
    pub fn redact_error(&self, error: &mut ToolError) {
        if let Cow::Owned(message) = self.redact(&error.message) {
            error.message = message;
        }
        error.details = self.redact_value(&error.details);
    }

    fn known(&self) -> std::sync::RwLockReadGuard<'_, Vec<Arc<str>>> {
        self.values.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// How bytes look inside base64, wherever they begin in the encoded text: the characters that depend on nothing else.
/// Forms of a few characters are left out, since they occur by chance.
fn base64_forms(bytes: &[u8]) -> Vec<String> {
    const SHORTEST: usize = 8;
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut padded = vec![0; before];
        padded.extend_from_slice(bytes);
        let whole_characters = padded.len() * 8 / 6;
        let first = (before * 8).div_ceil(6);
        for encoded in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            // The last character is the secret's own only where the encoded text ends with it.
            for end in [encoded.len(), whole_characters] {
                let form = &encoded[first.min(end)..end];
                if form.len() >= SHORTEST && !forms.iter().any(|known| known == form) {
                    forms.push(form.to_owned());
                }
            }
        }
    }
    forms
}

/// Where the secret next occurs. A short one must not touch letters or digits.
fn find(text: &str, secret: &str, from: usize) -> Option<usize> {
    text[from..].match_indices(secret).map(|(at, _)| from + at).find(|at| {
        let touches = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
        secret.len() >= STANDS_ALONE_BELOW
            || !(touches(text[..*at].chars().next_back())
                || touches(text[at + secret.len()..].chars().next()))
    })
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({} known)", self.known().len())
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::value;

    use super::*;

    #[test]
    fn a_secret_is_masked_plain_and_as_it_looks_in_a_url() {
        let secrets = Secrets::new(["s3cr&t one"]);
        assert_eq!(secrets.redact("got s3cr&t one!"), "got [redacted]!");
        assert_eq!(secrets.redact("?k=s3cr%26t+one&x=s3cr%26t%20one"), "?k=[redacted]&x=[redacted]");
        assert_eq!(secrets.redact("nothing here"), "nothing here");
    }

    #[test]
    fn a_secret_is_masked_inside_base64_wherever_it_begins() {
        let secrets = Secrets::new(["hush-token-1"]);
        for before in ["", "u", "us", "use", "user:"] {
            for after in ["", ":x", " and more"] {
                let encoded = base64::prelude::BASE64_STANDARD.encode(format!("{before}hush-token-1{after}"));
                assert!(secrets.redact(&encoded).contains("[redacted]"), "{before}|{after}");
            }
        }
        let other = base64::prelude::BASE64_STANDARD.encode("user:another-word");
        assert_eq!(secrets.redact(&other), other);
    }

    #[test]
    fn a_secret_in_a_key_is_masked() {
        let secrets = Secrets::new(["hush-token-1"]);
        let masked = secrets.redact_value(&value!({"hush-token-1": ["hush-token-1", 1]}));
        assert_eq!(masked, value!({"[redacted]": ["[redacted]", 1]}));
    }

    #[test]
    fn a_short_secret_is_masked_only_where_it_stands_alone() {
        let secrets = Secrets::new(["pw"]);
        assert_eq!(secrets.redact("pwd ann:pw apw pw"), "pwd ann:[redacted] apw [redacted]");
    }

    #[test]
    fn the_longer_of_two_nested_secrets_goes_first() {
        let secrets = Secrets::new(["hush-hush", "hush-hush-key"]);
        assert_eq!(secrets.redact("hush-hush-key"), "[redacted]");
    }

    #[test]
    fn credentials_give_up_their_secrets_but_not_their_address() {
        let secrets = Secrets::default();
        secrets.learn_credential(&Credential {
            name: "pg".to_owned(),
            kind: "postgres".to_owned(),
            data: value!({"db_host": "localhost", "db_password": "dragon-9", "dsn": "postgres://ann:wyvern-7@h/db"}),
        });
        assert_eq!(secrets.redact("localhost dragon-9 wyvern-7"), "localhost [redacted] [redacted]");
    }

    #[test]
    fn the_beginning_of_a_secret_at_the_end_is_noticed() {
        let secrets = Secrets::new(["hush-1"]);
        assert_eq!(secrets.begun_at_the_end("say hus"), 3);
        assert_eq!(secrets.begun_at_the_end("say"), 0);
        assert_eq!(secrets.begun_at_the_end("h"), 1);
    }
}
