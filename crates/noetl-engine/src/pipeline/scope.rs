//! What the templates of tasks and rules see.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_expr::View;
use noetl_types::{Command, LoopItem, Map, Report, Slot, Value};

use super::Pipeline;
use crate::names::{Iteration, Names, OutputRoot};
use crate::values::Resolver;

/// Whether some of a command's data is stored aside.
pub fn has_stored(command: &Command) -> bool {
    let stored = |slot: &Slot| matches!(slot, Slot::Stored(_));
    let context = &command.context;
    context.ctx.values().any(stored)
        || context.steps.values().any(stored)
        || context.previous.as_ref().is_some_and(stored)
        || command.item.as_ref().is_some_and(|item| stored(&item.value))
        || command.resume.is_some()
}

/// The rendered input, for settings that refer to it.
pub fn with_input(mut names: Names, input: &Value) -> Names {
    let local = Arc::make_mut(&mut names.local);
    for name in ["input", "args"] {
        local.entry(name.into()).or_insert_with(|| View::Value(input.clone()));
    }
    names
}

impl Pipeline {
    /// The names for the task at this position; with a report, for its rules and `set`.
    pub(super) fn names(
        &self,
        at: usize,
        item: Option<u32>,
        attempt: u32,
        report: Option<&Report>,
        resolver: &Arc<Resolver>,
    ) -> Names {
        let state = &self.state;
        let mut local: BTreeMap<Arc<str>, View> = (*self.extra).clone();
        local.insert("step".into(), View::Value(Value::Text(self.command.step.clone())));
        for (key, value) in &state.step {
            local.insert(key.clone(), View::Value(value.clone()));
        }
        self.iteration(item, resolver).bind(&mut local);
        if self.is_claim() {
            local.insert("__frame_max_rows".into(), View::Value(self.command.max_rows.unwrap_or(1).into()));
        }
        if !self.step().single {
            for (label, value) in &state.results {
                local.insert(label.clone(), View::Aliased(value.clone()));
            }
            let results: Map =
                state.results.iter().map(|(label, value)| (label.clone(), value.clone())).collect();
            local.insert("results".into(), View::Value(results.into()));
        }
        let previous = state.results.last().map(|(_, value)| value.clone());
        if let Some(previous) = &previous {
            local.insert("_prev".into(), View::Aliased(previous.clone()));
        }
        local.insert("_task".into(), View::Value(Value::Text(self.tasks()[at].label.clone())));
        local.insert("_attempt".into(), View::Value(attempt.into()));
        if let Some(report) = report {
            let error = report.error.as_ref().map_or(Value::Null, |error| error.to_value());
            local.insert("error".into(), View::Value(error));
            let output = OutputRoot { report: Arc::new(report.clone()), attempt, resolver: resolver.clone() };
            local.insert("output".into(), View::Lazy(Arc::new(output)));
            if !self.step().single {
                let own = crate::values::result_view(&report.data, resolver);
                local.insert(self.tasks()[at].label.clone(), own);
            }
        }
        let overlay =
            state.ctx.iter().map(|(key, value)| (key.clone(), Slot::Inline(value.clone()))).collect();
        Names {
            data: self.command.context.clone(),
            local: Arc::new(local),
            ctx_overlay: Arc::new(overlay),
            resolver: resolver.clone(),
        }
    }

    /// The iteration a template stands in: the step's, or within it the one of the task's own loop.
    pub(super) fn iteration(&self, item: Option<u32>, resolver: &Arc<Resolver>) -> Arc<Iteration> {
        let iterator = self.step().looping.as_ref().map(|looping| looping.iterator.clone());
        let outer = Arc::new(Iteration {
            bound: iterator.zip(self.command.item.clone()),
            assigned: Arc::new(self.state.iter.clone()),
            parent: None,
            resolver: resolver.clone(),
        });
        let (Some(item), Some(nested), Some(looping)) =
            (item, &self.state.nested, &self.tasks()[self.state.at].looping)
        else {
            return outer;
        };
        let bound =
            LoopItem { value: Slot::Inline(nested.item(item)), index: item, total: Some(nested.total) };
        let assigned = nested.open.get(&item).map(|open| open.assigned.clone()).unwrap_or_default();
        Arc::new(Iteration {
            bound: Some((looping.iterator.clone(), bound)),
            assigned: Arc::new(assigned),
            parent: Some(outer),
            resolver: resolver.clone(),
        })
    }

    /// Code sees the variables of its iteration without declaring them.
    pub(super) fn with_iteration_variables(
        &self,
        input: Value,
        item: Option<u32>,
        resolver: &Arc<Resolver>,
    ) -> Value {
        let iteration = self.iteration(item, resolver);
        let Some((name, bound)) = &iteration.bound else {
            return input;
        };
        let mut map = input.as_map().cloned().unwrap_or_default();
        let item = resolver.load(&bound.value).unwrap_or_default();
        let variables = [
            (name.clone(), item),
            ("_index".into(), bound.index.into()),
            ("loop_index".into(), bound.index.into()),
            ("_total".into(), bound.total.into()),
        ];
        for (key, value) in variables {
            map.entry(key).or_insert(value);
        }
        map.into()
    }
}
