//! Keeps secrets readable only for those who have the key.
//!
//! Every secret gets a data key of its own; the data key is wrapped with the server's master key, so that a change of the
//! master key touches a few bytes of each secret. What is sealed is bound to what it is for: an envelope copied to another
//! name does not open.

mod envelope;
mod key;

use std::fmt;
use std::sync::Arc;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use envelope::{Envelope, WrappedKey};
pub use key::{KeyError, MasterKey};

/// Why something could not be sealed or opened. None of these texts holds anything secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    #[error("it was sealed with the key {fingerprint} ({source_name}), which this server does not have")]
    WrongKey { fingerprint: String, source_name: String },
    #[error("it is damaged, or belongs to something else")]
    Damaged,
    #[error("the system gives no random numbers")]
    NoRandomness,
}

/// Seals and opens. Cheap to clone.
#[derive(Clone)]
pub struct Vault {
    keys: Arc<Keys>,
}

struct Keys {
    current: MasterKey,
    /// Only open what was sealed with them before.
    earlier: Vec<MasterKey>,
}

impl Vault {
    /// Seals with the current key; opens with it and with the earlier ones.
    pub fn new(current: MasterKey, earlier: Vec<MasterKey>) -> Vault {
        Vault { keys: Arc::new(Keys { current, earlier }) }
    }

    /// Encrypts something for one purpose, such as `credential:github`. It opens for no other.
    pub fn seal(&self, plain: &[u8], purpose: &str) -> Result<Vec<u8>, VaultError> {
        let data_key = Zeroizing::new(random::<32>()?);
        let envelope = Envelope::new(
            encrypt(&aead(&data_key), plain, purpose.as_bytes())?,
            self.keys.current.wrap(&data_key, purpose)?,
        );
        Ok(envelope.to_json())
    }

    pub fn open(&self, sealed: &[u8], purpose: &str) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let envelope = Envelope::from_json(sealed).ok_or(VaultError::Damaged)?;
        let data_key = self.unwrap(&envelope.dek, purpose)?;
        decrypt(&aead(&data_key), &envelope.ciphertext().ok_or(VaultError::Damaged)?, purpose.as_bytes())
            .ok_or(VaultError::Damaged)
    }

    /// The same secret under the current key, or nothing when it is so already.
    pub fn rewrap(&self, sealed: &[u8], purpose: &str) -> Result<Option<Vec<u8>>, VaultError> {
        let mut envelope = Envelope::from_json(sealed).ok_or(VaultError::Damaged)?;
        if envelope.dek.fingerprint() == self.keys.current.fingerprint() {
            return Ok(None);
        }
        let data_key = self.unwrap(&envelope.dek, purpose)?;
        envelope.dek = self.keys.current.wrap(&data_key, purpose)?;
        Ok(Some(envelope.to_json()))
    }

    fn unwrap(&self, wrapped: &WrappedKey, purpose: &str) -> Result<Zeroizing<[u8; 32]>, VaultError> {
        let known = std::iter::once(&self.keys.current).chain(&self.keys.earlier);
        let mut matching = known.filter(|key| key.fingerprint() == wrapped.fingerprint()).peekable();
        if matching.peek().is_none() {
            let (fingerprint, source_name) = (wrapped.fingerprint().to_owned(), wrapped.source().to_owned());
            return Err(VaultError::WrongKey { fingerprint, source_name });
        }
        matching.find_map(|key| key.unwrap(wrapped, purpose)).ok_or(VaultError::Damaged)
    }
}

/// Leaves the keys out.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault")
            .field("current", &self.keys.current)
            .field("earlier", &self.keys.earlier)
            .finish()
    }
}

/// Random bytes from the system.
pub fn random<const N: usize>() -> Result<[u8; N], VaultError> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| VaultError::NoRandomness)?;
    Ok(bytes)
}

fn aead(key: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("the key has the length of the cipher"))
}

