//! Loops: how many items are under way, and what they come to.

use std::collections::{BTreeMap, BTreeSet};

use noetl_dsl::plan::{LoopFailure, LoopMode, LoopSource, StepIndex};
use noetl_types::{CommandKey, Item, LoopEntry, LoopItems, Report, Slot, Value, VisitId};

use super::{FrameNote, Ledger, Load, OpenLoop, whole};

/// Iterations of a parallel loop that says nothing about how many may be under way.
const UNLIMITED: u32 = 1000;

impl Ledger {
    /// The limits of a loop are those that the playbook says.
    pub(super) fn open_loop(
        &self,
        step: StepIndex,
        entry: &LoopEntry,
        load: &Load<'_>,
    ) -> Result<OpenLoop, String> {
        let name = self.name(step);
        let Some(looping) = &self.plan.steps[step].looping else {
            return Err(format!("'{name}' loops and is no loop"));
        };
        let given = looping.max_in_flight.as_ref().map(|limit| self.count(limit.source()));
        let limit = match (looping.mode, given) {
            (LoopMode::Sequential, _) => Some(1),
            (LoopMode::Parallel, None) => Some(UNLIMITED),
            (LoopMode::Cursor, None) => Some(1),
            (_, Some(count)) => count,
        };
        if limit.is_some_and(|limit| limit != entry.max_in_flight) {
            return Err(format!("'{name}' may have {limit:?} under way and takes {}", entry.max_in_flight));
        }
        let total = match &entry.items {
            LoopItems::Count(count) => Some(*count),
            LoopItems::List(items) => whole(items, load)?.as_list().map(|items| items.len() as u32),
            LoopItems::Cursor => None,
        };
        if total != entry.total {
            return Err(format!("'{name}' has {total:?} items and counts {:?}", entry.total));
        }
        if let (LoopSource::In(source), LoopItems::List(items)) = (&looping.source, &entry.items)
            && let Some(written @ Value::List(_)) = source.as_literal()
            && whole(items, load)? != *written
        {
            return Err(format!("'{name}' goes over other items than it says"));
        }
        Ok(OpenLoop {
            entry: entry.clone(),
            bears: bears(looping.on_error, entry.total),
            next_item: 0,
            next_claim: 0,
            results: BTreeMap::new(),
            failed: 0,
            failed_claims: 0,
            stopped: false,
            drained: false,
            frames: BTreeMap::new(),
            done_rows: Vec::new(),
        })
    }

    /// A number as it is written, or one that the workload has.
    fn count(&self, source: &Value) -> Option<u32> {
        let value = match source {
            Value::Text(text) if &**text == "{{ workload.width }}" && !self.ctx.contains_key("width") => {
                self.started.workload.get("width")?
            }
            value => value,
        };
        u32::try_from(value.as_i64()?).ok()
    }

    fn open_items(&self, visit: VisitId) -> u32 {
        self.commands.keys().filter(|(of, item)| *of == visit && matches!(item, Item::At(_))).count() as u32
    }

    fn open_claims(&self, visit: VisitId) -> u32 {
        self.commands.keys().filter(|(of, item)| *of == visit && matches!(item, Item::Claim(_))).count()
            as u32
    }

