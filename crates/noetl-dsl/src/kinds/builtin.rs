//! The kinds of the language, and the words their tables are written with.

use super::spec::{FieldSpec, KindSpec};
use super::{database, messaging, program, service};
use crate::types::Types;

pub(super) fn kinds() -> Vec<KindSpec> {
    [flow(), service::kinds(), database::kinds(), program::kinds(), messaging::kinds()].concat()
}

/// Kinds that are about the workflow itself.
fn flow() -> Vec<KindSpec> {
    vec![
        KindSpec::new(
            "noop",
            "Does nothing; carries a policy or gives a fixed result.",
            "`result`, or the message",
        )
        .fields([any("result", "The result."), text("message", "The result, when there is no `result`.")]),
        KindSpec::new("workbook", "Runs a task of the workbook.", "the task's result")
            .field(text("name", "The name of the workbook task.").required())
            .open(),
        KindSpec::new("task_sequence", "A pipeline, written as one tool.", "the tasks' results by label")
            .field(list("tasks", "The tasks.").required()),
        KindSpec::new(
            "playbook",
            "Runs another playbook and waits for it.",
            "the child's result, with `execution_id`, `status` and `path`",
        )
        .fields([
            text("path", "The catalog path of the playbook.").any_of("the playbook"),
            scalar("catalog_id", "The catalog entry of the playbook.").any_of("the playbook"),
            scalar("version", "The version to run; the newest when left out."),
            any("payload", "The workload of the child; `input` wins when both are there."),
            flag("async", "Goes on without waiting for the child."),
            text("return_step", "The step of the child whose result is returned."),
            flag("return_result", "Waits for the child, as is the default."),
            text("result_step", "The step of the child whose result is returned."),
            number("poll_interval", "How often the child is asked for, in seconds."),
            scalar("parent_execution_id", "The execution the child belongs to; this one when left out."),
            text("execution_pool", "The worker pool the child runs in."),
        ]),
        KindSpec::new(
            "wait",
            "Waits for a signal, such as an approval or a callback, or for a time.",
            "the signal's payload, or `waited` in seconds; a signal that does not come in time is an error of kind `timeout`",
        )
        .fields([
            text("signal", "The name of the signal; the step's name when left out."),
            number("seconds", "Waits this long instead of waiting for a signal."),
            text("prompt", "What the person who answers is asked."),
            map("schema", "A JSON Schema that the signal's payload must meet."),
        ]),
    ]
}

pub(super) fn text(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::TEXT, doc)
}

pub(super) fn scalar(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::SCALAR, doc)
}

pub(super) fn number(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::NUMBER, doc)
}

pub(super) fn integer(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::INTEGER, doc)
}

pub(super) fn flag(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::BOOL, doc)
}

pub(super) fn map(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::MAP, doc)
}

pub(super) fn list(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::LIST, doc)
}

pub(super) fn any(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::ANY, doc)
}

pub(super) fn text_or_list(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::TEXT.or(Types::LIST), doc)
}

pub(super) fn text_or_map(name: &'static str, doc: &'static str) -> FieldSpec {
    FieldSpec::new(name, Types::TEXT.or(Types::MAP), doc)
}
