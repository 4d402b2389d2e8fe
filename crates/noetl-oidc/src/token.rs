//! A token as it comes: head, claims and signature, each in Base64.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::{Claims, Error};

/// The parts of a token. Nothing in it can be trusted before its signature was checked.
pub struct Token<'a> {
    pub head: Head,
    /// What was signed.
    pub signed: &'a [u8],
    pub signature: Vec<u8>,
    claims: Vec<u8>,
}

#[derive(Debug, Deserialize)]
pub struct Head {
    /// How it was signed.
    pub alg: String,
    /// With which of the provider's keys.
    pub kid: Option<String>,
    /// Extensions that one must understand. None are understood here.
    crit: Option<serde_json::Value>,
}

impl Token<'_> {
    pub fn parse(text: &str) -> Result<Token<'_>, Error> {
        let no_token = || Error::refused("is not of the form that providers sign");
        let (signed, signature) = text.rsplit_once('.').ok_or_else(no_token)?;
        let (head, claims) = signed.split_once('.').ok_or_else(no_token)?;
        let decode = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| no_token());
        let head: Head = serde_json::from_slice(&decode(head)?).map_err(|_| no_token())?;
        if head.crit.is_some() {
            return Err(Error::refused("asks for an extension that is not known here"));
        }
        Ok(Token { head, signed: signed.as_bytes(), signature: decode(signature)?, claims: decode(claims)? })
    }

    /// What it says of its bearer. To be asked for once the signature is known to be good.
    pub fn into_claims(self) -> Result<Claims, Error> {
        let claims = serde_json::from_slice(&self.claims);
        claims.map(Claims::new).map_err(|_| Error::refused("has claims that can't be read"))
    }
}
