//! What must hold whenever a commit is done, and at the end.

use std::collections::BTreeMap;

use noetl_engine::{OpenState, Run};
use noetl_types::{Await, CommandKey, RunStatus, TimerKey};

use super::{CommandState, Ledger};
use crate::store::RunFile;

impl Ledger {
    /// Compares the engine's state and the store with what the events say, and finds what should have happened by now.
    pub fn check_rest(&self, run: &Run, file: &RunFile) -> Result<(), String> {
        if let Some((step, arcs)) = &self.owed {
            return Err(format!(
                "arcs {arcs:?} of '{}' fired and their set is not applied",
                self.name(*step)
            ));
        }
        if run.status != self.status || run.seq != self.seq {
            return Err(format!(
                "the run is {} at {}, and its events say {}",
                run.status, run.seq, self.status
            ));
        }
        if *run.ctx != self.ctx {
            return Err(format!("ctx is {:?}, and what was set is {:?}", run.ctx, self.ctx));
        }
        self.check_counters()?;
        self.check_store(run, file)?;
        if self.is_over() {
            return Ok(());
        }
        self.check_state(run)?;
        if self.status == RunStatus::Running { self.check_progress() } else { Ok(()) }
    }

    fn check_state(&self, run: &Run) -> Result<(), String> {
        let visits: Vec<_> = run.visits.keys().copied().collect();
        if !self.visits.keys().copied().eq(visits.iter().copied()) {
            return Err(format!(
                "the engine has the visits {visits:?}, and {:?} are open",
                self.visits.keys()
            ));
        }
        let pending: Vec<&str> = run.pending.keys().map(|name| &**name).collect();
        let mut reached: Vec<&str> = self.reached.iter().map(|&step| self.name(step)).collect();
        reached.sort_unstable();
        if pending != reached {
            return Err(format!("the engine waits to enter {pending:?}, and {reached:?} were reached"));
        }
        for (name, &left) in &self.signals {
            let kept = run.signals.iter().filter(|signal| signal.0 == *name).count();
            if kept != left {
                return Err(format!("the engine keeps {kept} signals '{name}', and {left} were not taken"));
            }
        }
        for (place, open) in &self.commands {
            let Some(known) = run.commands.get(place) else {
                return Err(format!("the engine does not know of {open:?}"));
            };
            let same_state = match (&open.state, &known.state) {
                (CommandState::Issued, OpenState::Issued)
                | (CommandState::Started, OpenState::Started { .. }) => true,
                (CommandState::Ready, OpenState::Ready) => true,
                (CommandState::Waiting(on), OpenState::Waiting { on: known, .. }) => on == known,
                _ => false,
            };
            if !same_state
                || open.key.part != known.part
                || open.attempt != known.attempt
                || open.child != known.child
            {
                return Err(format!("the engine has {known:?} for {open:?}"));
            }
        }
        if run.commands.len() != self.commands.len() {
            return Err(format!(
                "the engine has {} commands and {} are open",
                run.commands.len(),
                self.commands.len()
            ));
        }
        Ok(())
    }

    /// What is given out is in the store, with the timers of what waits; and nothing else is.
    fn check_store(&self, run: &Run, file: &RunFile) -> Result<(), String> {
        let given_out: BTreeMap<_, (CommandKey, u16)> =
            file.commands.iter().map(|(&place, row)| (place, (row.key, row.attempt))).collect();
        let mut expected = BTreeMap::new();
        let mut timers = Vec::new();
        if !self.is_over() {
            for (&place, open) in &self.commands {
                match &open.state {
                    CommandState::Issued | CommandState::Started => {
                        expected.insert(place, (open.key, open.attempt));
                    }
                    CommandState::Waiting(on) if has_time(on) => timers.push(TimerKey::Wake(open.key)),
                    _ => {}
                }
            }
            let with_deadline = run.visits.iter().filter(|(_, visit)| visit.deadline.is_some());
            timers.extend(with_deadline.map(|(&visit, _)| TimerKey::Step(visit)));
            timers.extend(self.plan.executor.timeout.map(|_| TimerKey::Run));
        }
        if given_out != expected {
            return Err(format!("the store has the commands {given_out:?}, and {expected:?} are under way"));
        }
        timers.sort_unstable();
        if !file.timers.keys().eq(timers.iter()) {
            return Err(format!(
                "the store has the timers {:?}, and {timers:?} should run",
                file.timers.keys()
            ));
        }
        Ok(())
    }

    /// Everything that can go on has gone on.
    fn check_progress(&self) -> Result<(), String> {
        for &step in &self.reached {
            let waits_for_equal = self.reached.iter().any(|&other| {
                other != step
                    && self.reach.is_join(step)
                    && self.reach.can(other, step)
                    && self.reach.can(step, other)
            });
            if self.blocker(step).is_none() && !waits_for_equal {
                return Err(format!("'{}' waits, and nothing can still reach it", self.name(step)));
            }
        }
        for (&visit, state) in &self.visits {
            let name = self.name(state.step);
            if state.looping.as_ref().is_some_and(|looping| self.is_idle(visit, looping)) {
                return Err(format!("the loop '{name}' has room and issues nothing"));
            }
            if !self.commands.keys().any(|(of, _)| *of == visit) {
                return Err(format!("'{name}' is under way, and nothing is done for it"));
            }
        }
        if let Some(open) = self.commands.values().find(|open| open.state == CommandState::Ready) {
            return Err(format!("{open:?} is to be issued and is not"));
        }
        if self.visits.is_empty() && self.reached.is_empty() {
            return Err("nothing is left to do, and the run goes on".to_owned());
        }
        Ok(())
    }

    /// The run as it was read once more, after everything.
    pub fn check_end(&self, run: &Run) -> Result<(), String> {
        if !run.status.is_terminal() || run.status != self.status {
            return Err(format!("the run is {}, and its events say {}", run.status, self.status));
        }
        if !run.visits.is_empty() || !run.pending.is_empty() || !run.commands.is_empty() {
            return Err("a run that is over has work left".to_owned());
        }
        if *run.ctx != self.ctx {
            return Err(format!("ctx is {:?}, and what was set is {:?}", run.ctx, self.ctx));
        }
        let leaf = self.leaf.map(|leaf| self.name(leaf));
        let result_of = run.last_leaf.as_deref();
        if run.status == RunStatus::Completed && leaf != result_of {
            return Err(format!("the result is that of {result_of:?}, and {leaf:?} ended last"));
        }
        Ok(())
    }
}

fn has_time(on: &Await) -> bool {
    match on {
        Await::Sleep { .. } => true,
        Await::Signal { seconds, .. } | Await::Child { seconds, .. } => seconds.is_some(),
    }
}
