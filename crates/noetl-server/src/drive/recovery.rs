//! Taking up what a crash or a lost message left lying in a run.

use std::collections::HashSet;
use std::sync::Arc;

use noetl_engine::{Input, OpenState, Values, command_for};
use noetl_store::CommandFilter;
use noetl_types::{Await, CommandKey, ExecutionId, Outcome, Report};

use super::DriveError;
use super::turn::{AtHand, Part, Turn, storage_error};
use crate::catalog::Reference;

/// More commands than one run has open.
const ALL_OPEN: usize = 10_000_000;

impl Turn {
    /// Takes up what a crash left lying. The workers of the process died with it, so their commands are given out again,
    /// like those that nobody had. Workers elsewhere go on with theirs.
    pub(super) async fn recover(&self, part: &mut Part) -> Result<(), DriveError> {
        let mut children = Vec::new();
        let mut lost = Vec::new();
        for (&(visit, item), open) in &part.session.run.commands {
            let key = CommandKey { visit, item, part: open.part };
            match (&open.state, open.child) {
                (OpenState::Issued | OpenState::Started { .. }, _) => lost.push((key, open.attempt)),
                (OpenState::Waiting { on: on @ Await::Child { .. }, .. }, Some(child)) => {
                    children.push((key, child, on.clone()));
                }
                _ => {}
            }
        }
        if !lost.is_empty() {
            let elsewhere = self.held_elsewhere(part.write.execution).await?;
            lost.retain(|command| !elsewhere.contains(command));
        }
        for (key, attempt) in lost {
            self.give_out_again(part, key, attempt).await?;
        }
        for (key, child, on) in children {
            self.recover_child(part, key, child, on).await?;
        }
        Ok(())
    }

    /// The attempts that workers of other processes have leases of. Leases of workers that died with a process are given
    /// up, unless this process has workers of the same name.
    async fn held_elsewhere(&self, execution: ExecutionId) -> Result<HashSet<(CommandKey, u16)>, DriveError> {
        let process_worker = self.shared.dispatcher.process_worker();
        let given_up = self.shared.dispatcher.holder().is_none();
        let filter = CommandFilter { execution: Some(execution), ..CommandFilter::default() };
        let mut elsewhere = HashSet::new();
        for command in self.shared.store.list_open_commands(&filter, ALL_OPEN).await? {
            let (key, attempt) = (command.row.key, command.row.attempt);
            match command.row.lease {
                Some(lease) if lease.worker != process_worker => {
                    elsewhere.insert((key, attempt));
                }
                Some(lease) if given_up => {
                    self.shared.store.release_command(execution, key, attempt, &lease.worker).await?;
                }
                _ => {}
            }
        }
        Ok(elsewhere)
    }

    async fn give_out_again(&self, part: &mut Part, key: CommandKey, attempt: u16) -> Result<(), DriveError> {
        let at_hand = AtHand::new(&self.shared.values);
        let values: Arc<dyn Values> = at_hand.clone();
        let plan = part.session.playbook.plan.clone();
        loop {
            match command_for(&part.session.run, &plan, key, attempt, &values) {
                Ok(Some(command)) => {
                    part.told.dispatched.push(command);
                    return Ok(());
                }
                Ok(None) => return Ok(()),
                Err(missing) => {
                    if let Some(lost) = self.load(&at_hand, &missing).await? {
                        let report = Report::failure(storage_error(&lost));
                        let outcome = Outcome::finished(report);
                        return self.input(part, Input::Ended { command: key, attempt, outcome }).await;
                    }
                }
            }
        }
    }

    /// A child may have ended without its parent hearing of it, or never have begun.
    async fn recover_child(
        &self,
        part: &mut Part,
        command: CommandKey,
        child: ExecutionId,
        on: Await,
    ) -> Result<(), DriveError> {
        match super::session::load_run(&*self.shared.store, child).await? {
            Some((run, _)) if run.status.is_terminal() => {
                let wanted = run.started.parent.as_ref().and_then(|parent| parent.return_step.clone());
                let data = match wanted {
                    Some(step) => run.result_of(&step).cloned(),
                    None => run.result().cloned(),
                };
                let report =
                    Report { data: data.unwrap_or_default(), error: run.error.clone(), ..Report::default() };
                let input = Input::ChildEnded { command, child, status: run.status, report };
                self.input(part, input).await
            }
            Some(_) => Ok(()),
            None => {
                let Await::Child { path, catalog_id, version, payload, return_step, detached, .. } = on
                else {
                    return Ok(());
                };
                let reference = match (catalog_id, version) {
                    (Some(id), _) => Reference::Id(id),
                    (None, Some(version)) => Reference::Version(path.to_string(), version),
                    (None, None) => Reference::Latest(path.to_string()),
                };
                let parent = noetl_types::ParentLink {
                    execution: part.write.execution,
                    command,
                    detached,
                    return_step,
                };
                let playbook = self.shared.playbooks.get(&reference).await?;
                match self.child_start(child, &playbook, payload, parent, &part.session.run.started) {
                    Ok(work) => {
                        part.told.news.push((child, work));
                        Ok(())
                    }
                    Err(error) => self.input(part, Input::ChildRefused { command, error }).await,
                }
            }
        }
    }
}
