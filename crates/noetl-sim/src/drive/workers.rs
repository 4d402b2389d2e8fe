//! The workers: take commands from the tables of the servers, make calls, and report.

use noetl_engine::Input;
use noetl_engine::pipeline::Next;
use noetl_types::Outcome;

use super::world::{Letter, World};
use crate::job::Job;

/// A command that is worked on.
#[derive(Debug)]
pub struct Working {
    pub job: Job,
    /// The server whose command it is.
    pub server: usize,
}

impl World {
    /// Some worker takes a command, not always the first.
    pub fn take(&mut self) {
        let tables: Vec<usize> =
            (0..self.servers.len()).filter(|&at| self.servers[at].bus.len() > 0).collect();
        if tables.is_empty() {
            return;
        }
        let server = *self.random.pick(&tables);
        let bus = &self.servers[server].bus;
        let dispatched = bus.take(self.random.below(bus.len()));
        let command = dispatched.command;
        self.trace.say(|| format!("a worker takes {} of run {}", command.key, command.execution));
        let job = Job::new(&dispatched.plan, command, self.at_workers.clone());
        let id = self.next_job;
        self.next_job += 1;
        self.jobs.insert(id, Working { job, server });
    }

    /// Some job goes on: it begins, or one of its calls ends.
    pub fn work(&mut self) -> Result<(), String> {
        let at = self.random.below(self.jobs.len());
        let Some(id) = self.jobs.keys().nth(at).copied() else {
            return Ok(());
        };
        let Some(mut working) = self.jobs.remove(&id) else {
            return Ok(());
        };
        let job = &mut working.job;
        if !job.begun {
            job.begun = true;
            let worker = self.servers[working.server].bus.worker().clone();
            let input = Input::Began { command: job.key, attempt: job.attempt, worker };
            self.mail.push(Letter { to: job.execution, input, server: working.server });
        } else if !job.calls.is_empty() {
            let at = self.random.below(job.calls.len());
            let call = job.calls.swap_remove(at);
            let alone = job.calls.is_empty();
            if call.delay_seconds > 0.0 && alone && self.random.chance(self.faults.suspended_delays) {
                let outcome = job.pipeline.suspend_for_delay(call.delay_seconds);
                return self.report(&working, outcome);
            }
            let report = self.tools.answer(&mut self.random, job.execution, job.key, &call);
            job.pipeline.finished(&call, report);
        }
        self.go_on(id, working)
    }

    /// Asks the pipeline until it waits for calls, or reports.
    fn go_on(&mut self, id: u64, mut working: Working) -> Result<(), String> {
        loop {
            let job = &mut working.job;
            match job.pipeline.next(self.now()) {
                Next::Call(calls) => {
                    for call in calls {
                        self.tally.retries += u64::from(job.call(call)?);
                    }
                }
                Next::Wait if job.calls.is_empty() => {
                    return Err(format!("the pipeline of {} waits for calls, and there are none", job.key));
                }
                Next::Wait => {
                    self.jobs.insert(id, working);
                    return Ok(());
                }
                Next::Load(missing) => {
                    let server = &self.servers[working.server];
                    for stored in missing {
                        self.tally.values_loaded += 1;
                        match server.run(server.drive.values().load(&*self.storage.store, &stored)) {
                            Ok(value) => self.at_workers.keep(&stored.uri, value),
                            Err(error) if error.is_retryable() => {
                                // It asks again when it is its turn.
                                self.jobs.insert(id, working);
                                return Ok(());
                            }
                            Err(error) => {
                                return Err(format!("a worker can't load {}: {error}", stored.uri));
                            }
                        }
                    }
                }
                Next::Report(outcome) => return self.report(&working, *outcome),
            }
        }
    }

    fn report(&mut self, working: &Working, outcome: Outcome) -> Result<(), String> {
        let job = &working.job;
        job.check_outcome(&outcome)?;
        self.trace.say(|| format!("{} of run {} (attempt {}) is done", job.key, job.execution, job.attempt));
        let input = Input::Ended { command: job.key, attempt: job.attempt, outcome };
        self.mail.push(Letter { to: job.execution, input, server: working.server });
        Ok(())
    }

    /// Workers hear that attempts are to be stopped. Some don't.
    pub fn stop_cancelled(&mut self) {
        for server in &self.servers {
            for (execution, key, attempt) in server.bus.take_cancelled() {
                if self.random.chance(self.faults.deaf_jobs) {
                    continue;
                }
                self.jobs.retain(|_, working| {
                    let job = &working.job;
                    (job.execution, job.key, job.attempt) != (execution, key, attempt)
                });
            }
        }
    }
}
