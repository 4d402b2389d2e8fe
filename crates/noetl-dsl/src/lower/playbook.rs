//! The playbook as a whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use noetl_types::Value;

use super::Lowering;
use super::context::given;
use super::step::StepPlaces;
use super::task::empty;
use crate::codes;
use crate::graph::Graph;
use crate::plan::{Executor, KeychainEntry, Plan, Step, StepIndex, Target};
use crate::shape::{head, number_of};
use crate::yaml::{Entry, Node};

/// Who can reach whom is kept for every pair of steps, so their number is bounded.
const MOST_STEPS: usize = 10_000;

/// A plan, with what the checks need to point at its parts.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub plan: Plan,
    /// One per step of the plan.
    pub places: Vec<StepPlaces>,
}

impl Lowering<'_> {
    /// Lowers the whole document. Nothing if it has no steps. The plan is fit to run only if nothing was reported as an error.
    pub fn playbook(&mut self, root: &Node) -> Option<Lowered> {
        let metadata = root.get("metadata");
        let text =
            |key: &str| metadata.and_then(|metadata| given(metadata, key)).and_then(Node::as_text).cloned();
        let name = text("name").unwrap_or_default();
        let path = text("path").unwrap_or_else(|| name.clone());
        self.names_are_open = true;
        let workload = given(root, "workload").map_or_else(empty, |node| self.template(node));
        self.names_are_open = false;
        let keychain = self.keychain(root);
        let (steps, places) = self.steps(root)?;
        self.unused_workbook_tasks();
        let executor = self.executor(root, &steps);
        let targets: Vec<Vec<StepIndex>> = steps
            .iter()
            .map(|step| {
                let targets = step.router.arcs.iter().map(|arc| arc.target);
                targets
                    .filter_map(|target| match target {
                        Target::Step(index) => Some(index),
                        Target::End => None,
                    })
                    .collect()
            })
            .collect();
        let graph = Graph::new(executor.entry, &targets);
        let metadata = metadata.map_or(Value::Null, Node::to_value);
        let plan = Plan {
            name,
            path,
            metadata,
            executor,
            workload,
            keychain,
            steps,
            graph,
            index: Default::default(),
        };
        Some(Lowered { plan, places })
    }

    fn keychain(&mut self, root: &Node) -> Vec<KeychainEntry> {
        let mut entries: Vec<KeychainEntry> = Vec::new();
        let mut names = BTreeSet::new();
        for node in root.get("keychain").and_then(Node::as_list).unwrap_or_default() {
            let Some(name) = given(node, "name").and_then(Node::as_text).cloned() else {
                continue;
            };
            if !names.insert(name.clone()) {
                let span = node.get("name").map_or(node.span, |name| name.span);
                self.report.add(
                    &codes::DUPLICATE_NAME,
                    span,
                    format!("the keychain has the entry `{name}` twice"),
                );
            }
            let settings: Vec<Entry> = node
                .as_map()
                .unwrap_or_default()
                .iter()
                .filter(|entry| &*entry.key != "name")
                .cloned()
                .collect();
            entries.push(KeychainEntry { name, settings: self.template_of(&settings) });
        }
        entries
    }

    fn steps(&mut self, root: &Node) -> Option<(Vec<Step>, Vec<StepPlaces>)> {
        let workflow = root.entry("workflow")?;
        let nodes: Vec<&Node> = match workflow.value.as_list() {
            Some([]) => {
                self.report.add(&codes::EMPTY_WORKFLOW, workflow.key_span, "the workflow has no steps");
                return None;
            }
            Some(nodes) if nodes.len() > MOST_STEPS => {
                let message =
                    format!("a workflow has at most {MOST_STEPS} steps, this one has {}", nodes.len());
                self.report.add(&codes::TOO_LARGE, workflow.key_span, message);
                return None;
            }
            Some(nodes) => nodes.iter().filter(|node| node.as_map().is_some()).collect(),
            None => return None,
        };
        let names: Vec<Arc<str>> = nodes
            .iter()
            .enumerate()
            .map(|(index, node)| match given(node, "step").and_then(Node::as_text) {
                Some(name) => name.clone(),
                None => Arc::from(format!("step_{index}")),
            })
            .collect();
        for (index, (name, node)) in names.iter().zip(&nodes).enumerate() {
            if let Some(&first) = self.steps.get(name) {
                let span = node.get("step").map_or(head(node), |name| name.span);
                let line = self.line(head(nodes[first]));
                self.report.add(
                    &codes::DUPLICATE_STEP,
                    span,
                    format!("there is another step `{name}` on line {line}"),
                );
            } else {
                self.steps.insert(name.clone(), index);
            }
        }
        let lowered = nodes.iter().zip(names).map(|(node, name)| self.step(node, name));
        Some(lowered.collect::<Vec<_>>().into_iter().unzip())
            .filter(|(steps, _): &(Vec<Step>, _)| !steps.is_empty())
    }

    fn unused_workbook_tasks(&mut self) {
        let used = self.workbook.used.clone();
        let unused: Vec<_> =
            self.workbook.tasks.iter().filter(|task| !used.contains(&task.name)).cloned().collect();
        for task in unused {
            self.report.add(
                &codes::UNUSED_WORKBOOK_TASK,
                task.span,
                format!("no step uses the workbook task `{}`", task.name),
            );
            self.unused_task(task.tool, &task.name);
        }
    }

    fn executor(&mut self, root: &Node, steps: &[Step]) -> Executor {
        let executor = root.get("executor");
        let spec = executor.and_then(|executor| given(executor, "spec"));
        let setting = |key: &str| spec.and_then(|spec| given(spec, key));
        let entry = match setting("entry_step") {
            Some(node) => self.step_setting(node, "`entry_step` names"),
            None => self.steps.get("start").copied(),
        };
        let final_step = setting("final_step").and_then(|node| self.step_setting(node, "`final_step` names"));
        if let (Some(node), Some(index)) = (setting("final_step"), final_step)
            && entry.unwrap_or(0) == index
            && steps.len() > 1
        {
            self.report.add(
                &codes::CONFLICTING_SETTINGS,
                node.span,
                format!("the step `{}` cannot be both the first and the last to run", steps[index].name),
            );
        }
        let tools =
            executor.and_then(|executor| executor.get("requires")).and_then(|requires| requires.get("tools"));
        let mut requires_tools = Vec::new();
        for tool in tools.and_then(Node::as_list).unwrap_or_default() {
            if let Some(kind) = tool.as_str() {
                if self.kinds.find(kind).is_none() {
                    self.unknown_kind(kind, tool.span);
                }
                requires_tools.push(Arc::from(kind));
            }
        }
        Executor {
            entry: entry.unwrap_or(0),
            final_step,
            no_next_is_error: setting("no_next_is_error").and_then(Node::as_bool).unwrap_or(false),
            lenient: setting("compat").and_then(Node::as_str) == Some("lenient"),
            timeout: setting("timeout").and_then(number_of),
            requires_tools,
        }
    }

    fn step_setting(&mut self, node: &Node, what: &str) -> Option<StepIndex> {
        let name = node.as_str()?;
        let found = self.steps.get(name).copied();
        if found.is_none() {
            self.unknown_step(name, node.span, what);
        }
        found
    }
}
