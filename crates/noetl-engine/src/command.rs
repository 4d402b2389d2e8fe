//! Puts a command together from where the run stands. Nothing in it is rendered; the worker does that.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_dsl::plan::{Plan, Step, StepIndex};
use noetl_types::{
    Command, CommandContext, CommandKey, Item, LoopItem, LoopItems, Slot, StoredValue, Timestamp, Value,
};

use crate::run::{Run, Visit};
use crate::values::{Resolver, Values};

/// The data of the run for templates that read these steps.
pub fn context_for<'p>(
    run: &Run,
    plan: &Plan,
    reads: impl IntoIterator<Item = &'p StepIndex>,
    from: Option<&Arc<str>>,
) -> CommandContext {
    let mut steps = BTreeMap::new();
    for &index in reads {
        let name = &plan.steps[index].name;
        if let Some(slot) = run.result_of(name) {
            steps.insert(name.clone(), slot.clone());
        }
    }
    CommandContext {
        workload: run.started.workload.clone(),
        ctx: run.ctx.clone(),
        steps,
        previous: from.and_then(|step| run.result_of(step)).cloned(),
        identity: run.identity.clone(),
    }
}

/// The command with this key as a worker needs it, or nothing when the run has no such work. Asking again gives the same
/// work with the data as it is now. The error names the stored values that must be at hand first.
pub fn command_for(
    run: &Run,
    plan: &Plan,
    key: CommandKey,
    attempt: u16,
    values: &Arc<dyn Values>,
) -> Result<Option<Command>, Vec<Arc<StoredValue>>> {
    let resolver = Resolver::new(values);
    let command = find(run, plan, key, attempt, &resolver);
    match resolver.take_missing() {
        missing if missing.is_empty() => Ok(command),
        missing => Err(missing),
    }
}

pub(crate) fn find(
    run: &Run,
    plan: &Plan,
    key: CommandKey,
    attempt: u16,
    resolver: &Resolver,
) -> Option<Command> {
    let visit = run.visits.get(&key.visit)?;
    let index = plan.find_step(&visit.step)?;
    let step = &plan.steps[index];
    let context = context_for(run, plan, &step.reads_steps, visit.from.as_ref());
    build(run, step, index, visit, key, attempt, Arc::new(context), resolver)
}

#[expect(
    clippy::too_many_arguments,
    reason = "shared parts of many commands are worked out once by the caller"
)]
pub(crate) fn build(
    run: &Run,
    step: &Step,
    index: StepIndex,
    visit: &Visit,
    key: CommandKey,
    attempt: u16,
    context: Arc<CommandContext>,
    resolver: &Resolver,
) -> Option<Command> {
    let item = match key.item {
        Item::Whole | Item::Claim(_) => None,
        Item::At(at) => Some(loop_item(visit, at, resolver)?),
    };
    let resume = run.commands.get(&(key.visit, key.item)).and_then(|open| open.resume.clone());
    Some(Command {
        execution: run.execution(),
        key,
        attempt,
        step: step.name.clone(),
        step_index: index as u32,
        context,
        item,
        max_rows: visit.looping.as_ref().and_then(|looping| looping.entry.cursor).map(|entry| entry.max_rows),
        resume,
        deadline: visit.deadline,
    })
}

fn loop_item(visit: &Visit, at: u32, resolver: &Resolver) -> Option<LoopItem> {
    let looping = visit.looping.as_ref()?;
    let total = looping.entry.total;
    let value = match &looping.entry.items {
        LoopItems::Count(_) => Value::from(at),
        LoopItems::List(items) => resolver.load(items)?.as_list()?.get(at as usize)?.clone(),
        LoopItems::Cursor => {
            let cursor = looping.cursor.as_ref()?;
            let number = match cursor.item_frames.get(&at) {
                Some(&number) => number,
                // Not issued yet: this is where it will be taken from.
                None => cursor.next_frame(looping.row_concurrency())?,
            };
            let frame = cursor.open.get(&number)?;
            let rows = resolver.load(&frame.rows)?.get("rows")?.clone();
            if looping.entry.cursor.is_some_and(|entry| entry.whole_frame) {
                rows
            } else {
                let row = frame.item_rows.get(&at).copied().unwrap_or(frame.next_row);
                rows.as_list()?.get(row as usize)?.clone()
            }
        }
    };
    Some(LoopItem { value: Slot::Inline(value), index: at, total })
}

/// The instant a visit that begins now must end.
pub(crate) fn deadline(now: Timestamp, seconds: f64) -> Timestamp {
    now.after(std::time::Duration::from_secs_f64(seconds.clamp(0.0, 1.0e9)))
}
