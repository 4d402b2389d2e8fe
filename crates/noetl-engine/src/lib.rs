//! The meaning of playbooks: events in, decisions out.
//!
//! A [`Run`] is the fold of its events ([`apply()`]). [`accept()`] turns what comes from outside into events, [`decide()`] says
//! what follows from where the run stands. All three are functions of their arguments: there is no clock, no randomness
//! and no IO here, and nothing in [`apply()`] evaluates a template, so a stored log always folds to the same run.
//!
//! [`pipeline`] interprets the tasks of one step and runs on workers, so that rules mean the same everywhere.

mod accept;
mod advance;
mod apply;
mod command;
mod decide;
mod dry_run;
mod effect;
mod explain;
mod keep;
mod names;
mod pairs;
pub mod pipeline;
mod run;
mod start;
mod values;

pub use accept::{Input, accept};
pub use advance::advance;
pub use apply::{apply, item_result};
pub use command::command_for;
pub use decide::decide;
pub use dry_run::{DryRun, FirstStep, Needs, dry_run, first_step};
pub use effect::{Decision, Effect, Ended};
pub use explain::explain;
pub use keep::{History, Keeper};
pub use run::{Failure, LoopState, OpenCommand, OpenState, Pending, Run, StepRecord, Visit};
pub use start::{StartRequest, start};
pub use values::{NoValues, Values};
