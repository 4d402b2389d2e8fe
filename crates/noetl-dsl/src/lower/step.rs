//! One step, with all its parts.

use std::collections::BTreeSet;
use std::sync::Arc;

use noetl_expr::Template;

use super::Lowering;
use super::context::given;
use super::looping::overlaps;
use super::merge::{inputs, overlaid, size_of_all};
use super::policy::Seat;
use super::routing::Routes;
use super::task::{Draft, empty, loop_paths_read, paths_read, plain_task};
use crate::codes;
use crate::names::PROTECTED_NAMES;
use crate::plan::{Loop, Step, StepIndex, Task};
use crate::shape::{head, keyed_task};
use crate::yaml::{Entry, Node, Span};

/// How often a command is issued when workers are lost, unless the step says otherwise.
const DEFAULT_ATTEMPTS: u16 = 3;

/// Where the parts of a step stand, for the checks that follow.
#[derive(Debug)]
pub(crate) struct StepPlaces {
    pub name: Span,
    /// One per arc of the step.
    pub arcs: Vec<Span>,
    /// One per task: where the playbook that it calls is named, if it calls one.
    pub calls: Vec<Option<Span>>,
}

/// The tasks of a step before they are lowered.
struct Pipeline {
    items: Vec<Item>,
    single: bool,
    input: Vec<Entry>,
}

struct Item {
    tool: Node,
    label: Arc<str>,
    at: Span,
}

