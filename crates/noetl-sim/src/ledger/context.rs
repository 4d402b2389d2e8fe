//! What is set under `ctx`, by whom and when.

use std::collections::BTreeSet;
use std::sync::Arc;

use noetl_dsl::plan::{SetEntry, SetScope};
use noetl_types::{Assignment, ContextCause, Slot, Value};

use super::Ledger;

/// The top-level keys under `ctx` that these entries assign.
pub(super) fn keys_of(entries: &[SetEntry]) -> impl Iterator<Item = &str> {
    let under_ctx = entries.iter().filter(|entry| entry.scope == SetScope::Ctx);
    under_ctx.map(|entry| entry.path.split('.').next().unwrap_or(&entry.path))
}

impl Ledger {
    pub(super) fn update_context(
        &mut self,
        step: &str,
        cause: ContextCause,
        sets: &[Assignment],
    ) -> Result<(), String> {
        let index = self.index(step)?;
        let allowed: BTreeSet<String> = match cause {
            ContextCause::Step => {
                let visit = self.visits.values_mut().find(|visit| visit.step == index);
                let visit = visit.ok_or_else(|| format!("'{step}' sets something and is not under way"))?;
                if std::mem::replace(&mut visit.set_applied, true) {
                    return Err(format!("the set of '{step}' is applied twice in one visit"));
                }
                *self.sets_of_step.entry(index).or_default() += 1;
                keys_of(&self.plan.steps[index].set).map(str::to_owned).collect()
            }
            ContextCause::Arc => match self.owed.take() {
                Some((owing, arcs)) if owing == index => {
                    arcs.iter().flat_map(|&arc| self.sets_of_arc(index, arc)).map(str::to_owned).collect()
                }
                _ => return Err(format!("arcs of '{step}' set something and did not fire")),
            },
            ContextCause::Kept => return Err("no run repeats another here".to_owned()),
        };
        let assigned: BTreeSet<String> =
            sets.iter().map(|set| set.path.split('.').next().unwrap_or_default().to_owned()).collect();
        if assigned != allowed {
            return Err(format!("'{step}' sets {assigned:?} and says it sets {allowed:?}"));
        }
        self.assign(sets);
        Ok(())
    }

    pub(super) fn assign(&mut self, sets: &[Assignment]) {
        for set in sets {
            let mut keys = set.path.split('.');
            let first: Arc<str> = keys.next().unwrap_or_default().into();
            let rest: Vec<&str> = keys.collect();
            let value = match (&set.value, rest.is_empty()) {
                (value, true) => value.clone(),
                (Slot::Inline(value), false) => {
                    let below = match self.ctx.get(&first) {
                        Some(Slot::Inline(below)) => below.clone(),
                        _ => Value::Null,
                    };
                    Slot::Inline(nested(below, &rest, value.clone()))
                }
                (Slot::Stored(_), false) => continue,
            };
            self.ctx.insert(first, value);
        }
    }

    /// The counters that generated playbooks keep agree with what the log says.
    pub(super) fn check_counters(&self) -> Result<(), String> {
        for (key, slot) in &self.ctx {
            let Slot::Inline(Value::Int(counted)) = slot else {
                continue;
            };
            let seen = if let Some(step) = key.strip_prefix("visits_of_") {
                self.sets_of_step.get(&self.index(step)?).copied()
            } else if let Some((step, arc)) =
                key.strip_prefix("taken_").and_then(|rest| rest.rsplit_once('_'))
            {
                arc.parse()
                    .ok()
                    .and_then(|arc| Some(self.arcs_taken.get(&(self.index(step).ok()?, arc)).copied()))
                    .flatten()
            } else {
                continue;
            };
            if seen != Some(*counted) {
                return Err(format!("ctx.{key} counts {counted}, and it was {seen:?} times"));
            }
        }
        Ok(())
    }
}

fn nested(below: Value, path: &[&str], value: Value) -> Value {
    let Some((first, rest)) = path.split_first() else {
        return value;
    };
    let mut map = below.as_map().cloned().unwrap_or_default();
    let inner = map.get(*first).cloned().unwrap_or_default();
    map.insert((*first).into(), nested(inner, rest, value));
    map.into()
}
