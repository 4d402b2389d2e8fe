//! Decides what happens next: at random while things may go wrong, then whatever is left to do until nothing is.

use noetl_engine::{Input, explain};
use noetl_types::{ExecutionId, Item, TimerKey, Value, VisitId};

use crate::world::{Letter, MAIN, World};

/// Actions after which a simulation is taken for endless.
const MANY_ACTIONS: usize = 60_000;

/// Actions after which a run that need not end by itself is cancelled.
const ENOUGH_ACTIONS: usize = 3_000;

/// What may be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Deliver,
    Claim,
    Work,
    ExpireLease,
    KillWorker,
    LoseMail,
    Echo,
    FireTimer,
    StrayTimer,
    Crash,
    Signal,
    Pause,
    Cancel,
}

impl World {
    /// Goes on until every run has ended, and checks that it does.
    pub fn play(&mut self, ends: bool) -> Result<(), String> {
        for at in 0..MANY_ACTIONS {
            if at == self.faults.patience {
                self.faults.end();
            }
            if at == ENOUGH_ACTIONS && !ends {
                for execution in self.open_runs() {
                    self.feed(execution, Input::Cancel { reason: "enough".into() })?;
                }
            }
            match self.next_action() {
                Some(action) => self.carry_out(action)?,
                None if self.open_runs().is_empty() => return self.check_end(),
                None => self.end_a_wait()?,
            }
        }
        let waiting: Vec<String> =
            self.open_runs().into_iter().flat_map(|execution| self.explanation(execution)).collect();
        Err(format!("no end after {MANY_ACTIONS} actions: {}", waiting.join("; ")))
    }

    fn next_action(&mut self) -> Option<Action> {
        let faults = &self.faults;
        let has_queue =
            self.store.runs.values().any(|file| file.commands.values().any(|row| row.holder.is_none()));
        let has_leases =
            self.store.runs.values().any(|file| file.commands.values().any(|row| row.holder.is_some()));
        let has_timers = self.store.runs.values().any(|file| !file.timers.is_empty());
        let given = |there: bool, weight: usize| if there { weight } else { 0 };
        let weights = [
            (Action::Deliver, given(!self.mail.is_empty(), 100)),
            (Action::Claim, given(has_queue, 100)),
            (Action::Work, given(!self.jobs.is_empty(), 100)),
            (Action::ExpireLease, given(has_leases, faults.expiring_leases)),
            (Action::KillWorker, given(!self.jobs.is_empty(), faults.dying_workers)),
            (Action::LoseMail, given(!self.mail.is_empty(), faults.lost_mail)),
            (Action::Echo, given(!self.old_mail.is_empty(), faults.echoes)),
            (Action::FireTimer, given(has_timers, faults.timers)),
            (Action::StrayTimer, given(!self.old_timers.is_empty(), faults.stray_timers)),
            (Action::Crash, faults.crashes),
            (Action::Signal, faults.signals),
            (Action::Pause, faults.pauses),
            (Action::Cancel, faults.cancels),
        ];
        let only: Vec<usize> = weights.iter().map(|(_, weight)| *weight).collect();
        let good: usize = only[..3].iter().sum();
        let all: usize = only.iter().sum();
        // Once everything that goes right is done, only leases of workers that are gone, timers and news are left.
        if all == 0 || (good == 0 && self.random.chance(500)) {
            return match (has_leases, has_timers) {
                (true, _) => Some(Action::ExpireLease),
                (false, true) => Some(Action::FireTimer),
                (false, false) => {
                    self.faults.end();
                    None
                }
            };
        }
        Some(weights[self.random.weighted(&only)].0)
    }

