//! Tasks with a name, and tools that call them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Lowering;
use super::merge::{called, hoisted, size_of};
use crate::codes;
use crate::diagnostic::Report;
use crate::suggest::did_you_mean;
use crate::yaml::{Node, Span};

/// How many tasks may call each other in a row.
const LONGEST_CHAIN: usize = 32;

/// The tasks of the workbook.
#[derive(Debug)]
pub(crate) struct Workbook<'a> {
    pub tasks: Vec<WorkbookTask<'a>>,
    by_name: BTreeMap<Arc<str>, usize>,
    /// Tasks that a step uses, directly or through another task.
    pub used: BTreeSet<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(crate) struct WorkbookTask<'a> {
    pub name: Arc<str>,
    pub span: Span,
    pub tool: &'a Node,
}

impl<'a> Workbook<'a> {
    pub fn of(root: &'a Node, report: &mut Report) -> Workbook<'a> {
        let mut workbook = Workbook { tasks: Vec::new(), by_name: BTreeMap::new(), used: BTreeSet::new() };
        let Some(node) = root.get("workbook") else {
            return workbook;
        };
        for item in node.as_list().unwrap_or_default() {
            if let (Some(name), Some(tool)) = (item.get("name"), item.get("tool")) {
                workbook.add(name.as_text(), name.span, tool, report);
            }
        }
        for entry in node.as_map().unwrap_or_default() {
            if let Some(tool) = entry.value.get("tool") {
                workbook.add(Some(&entry.key), entry.key_span, tool, report);
            }
        }
        workbook.report_cycles(report);
        workbook
    }

    fn add(&mut self, name: Option<&Arc<str>>, span: Span, tool: &'a Node, report: &mut Report) {
        let Some(name) = name.cloned() else {
            return;
        };
        if tool.as_list().is_some() {
            report.add_with_help(
                &codes::WRONG_TYPE,
                tool.span,
                format!("the workbook task `{name}` must be one tool, not a list"),
                "write a pipeline as `kind: task_sequence` with `tasks`".to_owned(),
            );
        }
        if self.find(&name).is_some() {
            report.add(&codes::DUPLICATE_NAME, span, format!("the workbook has the task `{name}` twice"));
            return;
        }
        self.by_name.insert(name.clone(), self.tasks.len());
        self.tasks.push(WorkbookTask { name, span, tool });
    }

    pub fn find(&self, name: &str) -> Option<&WorkbookTask<'a>> {
        self.by_name.get(name).map(|&index| &self.tasks[index])
    }

    /// The task that a task calls in turn.
    fn callee(&self, task: &WorkbookTask<'a>) -> Option<&WorkbookTask<'a>> {
        called_task(task.tool).and_then(Node::as_str).and_then(|name| self.find(name))
    }

    /// Every task calls at most one other, so following the calls finds each cycle. It is reported once, at its first task.
    fn report_cycles(&self, report: &mut Report) {
        let mut settled = BTreeSet::new();
        for task in &self.tasks {
            let mut chain: Vec<&WorkbookTask<'a>> = vec![task];
            let mut on_chain = BTreeSet::from([&*task.name]);
            while let Some(callee) = chain.last().and_then(|last| self.callee(last)) {
                if settled.contains(&*callee.name) {
                    break;
                }
                if !on_chain.insert(&callee.name) {
                    let start = chain.iter().position(|task| task.name == callee.name).unwrap_or(0);
                    self.report_cycle(&chain[start..], report);
                    break;
                }
                chain.push(callee);
            }
            settled.extend(on_chain);
        }
    }

    fn report_cycle(&self, cycle: &[&WorkbookTask<'a>], report: &mut Report) {
        let first = cycle[0];
        let span = called_task(first.tool).map_or(first.span, |name| name.span);
        let mut names: Vec<String> =
            cycle.iter().take(LONGEST_CHAIN).map(|task| format!("`{}`", task.name)).collect();
        if cycle.len() > LONGEST_CHAIN {
            names.push("…".to_owned());
        }
        names.push(format!("`{}`", first.name));
        report.add(
            &codes::WORKBOOK_CYCLE,
            span,
            format!("the workbook task `{}` leads back to itself: {}", first.name, names.join(" → ")),
        );
    }
}

/// The name of the workbook task that a tool calls, if it calls one.
fn called_task(tool: &Node) -> Option<&Node> {
    (tool.get("kind").and_then(Node::as_str) == Some("workbook")).then(|| tool.get("name")).flatten()
}

impl Lowering<'_> {
    /// The tool as it runs: settings moved up from `spec`, and the workbook task in place of its call. Nothing if the task
    /// does not exist.
    pub(super) fn resolve(&mut self, tool: &Node) -> Option<Node> {
        let mut tool = hoisted(tool);
        let mut seen = BTreeSet::new();
        while tool.get("kind").and_then(Node::as_str) == Some("workbook") {
            let kind_span = tool.get("kind").map(|kind| kind.span).unwrap_or_default();
            let Some(name) = tool.get("name").filter(|name| !name.is_null()) else {
                self.report.add(&codes::MISSING_FIELD, kind_span, "a tool of kind `workbook` needs `name`");
                return None;
            };
            let name_span = name.span;
            let name: Arc<str> = name.as_text()?.clone();
            let Some(task) = self.workbook.find(&name) else {
                let help = did_you_mean(&name, self.workbook.tasks.iter().map(|task| &*task.name));
                self.report.add_with_help(
                    &codes::UNKNOWN_WORKBOOK_TASK,
                    name_span,
                    format!("there is no workbook task `{name}`"),
                    help,
                );
                return None;
            };
            let definition = task.tool;
            self.workbook.used.insert(name.clone());
            if !seen.insert(name) || !self.spend(size_of(definition), name_span) {
                return None;
            }
            if seen.len() > LONGEST_CHAIN {
                self.report.add(
                    &codes::TOO_LARGE,
                    name_span,
                    format!("more than {LONGEST_CHAIN} workbook tasks call each other in a row"),
                );
                return None;
            }
            tool = called(&hoisted(definition), &tool);
        }
        Some(tool)
    }
}
