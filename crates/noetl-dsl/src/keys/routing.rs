//! The keys of `next`.

use super::construct::{Construct, MAP, SCALAR, Shape, TEXT, Unknown, ignored, key, old, required};
use crate::codes;

const MODES: &[&str] = &["exclusive", "inclusive"];

pub static ROUTER: Construct = Construct {
    name: "router",
    title: "`next`",
    doc: "Where to go from a step.",
    unknown: Unknown::Warn,
    keys: &[
        key("spec", Shape::Of(&ROUTER_SPEC), "How the arcs are judged."),
        key("arcs", Shape::ListOf(&ARC), "The arcs, judged in order."),
        old("mode", Shape::Words(MODES), "spec.mode"),
        old("step", TEXT, "arcs"),
        old("when", Shape::Condition, "arcs"),
        old("set", Shape::Assignments, "arcs"),
    ],
};

pub static ROUTER_SPEC: Construct = Construct {
    name: "router_spec",
    title: "`next.spec`",
    doc: "How the arcs are judged.",
    unknown: Unknown::Warn,
    keys: &[
        key(
            "mode",
            Shape::Words(MODES),
            "`exclusive` follows the first arc that matches, `inclusive` every one.",
        ),
        ignored(
            "on_no_match",
            "a branch of which no arc matches ends; `executor.spec.no_next_is_error` makes that an error",
        ),
    ],
};

pub static ARC: Construct = Construct {
    name: "arc",
    title: "an arc",
    doc: "A way from one step to another.",
    unknown: Unknown::Refuse(&codes::UNKNOWN_ARC_KEY),
    keys: &[
        required("step", TEXT, "The step it leads to. `end` need not be declared: it ends the branch."),
        key("when", Shape::Condition, "When it is followed; always, when left out."),
        key("set", Shape::Assignments, "Assignments when the arc is followed."),
        key("desc", SCALAR, "What the arc is for."),
        key("spec", MAP, "Settings of the arc, kept for other tools."),
        old("set_ctx", MAP, "set"),
        old("set_iter", MAP, "set"),
        ignored("args", "assign what the next step needs with `set`"),
    ],
};
