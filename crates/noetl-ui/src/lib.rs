//! Serves the web UI. Its files are part of the binary and need no login; everything they show comes from the API.

mod answer;
mod file;
mod headers;

pub use answer::answer;

/// Whether the binary has the UI, and not only the page that says how to build it.
pub const fn is_built() -> bool {
    file::IS_BUILT
}
