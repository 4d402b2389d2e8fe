//! From checked YAML to the plan. Each file lowers one construct and reports what only becomes visible there: names that
//! lead nowhere, settings that contradict each other, templates that do not parse.

mod compile;
mod context;
mod looping;
mod merge;
mod playbook;
mod policy;
mod routing;
mod sets;
mod step;
mod task;
mod workbook;

pub(crate) use context::{Lowering, TemplateUse, Write};
pub(crate) use playbook::Lowered;
