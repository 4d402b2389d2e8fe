//! What a token says of its bearer.

use serde_json::{Map, Value};

use crate::Error;

/// How far the clocks of the provider and this machine may be apart, in seconds.
const LEEWAY: f64 = 60.0;

/// The claims of a token whose signature was good.
#[derive(Debug)]
pub struct Claims(Map<String, Value>);

impl Claims {
    pub(crate) fn new(claims: Map<String, Value>) -> Claims {
        Claims(claims)
    }

    /// Whether the token counts now, in seconds since 1970, here.
    pub(crate) fn check(&self, issuer: &str, audience: &str, now: f64) -> Result<(), Error> {
        if self.text("iss") != Some(issuer) {
            return Err(Error::refused(format!("was not issued by {issuer}")));
        }
        if !texts(self.0.get("aud")).any(|name| name == audience) {
            return Err(Error::refused(format!("is not for the audience '{audience}'")));
        }
        let instant = |claim: &str| self.0.get(claim).and_then(Value::as_f64);
        match instant("exp") {
            None => return Err(Error::refused("does not say when it expires")),
            Some(end) if end + LEEWAY <= now => return Err(Error::refused("has expired")),
            Some(_) => {}
        }
        if instant("nbf").is_some_and(|start| start - LEEWAY > now) {
            return Err(Error::refused("does not count yet"));
        }
        Ok(())
    }

    /// Who it is: what the provider calls them for good, and their address of mail if the provider has verified it.
    pub fn name(&self) -> String {
        let subject = self.text("sub").unwrap_or("unknown");
        let is_verified = self.0.get("email_verified").and_then(Value::as_bool) == Some(true);
        match self.text("email").filter(|_| is_verified) {
            Some(email) => format!("{subject} <{email}>"),
            None => subject.to_owned(),
        }
    }

    /// The words in a claim, which is a list or a text of words. Dots in its name lead into objects, unless there is a
    /// claim of the whole name.
    pub fn words(&self, claim: &str) -> Vec<&str> {
        let inside = |claim: &str| {
            let mut parts = claim.split('.');
            let first = self.0.get(parts.next()?)?;
            parts.try_fold(first, |value, part| value.get(part))
        };
        let found = self.0.get(claim).or_else(|| inside(claim));
        texts(found).flat_map(str::split_whitespace).collect()
    }

    fn text(&self, claim: &str) -> Option<&str> {
        self.0.get(claim).and_then(Value::as_str)
    }
}

/// A text, or the texts of a list.
fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    list.iter().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claims(value: Value) -> Claims {
        let Value::Object(claims) = value else { panic!("claims are an object") };
        Claims(claims)
    }

    #[test]
    fn words_are_found_in_texts_lists_and_objects() {
        let claims = claims(json!({
            "scope": "openid noetl:viewer",
            "roles": ["a b", 7, "c"],
            "realm_access": {"roles": ["admin"]},
            "https://noetl.example.com/roles": ["operator"],
            "number": 5,
        }));
        assert_eq!(claims.words("scope"), ["openid", "noetl:viewer"]);
        assert_eq!(claims.words("roles"), ["a", "b", "c"]);
        assert_eq!(claims.words("realm_access.roles"), ["admin"]);
        assert_eq!(claims.words("https://noetl.example.com/roles"), ["operator"]);
        assert!(claims.words("number").is_empty() && claims.words("absent").is_empty());
    }

    #[test]
    fn an_address_of_mail_counts_once_it_is_verified() {
        let name = |verified: Value| {
            claims(json!({"sub": "u-7", "email": "ann@example.com", "email_verified": verified})).name()
        };
        assert_eq!(name(json!(true)), "u-7 <ann@example.com>");
        assert_eq!(name(json!("true")), "u-7");
    }
}
