//! The keys of a loop.

use super::construct::{
    ANY, BOOL, COUNT, Construct, MAP, SECONDS, Shape, TEXT, Unknown, ignored, key, old, required,
};
use crate::types::Types;

const MODES: &[&str] = &["sequential", "parallel", "cursor", "async"];

pub static LOOP: Construct = Construct {
    name: "loop",
    title: "a loop",
    doc: "Runs a tool once per item of a collection, or per row that a cursor claims.",
    unknown: Unknown::Warn,
    keys: &[
        key(
            "in",
            ANY,
            "The items: a list, a map (as `key` and `value`), a whole number (0 up to it), or text (a JSON list, or parts between commas or lines).",
        ),
        key("cursor", Shape::Of(&CURSOR), "A statement that claims rows until there are none left."),
        required("iterator", TEXT, "The item's name: `iter.<name>`, or bare."),
        key("spec", Shape::Of(&LOOP_SPEC), "How the iterations are run."),
        old("mode", Shape::Words(MODES), "spec.mode"),
        old("max_in_flight", COUNT, "spec.max_in_flight"),
        old("concurrency", COUNT, "spec.max_in_flight"),
        ignored("pagination", "write the pages as a pipeline with `do: jump`, or as an arc back to the step"),
    ],
};

pub static LOOP_SPEC: Construct = Construct {
    name: "loop_spec",
    title: "a loop's `spec`",
    doc: "How the iterations are run.",
    unknown: Unknown::Warn,
    keys: &[
        key(
            "mode",
            Shape::Words(MODES),
            "One after the other (`sequential`), at the same time (`parallel`), or `cursor`.",
        ),
        key("max_in_flight", COUNT, "The most iterations that run at the same time."),
        key("policy", Shape::Of(&LOOP_POLICY), "What failed iterations do."),
        key("frame", Shape::Of(&FRAME), "How a cursor's rows are claimed and worked on."),
    ],
};

static LOOP_POLICY: Construct = Construct {
    name: "loop_policy",
    title: "a loop's `spec.policy`",
    doc: "What failed iterations do.",
    unknown: Unknown::Warn,
    keys: &[
        key("exec", Shape::Words(&["local", "distributed"]), "A hint where the iterations run."),
        key(
            "on_error",
            Shape::Either(&[Shape::Words(&["report", "continue", "fail"]), Shape::Of(&ON_ERROR)]),
            "`report`: all run, and the step fails if any failed. `continue`: failures are counted. `fail`: the first ends the loop.",
        ),
    ],
};

static ON_ERROR: Construct = Construct {
    name: "on_error",
    title: "`on_error`",
    doc: "How many failures are too many.",
    unknown: Unknown::Warn,
    keys: &[required(
        "threshold",
        Shape::AtLeast(Types::NUMBER, 0.0),
        "The step fails when more than this share of the iterations failed, from 0 to 1.",
    )],
};

pub static CURSOR: Construct = Construct {
    name: "cursor",
    title: "a cursor",
    doc: "A statement that claims rows; it is repeated until it claims none.",
    unknown: Unknown::Warn,
    keys: &[
        key("kind", TEXT, "The tool that runs the statement; `postgres` when left out."),
        key("auth", ANY, "The credential of the database."),
        key("credential", ANY, "The credential of the database."),
        required("claim", TEXT, "The statement; `__frame_max_rows` is how many rows it may claim."),
        key("params", Shape::Is(Types::LIST.or(Types::TEMPLATE)), "Values for the statement's placeholders."),
        key("connection_string", TEXT, "The database, when there is no credential."),
        key("options", MAP, "Further settings of the tool."),
    ],
};

pub static FRAME: Construct = Construct {
    name: "frame",
    title: "`frame`",
    doc: "How a cursor's rows are claimed and worked on. A frame is what one claim returned.",
    unknown: Unknown::Warn,
    keys: &[
        key("max_rows", COUNT, "The most rows of a frame; 1 when left out."),
        key("max_seconds", SECONDS, "How long a frame may take; 30 when left out."),
        key("max_bytes", COUNT, "The most bytes of a frame; 64 MiB when left out."),
        key("lease_seconds", SECONDS, "How long a claim is good for; 120 when left out."),
        key("heartbeat_seconds", SECONDS, "How often a claim is renewed; 30 when left out."),
        key(
            "row_concurrency",
            COUNT,
            "Rows of a frame that are worked on at the same time; 1 when left out.",
        ),
        key(
            "process",
            Shape::Words(&["row", "frame"]),
            "Whether the iterator is a row, or the list of a frame's rows.",
        ),
        key("verify_ipc", BOOL, "Checks the encoding of frames."),
        key("retry_mode", Shape::Words(&["whole_frame"]), "What is tried again."),
        key("max_attempts", COUNT, "How often a frame is tried; 3 when left out."),
    ],
};
