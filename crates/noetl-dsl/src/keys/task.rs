//! The keys that every tool has, whatever its kind, and those of its policy and output.

use super::construct::{
    ANY, BOOL, COUNT, Construct, LIST, MAP, SCALAR, SECONDS, Shape, TEXT, Unknown, ignored, key, old,
    required,
};
use super::looping::LOOP;
use crate::types::Types;

/// What a rule can do.
pub const ACTIONS: &[&str] = &["continue", "retry", "break", "jump", "fail"];

/// How the delay between tries grows.
pub const BACKOFFS: &[&str] = &["none", "fixed", "linear", "exponential"];

pub static TASK: Construct = Construct {
    name: "task",
    title: "a tool",
    doc: "One call of a tool, with the settings of its kind.",
    // The settings of the kind are judged with the table of kinds.
    unknown: Unknown::Allow,
    keys: &[
        required("kind", TEXT, "The kind of the tool."),
        key(
            "name",
            TEXT,
            "The task's label in its pipeline; for `kind: workbook` the name of the workbook task.",
        ),
        key("desc", SCALAR, "What the task is for."),
        key("input", MAP, "Values for the tool."),
        old("args", MAP, "input"),
        key("auth", Shape::Is(Types::TEXT.or(Types::MAP)), "A credential by name, or the settings of one."),
        key("credential", Shape::Is(Types::TEXT.or(Types::MAP)), "A credential by name."),
        key("set", Shape::Assignments, "Assignments after the task; `output` is its result."),
        old("set_ctx", MAP, "set"),
        old("set_iter", MAP, "set"),
        old("vars", MAP, "set"),
        key(
            "loop",
            Shape::Of(&LOOP),
            "Runs the task once per item; `iter.parent` is the iteration around it.",
        ),
        key("spec", Shape::Of(&TASK_SPEC), "The task's policy."),
        key("output", Shape::Of(&OUTPUT), "How a large result is kept."),
        key(
            "output_select",
            Shape::Is(Types::LIST.or(Types::MAP)),
            "Fields of a large result that stay visible.",
        ),
        key("timeout", SECONDS, "How long the task may take, in seconds."),
        key("timeout_seconds", SECONDS, "How long the task may take, in seconds."),
        key("code_template", BOOL, "False keeps `{{ }}` in code as it is written."),
        ignored("eval", "write the rules in `spec.policy.rules`"),
        ignored("retry", "write a rule with `do: retry` in `spec.policy.rules`"),
        ignored("sink", "save results with a further task in the pipeline"),
    ],
};

pub static TASK_SPEC: Construct = Construct {
    name: "task_spec",
    title: "a tool's `spec`",
    doc: "The task's policy. Settings of the tool's kind may stand here too.",
    unknown: Unknown::Allow,
    keys: &[
        key("policy", Shape::Of(&TASK_POLICY), "What happens after the task, by its outcome."),
        key("timeout", SECONDS, "How long the task may take, in seconds."),
        ignored("result", "use `output`"),
    ],
};

pub static TASK_POLICY: Construct = Construct {
    name: "task_policy",
    title: "a tool's `spec.policy`",
    doc: "What happens after the task, by its outcome.",
    unknown: Unknown::Warn,
    keys: &[key(
        "rules",
        Shape::ListOf(&RULE),
        "Judged in order; the first that holds decides. Without one, success continues and an error fails.",
    )],
};

pub static RULE: Construct = Construct {
    name: "rule",
    title: "a rule",
    doc: "What to do after a task.",
    unknown: Unknown::Warn,
    keys: &[
        key(
            "when",
            Shape::Condition,
            "When the rule applies; `output.status`, `output.error`, `output.data` tell the outcome.",
        ),
        key("then", Shape::Of(&THEN), "What it does."),
        key("else", Shape::Of(&ELSE), "What to do when no earlier rule applied."),
    ],
};

const TO: Shape = TEXT;

pub static THEN: Construct = Construct {
    name: "then",
    title: "a rule's `then`",
    doc: "What a rule does.",
    unknown: Unknown::Warn,
    keys: &[
        key("do", Shape::Words(ACTIONS), "The action."),
        key("attempts", COUNT, "For `retry`: the number of tries all told; 3 when left out."),
        key(
            "backoff",
            Shape::Words(BACKOFFS),
            "For `retry`: how the delay grows; `none` does not wait at all.",
        ),
        key("delay", SECONDS, "For `retry`: seconds; 1 when left out."),
        key("to", TO, "For `jump`: the label of a task, or `previous`."),
        key("set", Shape::Assignments, "Assignments before the action."),
        old("set_ctx", MAP, "set"),
        old("set_iter", MAP, "set"),
        old("vars", MAP, "set"),
    ],
};

static ELSE: Construct = Construct {
    name: "else",
    title: "a rule's `else`",
    doc: "What to do when no earlier rule applied.",
    unknown: Unknown::Warn,
    keys: &[
        key("then", Shape::Of(&THEN), "What it does."),
        old("do", Shape::Words(ACTIONS), "else.then.do"),
        old("attempts", COUNT, "else.then.attempts"),
        old("backoff", Shape::Words(BACKOFFS), "else.then.backoff"),
        old("delay", SECONDS, "else.then.delay"),
        old("to", TO, "else.then.to"),
        old("set", Shape::Assignments, "else.then.set"),
        old("set_ctx", MAP, "else.then.set"),
        old("set_iter", MAP, "else.then.set"),
        old("vars", MAP, "else.then.set"),
    ],
};

pub static OUTPUT: Construct = Construct {
    name: "output",
    title: "`output`",
    doc: "How a large result is kept.",
    unknown: Unknown::Warn,
    keys: &[
        key("store", Shape::Of(&STORE), "Where it is kept."),
        key("select", LIST, "Fields that stay visible, each as `{path, as}` or by name."),
        key("output_select", Shape::Is(Types::LIST.or(Types::MAP)), "Fields that stay visible."),
        key("accumulate", MAP, "How the results of repeated visits are joined."),
        key("inline_max_bytes", COUNT, "Results up to this size are not stored aside; 65536 when left out."),
        key("preview_max_bytes", COUNT, "The size of the preview; 1024 when left out."),
        key("scope", Shape::Words(&["step", "execution", "workflow", "permanent"]), "How long it is kept."),
        key("as", TEXT, "The name of the stored result."),
    ],
};

static STORE: Construct = Construct {
    name: "store",
    title: "`output.store`",
    doc: "Where a large result is kept.",
    unknown: Unknown::Warn,
    keys: &[
        key(
            "kind",
            Shape::Hints(&[
                "auto", "memory", "kv", "disk", "object", "s3", "gcs", "db", "duckdb", "eventlog",
            ]),
            "The kind of store; `auto` chooses by size.",
        ),
        key("driver", TEXT, "The driver of the store."),
        key("bucket", TEXT, "The bucket."),
        key("prefix", TEXT, "The start of its name."),
        key("ttl", ANY, "How long it is kept."),
        key("compression", Shape::Hints(&["none", "gzip", "lz4"]), "How it is packed."),
        key("credential", TEXT, "The credential of the store."),
    ],
};
