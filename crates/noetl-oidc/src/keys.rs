//! The keys of a provider, and what they have signed.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;

use crate::Error;
use crate::token::Token;

/// The keys of a provider that can sign tokens.
#[derive(Debug, Default)]
pub struct Keys(Vec<Key>);

#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// The only way it signs, when it says so.
    alg: Option<String>,
    material: Material,
}

#[derive(Debug)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point of a curve.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A key as providers publish it.
#[derive(Deserialize)]
struct Published {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

#[derive(Deserialize)]
struct PublishedKeys {
    keys: Vec<serde_json::Value>,
}

/// How signatures are made with RSA, by their name in tokens. Neither secrets that are shared nor tokens without a
/// signature are among the ways.
const RSA: &[(&str, &RsaParameters)] = &[
    ("RS256", &signature::RSA_PKCS1_2048_8192_SHA256),
    ("RS384", &signature::RSA_PKCS1_2048_8192_SHA384),
    ("RS512", &signature::RSA_PKCS1_2048_8192_SHA512),
    ("PS256", &signature::RSA_PSS_2048_8192_SHA256),
    ("PS384", &signature::RSA_PSS_2048_8192_SHA384),
    ("PS512", &signature::RSA_PSS_2048_8192_SHA512),
];

impl Keys {
    /// Reads what a provider publishes. Keys of kinds that are not known are left out, since nobody needs them here.
    pub fn parse(document: &[u8]) -> Result<Keys, serde_json::Error> {
        let published: PublishedKeys = serde_json::from_slice(document)?;
        Ok(Keys(published.keys.into_iter().filter_map(key).collect()))
    }

    /// Whether one of them may have signed the token.
    pub fn know(&self, token: &Token<'_>) -> bool {
        self.candidates(token).next().is_some()
    }

    /// Refuses a token that none of them has signed.
    pub fn check(&self, token: &Token<'_>) -> Result<(), Error> {
        if !self.know(token) {
            return Err(Error::refused("was signed with a key that its issuer does not publish"));
        }
        match self.candidates(token).any(|key| key.material.has_signed(token)) {
            true => Ok(()),
            false => Err(Error::refused("has a signature that is not its issuer's")),
        }
    }

    /// The key that the token names, or all that sign its way when it names none.
    fn candidates(&self, token: &Token<'_>) -> impl Iterator<Item = &Key> {
        let head = &token.head;
        self.0.iter().filter(move |key| {
            (head.kid.is_none() || key.id == head.kid)
                && key.alg.as_ref().is_none_or(|alg| *alg == head.alg)
                && key.material.signs_with(&head.alg)
        })
    }
}

impl Material {
    fn signs_with(&self, alg: &str) -> bool {
        match self {
            Material::Rsa { .. } => RSA.iter().any(|(name, _)| *name == alg),
            Material::P256(_) => alg == "ES256",
            Material::P384(_) => alg == "ES384",
            Material::Ed25519(_) => alg == "EdDSA" || alg == "Ed25519",
        }
    }

    /// Whether the token was signed with it, in a way that it signs with.
    fn has_signed(&self, token: &Token<'_>) -> bool {
        let by = |algorithm: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(algorithm, key).verify(token.signed, &token.signature)
        };
        let outcome = match self {
            Material::Rsa { n, e } => {
                let Some((_, parameters)) = RSA.iter().find(|(name, _)| *name == token.head.alg) else {
                    return false;
                };
                RsaPublicKeyComponents { n, e }.verify(parameters, token.signed, &token.signature)
            }
            Material::P256(point) => by(&signature::ECDSA_P256_SHA256_FIXED, point),
            Material::P384(point) => by(&signature::ECDSA_P384_SHA384_FIXED, point),
            Material::Ed25519(key) => by(&signature::ED25519, key),
        };
        outcome.is_ok()
    }
}

fn key(published: serde_json::Value) -> Option<Key> {
    let published: Published = serde_json::from_value(published).ok()?;
    if published.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
        return None;
    }
    let bytes = |part: &Option<String>| BASE64_URL_SAFE_NO_PAD.decode(part.as_ref()?).ok();
    let point = || Some([vec![4], bytes(&published.x)?, bytes(&published.y)?].concat());
    let material = match (published.kty.as_str(), published.crv.as_deref()) {
        ("RSA", _) => Material::Rsa { n: bytes(&published.n)?, e: bytes(&published.e)? },
        ("EC", Some("P-256")) => Material::P256(point()?),
        ("EC", Some("P-384")) => Material::P384(point()?),
        ("OKP", Some("Ed25519")) => Material::Ed25519(bytes(&published.x)?),
        _ => return None,
    };
    Some(Key { id: published.kid, alg: published.alg, material })
}
