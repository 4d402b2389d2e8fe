//! What one evaluation may use. Templates are written by playbook authors and run inside servers and workers, so each of them
//! ends soon and in bounded memory, whatever it says. The bounds count work, never time: the same template over the same data
//! always gives the same result.
//!
//! Three things are counted: instructions of the virtual machine ("fuel"), items that filters and operators go through
//! ("work"), and bytes of text that are made. An evaluation runs on one thread from start to end, so the counters live in a
//! thread-local; an evaluation inside another (a lookup that renders) has its own.

use std::cell::Cell;

use minijinja::{Error, ErrorKind};

/// Instructions of one evaluation: enough for a loop with a few expressions over some hundred thousand rows.
pub(crate) const FUEL: u64 = 5_000_000;

/// Items that filters, operators and conversions may touch in one evaluation.
const WORK: u64 = 20_000_000;

/// The longest text an evaluation may make.
pub(crate) const TEXT: usize = 64 << 20;

/// All text made in one evaluation together, intermediate results included.
const ALL_TEXT: usize = 2 * TEXT;

/// A result that a template builds, as JSON. Shared parts count each time they occur.
pub(crate) const RESULT: usize = 256 << 20;

/// The text of one template.
pub(crate) const SOURCE: usize = 4 << 20;

/// Items of a list made by an operator or by `range`.
pub(crate) const ITEMS: usize = 1_000_000;

/// How deep lists and maps may be nested.
pub(crate) const NESTING: u32 = 200;

#[derive(Clone, Copy)]
struct Allowance {
    work: u64,
    text: usize,
    /// Work was done that there was no allowance for, in a place that could not fail.
    is_overdrawn: bool,
}

const FULL: Allowance = Allowance { work: WORK, text: ALL_TEXT, is_overdrawn: false };

thread_local! {
    static LEFT: Cell<Allowance> = const { Cell::new(FULL) };
}

/// Fills the counters for one evaluation, and gives the surrounding evaluation its own back at the end.
pub(crate) struct Evaluation {
    surrounding: Allowance,
}

impl Evaluation {
    pub(crate) fn begin() -> Evaluation {
        Evaluation { surrounding: LEFT.replace(FULL) }
    }
}

impl Drop for Evaluation {
    fn drop(&mut self) {
        LEFT.set(self.surrounding);
    }
}

/// Counts items that are gone through.
pub(crate) fn spend_work(items: usize) -> Result<(), Error> {
    let left = LEFT.get();
    match left.work.checked_sub(items as u64) {
        Some(work) if !left.is_overdrawn => {
            LEFT.set(Allowance { work, ..left });
            Ok(())
        }
        _ => Err(exceeded(format!("it goes through more than {WORK} items"))),
    }
}

/// Counts one item in a place that cannot fail. Says whether to go on; if not, the evaluation fails at the next place that
/// can.
pub(crate) fn try_spend_one() -> bool {
    let left = LEFT.get();
    match left.work.checked_sub(1) {
        Some(work) => LEFT.set(Allowance { work, ..left }),
        None => LEFT.set(Allowance { is_overdrawn: true, ..left }),
    }
    left.work > 0
}

/// Fails if more was done than was allowed.
pub(crate) fn check() -> Result<(), Error> {
    spend_work(0)
}

/// Counts reading text, which is cheaper than going through items.
pub(crate) fn spend_reading(bytes: usize) -> Result<(), Error> {
    if bytes < 64 { Ok(()) } else { spend_work(bytes / 32) }
}

/// Checks the length of a text before it is made.
pub(crate) fn check_text(bytes: usize) -> Result<(), Error> {
    if bytes > TEXT {
        return Err(exceeded(format!("it makes a text longer than {} MiB", TEXT >> 20)));
    }
    Ok(())
}

/// Counts text before it is made.
pub(crate) fn spend_text(bytes: usize) -> Result<(), Error> {
    check_text(bytes)?;
    let left = LEFT.get();
    match left.text.checked_sub(bytes) {
        Some(text) => {
            LEFT.set(Allowance { text, ..left });
            Ok(())
        }
        None => Err(exceeded(format!("it makes more than {} MiB of text", ALL_TEXT >> 20))),
    }
}

/// Checks the length of a list before it is made, and counts it.
pub(crate) fn spend_items(items: usize) -> Result<(), Error> {
    if items > ITEMS {
        return Err(exceeded(format!("it makes a list of more than {ITEMS} items")));
    }
    spend_work(items)
}

pub(crate) fn check_nesting(nesting: u32) -> Result<(), Error> {
    if nesting > NESTING {
        return Err(exceeded(format!("it nests lists and maps more than {NESTING} deep")));
    }
    Ok(())
}

pub(crate) fn exceeded(what: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, what)
}
