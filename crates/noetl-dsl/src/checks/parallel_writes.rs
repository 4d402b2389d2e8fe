//! Do iterations that overlap write the same name?

use crate::codes;
use crate::diagnostic::Report;
use crate::lower::Write;
use crate::plan::SetScope;

pub(crate) fn check(writes: &[Write], report: &mut Report) {
    for write in writes.iter().filter(|write| write.in_parallel && write.scope == SetScope::Ctx) {
        report.add_with_help(
            &codes::PARALLEL_WRITE,
            write.span,
            format!(
                "iterations that run at the same time all write `ctx.{}`, and the last one wins",
                write.path
            ),
            "keep it under `iter`, or read the loop's `results` in the step's own `set`".to_owned(),
        );
    }
}
