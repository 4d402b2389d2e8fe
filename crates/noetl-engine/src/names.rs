//! What names mean in the templates of a step: the data of the run, and what is bound where the template stands.
//!
//! A bare name is looked for among the fixed roots, then what is bound locally (iteration, tasks, output), then step
//! results, then `ctx`, then the workload, then the run's identity.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_expr::{Lookup, Scope, View};
use noetl_types::{CommandContext, LoopItem, Map, Report, Slot, Timestamp, Value};

use crate::values::{Resolver, plain_view, result_view};

/// The names visible to one evaluation.
#[derive(Clone, Debug)]
pub struct Names {
    pub data: Arc<CommandContext>,
    /// Bound where the template stands: `output`, `event`, task labels, iteration variables.
    pub local: Arc<BTreeMap<Arc<str>, View>>,
    /// Assignments to `ctx` made since `data` was put together.
    pub ctx_overlay: Arc<BTreeMap<Arc<str>, Slot>>,
    pub resolver: Arc<Resolver>,
}

impl Names {
    pub fn scope(self, now: Timestamp) -> Scope {
        Scope::new(Arc::new(self), now)
    }

    fn ctx_slot(&self, key: &str) -> Option<&Slot> {
        self.ctx_overlay.get(key).or_else(|| self.data.ctx.get(key))
    }

    fn ctx_or_workload(&self, key: &str) -> Option<View> {
        if let Some(slot) = self.ctx_slot(key) {
            return Some(plain_view(slot, &self.resolver));
        }
        self.data.workload.get(key).cloned().map(View::Value)
    }

    fn step_result(&self, key: &str) -> Option<View> {
        self.data.steps.get(key).map(|slot| result_view(slot, &self.resolver))
    }
}

impl Lookup for Names {
    fn get(&self, key: &str) -> Option<View> {
        match key {
            "ctx" => return Some(View::Lazy(Arc::new(CtxRoot(self.clone())))),
            "workload" => return Some(View::Lazy(Arc::new(WorkloadRoot(self.clone())))),
            "steps" => return Some(View::Lazy(Arc::new(StepsRoot(self.clone())))),
            "execution_id" | "job" => return self.data.identity.get(key).cloned().map(View::Value),
            _ => {}
        }
        if let Some(view) = self.local.get(key) {
            return Some(view.clone());
        }
        self.step_result(key).or_else(|| self.ctx_or_workload(key)).or_else(|| match key {
            "outcome" => self.local.get("output").cloned(),
            "result" | "response" => {
                self.data.previous.as_ref().map(|slot| result_view(slot, &self.resolver))
            }
            _ => self.data.identity.get(key).cloned().map(View::Value),
        })
    }
}

/// `ctx.x`: what was set, else the workload's `x`, else the result of a step `x`.
#[derive(Debug)]
struct CtxRoot(Names);

impl Lookup for CtxRoot {
    fn get(&self, key: &str) -> Option<View> {
        self.0.ctx_or_workload(key).or_else(|| self.0.step_result(key))
    }

    fn whole(&self) -> Option<Value> {
        let mut map = Map::new();
        for (key, slot) in self.0.data.ctx.iter().chain(self.0.ctx_overlay.iter()) {
            map.insert(key.clone(), self.0.resolver.load(slot)?);
        }
        Some(map.into())
    }
}

/// `workload.x`: what was set under `ctx.x` shadows it.
#[derive(Debug)]
struct WorkloadRoot(Names);

impl Lookup for WorkloadRoot {
    fn get(&self, key: &str) -> Option<View> {
        self.0.ctx_or_workload(key)
    }

    fn whole(&self) -> Option<Value> {
        let mut map = self.0.data.workload.as_map().cloned().unwrap_or_default();
        for (key, slot) in self.0.data.ctx.iter().chain(self.0.ctx_overlay.iter()) {
            map.insert(key.clone(), self.0.resolver.load(slot)?);
        }
        Some(map.into())
    }
}

/// `steps.x`: the result of step `x`.
#[derive(Debug)]
struct StepsRoot(Names);

impl Lookup for StepsRoot {
    fn get(&self, key: &str) -> Option<View> {
        self.0.step_result(key)
    }

    fn whole(&self) -> Option<Value> {
        let mut map = Map::new();
        for (key, slot) in &self.0.data.steps {
            map.insert(key.clone(), self.0.resolver.load(slot)?);
        }
        Some(map.into())
    }
}

/// `output`: an envelope around what a step or task came to. Names it does not have are looked for in the data.
#[derive(Debug)]
pub struct OutputRoot {
    pub report: Arc<Report>,
    pub attempt: u32,
    pub resolver: Arc<Resolver>,
}

