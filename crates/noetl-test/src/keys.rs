//! The grammar of test files as tables, in the manner of those of playbooks: the checker and the JSON Schema read them.

use noetl_dsl::Types;
use noetl_dsl::keys::{Construct, Shape, Unknown, key, required};

use crate::codes;

const UNKNOWN: Unknown = Unknown::Refuse(&codes::UNKNOWN_TEST_KEY);

const ANY: Shape = Shape::Is(Types::ANY);
const TEXT: Shape = Shape::Is(Types::TEXT);
const MAP: Shape = Shape::Is(Types::MAP);
const LIST: Shape = Shape::Is(Types::LIST);
const SECONDS: Shape = Shape::AtLeast(Types::NUMBER, 0.0);
const COUNT: Shape = Shape::AtLeast(Types::INTEGER, 0.0);

pub static SUITE: Construct = Construct {
    name: "test",
    title: "a test file",
    doc: "Cases for one playbook, and what they have in common.",
    unknown: UNKNOWN,
    keys: &[
        key("playbook", TEXT, "The file of the playbook, from here; the one of the same name when left out."),
        key("desc", TEXT, "What the cases are about."),
        key(
            "allow",
            LIST,
            "Kinds of tools that are called for real where nothing answers for them, such as `python`.",
        ),
        key("clock", TEXT, "The instant at which every case begins, such as `2026-01-31T12:00:00Z`."),
        key("payload", MAP, "The payload of every case; a case lays its own over it."),
        key("mocks", Shape::EachOf(&MOCK), "Answers for all cases, by step; those of a case come first."),
        key("signals", Shape::Either(&[Shape::ListOf(&SIGNAL), MAP]), "Signals for all cases."),
        key("keychain", MAP, "What `keychain` holds, by entry and field."),
        key(
            "credentials",
            Shape::EachOf(&CREDENTIAL),
            "Credentials for tools that are called for real, by name.",
        ),
        required("cases", Shape::ListOf(&CASE), "The cases."),
    ],
};

pub static CASE: Construct = Construct {
    name: "case",
    title: "a case",
    doc: "One run of the playbook, and what it should come to.",
    unknown: UNKNOWN,
    keys: &[
        required("name", TEXT, "What is shown to hold, in a few words."),
        key("desc", TEXT, "Why this case is there."),
        key("payload", MAP, "What the run is started with."),
        key("clock", TEXT, "The instant at which the run begins, such as `2026-01-31T12:00:00Z`."),
        key("entry", TEXT, "The step to begin at, instead of the playbook's entry."),
        key("allow", LIST, "Kinds of tools that are called for real, besides those of the file."),
        key(
            "mocks",
            Shape::EachOf(&MOCK),
            "What the tools of steps answer: by `step`, `step.task` or `path/of/playbook/step`.",
        ),
        key("recorded", TEXT, "A file made by `noetl record`, from here: it answers where no mock does."),
        key(
            "signals",
            Shape::Either(&[Shape::ListOf(&SIGNAL), MAP]),
            "Signals, sent when a step waits for them: the payload by name, or a list in order.",
        ),
        key("keychain", MAP, "What `keychain` holds, by entry and field; laid over that of the file."),
        key(
            "credentials",
            Shape::EachOf(&CREDENTIAL),
            "Credentials for tools that are called for real, by name.",
        ),
        key("expect", Shape::Of(&EXPECT), "What must hold afterwards. Without it, the run must complete."),
    ],
};

pub static RECORDING: Construct = Construct {
    name: "recording",
    title: "a recording",
    doc: "What the tools of an earlier execution gave, made by `noetl record`.",
    unknown: UNKNOWN,
    keys: &[
        key("execution", Shape::Is(Types::SCALAR), "The execution it was made from."),
        key("path", TEXT, "The playbook that was run."),
        key("payload", MAP, "What the execution was started with."),
        key("clock", TEXT, "When it began."),
        key("mocks", Shape::EachOf(&MOCK), "What its tools gave."),
        key("signals", Shape::ListOf(&SIGNAL), "The signals it got."),
    ],
};

pub static MOCK: Construct = Construct {
    name: "mock",
    title: "a mock",
    doc: "What a tool answers. In a list, the first one that applies does.",
    unknown: UNKNOWN,
    keys: &[
        key(
            "when",
            Shape::Condition,
            "Applies when this holds. It sees `input`, `settings`, `attempt`, `index`, `item`, `workload` and `ctx`.",
        ),
        key("item", COUNT, "Applies to this item of a loop, counted from 0."),
        key("value", ANY, "The data that the tool gives, as it is."),
        key("render", ANY, "The data that the tool gives, as a template that sees what `when` does."),
        key("error", Shape::Of(&ERROR), "The error that the tool ends with."),
        key("http", Shape::Of(&HTTP), "The answer of an HTTP service."),
        key("attempts", Shape::ListOf(&ANSWER), "An answer for each attempt, in order."),
        key("sequence", Shape::ListOf(&ANSWER), "An answer for each call that this mock answers, in order."),
        key("delay", SECONDS, "How long the answer takes, in seconds of the case's own clock."),
        key("facets", MAP, "The native side of the answer, such as `pg: {sqlstate: \"23505\"}`."),
    ],
};

