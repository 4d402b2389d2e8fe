//! Why a call to the store failed: a variant per thing the caller may do differently.

use std::error::Error as StdError;

/// What went wrong, and in its message what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store does not answer now. Trying again later may help.
    #[error("the store does not answer: {reason}; the call can be tried again")]
    Unavailable {
        reason: String,
        #[source]
        source: Option<Box<dyn StdError + Send + Sync>>,
    },

    /// There is no room left. Nothing of the call was stored.
    #[error("no space is left where {place} is kept; free some space, then try again")]
    Full { place: String },

    /// The data can be read but not changed.
    #[error("{place} is read-only; make the file and its folder writable for this user")]
    ReadOnly { place: String },

    /// What is stored is damaged or was changed behind the store's back.
    #[error("{what} is damaged: {detail}; restore it from a backup")]
    Corrupt { what: String, detail: String },

    /// Another process works with the same data.
    #[error(
        "{place} is in use by {}; stop that process or choose another data folder",
        holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
    )]
    Locked { place: String, holder: Option<u32> },

    /// The data was written by a later release.
    #[error(
        "{place} has schema version {found}, this release knows {known}; use the release that wrote it or a later one"
    )]
    NewerSchema { place: String, found: u32, known: u32 },

    /// Something else is stored under that identity.
    #[error("{what} already exists with other content")]
    Conflict { what: String },

    /// What the call needs does not exist.
    #[error("{what} does not exist")]
    NotFound { what: String },

    /// The call makes no sense; it fails the same way every time.
    #[error("invalid request to the store: {reason}")]
    Invalid { reason: String },
}

impl Error {
    pub fn unavailable(reason: impl Into<String>) -> Error {
        Error::Unavailable { reason: reason.into(), source: None }
    }

    pub fn invalid(reason: impl Into<String>) -> Error {
        Error::Invalid { reason: reason.into() }
    }

    pub fn corrupt(what: impl Into<String>, detail: impl Into<String>) -> Error {
        Error::Corrupt { what: what.into(), detail: detail.into() }
    }

    /// A stable name for programs and documentation.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Unavailable { .. } => "store_unavailable",
            Error::Full { .. } => "store_full",
            Error::ReadOnly { .. } => "store_read_only",
            Error::Corrupt { .. } => "store_corrupt",
            Error::Locked { .. } => "store_locked",
            Error::NewerSchema { .. } => "store_newer_schema",
            Error::Conflict { .. } => "store_conflict",
            Error::NotFound { .. } => "store_not_found",
            Error::Invalid { .. } => "store_invalid",
        }
    }

    /// Whether the same call may succeed later without anybody changing the data or the call.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Error::Unavailable { .. } | Error::Full { .. })
    }
}