    fn carry_out(&mut self, action: Action) -> Result<(), String> {
        self.now.0 += self.random.below(200_000) as i64;
        match action {
            Action::Deliver => self.deliver(),
            Action::Claim => self.claim(),
            Action::Work => self.work(),
            Action::ExpireLease => self.expire_lease(),
            Action::KillWorker => {
                let job = self.some_job();
                self.tally.dead_workers += 1;
                self.trace.say(|| format!("job {job} dies"));
                self.jobs.remove(&job);
                Ok(())
            }
            Action::LoseMail => {
                self.lose_mail();
                Ok(())
            }
            Action::Echo => {
                let at = self.random.below(self.old_mail.len());
                let letter = self.old_mail[at].clone();
                self.tally.echoes += 1;
                self.trace.say(|| "an old message comes again".to_owned());
                self.open_letter(letter).map(|_| ())
            }
            Action::FireTimer => self.fire_timer(),
            Action::StrayTimer => {
                let at = self.random.below(self.old_timers.len());
                let (execution, timer) = self.old_timers[at];
                if self.store.file(execution)?.timers.contains_key(&timer) {
                    return Ok(());
                }
                self.tally.stray_timers += 1;
                self.trace.say(|| "an old timer fires again".to_owned());
                self.feed(execution, Input::TimerFired(timer)).map(|_| ())
            }
            Action::Crash => {
                self.tally.crashes_after += 1;
                self.trace.say(|| "the server crashes".to_owned());
                self.crash();
                Ok(())
            }
            Action::Signal => {
                let execution = self.some_run();
                let name = *self.random.pick(&["go", "stop", "start", "s1", "nobody"]);
                let payload = if self.random.chance(500) {
                    Value::Null
                } else {
                    Value::map([("ok", Value::from(true))])
                };
                self.tally.signals += 1;
                self.feed(execution, Input::Signal { name: name.into(), payload: payload.into() }).map(|_| ())
            }
            Action::Pause => {
                let execution = self.some_run();
                if self.random.chance(500) {
                    self.tally.pauses += 1;
                    self.feed(execution, Input::Pause { reason: "asked for".into() }).map(|_| ())
                } else {
                    self.feed(execution, Input::Resume).map(|_| ())
                }
            }
            Action::Cancel => {
                let execution = self.some_run();
                self.tally.cancels += 1;
                self.feed(execution, Input::Cancel { reason: "asked for".into() }).map(|_| ())
            }
        }
    }

    fn some_run(&mut self) -> ExecutionId {
        let runs: Vec<ExecutionId> = self.store.runs.keys().copied().collect();
        if runs.is_empty() { MAIN } else { *self.random.pick(&runs) }
    }

    pub fn some_job(&mut self) -> u64 {
        let at = self.random.below(self.jobs.len());
        self.jobs.keys().nth(at).copied().unwrap_or_default()
    }

    /// Messages arrive in any order; some arrive more than once.
    fn deliver(&mut self) -> Result<(), String> {
        let at = self.random.below(self.mail.len());
        let letter = self.mail[at].clone();
        if self.random.chance(self.faults.duplicates) {
            self.tally.duplicates += 1;
        } else {
            self.mail.swap_remove(at);
        }
        self.remember(letter.clone());
        let dealt_with = self.open_letter(letter.clone())?;
        if !dealt_with {
            self.mail.push(letter);
        }
        Ok(())
    }

    fn open_letter(&mut self, letter: Letter) -> Result<bool, String> {
        match letter {
            Letter::Input { to, input } => self.feed(to, input),
            Letter::StartChild { command, path, payload, parent } => {
                self.start_child(command, &path, payload, parent)
            }
        }
    }

    /// Only what a worker sends can be lost: the server keeps its own errands until they are done.
    fn lose_mail(&mut self) {
        let at = self.random.below(self.mail.len());
        let from_worker =
            matches!(&self.mail[at], Letter::Input { input: Input::Began { .. } | Input::Ended { .. }, .. });
        if from_worker {
            self.mail.swap_remove(at);
            self.tally.lost_messages += 1;
            self.trace.say(|| "a message is lost".to_owned());
        }
    }

    fn expire_lease(&mut self) -> Result<(), String> {
        let mut held: Vec<(ExecutionId, (VisitId, Item))> = Vec::new();
        for (&execution, file) in &self.store.runs {
            held.extend(
                file.commands
                    .iter()
                    .filter(|(_, row)| row.holder.is_some())
                    .map(|(&key, _)| (execution, key)),
            );
        }
        let (execution, key) = *self.random.pick(&held);
        let row = self.store.file(execution)?.commands[&key].clone();
        if let Some(job) = row.holder.and_then(|holder| self.jobs.get_mut(&holder)) {
            job.lease_expired = true;
        }
        self.tally.expired_leases += 1;
        self.feed(execution, Input::LeaseExpired { command: row.key, attempt: row.attempt }).map(|_| ())
    }

