//! Identities.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One run of a playbook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExecutionId(pub i64);

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One recorded event. May be minted by its sender and is its idempotency key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub i64);

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One entry into a step: the ordinal of its `step.enter` within the run, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VisitId(pub u32);

/// Which share of a visit's work a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// All of it: a step without a loop.
    Whole,
    /// The loop item, or cursor row, of this index.
    At(u32),
    /// Claiming the rows of this cursor frame.
    Claim(u32),
}

/// Names a command within its run. A command is tried one or more times; see `attempt` beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CommandKey {
    pub visit: VisitId,
    pub item: Item,
    /// How often the work was suspended and taken up again before this command.
    pub part: u16,
}

impl CommandKey {
    pub fn whole(visit: VisitId) -> CommandKey {
        CommandKey { visit, item: Item::Whole, part: 0 }
    }
}

/// Prints `visit`, `visit.i3` for an item, `visit.c0` for a claim, and `+n` for later parts.
impl fmt::Display for CommandKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.visit.0)?;
        match self.item {
            Item::Whole => {}
            Item::At(index) => write!(f, ".i{index}")?,
            Item::Claim(frame) => write!(f, ".c{frame}")?,
        }
        if self.part > 0 {
            write!(f, "+{}", self.part)?;
        }
        Ok(())
    }
}

/// What a timer of a run is for. A run has at most one timer of each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerKey {
    /// The playbook's own timeout.
    Run,
    /// The timeout of a visit.
    Step(VisitId),
    /// The end of a suspended command's wait.
    Wake(CommandKey),
}

/// Prints `run`, `step 3` or `wake 3.i1+1`.
impl fmt::Display for TimerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimerKey::Run => f.write_str("run"),
            TimerKey::Step(visit) => write!(f, "step {}", visit.0),
            TimerKey::Wake(command) => write!(f, "wake {command}"),
        }
    }
}
