//! The key that all others are wrapped with.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::LessSafeKey;
use ring::hmac;
use zeroize::{Zeroize, Zeroizing};

use super::envelope::WrappedKey;
use super::{VaultError, aead, decrypt, encrypt};

/// Why a text is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("an encryption key is 32 bytes in Base64; this is not Base64")]
    NotBase64,
    #[error("an encryption key is 32 bytes in Base64; this has {0}")]
    WrongLength(usize),
}

/// A key-encryption key with the name of the place it came from.
pub struct MasterKey {
    source: String,
    fingerprint: String,
    cipher: LessSafeKey,
}

impl MasterKey {
    /// `source` is kept with what is sealed, so that people know which key to look for: `env:NOETL_ENCRYPTION_KEY`.
    pub fn new(source: &str, mut bytes: [u8; 32]) -> MasterKey {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &bytes), b"noetl key fingerprint");
        let fingerprint = tag.as_ref()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let cipher = aead(&bytes);
        bytes.zeroize();
        MasterKey { source: source.to_owned(), fingerprint, cipher }
    }

    pub fn from_base64(source: &str, text: &str) -> Result<MasterKey, KeyError> {
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| KeyError::NotBase64)?);
        let bytes = <[u8; 32]>::try_from(&**bytes).map_err(|_| KeyError::WrongLength(bytes.len()))?;
        Ok(MasterKey::new(source, bytes))
    }

    /// The text of a new key.
    pub fn generate() -> Result<Zeroizing<String>, VaultError> {
        let bytes = Zeroizing::new(super::random::<32>()?);
        Ok(Zeroizing::new(STANDARD.encode(*bytes)))
    }

    /// Tells keys apart and gives nothing away.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    pub(super) fn wrap(&self, data_key: &[u8; 32], purpose: &str) -> Result<WrappedKey, VaultError> {
        let wrapped = encrypt(&self.cipher, data_key, purpose.as_bytes())?;
        Ok(WrappedKey::new(&self.source, &self.fingerprint, &wrapped))
    }

    pub(super) fn unwrap(&self, wrapped: &WrappedKey, purpose: &str) -> Option<Zeroizing<[u8; 32]>> {
        let bytes = decrypt(&self.cipher, &wrapped.ciphertext()?, purpose.as_bytes())?;
        <[u8; 32]>::try_from(&**bytes).ok().map(Zeroizing::new)
    }
}

/// Leaves the key out.
impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MasterKey")
            .field("source", &self.source)
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_32_bytes_in_base64() {
        let text = MasterKey::generate().expect("random numbers");
        assert!(MasterKey::from_base64("test", &format!("{}\n", *text)).is_ok());
        let short = STANDARD.encode([1; 16]);
        assert_eq!(MasterKey::from_base64("test", &short).expect_err("short"), KeyError::WrongLength(16));
        assert_eq!(MasterKey::from_base64("test", "not base64!").expect_err("text"), KeyError::NotBase64);
    }
}
