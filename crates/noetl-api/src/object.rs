//! Bytes that workers keep under keys of their own.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ObjectStored {
    pub key: String,
    /// The SHA-256 of the bytes in hexadecimal.
    pub digest: String,
    pub bytes: u64,
}
