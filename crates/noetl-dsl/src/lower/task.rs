//! One task: a tool with its input, policy and assignments.

use std::collections::BTreeSet;
use std::sync::Arc;

use noetl_expr::Template;
use noetl_types::{Map, Value};

use super::Lowering;
use super::context::given;
use super::merge::{inputs, overlaid};
use super::policy::Seat;
use crate::checks::fields::check_fields;
use crate::codes;
use crate::kinds::KindSpec;
use crate::plan::{Code, LoopSource, OutputShape, SetEntry, Task};
use crate::suggest::{did_you_mean, listed};
use crate::yaml::{Entry, Node, Span};

/// Keys of a tool that are not settings of its kind.
const NOT_SETTINGS: &[&str] = &[
    "kind",
    "name",
    "desc",
    "input",
    "args",
    "set",
    "set_ctx",
    "set_iter",
    "vars",
    "loop",
    "spec",
    "output",
    "output_select",
    "code_template",
    "eval",
    "retry",
    "sink",
];

/// A task to be lowered: its tool as it runs, and where it stands.
pub(super) struct Draft<'d> {
    pub tool: &'d Node,
    pub at: Span,
    pub seat: Seat<'d>,
    /// The input that all tasks of the step share.
    pub base_input: &'d [Entry],
}

impl Lowering<'_> {
    pub(super) fn task(&mut self, draft: &Draft<'_>) -> Option<Task> {
        let tool = draft.tool;
        let kind_node = given(tool, "kind")?;
        let kind_name = kind_node.as_str()?;
        let kinds = self.kinds;
        let kind = kinds.find(kind_name);
        match kind {
            Some(kind) => check_fields(self.report, kind, tool, draft.base_input),
            None => self.unknown_kind(kind_name, kind_node.span),
        }
        let label = draft.seat.labels[draft.seat.position].clone();
        let input = overlaid(draft.base_input, &own_inputs(tool, kind));
        let code = self.task_code(tool, kind);
        let settings = settings(tool, kind, code.is_some());
        Some(Task {
            label,
            kind: kind.map_or_else(|| Arc::from(kind_name), |kind| Arc::from(&*kind.name)),
            config: self.template_of(&settings),
            input: self.template_of(&input),
            code,
            set: self.assignments(tool),
            rules: self.rules(tool, draft.seat),
            looping: self.looping(tool),
            timeout: self.task_timeout(tool),
            output: self.output_shape(tool),
            line: self.line(draft.at),
        })
    }

    pub(super) fn unknown_kind(&mut self, kind: &str, span: Span) {
        let names: Vec<&str> = self.kinds.names().collect();
        let help = match kind {
            "iterator" => "put a `loop` on the step instead".to_owned(),
            "playbooks" => "call each one with `kind: playbook`, in a `loop` if there are many".to_owned(),
            _ => did_you_mean(kind, names.iter().copied())
                .unwrap_or_else(|| format!("the kinds are {}", listed(names, "and"))),
        };
        self.report.add_with_help(
            &codes::UNKNOWN_KIND,
            span,
            format!("there is no tool of kind `{kind}`"),
            help,
        );
    }

    fn task_code(&mut self, tool: &Node, kind: Option<&KindSpec>) -> Option<Code> {
        let entry = code_entry(tool, kind?)?;
        let text = entry.value.as_text()?;
        let literal = given(tool, "code_template").and_then(Node::as_bool) == Some(false);
        let template = if literal { Template::literal(Value::Text(text.clone())) } else { self.code(text) };
        let first_line = Span::at(entry.value.source_offset(self.source, 0));
        Some(Code { template, line: self.line(first_line) })
    }

    fn task_timeout(&mut self, tool: &Node) -> Option<Template> {
        let node = given(tool, "timeout_seconds")
            .or_else(|| given(tool, "timeout"))
            .or_else(|| tool.get("spec").and_then(|spec| given(spec, "timeout")))?;
        Some(self.template(node))
    }

    /// `output` and `output_select` of a step or tool.
    pub(super) fn output_shape(&mut self, owner: &Node) -> OutputShape {
        let mut select = Vec::new();
        let mut settings = Map::new();
        for entry in owner.get("output").and_then(Node::as_map).unwrap_or_default() {
            match &*entry.key {
                "select" | "output_select" if entry.value.as_list().is_some() => {
                    selected(&entry.value, &mut select)
                }
                _ => {
                    settings.insert(entry.key.clone(), entry.value.to_value());
                }
            }
        }
        if let Some(node) = given(owner, "output_select") {
            match node.as_list() {
                Some(_) => selected(node, &mut select),
                None => {
                    settings.insert(Arc::from("output_select"), node.to_value());
                }
            }
        }
        let settings = if settings.is_empty() { Value::Null } else { Value::Map(Arc::new(settings)) };
        OutputShape { select, settings }
    }
}

