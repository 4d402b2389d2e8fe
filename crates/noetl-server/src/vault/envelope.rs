//! How a sealed secret is written down. The fields are promised: what was stored once must open for ever.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;
const ALGORITHM: &str = "AES-256-GCM";

#[derive(Serialize, Deserialize)]
pub struct Envelope {
    v: u32,
    alg: String,
    /// Nonce and ciphertext, in Base64.
    ct: String,
    pub dek: WrappedKey,
}

/// The data key, wrapped with a master key.
#[derive(Serialize, Deserialize)]
pub struct WrappedKey {
    /// Who holds the master key; `local` is this server.
    p: String,
    /// Where that one got it.
    kid: String,
    /// Its fingerprint.
    kv: String,
    /// Nonce and ciphertext, in Base64.
    ct: String,
}

impl Envelope {
    pub fn new(ciphertext: Vec<u8>, dek: WrappedKey) -> Envelope {
        Envelope { v: VERSION, alg: ALGORITHM.to_owned(), ct: STANDARD.encode(ciphertext), dek }
    }

    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an envelope consists of texts and a number")
    }

    pub fn from_json(sealed: &[u8]) -> Option<Envelope> {
        let envelope: Envelope = serde_json::from_slice(sealed).ok()?;
        (envelope.v == VERSION && envelope.alg == ALGORITHM).then_some(envelope)
    }

    pub fn ciphertext(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.ct).ok()
    }
}

impl WrappedKey {
    pub fn new(source: &str, fingerprint: &str, ciphertext: &[u8]) -> WrappedKey {
        WrappedKey {
            p: "local".to_owned(),
            kid: source.to_owned(),
            kv: fingerprint.to_owned(),
            ct: STANDARD.encode(ciphertext),
        }
    }

    pub fn source(&self) -> &str {
        &self.kid
    }

    pub fn fingerprint(&self) -> &str {
        &self.kv
    }

    pub fn ciphertext(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.ct).ok()
    }
}