    /// Whether a further item or claim may be issued, and whether it is this one's turn.
    pub(super) fn check_room(&mut self, key: CommandKey) -> Result<(), String> {
        let (items, claims) = (self.open_items(key.visit), self.open_claims(key.visit));
        let visit = self.visits.get_mut(&key.visit).ok_or("a command of no visit")?;
        let Some(looping) = &mut visit.looping else {
            return if key.item == Item::Whole { Ok(()) } else { Err(format!("command {key} of no loop")) };
        };
        if looping.stopped {
            return Err(format!("command {key} is issued after its loop has stopped"));
        }
        let limit = looping.entry.max_in_flight;
        match (key.item, looping.entry.cursor) {
            (Item::At(index), None) => {
                if index != looping.next_item || looping.entry.total.is_none_or(|total| index >= total) {
                    return Err(format!(
                        "item {index} is issued, and it is the turn of {}",
                        looping.next_item
                    ));
                }
                if items >= limit {
                    return Err(format!("{} items are under way, and {limit} may be", items + 1));
                }
                looping.next_item += 1;
            }
            (Item::At(index), Some(cursor)) => {
                let free = looping.frames.values_mut().find(|frame| frame.has_room(cursor.row_concurrency));
                let Some(frame) = free.filter(|_| index == looping.next_item) else {
                    return Err(format!("row {index} is issued, and it is not its turn"));
                };
                frame.not_issued -= 1;
                frame.items.insert(index);
                looping.next_item += 1;
            }
            (Item::Claim(frame), Some(_)) => {
                if frame != looping.next_claim || looping.drained {
                    return Err(format!("claim {frame} is issued out of turn"));
                }
                let open = looping.frames.len() as u32 + claims;
                if open >= limit {
                    return Err(format!("{} frames are under way, and {limit} may be", open + 1));
                }
                looping.next_claim += 1;
            }
            _ => return Err(format!("command {key} does not fit its loop")),
        }
        Ok(())
    }

    /// Whether a loop that may go on has nothing to do although there is room.
    pub(super) fn is_idle(&self, visit: VisitId, looping: &OpenLoop) -> bool {
        if looping.stopped {
            return self.open_items(visit) + self.open_claims(visit) == 0;
        }
        let (items, claims) = (self.open_items(visit), self.open_claims(visit));
        match (looping.entry.total, looping.entry.cursor) {
            (Some(total), _) => items < looping.entry.max_in_flight && looping.next_item < total,
            (None, Some(cursor)) => {
                let may_claim =
                    !looping.drained && looping.frames.len() as u32 + claims < looping.entry.max_in_flight;
                may_claim || looping.frames.values().any(|frame| frame.has_room(cursor.row_concurrency))
            }
            (None, None) => true,
        }
    }
}

/// Failures that a loop bears before it issues nothing more, worked out from the playbook.
fn bears(on_error: LoopFailure, total: Option<u32>) -> Option<u32> {
    match (on_error, total) {
        (LoopFailure::Fail, _) => Some(0),
        (LoopFailure::Threshold(share), Some(total)) => Some((share * f64::from(total)) as u32),
        _ => None,
    }
}

impl FrameNote {
    fn has_room(&self, row_concurrency: u32) -> bool {
        self.not_issued > 0 && (self.items.len() as u32) < row_concurrency
    }

    fn is_done(&self) -> bool {
        self.not_issued == 0 && self.items.is_empty()
    }
}

impl OpenLoop {
    pub(super) fn item_done(&mut self, index: u32, report: &Report) -> Result<(), String> {
        if self.results.insert(index, report.clone()).is_some() {
            return Err(format!("item {index} is done twice"));
        }
        self.failed += u32::from(report.is_error());
        if self.bears.is_some_and(|borne| self.failed > borne) {
            self.stopped = true;
        }
        if self.entry.cursor.is_some() {
            let done_with = |frame: &mut FrameNote| frame.items.remove(&index);
            if !self.frames.values_mut().any(done_with) {
                return Err(format!("row {index} is done and was never issued"));
            }
            let done_rows = &mut self.done_rows;
            self.frames.retain(|_, frame| {
                let is_done = frame.is_done();
                if is_done {
                    done_rows.append(&mut frame.rows);
                }
                !is_done
            });
        }
        Ok(())
    }

