//! Playbooks: from YAML text to a checked, compiled [`Plan`] and diagnostics with positions. Pure: reads no file.
//!
//! [`check()`] reads the YAML with the places of everything in it (`yaml`), holds it against the tables of the language
//! (`keys`, `kinds`, `shape`), lowers it to a plan (`lower`) and looks at the whole (`checks`). All findings come together.

mod check;
mod checks;
pub mod codes;
mod diagnostic;
pub mod fix;
pub mod graph;
pub mod keys;
pub mod kinds;
mod locate;
mod lower;
mod names;
pub mod plan;
pub mod positions;
mod scan;
mod schema;
mod shape;
mod subscription;
mod suggest;
mod together;
mod types;
pub mod yaml;

pub use check::{Checked, Options, check, read_document};
pub use codes::codes;
pub use diagnostic::{Diagnostic, Report as Findings, Severity, has_errors};
pub use kinds::{FieldSpec, KindSpec, KindTable, Need};
pub use names::LANGUAGE_NAMES;
pub use plan::Plan;
pub use schema::{schema, schema_of, schema_with, subscription_schema};
pub use subscription::{CheckedSubscription, Subscription, check_subscription};
pub use suggest::did_you_mean;
pub use together::{CheckedFile, check_many};
pub use types::Types;
