//! After the faults: whatever is left is done until every run has come to its end.

use std::time::Duration;

use noetl_engine::{Input, explain};
use noetl_server::drive::load_run;
use noetl_store::{Execution, ExecutionFilter};
use noetl_types::{RunStatus, Value};

use super::world::{Letter, World};
use crate::scenario::Scenario;
use crate::schedule::quoted_after;

/// Rounds after which a simulation is taken for endless.
const MANY_ROUNDS: usize = 4_000;

/// Rounds after which a run that need not end by itself is cancelled.
const ENOUGH_ROUNDS: usize = 300;

/// Executions read at a time.
const PAGE: usize = 500;

impl World {
    pub fn finish(&mut self, scenario: &Scenario) -> Result<(), String> {
        for round in 0..MANY_ROUNDS {
            while !self.to_start.is_empty() {
                self.start(scenario)?;
            }
            self.work_everything_off()?;
            let open = self.open_runs()?;
            if open.is_empty() {
                return Ok(());
            }
            if round >= ENOUGH_ROUNDS && !scenario.ends {
                for run in open {
                    self.ask(&run, Input::Cancel { reason: "enough".into() });
                }
                continue;
            }
            if self.pass_until_something_is_due()? {
                continue;
            }
            self.end_a_wait(&open)?;
        }
        let open = self.open_runs()?;
        let waiting: Vec<String> = open.iter().flat_map(|run| self.explanation(run)).collect();
        Err(format!("no end after {MANY_ROUNDS} rounds: {}", waiting.join("; ")))
    }

    /// Commands are taken, worked on and reported until none is left.
    fn work_everything_off(&mut self) -> Result<(), String> {
        loop {
            for server in &self.servers {
                server.come_to_rest();
            }
            self.stop_cancelled();
            let commands = self.servers.iter().any(|server| server.bus.len() > 0);
            if !commands && self.jobs.is_empty() && self.mail.is_empty() {
                return Ok(());
            }
            while self.servers.iter().any(|server| server.bus.len() > 0) {
                self.take();
            }
            while !self.jobs.is_empty() {
                self.work()?;
            }
            while !self.mail.is_empty() {
                self.deliver();
            }
        }
    }

    fn open_runs(&self) -> Result<Vec<Execution>, String> {
        let filter = ExecutionFilter {
            statuses: vec![RunStatus::Pending, RunStatus::Running, RunStatus::Paused],
            ..ExecutionFilter::default()
        };
        let server = &self.servers[0];
        server
            .run(self.storage.store.list_executions(&filter, PAGE))
            .map_err(|error| format!("executions can't be listed: {error}"))
    }

    /// Time passes until a timer is due, or until the leases of workers that are gone have run out.
    fn pass_until_something_is_due(&mut self) -> Result<bool, String> {
        let server = &self.servers[0];
        let failed = |error: noetl_store::Error| format!("the store fails: {error}");
        let next = server.run(self.storage.store.next_timer()).map_err(failed)?;
        let held =
            server.run(self.storage.store.list_open_commands(&Default::default(), 1)).map_err(failed)?;
        if held.is_empty() && next.is_none() {
            return Ok(false);
        }
        if !held.is_empty() {
            self.pass(Duration::from_secs(31));
            self.expire_leases();
        } else if let Some(next) = next {
            self.clock.set(next);
            self.fire_timers();
        }
        Ok(true)
    }

    fn ask(&mut self, run: &Execution, input: Input) {
        let server = self.some_server();
        self.send(server, vec![Letter { to: run.id, input, server }]);
    }

    fn explanation(&self, execution: &Execution) -> Vec<String> {
        let server = &self.servers[0];
        let loaded = server.run(async {
            let (run, _) = load_run(&*self.storage.store, execution.id).await.ok()??;
            let reference = noetl_server::catalog::Reference::Id(run.started.catalog_id);
            let playbook = server.drive.playbooks().get(&reference).await.ok()?;
            Some((run, playbook))
        });
        match loaded {
            Some((run, playbook)) => explain(&run, &playbook.plan),
            None => vec![format!("run {} can't be loaded", execution.id)],
        }
    }

    /// Nothing is under way: what a run waits for must be in its explanation, and giving it that must help.
    fn end_a_wait(&mut self, open: &[Execution]) -> Result<(), String> {
        let mut lines = Vec::new();
        for run in open {
            let explained = self.explanation(run);
            let paused = explained.iter().any(|line| line.contains("the run is paused"));
            let signal = explained.iter().find_map(|line| quoted_after(line, "waits for the signal "));
            let input = match (paused, signal) {
                (true, _) => Input::Resume,
                (false, Some(name)) => {
                    Input::Signal { name: name.into(), payload: Value::from("at last").into() }
                }
                (false, None) => {
                    lines.extend(explained);
                    continue;
                }
            };
            self.tally.fed_by_explanation += 1;
            self.ask(run, input);
            return Ok(());
        }
        Err(format!(
            "nothing is under way, and the explanation names nothing to wait for: {}",
            lines.join("; ")
        ))
    }
}
