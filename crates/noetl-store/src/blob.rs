//! Blobs: bytes that workers keep under a key of their own, whatever they mean.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::Timestamp;

use crate::{Error, sha256_hex};

/// Some bytes with what is known of them.
#[derive(Clone, PartialEq, Eq)]
pub struct Blob {
    pub key: Arc<str>,
    /// The SHA-256 of the bytes in hexadecimal.
    pub digest: String,
    pub media_type: Arc<str>,
    pub bytes: Arc<[u8]>,
    pub created_at: Timestamp,
}

impl Blob {
    /// Computes the digest.
    pub fn new(key: &str, media_type: &str, bytes: impl Into<Arc<[u8]>>, created_at: Timestamp) -> Blob {
        let bytes = bytes.into();
        Blob { key: key.into(), digest: sha256_hex(&bytes), media_type: media_type.into(), bytes, created_at }
    }

    /// Gives the blob back if its bytes are what was put.
    pub fn verified(self) -> Result<Blob, Error> {
        let found = sha256_hex(&self.bytes);
        if found == self.digest {
            Ok(self)
        } else {
            let what = format!("object {}", self.key);
            Err(Error::corrupt(what, format!("its SHA-256 is {found}, not {}", self.digest)))
        }
    }
}

/// Leaves the bytes out.
impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blob")
            .field("key", &self.key)
            .field("digest", &self.digest)
            .field("media_type", &self.media_type)
            .finish_non_exhaustive()
    }
}

#[async_trait]
pub trait Blobs {
    /// Stores a blob in the place of what was under its key.
    async fn put_blob(&self, blob: &Blob) -> Result<(), Error>;

    /// Bytes that do not match their digest are an [`Error::Corrupt`].
    async fn find_blob(&self, key: &str) -> Result<Option<Blob>, Error>;

    /// The newest blob whose key ends with this tail, which begins with the first `/execution=` of the key: where an
    /// execution keeps its values is the business of whoever put them there.
    async fn find_blob_by_tail(&self, tail: &str) -> Result<Option<Blob>, Error>;
}
