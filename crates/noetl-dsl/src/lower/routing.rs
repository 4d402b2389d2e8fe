//! `next`: the router, and the older ways to write it.

use super::Lowering;
use super::context::given;
use crate::codes;
use crate::keys::ROUTER;
use crate::plan::{Arc_, Router, Target};
use crate::shape::head;
use crate::suggest::did_you_mean;
use crate::yaml::{Data, Node, Span};

/// Arcs of a router and the places of each, for the checks that follow.
#[derive(Debug, Default)]
pub(super) struct Routes {
    pub router: Router,
    pub spans: Vec<Span>,
}

impl Lowering<'_> {
    pub(super) fn routes(&mut self, step: &Node) -> Routes {
        let step_mode = step.get("spec").and_then(|spec| given(spec, "next_mode"));
        let mut routes = Routes::default();
        let Some(entry) = step.entry("next").filter(|entry| !entry.value.is_null()) else {
            return routes;
        };
        let node = &entry.value;
        let mut mode = step_mode;
        let mut default_is_inclusive = false;
        match &node.data {
            Data::Text(name) => {
                self.old_next(entry.key_span, "a step's name in `next`", "next: {arcs: [{step: …}]}");
                self.named_arc(name, node.span, &mut routes);
            }
            Data::List(items) => {
                self.old_next(
                    entry.key_span,
                    "a list in `next`",
                    "next: {spec: {mode: inclusive}, arcs: […]}",
                );
                default_is_inclusive = true;
                for item in items {
                    match item.as_str() {
                        Some(name) => self.named_arc(name, item.span, &mut routes),
                        None => self.arc(item, &mut routes),
                    }
                }
            }
            Data::Map(entries) => {
                mode = node
                    .get("spec")
                    .and_then(|spec| given(spec, "mode"))
                    .or_else(|| given(node, "mode"))
                    .or(step_mode);
                if let Some(arcs) = given(node, "arcs") {
                    for arc in arcs.as_list().unwrap_or_default() {
                        match arc.as_str() {
                            Some(name) => {
                                self.old_next(arc.span, "a bare name in `arcs`", "{step: …}");
                                self.named_arc(name, arc.span, &mut routes);
                            }
                            None => self.arc(arc, &mut routes),
                        }
                    }
                } else if given(node, "step").is_some() {
                    self.arc(node, &mut routes);
                } else if entries.iter().any(|entry| ROUTER.find_key(&entry.key).is_none()) {
                    // Without arcs the step is a leaf; with keys nobody knows, its arcs were probably meant.
                    self.report.add(&codes::MISSING_KEY, entry.key_span, "`next` needs `arcs`");
                }
            }
            _ => {}
        }
        routes.router.inclusive = match mode.and_then(Node::as_str) {
            Some(word) => word == "inclusive",
            None => default_is_inclusive,
        };
        routes
    }

    fn old_next(&mut self, span: Span, what: &str, instead: &str) {
        self.report.add_with_help(
            &codes::OLD_SPELLING,
            span,
            format!("{what} is an older spelling of `next.arcs`"),
            format!("write `{instead}`"),
        );
    }

    fn named_arc(&mut self, name: &str, span: Span, routes: &mut Routes) {
        if let Some(target) = self.target(name, span) {
            let line = self.line(span);
            routes.router.arcs.push(Arc_ { target, when: None, set: Vec::new(), sees_failure: false, line });
            routes.spans.push(span);
        }
    }

    fn arc(&mut self, node: &Node, routes: &mut Routes) {
        let when = given(node, "when").map(|when| self.condition(when));
        let set = self.assignments(node);
        let Some(step) = given(node, "step") else {
            return;
        };
        let Some(target) = step.as_str().and_then(|name| self.target(name, step.span)) else {
            return;
        };
        let sees_failure =
            when.as_ref().is_some_and(|when| when.paths().iter().any(|path| tells_of_failure(path)));
        let line = self.line(head(node));
        routes.router.arcs.push(Arc_ { target, when, set, sees_failure, line });
        routes.spans.push(step.span);
    }

    fn target(&mut self, name: &str, span: Span) -> Option<Target> {
        if let Some(&index) = self.steps.get(name) {
            return Some(Target::Step(index));
        }
        if name == "end" {
            return Some(Target::End);
        }
        self.unknown_step(name, span, "an arc leads to");
        None
    }

    /// `what` says who names the step: "an arc leads to".
    pub(super) fn unknown_step(&mut self, name: &str, span: Span, what: &str) {
        let help = did_you_mean(name, self.steps.keys().map(|name| &**name));
        self.report.add_with_help(
            &codes::UNKNOWN_STEP,
            span,
            format!("{what} the step `{name}`, which does not exist"),
            help,
        );
    }
}

/// Whether an arc that reads this name is judged after a failure.
fn tells_of_failure(path: &str) -> bool {
    let mut parts = path.split('.');
    match parts.next() {
        Some("event" | "error") => true,
        Some("output" | "outcome") => matches!(parts.next(), Some("status" | "error")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::tells_of_failure;

    #[test]
    fn only_the_event_the_status_and_the_error_tell_of_failure() {
        for path in [
            "event.name",
            "event",
            "error",
            "error.kind",
            "output.status",
            "output.error.kind",
            "outcome.error",
        ] {
            assert!(tells_of_failure(path), "{path}");
        }
        for path in ["output", "output.data.status", "errors", "workload.error", "calc.stats.failed"] {
            assert!(!tells_of_failure(path), "{path}");
        }
    }
}
