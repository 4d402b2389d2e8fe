//! Checks that look at the whole playbook once it is lowered. Each file answers one question.

pub(crate) mod endless_calls;
pub(crate) mod fields;
pub(crate) mod parallel_writes;
pub(crate) mod reachability;
pub(crate) mod shadowed_arcs;
pub(crate) mod templates;
