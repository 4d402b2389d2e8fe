//! What browsers are told to keep the pages to.

use http::header::{self, HeaderName};

/// Nothing is loaded from elsewhere, no script runs that is not a file of the site, and no other site shows it in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Of every file.
pub const ALWAYS: [(HeaderName, &str); 3] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
];

/// For a file whose name changes with its content.
pub const FOREVER: &str = "public, max-age=31536000, immutable";

/// For a file whose tag says whether it has changed.
pub const ASK_FIRST: &str = "no-cache";
