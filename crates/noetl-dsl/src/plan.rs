//! A playbook that has been checked and compiled: what the engine runs.
//!
//! A plan is made once per playbook version and shared. Names are resolved to positions, older spellings are gone, every
//! template is compiled.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use noetl_expr::{Condition, Template};
use noetl_types::Value;

use crate::graph::Graph;

/// The position of a step in [`Plan::steps`].
pub type StepIndex = usize;

#[derive(Clone, Debug)]
pub struct Plan {
    pub name: Arc<str>,
    /// `metadata.path`, else `metadata.name`.
    pub path: Arc<str>,
    pub metadata: Value,
    pub executor: Executor,
    /// The defaults; rendered once at the start against the payload and the run's identity.
    pub workload: Template,
    pub keychain: Vec<KeychainEntry>,
    pub steps: Vec<Step>,
    pub graph: Graph,
    /// `Default::default()`; filled at first use.
    pub index: NameIndex,
}

impl Plan {
    pub fn find_step(&self, name: &str) -> Option<StepIndex> {
        let index = self.index.0.get_or_init(|| {
            self.steps.iter().enumerate().map(|(at, step)| (step.name.clone(), at)).collect()
        });
        index.get(name).copied()
    }
}

/// Steps by name.
#[derive(Clone, Debug, Default)]
pub struct NameIndex(OnceLock<HashMap<Arc<str>, StepIndex>>);

/// How the playbook as a whole is run.
#[derive(Clone, Debug)]
pub struct Executor {
    pub entry: StepIndex,
    /// Runs once when everything else has come to rest.
    pub final_step: Option<StepIndex>,
    /// A step that has arcs of which none matches fails the run.
    pub no_next_is_error: bool,
    /// Errors that are answers (a non-2xx status, a non-zero exit) let their step complete.
    pub lenient: bool,
    /// How long the run may take, in seconds.
    pub timeout: Option<f64>,
    /// Tools the playbook says it needs.
    pub requires_tools: Vec<Arc<str>>,
}

#[derive(Clone, Debug)]
pub struct KeychainEntry {
    pub name: Arc<str>,
    /// Everything in the entry but its name; templates in it are rendered by the worker.
    pub settings: Template,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub name: Arc<str>,
    pub desc: Option<Arc<str>>,
    /// False skips the step and follows its first matching arc.
    pub when: Option<Condition>,
    /// Judged in order; the first rule that holds lets the step in or keeps it out. Empty admits.
    pub admit: Vec<AdmitRule>,
    pub looping: Option<Loop>,
    /// The tasks of the pipeline; exactly one for a single tool. Never empty: a step without a tool has one `noop`.
    pub tasks: Vec<Task>,
    /// Written as one tool, not as a list: the result is the tool's own.
    pub single: bool,
    pub set: Vec<SetEntry>,
    pub router: Router,
    /// How long a visit may take, in seconds.
    pub timeout: Option<Template>,
    /// How often a command is issued again after its worker was lost, all told. 3 unless the step says otherwise.
    pub max_attempts: u16,
    pub output: OutputShape,
    /// Names of steps whose results its tasks' templates may read.
    pub reads_steps: BTreeSet<StepIndex>,
    /// The line of the step in the playbook, from 1.
    pub line: u32,
}

/// One task of a pipeline.
#[derive(Clone, Debug)]
pub struct Task {
    /// Unique in its pipeline; `task_<position>` when the author gave none. For a single tool, `<step>_task`.
    pub label: Arc<str>,
    pub kind: Arc<str>,
    /// The settings of the tool's kind, `input`, `set`, `spec`, `loop`, `name` and `kind` apart.
    pub config: Template,
    /// Step and tool input merged; the tool's keys win.
    pub input: Template,
    /// Code that is rendered only if its templates parse and name known data; kept apart from `config`.
    pub code: Option<Code>,
    pub set: Vec<SetEntry>,
    pub rules: Vec<Rule>,
    pub looping: Option<Loop>,
    /// `timeout_seconds`, `timeout` or `spec.timeout` of the task, in seconds.
    pub timeout: Option<Template>,
    pub output: OutputShape,
    /// The line of the task in the playbook, from 1.
    pub line: u32,
}