impl OutputRoot {
    fn envelope(&self, key: &str) -> Option<Value> {
        let report = &self.report;
        Some(match key {
            "status" => if report.is_error() { "error" } else { "ok" }.into(),
            "error" => report.error.as_ref().map_or(Value::Null, |error| error.to_value()),
            "meta" => Value::map([
                ("attempt", Value::from(self.attempt)),
                ("duration_ms", Value::from(report.duration_ms)),
            ]),
            "ref" => match &report.data {
                Slot::Stored(stored) => stored.uri.as_str().into(),
                Slot::Inline(_) => Value::Null,
            },
            "http" | "pg" | "py" => report.facets.get(key)?.clone(),
            _ => return None,
        })
    }
}

impl Lookup for OutputRoot {
    fn get(&self, key: &str) -> Option<View> {
        match key {
            "data" | "result" | "response" => return Some(result_view(&self.report.data, &self.resolver)),
            _ => {}
        }
        if let Some(value) = self.envelope(key) {
            return Some(View::Value(value));
        }
        match result_view(&self.report.data, &self.resolver) {
            View::Lazy(stored) => stored.get(key),
            View::Value(value) | View::Aliased(value) => value.get(key).cloned().map(View::Value),
        }
    }

    fn whole(&self) -> Option<Value> {
        let mut map = Map::new();
        for key in ["status", "error", "http", "pg", "py", "meta"] {
            if let Some(value) = self.envelope(key) {
                map.insert(key.into(), value);
            }
        }
        map.insert("data".into(), self.resolver.load(&self.report.data)?);
        Some(map.into())
    }
}

/// One iteration of a loop: what `iter` shows, and the outer iteration behind `iter.parent`.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// The iterator's name and the item; nothing in a pipeline outside loops, which has an `iter` all the same.
    pub bound: Option<(Arc<str>, LoopItem)>,
    /// Assigned with `set: iter.…`.
    pub assigned: Arc<BTreeMap<Arc<str>, Value>>,
    pub parent: Option<Arc<Iteration>>,
    pub resolver: Arc<Resolver>,
}

impl Iteration {
    /// The names that an iteration binds. Those of the outer iteration stay visible unless it has the same.
    pub fn bind(self: &Arc<Iteration>, local: &mut BTreeMap<Arc<str>, View>) {
        if let Some(parent) = &self.parent {
            parent.bind(local);
        }
        local.insert("iter".into(), View::Lazy(self.clone()));
        let Some((name, item)) = &self.bound else {
            return;
        };
        local.insert("_index".into(), View::Value(item.index.into()));
        local.insert("loop_index".into(), View::Value(item.index.into()));
        local.insert("_total".into(), View::Value(item.total.into()));
        local.insert("loop".into(), View::Value(self.loop_variable(item)));
        local.insert(name.clone(), plain_view(&item.value, &self.resolver));
    }

    fn loop_variable(&self, item: &LoopItem) -> Value {
        Value::map([
            ("index", Value::from(item.index)),
            ("index0", Value::from(item.index)),
            ("first", Value::from(item.index == 0)),
            ("last", Value::from(is_last(item))),
            ("length", Value::from(item.total)),
        ])
    }
}

fn is_last(item: &LoopItem) -> bool {
    item.total == Some(item.index + 1)
}

impl Lookup for Iteration {
    fn get(&self, key: &str) -> Option<View> {
        if let Some(value) = self.assigned.get(key) {
            return Some(View::Value(value.clone()));
        }
        if key == "parent" {
            return self.parent.clone().map(|parent| View::Lazy(parent as Arc<dyn Lookup>));
        }
        let (name, item) = self.bound.as_ref()?;
        if key == &**name {
            return Some(plain_view(&item.value, &self.resolver));
        }
        Some(View::Value(match key {
            "_index" | "index" => item.index.into(),
            "_total" | "total" => item.total.into(),
            "_first" | "first" => (item.index == 0).into(),
            "_last" | "last" => is_last(item).into(),
            _ => return None,
        }))
    }

    fn whole(&self) -> Option<Value> {
        let mut map = Map::new();
        if let Some((name, item)) = &self.bound {
            map.insert(name.clone(), self.resolver.load(&item.value)?);
            map.insert("_index".into(), item.index.into());
            map.insert("_total".into(), item.total.into());
        }
        for (key, value) in self.assigned.iter() {
            map.insert(key.clone(), value.clone());
        }
        Some(map.into())
    }
}
