//! The keys of a step.

use super::construct::{
    BOOL, Construct, MAP, SCALAR, SECONDS, Shape, TEXT, Unknown, ignored, key, old, removed, required,
};
use super::looping::LOOP;
use super::routing::{ARC, ROUTER};
use super::task::OUTPUT;
use crate::types::Types;

pub static STEP: Construct = Construct {
    name: "step",
    title: "a step",
    doc: "One unit of work: runs its tool, then follows its arcs.",
    unknown: Unknown::Warn,
    keys: &[
        required(
            "step",
            TEXT,
            "The name of the step, unique in the playbook. Templates read its result by this name.",
        ),
        key("desc", SCALAR, "What the step is for."),
        key(
            "when",
            Shape::Condition,
            "When false, the step is skipped and its first matching arc is followed.",
        ),
        key(
            "tool",
            Shape::Tool,
            "The tool to run, or a list of them as a pipeline. Nothing runs when it is left out.",
        ),
        key("input", MAP, "Input for every tool of the step; a tool's own input wins."),
        old("args", MAP, "input"),
        key("set", Shape::Assignments, "Assignments after the step has finished."),
        old("set_ctx", MAP, "set"),
        old("set_iter", MAP, "set"),
        old("vars", MAP, "set"),
        key("loop", Shape::Of(&LOOP), "Runs the tool once per item."),
        key(
            "next",
            Shape::Either(&[Shape::Is(Types::TEXT), Shape::ListOf(&ARC), Shape::Of(&ROUTER)]),
            "Where to go from here.",
        ),
        key("spec", Shape::Of(&STEP_SPEC), "Settings of the step."),
        key("timeout", SECONDS, "How long a visit may take, in seconds."),
        key("output", Shape::Of(&OUTPUT), "How a large result is kept."),
        key(
            "output_select",
            Shape::Is(Types::LIST.or(Types::MAP)),
            "Fields of a large result that stay visible.",
        ),
        removed("case", "write the branches as `next.arcs`, each with `step` and `when`"),
        ignored("retry", "write a rule with `do: retry` in the tool's `spec.policy.rules`"),
        ignored("sink", "save results with a further task in the step's pipeline"),
        ignored("save", "save results with a further task in the step's pipeline"),
    ],
};

pub static STEP_SPEC: Construct = Construct {
    name: "step_spec",
    title: "a step's `spec`",
    doc: "Settings of the step.",
    unknown: Unknown::Warn,
    keys: &[
        key("timeout", SECONDS, "How long a visit may take, in seconds."),
        key(
            "max_attempts",
            Shape::AtLeast(Types::INTEGER, 1.0),
            "How often the step's commands are issued when workers are lost, all told; 3 when left out.",
        ),
        key("policy", Shape::Of(&STEP_POLICY), "Who is let in."),
        old("next_mode", Shape::Words(&["exclusive", "inclusive"]), "next.spec.mode"),
        ignored("on_error", "write an arc whose `when` looks at `event.name` or `error`"),
        ignored("retry", "write a rule with `do: retry` in the tool's `spec.policy.rules`"),
    ],
};

static STEP_POLICY: Construct = Construct {
    name: "step_policy",
    title: "a step's `spec.policy`",
    doc: "Who is let in.",
    unknown: Unknown::Warn,
    keys: &[
        key("admit", Shape::Of(&ADMIT), "Rules that let the step run or keep it out."),
        ignored("lifecycle", "use `spec.timeout` and arcs"),
        ignored("failure", "write an arc whose `when` looks at `event.name` or `error`"),
        ignored("emit", "events are always recorded"),
    ],
};

static ADMIT: Construct = Construct {
    name: "admit",
    title: "`admit`",
    doc: "Rules that let the step run or keep it out.",
    unknown: Unknown::Warn,
    keys: &[required(
        "rules",
        Shape::ListOf(&ADMIT_RULE),
        "Judged in order; the first that holds decides. None admits.",
    )],
};

pub static ADMIT_RULE: Construct = Construct {
    name: "admit_rule",
    title: "an admission rule",
    doc: "Lets the step run or keeps it out.",
    unknown: Unknown::Warn,
    keys: &[
        key("when", Shape::Condition, "When the rule applies; always, when left out."),
        key("then", Shape::Of(&ADMIT_THEN), "What it decides."),
        key("else", Shape::Of(&ADMIT_ELSE), "What it decides when no earlier rule applied."),
    ],
};

static ADMIT_THEN: Construct = Construct {
    name: "admit_then",
    title: "an admission rule's `then`",
    doc: "The decision.",
    unknown: Unknown::Warn,
    keys: &[required("allow", BOOL, "True lets the step run, false keeps it out.")],
};

static ADMIT_ELSE: Construct = Construct {
    name: "admit_else",
    title: "an admission rule's `else`",
    doc: "The decision when no earlier rule applied.",
    unknown: Unknown::Warn,
    keys: &[
        key("then", Shape::Of(&ADMIT_THEN), "The decision."),
        key("allow", BOOL, "True lets the step run, false keeps it out."),
    ],
};