impl Lowering<'_> {
    pub(super) fn step(&mut self, node: &Node, name: Arc<str>) -> (Step, StepPlaces) {
        let name_span = node.get("step").map_or(head(node), |name| name.span);
        self.check_name(&name, name_span, "step");
        let when = given(node, "when").map(|when| self.condition(when));
        let admit = self.admit(node);
        let looping = self.looping(node);
        let pipeline = self.pipeline(node, &name);
        self.in_parallel = looping.as_ref().is_some_and(overlaps);
        let (tasks, calls) = self.tasks(&pipeline, &name, name_span);
        self.in_parallel = false;
        let set = self.assignments(node);
        let Routes { router, spans: arcs } = self.routes(node);
        let spec = given(node, "spec");
        let timeout = spec
            .and_then(|spec| given(spec, "timeout"))
            .or_else(|| given(node, "timeout"))
            .map(|node| self.template(node));
        let max_attempts = spec
            .and_then(|spec| given(spec, "max_attempts"))
            .and_then(|node| self.fixed_count(node, "max_attempts"))
            .unwrap_or(DEFAULT_ATTEMPTS);
        let reads_steps = self.reads_steps(&tasks, looping.as_ref(), timeout.as_ref());
        let step = Step {
            name,
            desc: node.get("desc").and_then(Node::as_text).cloned(),
            when,
            admit,
            looping,
            tasks,
            single: pipeline.is_none_or(|pipeline| pipeline.single),
            set,
            router,
            timeout,
            max_attempts,
            output: self.output_shape(node),
            reads_steps,
            line: self.line(head(node)),
        };
        (step, StepPlaces { name: name_span, arcs, calls })
    }

    /// The tools of the step as they run. Nothing if it has none.
    fn pipeline(&mut self, node: &Node, step: &str) -> Option<Pipeline> {
        let tool = given(node, "tool")?;
        let input = inputs(node);
        if let Some(items) = tool.as_list() {
            let items = self.pipeline_items(items, tool.span);
            return Some(Pipeline { items, single: false, input });
        }
        tool.as_map()?;
        let resolved = self.resolve(tool);
        let at = head(tool);
        let Some(resolved) = resolved else {
            return Some(Pipeline { items: Vec::new(), single: true, input });
        };
        if resolved.get("kind").and_then(Node::as_str) == Some("task_sequence") {
            let input = overlaid(&input, &inputs(&resolved));
            let items = match resolved.get("tasks").and_then(Node::as_list) {
                Some(items) => self.pipeline_items(items, at),
                None => {
                    self.report.add(
                        &codes::MISSING_FIELD,
                        at,
                        "a tool of kind `task_sequence` needs `tasks`",
                    );
                    Vec::new()
                }
            };
            return Some(Pipeline { items, single: false, input });
        }
        let label = Arc::from(format!("{step}_task"));
        Some(Pipeline { items: vec![Item { tool: resolved, label, at }], single: true, input })
    }

    fn pipeline_items(&mut self, list: &[Node], span: Span) -> Vec<Item> {
        if list.is_empty() {
            self.report.add(&codes::EMPTY_PIPELINE, span, "a pipeline needs at least one task");
        }
        let mut items: Vec<Item> = Vec::new();
        let mut labels = BTreeSet::new();
        for (position, item) in list.iter().enumerate() {
            let keyed = keyed_task(item);
            let tool = keyed.map_or(item, |entry| &entry.value);
            if tool.as_map().is_none() {
                continue;
            }
            let (label, label_span) = match (keyed, given(tool, "name")) {
                (Some(entry), _) => (entry.key.clone(), entry.key_span),
                (None, Some(name)) if name.as_text().is_some() => {
                    (name.as_text().cloned().unwrap_or_default(), name.span)
                }
                _ => (Arc::from(format!("task_{position}")), head(item)),
            };
            self.check_name(&label, label_span, "task");
            if !labels.insert(label.clone()) {
                self.report.add(
                    &codes::DUPLICATE_LABEL,
                    label_span,
                    format!("the pipeline has the task `{label}` twice"),
                );
            }
            let Some(resolved) = self.resolve(tool) else {
                continue;
            };
            if resolved.get("kind").and_then(Node::as_str) == Some("task_sequence") {
                self.report.add_with_help(
                    &codes::NESTED_PIPELINE,
                    head(tool),
                    "a task of a pipeline cannot be a pipeline itself",
                    "list its tasks in the outer pipeline, or give it a step of its own".to_owned(),
                );
                continue;
            }
            items.push(Item { tool: resolved, label, at: head(item) });
        }
        items
    }

    fn tasks(
        &mut self,
        pipeline: &Option<Pipeline>,
        step: &str,
        span: Span,
    ) -> (Vec<Task>, Vec<Option<Span>>) {
        let Some(pipeline) = pipeline else {
            let label = Arc::from(format!("{step}_task"));
            return (vec![plain_task(label, Arc::from("noop"), empty(), self.line(span))], vec![None]);
        };
        let labels: Vec<Arc<str>> = pipeline.items.iter().map(|item| item.label.clone()).collect();
        let mut tasks = Vec::new();
        let mut calls = Vec::new();
        let shared = size_of_all(&pipeline.input);
        for (position, item) in pipeline.items.iter().enumerate() {
            if position > 0 && !self.spend(shared, item.at) {
                break;
            }
            let seat = Seat { labels: &labels, position };
            let draft = Draft { tool: &item.tool, at: item.at, seat, base_input: &pipeline.input };
            if let Some(task) = self.task(&draft) {
                let is_call = &*task.kind == "playbook";
                calls.push(item.tool.get("path").filter(|_| is_call).map(|path| path.span));
                tasks.push(task);
            }
        }
        (tasks, calls)
    }

    /// Lowers a workbook task that no step uses, for what can be said about it.
    pub(super) fn unused_task(&mut self, tool: &Node, name: &Arc<str>) {
        let Some(resolved) = self.resolve(tool) else {
            return;
        };
        let items = match resolved.get("tasks").and_then(Node::as_list) {
            Some(tasks) => self.pipeline_items(tasks, head(tool)),
            None => vec![Item { tool: resolved, label: name.clone(), at: head(tool) }],
        };
        self.tasks(&Some(Pipeline { items, single: true, input: Vec::new() }), name, head(tool));
    }

    /// Warns about a name that hides one of the language.
    pub(super) fn check_name(&mut self, name: &str, span: Span, what: &str) {
        if PROTECTED_NAMES.contains(&name) {
            self.report.add_with_help(
                &codes::RESERVED_NAME,
                span,
                format!("the {what} `{name}` has the name of something that templates read"),
                "give it another name".to_owned(),
            );
        }
    }

    fn reads_steps(
        &self,
        tasks: &[Task],
        looping: Option<&Loop>,
        timeout: Option<&Template>,
    ) -> BTreeSet<StepIndex> {
        let mut paths = BTreeSet::new();
        tasks.iter().for_each(|task| paths_read(task, &mut paths));
        looping.iter().for_each(|looping| loop_paths_read(looping, &mut paths));
        paths.extend(timeout.iter().flat_map(|timeout| timeout.paths().iter().map(String::as_str)));
        let mut reads = BTreeSet::new();
        for path in paths {
            let mut parts = path.split('.');
            match (parts.next(), parts.next()) {
                (Some("steps"), None) => reads.extend(self.steps.values()),
                (Some("steps"), Some(name)) | (Some(name), _) => reads.extend(self.steps.get(name)),
                (None, _) => {}
            }
        }
        reads
    }
}