pub static ANSWER: Construct = Construct {
    name: "answer",
    title: "an answer",
    doc: "One of several answers.",
    unknown: UNKNOWN,
    keys: &[
        key("value", ANY, "The data that the tool gives, as it is."),
        key("render", ANY, "The data that the tool gives, as a template."),
        key("error", Shape::Of(&ERROR), "The error that the tool ends with."),
        key("http", Shape::Of(&HTTP), "The answer of an HTTP service."),
        key("delay", SECONDS, "How long the answer takes, in seconds of the case's own clock."),
        key("facets", MAP, "The native side of the answer."),
    ],
};

pub static ERROR: Construct = Construct {
    name: "error",
    title: "an error",
    doc: "Why a call fails.",
    unknown: UNKNOWN,
    keys: &[
        key("kind", Shape::Words(ERROR_KINDS), "What went wrong; `unknown` when left out."),
        key("message", TEXT, "What the tool says about it."),
        key("code", Shape::Is(Types::SCALAR), "The native code, such as `HTTP_429`."),
        key("retryable", Shape::Is(Types::BOOL), "Whether trying again may help; by its kind when left out."),
        key("details", MAP, "Further facts by name."),
        key("data", ANY, "The data that comes with the error."),
    ],
};

pub static HTTP: Construct = Construct {
    name: "http",
    title: "an HTTP answer",
    doc: "The answer of an HTTP service, reported as the `http` tool does: a status outside 2xx is an error.",
    unknown: UNKNOWN,
    keys: &[
        key("status", Shape::AtLeast(Types::INTEGER, 100.0), "The status; 200 when left out."),
        key("body", ANY, "The body: data where it is JSON, else text."),
        key("headers", MAP, "The headers, by name in lower case."),
    ],
};

pub static SIGNAL: Construct = Construct {
    name: "signal",
    title: "a signal",
    doc: "A signal, sent when a step waits for it.",
    unknown: UNKNOWN,
    keys: &[
        required("name", TEXT, "Its name."),
        key("payload", ANY, "What it carries."),
        key("after", SECONDS, "How long the step has waited by then, in seconds of the case's own clock."),
    ],
};

pub static CREDENTIAL: Construct = Construct {
    name: "credential",
    title: "a credential",
    doc: "Access data for tools that are called for real.",
    unknown: UNKNOWN,
    keys: &[
        required("type", TEXT, "`bearer`, `basic`, `postgres` and so on."),
        key("data", MAP, "Its fields."),
    ],
};

pub static EXPECT: Construct = Construct {
    name: "expect",
    title: "`expect`",
    doc: "What must hold when the run has come to rest.",
    unknown: UNKNOWN,
    keys: &[
        key(
            "status",
            Shape::Words(STATUSES),
            "How it ends; `completed`, or `failed` where an error is expected, when left out.",
        ),
        key("result", ANY, "The result of the run."),
        key("results", MAP, "The results of steps, by step."),
        key("steps", LIST, "The steps in the order in which they were entered, all of them."),
        key("ran", LIST, "Steps that were entered, in any order, among others."),
        key("not_run", LIST, "Steps that were not entered."),
        key("arcs", LIST, "Arcs that were followed, each as `from -> to`."),
        key("not_taken", LIST, "Arcs that were not followed."),
        key("calls", Shape::ListOf(&CALL), "Calls of tools that were made."),
        key("error", Shape::Of(&EXPECTED_ERROR), "The error that the run failed with."),
        key("ctx", MAP, "What is under `ctx` at the end, by key."),
        key("elapsed", ANY, "How many seconds passed on the case's own clock."),
    ],
};

pub static CALL: Construct = Construct {
    name: "call",
    title: "an expected call",
    doc: "A call of a tool: how often it was made, and with what.",
    unknown: UNKNOWN,
    keys: &[
        required("step", TEXT, "Whose call: `step`, `step.task` or `path/of/playbook/step`."),
        key("times", COUNT, "How many such calls there were; at least one when left out."),
        key("input", ANY, "The input that was rendered for it."),
        key("settings", ANY, "The settings that were rendered for it, such as `url` or `params`."),
    ],
};

pub static EXPECTED_ERROR: Construct = Construct {
    name: "expected_error",
    title: "an expected error",
    doc: "The error that the run failed with.",
    unknown: UNKNOWN,
    keys: &[
        key("kind", Shape::Words(ERROR_KINDS), "Its kind."),
        key("message", ANY, "Text that its message has in it, or what must hold for the message."),
        key("code", ANY, "Its native code."),
        key("retryable", Shape::Is(Types::BOOL), "Whether trying again may help."),
        key("step", TEXT, "The step that failed."),
    ],
};

pub const STATUSES: &[&str] = &["completed", "failed", "cancelled", "waiting"];

pub const ERROR_KINDS: &[&str] = &[
    "connection",
    "timeout",
    "rate_limit",
    "auth",
    "not_found",
    "client_error",
    "server_error",
    "schema",
    "parse",
    "transform",
    "db_connection",
    "db_constraint",
    "db_deadlock",
    "db_timeout",
    "db",
    "storage_quota",
    "storage_access",
    "exit",
    "exception",
    "config",
    "template",
    "policy",
    "loop",
    "child",
    "cancelled",
    "worker_lost",
    "unknown",
];

/// The JSON Schema of test files.
pub fn schema() -> serde_json::Value {
    noetl_dsl::schema_of(&SUITE, "Tests of a NoETL playbook")
}
