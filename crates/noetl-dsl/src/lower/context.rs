//! What is shared while a playbook is lowered, and what is noted on the way for the checks that follow.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::workbook::Workbook;
use crate::check::Options;
use crate::codes;
use crate::diagnostic::Report;
use crate::kinds::KindTable;
use crate::names::KnownNames;
use crate::plan::{SetScope, StepIndex};
use crate::positions::LineIndex;
use crate::scan::UseKind;
use crate::yaml::{Node, Span};

pub(crate) struct Lowering<'a> {
    pub source: &'a str,
    lines: LineIndex,
    pub kinds: &'a KindTable,
    pub report: &'a mut Report,
    pub known: KnownNames,
    pub steps: BTreeMap<Arc<str>, StepIndex>,
    pub workbook: Workbook<'a>,
    /// Everything that templates refer to.
    pub uses: Vec<TemplateUse>,
    /// Every assignment.
    pub writes: Vec<Write>,
    /// How many values may still be repeated: a workbook task stands in the plan once per call, a step's input once per task.
    budget: usize,
    /// What is lowered now runs in iterations that may overlap.
    pub in_parallel: bool,
    /// Names in templates come from the payload, so they are not judged.
    pub names_are_open: bool,
}

/// A name, filter, test or function in a template, with its place in the source.
#[derive(Debug)]
pub(crate) struct TemplateUse {
    pub kind: UseKind,
    pub name: String,
    pub attribute: Option<String>,
    pub span: Span,
    pub is_open: bool,
}

/// An assignment, with the place of its key.
#[derive(Debug)]
pub(crate) struct Write {
    pub scope: SetScope,
    pub path: Arc<str>,
    pub span: Span,
    pub in_parallel: bool,
}

impl<'a> Lowering<'a> {
    pub fn new(
        source: &'a str,
        root: &'a Node,
        options: &'a Options,
        report: &'a mut Report,
    ) -> Lowering<'a> {
        let workbook = Workbook::of(root, report);
        Lowering {
            source,
            lines: LineIndex::new(source),
            kinds: &options.kinds,
            report,
            known: KnownNames::of(root),
            steps: BTreeMap::new(),
            workbook,
            uses: Vec::new(),
            writes: Vec::new(),
            budget: options.limits.max_nodes,
            in_parallel: false,
            names_are_open: false,
        }
    }

    /// Takes from the budget of repeated values. False, with an error, when it is used up.
    pub fn spend(&mut self, values: usize, at: Span) -> bool {
        let Some(rest) = self.budget.checked_sub(values) else {
            if !self.report.has(&codes::TOO_LARGE) {
                self.report.add_with_help(
                    &codes::TOO_LARGE,
                    at,
                    "the playbook is too large once workbook tasks and shared inputs are put in place",
                    "put what is shared into a playbook of its own and call it".to_owned(),
                );
            }
            return false;
        };
        self.budget = rest;
        true
    }

    /// The line on which something starts, from 1.
    pub fn line(&self, span: Span) -> u32 {
        self.lines.line(span.start) as u32
    }
}

/// The value of a key; null is the same as leaving it out.
pub(super) fn given<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).filter(|value| !value.is_null())
}
