//! Holds the store to account at the end: what was acknowledged is there, logs have no gaps and keep the rules of the
//! language, and everything that is derived from them agrees with them.

use noetl_engine::{Run, apply};
use noetl_server::catalog::Reference;
use noetl_server::drive::load_run;
use noetl_store::{CommandFilter, Execution, ExecutionFilter};
use noetl_types::{Event, ExecutionId, RunStatus, StoredValue};

use super::world::World;
use crate::ledger::Ledger;
use crate::tally::Tally;
use crate::witness::same;

/// Rows read at a time.
const PAGE: usize = 1000;

impl World {
    pub fn hold_to_account(&mut self) -> Result<(), String> {
        let executions = self.executions()?;
        for (execution, seq) in &self.acknowledged {
            let Some(found) = executions.iter().find(|found| found.id == *execution) else {
                return Err(format!("run {execution} was acknowledged and is gone"));
            };
            if found.seq < *seq {
                return Err(format!(
                    "event {seq} of run {execution} was acknowledged, and there are only {}",
                    found.seq
                ));
            }
        }
        let mut tally = self.tally;
        for execution in &executions {
            self.check(execution, &mut tally).map_err(|error| format!("run {}: {error}", execution.id))?;
        }
        self.tally = tally;
        Ok(())
    }

    fn executions(&self) -> Result<Vec<Execution>, String> {
        let filter = ExecutionFilter::default();
        self.servers[0].run(self.storage.store.list_executions(&filter, PAGE)).map_err(words)
    }

    fn check(&self, execution: &Execution, tally: &mut Tally) -> Result<(), String> {
        let (server, store) = (&self.servers[0], &self.storage.store);
        let events = self.events(execution.id)?;
        let gapless = events.iter().map(|event| event.seq).eq(1..=execution.seq);
        if !gapless {
            return Err(format!("the log has gaps or not the {} events of its row", execution.seq));
        }
        let mut run = Run::new();
        for event in &events {
            apply(&mut run, event);
        }
        let stored = server.run(load_run(&**store, execution.id)).map_err(words)?;
        let (loaded, _) = stored.ok_or("it can't be loaded")?;
        same("the snapshot with the events after it", &loaded, &run)?;
        if run.status != execution.row.status || !run.status.is_terminal() {
            return Err(format!("the row says {}, the events {}", execution.row.status, run.status));
        }
        let reference = Reference::Id(run.started.catalog_id);
        let playbook =
            server.run(server.drive.playbooks().get(&reference)).map_err(|error| error.to_string())?;
        let mut ledger = Ledger::new(playbook.plan);
        for event in &events {
            let load = |stored: &StoredValue| {
                server.run(server.drive.values().load(&**store, stored)).map_err(words)
            };
            ledger.record(event, &load, tally).map_err(|error| format!("event {}: {error}", event.seq))?;
        }
        ledger.check_end(&run)?;
        self.check_nothing_is_left(execution.id)?;
        tally.children += u64::from(run.started.parent.is_some());
        *match run.status {
            RunStatus::Completed => &mut tally.completed,
            RunStatus::Failed => &mut tally.failed,
            _ => &mut tally.cancelled,
        } += 1;
        Ok(())
    }

    fn events(&self, execution: ExecutionId) -> Result<Vec<Event>, String> {
        let mut events: Vec<Event> = Vec::new();
        loop {
            let after = events.last().map_or(0, |event| event.seq);
            let page =
                self.servers[0].run(self.storage.store.load_events(execution, after, PAGE)).map_err(words)?;
            if page.is_empty() {
                return Ok(events);
            }
            events.extend(page);
        }
    }

    fn check_nothing_is_left(&self, execution: ExecutionId) -> Result<(), String> {
        let (server, store) = (&self.servers[0], &self.storage.store);
        let filter = CommandFilter { execution: Some(execution), ..CommandFilter::default() };
        let commands = server.run(store.list_open_commands(&filter, PAGE)).map_err(words)?;
        if let Some(left) = commands.first() {
            return Err(format!("it is over, and command {} is open", left.row.key));
        }
        let timers = server.run(store.list_timers(execution)).map_err(words)?;
        match timers.first() {
            Some(left) => Err(format!("it is over, and timer {} runs", left.key)),
            None => Ok(()),
        }
    }
}

fn words(error: noetl_store::Error) -> String {
    format!("the store fails: {error}")
}