    pub(super) fn claimed(&mut self, number: u32, report: &Report, load: &Load<'_>) -> Result<(), String> {
        if report.is_error() {
            self.failed += 1;
            self.failed_claims += 1;
            self.stopped = true;
            return Ok(());
        }
        let data = whole(&report.data, load)?;
        let rows = data.get("rows").and_then(Value::as_list).cloned().unwrap_or_default();
        if rows.is_empty() {
            self.drained = true;
            return Ok(());
        }
        if self.entry.cursor.is_some_and(|cursor| rows.len() > cursor.max_rows as usize) {
            return Err(format!("a claim gave {} rows, more than it was to ask for", rows.len()));
        }
        let whole_frame = self.entry.cursor.is_some_and(|cursor| cursor.whole_frame);
        let not_issued = if whole_frame { 1 } else { rows.len() as u32 };
        self.frames.insert(number, FrameNote { rows, not_issued, items: BTreeSet::new() });
        Ok(())
    }
}

/// An iteration that gives back its index and item worked on the item of that index.
pub(super) fn check_place(
    looping: &OpenLoop,
    index: u32,
    report: &Report,
    load: &Load<'_>,
) -> Result<(), String> {
    let data = whole(&report.data, load)?;
    let Some(at) = data.get("at") else {
        return Ok(());
    };
    if at.as_i64() != Some(i64::from(index)) {
        return Err(format!("item {index} says that it is item {at}"));
    }
    let Some(item) = data.get("item") else {
        return Ok(());
    };
    let expected = match &looping.entry.items {
        LoopItems::Count(_) => Some(Value::from(index)),
        LoopItems::List(items) => {
            whole(items, load)?.as_list().and_then(|items| items.get(index as usize)).cloned()
        }
        LoopItems::Cursor => {
            let known = match item {
                Value::List(rows) => rows.iter().all(|row| looping.has_row(row)),
                row => looping.has_row(row),
            };
            known.then(|| item.clone())
        }
    };
    if expected.as_ref() != Some(item) {
        return Err(format!("item {index} is {expected:?} and works on {item}"));
    }
    Ok(())
}

impl OpenLoop {
    fn has_row(&self, row: &Value) -> bool {
        self.done_rows.contains(row) || self.frames.values().any(|frame| frame.rows.contains(row))
    }

    /// The value of the loop, put together from its items in the order of their indexes.
    pub(super) fn check_result(&self, result: &Slot, is_error: bool, load: &Load<'_>) -> Result<(), String> {
        let value = whole(result, load)?;
        let mut expected: Vec<Value> = Vec::new();
        for (&index, report) in &self.results {
            expected.resize(index as usize, Value::Null);
            expected.push(whole(&noetl_engine::item_result(report), load)?);
        }
        let expected = Value::from(expected);
        for key in ["results", "data"] {
            if value.get(key) != Some(&expected) {
                return Err(format!(
                    "the loop's {key} are {:?}, and its items gave {expected}",
                    value.get(key)
                ));
            }
        }
        let done = self.results.len() as u32;
        let failed_items = self.results.values().filter(|report| report.is_error()).count() as u32;
        let total = self.entry.total.unwrap_or(self.next_item);
        let stats = value.get("stats").cloned().unwrap_or_default();
        let count = |key: &str| stats.get(key).and_then(Value::as_i64).unwrap_or(-1);
        let expected = [
            ("total", total),
            ("success", done - failed_items),
            ("failed", failed_items + self.failed_claims),
            ("skipped", total - done),
        ];
        for (key, expected) in expected {
            if count(key) != i64::from(expected) {
                return Err(format!("the loop's stats are {stats}, and {key} should be {expected}"));
            }
        }
        let status = if is_error { "error" } else { "success" };
        if value.get("status").and_then(Value::as_str) != Some(status) {
            return Err(format!("the loop says {:?} and its step {status}", value.get("status")));
        }
        Ok(())
    }

    /// All items are done, or none further will be issued.
    pub(super) fn is_done(&self) -> bool {
        match self.entry.total {
            Some(total) => self.stopped || self.results.len() as u32 == total,
            None => self.stopped || (self.drained && self.frames.is_empty()),
        }
    }
}
