//! Commands: issued, taken, concluded once, suspended, taken up again.

use noetl_types::{Assignment, Await, CommandKey, ErrorKind, ExecutionId, Item, Outcome, Resolution};

use super::{CommandState, Ledger, Load, OpenCommand};
use crate::tally::Tally;

impl Ledger {
    pub(super) fn issue(
        &mut self,
        key: CommandKey,
        step: &str,
        attempt: u16,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let index = self.index(step)?;
        let visit =
            self.visits.get(&key.visit).ok_or_else(|| format!("command {key} of a visit that is over"))?;
        if visit.step != index {
            return Err(format!("command {key} is not of '{step}'"));
        }
        let place = (key.visit, key.item);
        match self.commands.get_mut(&place) {
            Some(open) => {
                if open.state != CommandState::Ready || open.key != key || open.attempt != attempt {
                    return Err(format!("command {key} (attempt {attempt}) is issued where {open:?} stands"));
                }
                if attempt > self.plan.steps[index].max_attempts {
                    return Err(format!("command {key} is issued for the {attempt}th time"));
                }
                open.state = CommandState::Issued;
            }
            None => {
                if key.part != 0 || attempt != 1 || self.concluded.contains(&key) {
                    return Err(format!("command {key} (attempt {attempt}) is issued out of turn"));
                }
                self.check_room(key)?;
                let open = OpenCommand { key, attempt, state: CommandState::Issued, child: None };
                self.commands.insert(place, open);
            }
        }
        tally.cursor_frames += u64::from(matches!(key.item, Item::Claim(_)) && attempt == 1);
        Ok(())
    }

    /// The command, if this attempt at it is under way.
    fn under_way(&mut self, key: CommandKey, attempt: u16) -> Result<&mut OpenCommand, String> {
        let open = self.commands.get_mut(&(key.visit, key.item));
        open.filter(|open| {
            open.key == key
                && open.attempt == attempt
                && matches!(open.state, CommandState::Issued | CommandState::Started)
        })
        .ok_or_else(|| format!("attempt {attempt} at command {key} is not under way"))
    }

    pub(super) fn work_began(&mut self, key: CommandKey, attempt: u16) -> Result<(), String> {
        let open = self.under_way(key, attempt)?;
        if open.state == CommandState::Started {
            return Err(format!("command {key} begins twice"));
        }
        open.state = CommandState::Started;
        Ok(())
    }

    pub(super) fn lose(&mut self, key: CommandKey, attempt: u16) -> Result<(), String> {
        let open = self.under_way(key, attempt)?;
        open.state = CommandState::Ready;
        open.attempt += 1;
        Ok(())
    }

    pub(super) fn conclude(
        &mut self,
        key: CommandKey,
        attempt: u16,
        outcome: &Outcome,
        failed: bool,
        load: &Load<'_>,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let Outcome::Finished { report, sets, .. } = outcome else {
            return Err(format!("command {key} ends with an outcome that is no end"));
        };
        if report.is_error() != failed {
            return Err(format!("command {key} ends in an event of the wrong name"));
        }
        if !self.concluded.insert(key) {
            return Err(format!("the outcome of command {key} is applied twice"));
        }
        self.check_concluded(key, attempt, outcome)?;
        self.commands.remove(&(key.visit, key.item));
        self.assign(sets);
        let visit =
            self.visits.get_mut(&key.visit).ok_or_else(|| format!("{key} concludes after its visit"))?;
        match (&mut visit.looping, key.item) {
            (None, Item::Whole) => visit.report = Some(report.clone()),
            (Some(looping), Item::At(index)) => {
                tally.loop_items += 1;
                looping.item_done(index, report)?;
                super::loops::check_place(looping, index, report, load)?;
            }
            (Some(looping), Item::Claim(frame)) => looping.claimed(frame, report, load)?,
            _ => return Err(format!("command {key} does not fit its step")),
        }
        Ok(())
    }

    /// An outcome belongs to the attempt under way, unless the step was over before anyone worked on it, or all its
    /// workers were lost.
    fn check_concluded(&mut self, key: CommandKey, attempt: u16, outcome: &Outcome) -> Result<(), String> {
        let Some(open) = self.commands.get(&(key.visit, key.item)) else {
            return if attempt == 0 { Ok(()) } else { Err(format!("command {key} was never issued")) };
        };
        if open.state != CommandState::Ready {
            return self.under_way(key, attempt).map(|_| ());
        }
        let Outcome::Finished { report, .. } = outcome else {
            return Ok(());
        };
        let lost = report.error.as_ref().is_some_and(|error| error.kind == ErrorKind::WorkerLost);
        let most = self.visits.get(&key.visit).map_or(0, |visit| self.plan.steps[visit.step].max_attempts);
        if !lost || open.attempt != attempt + 1 || attempt != most {
            return Err(format!("command {key} fails after losing {attempt} of {most} workers"));
        }
        Ok(())
    }

    pub(super) fn suspend(
        &mut self,
        key: CommandKey,
        attempt: u16,
        on: &Await,
        sets: &[Assignment],
    ) -> Result<(), String> {
        if !self.concluded.insert(key) {
            return Err(format!("the outcome of command {key} is applied twice"));
        }
        let open = self.under_way(key, attempt)?;
        open.state = CommandState::Waiting(on.clone());
        open.child = None;
        self.assign(sets);
        Ok(())
    }

    pub(super) fn resume(&mut self, key: CommandKey, with: &Resolution) -> Result<(), String> {
        let open = self.commands.get_mut(&(key.visit, key.item)).filter(|open| open.key == key);
        let open = open.ok_or_else(|| format!("command {key} is taken up again and does not exist"))?;
        let CommandState::Waiting(on) = &open.state else {
            return Err(format!("command {key} is taken up again and does not wait"));
        };
        let fits = match (on, with) {
            (Await::Sleep { .. }, Resolution::Elapsed) => true,
            (Await::Signal { seconds, .. } | Await::Child { seconds, .. }, Resolution::Elapsed) => {
                seconds.is_some()
            }
            (Await::Signal { name, .. }, Resolution::Signal { name: given, .. }) => name == given,
            (Await::Child { detached, .. }, Resolution::Started { execution }) => {
                *detached && open.child == Some(*execution)
            }
            (Await::Child { .. }, Resolution::Child { execution, .. }) => {
                open.child.is_none_or(|child| child == *execution)
            }
            (Await::Child { .. }, Resolution::Refused { .. }) => true,
            _ => false,
        };
        if !fits {
            return Err(format!("command {key} waits for {on:?} (child {:?}) and gets {with:?}", open.child));
        }
        if let Resolution::Signal { name, .. } = with {
            let left = self.signals.get_mut(name).filter(|left| **left > 0);
            *left.ok_or_else(|| format!("the signal '{name}' is taken more often than it came"))? -= 1;
        }
        open.key.part += 1;
        open.attempt = 1;
        open.state = CommandState::Ready;
        open.child = None;
        Ok(())
    }

    pub(super) fn child_started(&mut self, key: CommandKey, child: ExecutionId) -> Result<(), String> {
        let open = self.commands.get_mut(&(key.visit, key.item)).filter(|open| open.key == key);
        match open {
            Some(open)
                if open.child.is_none()
                    && matches!(open.state, CommandState::Waiting(Await::Child { .. })) =>
            {
                open.child = Some(child);
                Ok(())
            }
            _ => Err(format!("run {child} was started for command {key}, which does not wait for one")),
        }
    }
}