    /// Time passes until a timer is due, or beyond.
    fn fire_timer(&mut self) -> Result<(), String> {
        let mut timers: Vec<(ExecutionId, TimerKey, noetl_types::Timestamp)> = Vec::new();
        for (&execution, file) in &self.store.runs {
            timers.extend(file.timers.iter().map(|(&timer, &at)| (execution, timer, at)));
        }
        let earliest = timers.iter().min_by_key(|(_, _, at)| *at).copied();
        let picked = if self.faults.patience == 0 { earliest } else { Some(*self.random.pick(&timers)) };
        let Some((execution, timer, at)) = picked else {
            return Ok(());
        };
        let late = if self.random.chance(200) { self.random.below(30_000_000) as i64 } else { 0 };
        self.now.0 = self.now.0.max(at.0) + late;
        self.feed(execution, Input::TimerFired(timer)).map(|_| ())
    }

    fn explanation(&mut self, execution: ExecutionId) -> Vec<String> {
        match (self.live.get(&execution), self.store.runs.get(&execution)) {
            (Some(run), Some(file)) => explain(run, &file.plan),
            (None, Some(file)) => match self.store.rebuild(execution, None) {
                Ok(run) => explain(&run, &file.plan),
                Err(error) => vec![error],
            },
            _ => Vec::new(),
        }
    }

    /// Nothing is under way: what a run waits for must be in its explanation, and giving it that must help.
    fn end_a_wait(&mut self) -> Result<(), String> {
        for execution in self.open_runs() {
            let lines = self.explanation(execution);
            let paused = lines.iter().any(|line| line.contains("the run is paused"));
            let signal = lines.iter().find_map(|line| quoted_after(line, "waits for the signal "));
            let input = match (paused, signal) {
                (true, _) => Input::Resume,
                (false, Some(name)) => {
                    Input::Signal { name: name.into(), payload: Value::from("at last").into() }
                }
                (false, None) => continue,
            };
            self.tally.fed_by_explanation += 1;
            let before = self.store.file(execution)?.log.len();
            self.feed(execution, input)?;
            if self.store.file(execution)?.log.len() == before {
                return Err(format!("what the explanation names does not help: {}", lines.join("; ")));
            }
            return Ok(());
        }
        let lines: Vec<String> =
            self.open_runs().into_iter().flat_map(|execution| self.explanation(execution)).collect();
        Err(format!(
            "nothing is under way, and the explanation names nothing to wait for: {}",
            lines.join("; ")
        ))
    }

    /// Nothing is left lying when all runs are over, and all ways to read them agree once more.
    fn check_end(&mut self) -> Result<(), String> {
        let executions: Vec<ExecutionId> = self.store.runs.keys().copied().collect();
        for execution in executions {
            let file = self.store.file(execution)?;
            if !file.timers.is_empty() || !file.commands.is_empty() {
                return Err(format!(
                    "run {execution} is over and leaves {:?} and {:?}",
                    file.timers, file.commands
                ));
            }
            let from_zero = self.store.rebuild(execution, None)?;
            for at in 0..file.snapshots.len() {
                let run = self.store.rebuild(execution, Some(at))?;
                crate::witness::same("a stored snapshot with its tail", &run, &from_zero)?;
            }
            self.ledgers[&execution].check_end(&from_zero)?;
            let counted = match from_zero.status {
                noetl_types::RunStatus::Completed => &mut self.tally.completed,
                noetl_types::RunStatus::Failed => &mut self.tally.failed,
                _ => &mut self.tally.cancelled,
            };
            *counted += 1;
        }
        Ok(())
    }
}

/// The text between quotes that follows these words.
pub(crate) fn quoted_after<'l>(line: &'l str, words: &str) -> Option<&'l str> {
    let rest = &line[line.find(words)? + words.len()..];
    rest.strip_prefix('\'')?.split('\'').next()
}
