//! Tells who somebody is by a token that an OpenID provider has signed.
//!
//! The provider is found by its discovery document, its keys by the address in there. They are fetched when the first
//! token comes, kept for an hour, and fetched again when a token names a key that is not among them. A token counts when
//! one of the keys has signed it, when it is of this provider and for this audience, and while it has not expired.

mod claims;
mod keys;
mod provider;
mod token;

pub use claims::Claims;
pub use provider::{Provider, Settings};

/// Why nobody could be told from a token.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is no good; the text says why in a sentence that follows "the token".
    #[error("the token {0}")]
    Refused(String),
    /// The provider can't be asked, so that nobody knows.
    #[error("{0}")]
    Unavailable(String),
    /// The settings make no sense.
    #[error("{0}")]
    Misconfigured(String),
}

impl Error {
    fn refused(why: impl Into<String>) -> Error {
        Error::Refused(why.into())
    }
}
