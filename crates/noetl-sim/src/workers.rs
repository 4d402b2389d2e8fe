//! The workers: take commands, make calls, and report.

use std::sync::Arc;

use noetl_engine::pipeline::Next;
use noetl_engine::{Input, Values};
use noetl_types::{Command, ExecutionId, Item, Outcome, VisitId};

use crate::job::Job;
use crate::store::Commit;
use crate::world::World;

impl World {
    /// A worker takes a command, as it was issued or as it is put together now.
    pub fn claim(&mut self) -> Result<(), String> {
        let mut waiting: Vec<(ExecutionId, (VisitId, Item))> = Vec::new();
        for (&execution, file) in &self.store.runs {
            waiting.extend(
                file.commands
                    .iter()
                    .filter(|(_, row)| row.holder.is_none())
                    .map(|(&key, _)| (execution, key)),
            );
        }
        let (execution, key) = *self.random.pick(&waiting);
        let row = &self.store.file(execution)?.commands[&key];
        let issued: Command =
            serde_json::from_str(&row.json).map_err(|error| format!("reading a command: {error}"))?;
        let command = if self.random.chance(300) { self.command_now(&issued)? } else { issued };
        let values: Arc<dyn Values> = self.at_workers.clone();
        let plan = self.store.file(execution)?.plan.clone();
        let job = self.new_job(Job::new(&plan, command, values));
        if let Some(row) = self.store.runs.get_mut(&execution).and_then(|file| file.commands.get_mut(&key)) {
            row.holder = Some(job);
        }
        self.trace.say(|| format!("job {job} takes {:?} of run {execution}", key));
        Ok(())
    }

    /// Some job goes on: it begins, or one of its calls ends.
    pub fn work(&mut self) -> Result<(), String> {
        let id = self.some_job();
        let Some(mut job) = self.jobs.remove(&id) else {
            return Ok(());
        };
        if self.random.chance(self.faults.forgetting) {
            self.at_workers.forget_all();
        }
        if !job.begun {
            job.begun = true;
            let input = Input::Began {
                command: job.key,
                attempt: job.attempt,
                worker: format!("worker-{id}").into(),
            };
            self.send(job.execution, input);
        } else if !job.calls.is_empty() {
            let at = self.random.below(job.calls.len());
            let call = job.calls.swap_remove(at);
            let alone = job.calls.is_empty();
            if call.delay_seconds > 0.0 && alone && self.random.chance(self.faults.suspended_delays) {
                let outcome = job.pipeline.suspend_for_delay(call.delay_seconds);
                return self.report(id, &job, outcome);
            }
            let report = self.tools.answer(&mut self.random, job.execution, job.key, &call);
            self.trace.say(|| {
                let how = report.error.as_ref().map_or("ok".to_owned(), |error| error.to_string());
                format!(
                    "job {id}: call {}#{} attempt {} of {}: {how}",
                    call.label, call.item, call.attempt, job.key
                )
            });
            job.pipeline.finished(&call, report);
        }
        self.go_on(id, job)
    }

    /// Asks the pipeline until it waits for calls, or reports.
    fn go_on(&mut self, id: u64, mut job: Job) -> Result<(), String> {
        loop {
            match job.pipeline.next(self.now) {
                Next::Call(calls) => {
                    for call in calls {
                        self.tally.retries += u64::from(job.call(call)?);
                    }
                }
                Next::Wait if job.calls.is_empty() => {
                    return Err(format!("the pipeline of {} waits for calls, and there are none", job.key));
                }
                Next::Wait => {
                    self.jobs.insert(id, job);
                    return Ok(());
                }
                Next::Load(missing) => {
                    for stored in missing {
                        self.tally.values_loaded += 1;
                        let value = self.store.load(&stored, &Commit::default())?;
                        self.at_workers.keep(&stored.uri, value);
                    }
                }
                Next::Report(outcome) => return self.report(id, &job, *outcome),
            }
        }
    }

    fn report(&mut self, id: u64, job: &Job, outcome: Outcome) -> Result<(), String> {
        job.check_outcome(&outcome)?;
        self.tally.late_outcomes += u64::from(job.lease_expired);
        self.trace.say(|| format!("job {id} reports on {} (attempt {})", job.key, job.attempt));
        let json = serde_json::to_string(&outcome).map_err(|error| format!("an outcome as JSON: {error}"))?;
        let outcome = serde_json::from_str(&json).map_err(|error| format!("reading {json}: {error}"))?;
        self.send(job.execution, Input::Ended { command: job.key, attempt: job.attempt, outcome });
        Ok(())
    }
}