/// Source code in another language. A template when it reads like one of ours, else literal text.
#[derive(Clone, Debug)]
pub struct Code {
    pub template: Template,
    /// The line of the code's first line in the playbook, so that tracebacks can point there.
    pub line: u32,
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub source: LoopSource,
    pub iterator: Arc<str>,
    pub mode: LoopMode,
    pub max_in_flight: Option<Template>,
    pub on_error: LoopFailure,
}

#[derive(Clone, Debug)]
pub enum LoopSource {
    In(Template),
    Cursor(Box<Cursor>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopMode {
    Sequential,
    Parallel,
    Cursor,
}

/// What failed iterations do to their step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoopFailure {
    /// All iterations run; the step fails if any did.
    Report,
    /// They are only counted.
    Continue,
    /// The first one ends the issuing of further iterations, and the step fails.
    Fail,
    /// As `Report`, but the step fails only when more than this share (0 to 1) of the iterations failed, and no further
    /// iteration is issued once more than that share of the whole has.
    Threshold(f64),
}

#[derive(Clone, Debug)]
pub struct Cursor {
    /// The claim as a task of its own: its kind, auth and statement.
    pub claim: Task,
    pub max_rows: Option<Template>,
    pub row_concurrency: Option<Template>,
    /// The iterator is bound to the list of a frame's rows instead of each row.
    pub whole_frame: bool,
    pub max_attempts: u16,
    /// The rest of `spec.frame` (`max_seconds`, `max_bytes`, `lease_seconds`, `heartbeat_seconds`, …).
    pub frame: Template,
}

/// `ctx.cfg.max: "{{ … }}"`.
#[derive(Clone, Debug)]
pub struct SetEntry {
    pub scope: SetScope,
    /// Dotted path after the scope.
    pub path: Arc<str>,
    pub value: Template,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetScope {
    Ctx,
    Iter,
    Step,
}

#[derive(Clone, Debug)]
pub struct AdmitRule {
    /// Nothing for `else`.
    pub when: Option<Condition>,
    pub allow: bool,
}

#[derive(Clone, Debug)]
pub struct Rule {
    /// Nothing for `else`.
    pub when: Option<Condition>,
    pub action: Action,
    /// Applied before the action.
    pub set: Vec<SetEntry>,
    /// The line of the rule in the playbook, from 1.
    pub line: u32,
}

#[derive(Clone, Debug)]
pub enum Action {
    Continue,
    Retry(Retry),
    Break,
    /// To the task at this position in the pipeline.
    Jump(usize),
    Fail,
}

#[derive(Clone, Debug)]
pub struct Retry {
    /// Total tries; a number or a template.
    pub attempts: Template,
    pub backoff: Backoff,
    /// Seconds; a number, a numeric string or a template.
    pub delay: Template,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// No wait at all, whatever the delay says.
    None,
    Fixed,
    Linear,
    Exponential,
}

#[derive(Clone, Debug, Default)]
pub struct Router {
    pub inclusive: bool,
    pub arcs: Vec<Arc_>,
}

/// An arc of the workflow graph.
#[derive(Clone, Debug)]
pub struct Arc_ {
    pub target: Target,
    pub when: Option<Condition>,
    pub set: Vec<SetEntry>,
    /// Its condition looks at the event's name, the output's status or the error, so it is judged after a failure.
    pub sees_failure: bool,
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Step(StepIndex),
    /// An undeclared `end`: the branch is over.
    End,
}

/// What of a large result stays visible, and for how long it is kept.
#[derive(Clone, Debug, Default)]
pub struct OutputShape {
    /// Fields named by `output_select`.
    pub select: Vec<Arc<str>>,
    /// The rest of the `output` block.
    pub settings: Value,
}
