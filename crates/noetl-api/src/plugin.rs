//! Plug-in modules: compiled code by path and version.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A module that is now registered.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PluginRegistered {
    pub path: String,
    pub version: i64,
    /// The SHA-256 of the code, in hexadecimal.
    pub digest: String,
    /// How many bytes the code has.
    pub bytes: u64,
}

/// What is known of a module without its code.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PluginInfo {
    pub path: String,
    pub version: i64,
    pub digest: String,
    /// `application/wasm` or `text/wat`.
    pub media_type: String,
    pub bytes: u64,
    pub created_at: String,
}

/// By path, and for each path the highest version first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PluginList {
    pub plugins: Vec<PluginInfo>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PluginDeleted {
    pub path: String,
    pub version: i64,
    /// Always true.
    pub deleted: bool,
}
