//! Templates and conditions, compiled once and evaluated against a scope. Pure: no clock, files, network or environment.
//!
//! The dialect is Jinja's. A string that is one lone `{{ expression }}` gives the expression's own value with its type;
//! text around or between expressions gives text; a string without template syntax is left alone. Data is never rendered:
//! only what the playbook's author wrote is.

mod compile;
mod condition;
mod environment;
mod event_name;
mod filters;
mod formula;
mod inspect;
mod limits;
mod methods;
mod nesting;
mod object;
mod operators;
mod order;
mod predicates;
mod print;
mod program;
mod resolve;
mod rewrite;
mod scope;
mod template;

pub use compile::CompileError;
pub use condition::Condition;
pub use environment::{Undefined, known_filters, known_functions, known_methods, known_tests};
pub use program::template_syntax;
pub use scope::{Lookup, Scope, View};
pub use template::{EvalError, Template};
