//! The catalog: documents by path and version.

mod find;
mod plan;
mod register;
mod ui_schema;
mod versions;

pub use find::Listing;
pub use register::{Checked, Registered};
pub use ui_schema::{Field, UiSchema};
pub use versions::{Changed, Diff};
