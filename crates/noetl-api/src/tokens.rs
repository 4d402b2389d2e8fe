//! API tokens.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Id;

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenScope {
    /// Reads.
    Viewer,
    /// Also registers, runs and steers.
    Operator,
    /// Takes commands, reports, resolves credentials.
    Worker,
    /// Everything.
    Admin,
}

/// A token to make.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenRequest {
    /// For people.
    #[schema(min_length = 1, max_length = 255, pattern = r"^[^\x00-\x1F\x7F]+$")]
    pub name: String,
    #[schema(min_items = 1, max_items = 4)]
    pub scopes: Vec<TokenScope>,
    /// RFC 3339. Without it and `expires_in` it stays valid until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Seconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 3_153_600_000_u64)]
    pub expires_in: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Token {
    pub id: Id,
    pub name: String,
    pub scopes: Vec<String>,
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}

/// A new token with its secret, which is shown this once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct TokenCreated {
    /// What callers send as `Authorization: Bearer …`.
    pub token: String,
    #[serde(flatten)]
    pub details: Token,
}

/// Leaves the secret out.
impl fmt::Debug for TokenCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCreated").field("details", &self.details).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenList {
    /// In the order they were made.
    pub items: Vec<Token>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenRevoked {
    /// Always `revoked`.
    pub status: String,
    pub id: Id,
}