/// Names of fields, or maps with a `path`.
fn selected(list: &Node, select: &mut Vec<Arc<str>>) {
    for item in list.as_list().unwrap_or_default() {
        let name = item.as_text().or_else(|| item.get("path").and_then(Node::as_text));
        if let Some(name) = name.filter(|name| !select.contains(name)) {
            select.push(name.clone());
        }
    }
}

/// The tool's own inputs. A kind for which `args` is a setting of its own keeps it.
fn own_inputs(tool: &Node, kind: Option<&KindSpec>) -> Vec<Entry> {
    if kind.is_some_and(|kind| kind.find_field("args").is_some()) {
        return tool.get("input").and_then(Node::as_map).unwrap_or_default().to_vec();
    }
    inputs(tool)
}

fn code_entry<'n>(tool: &'n Node, kind: &KindSpec) -> Option<&'n Entry> {
    tool.as_map()?.iter().find(|entry| kind.find_field(&entry.key).is_some_and(|field| field.code))
}

/// The settings of the kind, each under its current name.
fn settings(tool: &Node, kind: Option<&KindSpec>, has_code: bool) -> Vec<Entry> {
    let mut settings: Vec<Entry> = Vec::new();
    let mut names = BTreeSet::new();
    for entry in tool.as_map().unwrap_or_default() {
        let field = kind.and_then(|kind| kind.find_field(&entry.key));
        let is_code = has_code && field.is_some_and(|field| field.code);
        if is_code || (field.is_none() && NOT_SETTINGS.contains(&&*entry.key)) {
            continue;
        }
        let mut entry = entry.clone();
        if let Some(field) = field {
            entry.key = Arc::from(&*field.name);
        }
        if names.insert(entry.key.clone()) {
            settings.push(entry);
        }
    }
    settings
}

/// A task with nothing but its settings.
pub(super) fn plain_task(label: Arc<str>, kind: Arc<str>, config: Template, line: u32) -> Task {
    Task {
        label,
        kind,
        config,
        input: empty(),
        code: None,
        set: Vec::new(),
        rules: Vec::new(),
        looping: None,
        timeout: None,
        output: OutputShape::default(),
        line,
    }
}

pub(super) fn empty() -> Template {
    Template::literal(Value::Map(Arc::new(Map::new())))
}

/// The dotted names that a task's templates read.
pub(super) fn paths_read<'t>(task: &'t Task, paths: &mut BTreeSet<&'t str>) {
    let mut add = |template: &'t Template| paths.extend(template.paths().iter().map(String::as_str));
    add(&task.config);
    add(&task.input);
    task.code.iter().for_each(|code| add(&code.template));
    task.timeout.iter().for_each(&mut add);
    let sets = |entries: &'t [SetEntry]| entries.iter().map(|entry| &entry.value);
    sets(&task.set).for_each(&mut add);
    for rule in &task.rules {
        sets(&rule.set).for_each(&mut add);
        if let crate::plan::Action::Retry(retry) = &rule.action {
            add(&retry.attempts);
            add(&retry.delay);
        }
    }
    for rule in &task.rules {
        paths.extend(rule.when.iter().flat_map(|when| when.paths().iter().map(String::as_str)));
    }
    if let Some(looping) = &task.looping {
        loop_paths_read(looping, paths);
    }
}

pub(super) fn loop_paths_read<'t>(looping: &'t crate::plan::Loop, paths: &mut BTreeSet<&'t str>) {
    let mut add = |template: &'t Template| paths.extend(template.paths().iter().map(String::as_str));
    looping.max_in_flight.iter().for_each(&mut add);
    match &looping.source {
        LoopSource::In(items) => add(items),
        LoopSource::Cursor(cursor) => {
            add(&cursor.frame);
            cursor.max_rows.iter().chain(&cursor.row_concurrency).for_each(&mut add);
            paths_read(&cursor.claim, paths);
        }
    }
}