/// The nonce, then the ciphertext with its tag.
fn encrypt(key: &LessSafeKey, plain: &[u8], bound_to: &[u8]) -> Result<Vec<u8>, VaultError> {
    let nonce = random::<NONCE_LEN>()?;
    let mut text = plain.to_vec();
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(bound_to), &mut text)
        .expect("secrets are far below the limit of the cipher");
    Ok([nonce.as_slice(), &text].concat())
}

fn decrypt(key: &LessSafeKey, sealed: &[u8], bound_to: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, text) = sealed.split_first_chunk::<NONCE_LEN>()?;
    let mut text = Zeroizing::new(text.to_vec());
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let length = key.open_in_place(nonce, Aad::from(bound_to), &mut text).ok()?.len();
    text.truncate(length);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> MasterKey {
        MasterKey::new("test", [byte; 32])
    }

    #[test]
    fn what_is_sealed_opens_again_and_looks_like_nothing() {
        let vault = Vault::new(key(1), Vec::new());
        let sealed = vault.seal(b"hush-hush", "credential:a").expect("sealed");
        assert!(!String::from_utf8_lossy(&sealed).contains("hush"));
        assert_eq!(&**vault.open(&sealed, "credential:a").expect("opened"), b"hush-hush");
        assert_ne!(sealed, vault.seal(b"hush-hush", "credential:a").expect("sealed"), "no two are alike");
    }

    #[test]
    fn an_envelope_has_the_fields_that_are_promised() {
        let sealed = Vault::new(key(1), Vec::new()).seal(b"x", "p").expect("sealed");
        let envelope: serde_json::Value = serde_json::from_slice(&sealed).expect("JSON");
        assert_eq!((&envelope["v"], &envelope["alg"]), (&1.into(), &"AES-256-GCM".into()));
        assert_eq!((&envelope["dek"]["p"], &envelope["dek"]["kid"]), (&"local".into(), &"test".into()));
        assert!(
            envelope["ct"].is_string()
                && envelope["dek"]["ct"].is_string()
                && envelope["dek"]["kv"].is_string()
        );
    }

    #[test]
    fn an_envelope_opens_only_for_its_purpose() {
        let vault = Vault::new(key(1), Vec::new());
        let sealed = vault.seal(b"hush", "credential:a").expect("sealed");
        assert_eq!(vault.open(&sealed, "credential:b").expect_err("another's"), VaultError::Damaged);
    }

    #[test]
    fn another_key_is_said_to_be_another() {
        let sealed = Vault::new(key(1), Vec::new()).seal(b"hush", "p").expect("sealed");
        let error = Vault::new(key(2), Vec::new()).open(&sealed, "p").expect_err("another key");
        assert!(matches!(error, VaultError::WrongKey { .. }), "{error}");
    }

    #[test]
    fn an_earlier_key_still_opens_and_rewrapping_makes_it_superfluous() {
        let sealed = Vault::new(key(1), Vec::new()).seal(b"hush", "p").expect("sealed");
        let both = Vault::new(key(2), vec![key(1)]);
        assert_eq!(&**both.open(&sealed, "p").expect("opened"), b"hush");
        let rewrapped = both.rewrap(&sealed, "p").expect("readable").expect("it was under the earlier key");
        assert_eq!(&**Vault::new(key(2), Vec::new()).open(&rewrapped, "p").expect("opened"), b"hush");
        assert_eq!(both.rewrap(&rewrapped, "p"), Ok(None));
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let vault = Vault::new(key(1), Vec::new());
        let sealed = vault.seal(b"hush", "p").expect("sealed");
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            if let Ok(opened) = vault.open(&changed, "p") {
                // Spaces and the name of the key's source say nothing about the content.
                assert_eq!(&**opened, b"hush");
            }
        }
        for length in 0..sealed.len() {
            assert!(vault.open(&sealed[..length], "p").is_err());
        }
    }

    #[test]
    fn no_key_shows_in_what_is_printed_for_developers() {
        let vault = Vault::new(MasterKey::new("test", *b"hush-hush-hush-hush-hush-hush-32"), Vec::new());
        assert!(!format!("{vault:?}").contains("hush"), "{vault:?}");
    }
}
