//! Credentials, as workers need them.

use serde::Deserialize;

use crate::{Client, Error};

/// A credential with its fields.
#[derive(Clone, Deserialize)]
pub struct Credential {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub data: noetl_types::Value,
}

/// Leaves out the fields.
impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credential")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// The credential of this name, for a step of this execution. Nothing when there is none.
    pub async fn find_credential(&self, alias: &str, execution: i64) -> Result<Option<Credential>, Error> {
        let path = format!("/api/credentials/{}?include_data=true&execution_id={execution}", escaped(alias));
        match self.get(&path).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A name as one segment of a path.
fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(byte as char),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_one_segment_of_the_path() {
        assert_eq!(escaped("pg_local"), "pg_local");
        assert_eq!(escaped("a/b ?é"), "a%2Fb%20%3F%C3%A9");
    }
}
