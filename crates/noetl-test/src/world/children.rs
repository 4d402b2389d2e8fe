//! What tasks wait for: playbooks that they call, and signals.

use std::sync::Arc;

use noetl_engine::Input;
use noetl_types::{Await, CommandKey, ExecutionId, ParentLink, Report, RunStatus, ToolError, Value};

use super::World;
use super::agenda::{Happening, Work, later};
use super::answers::mock_name;
use super::calls::Situation;
use crate::problem::Problem;

impl World<'_> {
    /// A task waits: its call is noted, and a signal that the case has for it is on its way.
    pub(super) fn wait_for(&mut self, work: Work, on: &Await, situation: Situation) {
        match on {
            Await::Child { path, payload, .. } => {
                let settings = Value::map([("path", Value::Text(path.clone()))]);
                let situation = Situation { input: payload.clone(), settings, ..situation };
                self.note_call(&situation);
                self.suspended.insert((work.execution, work.command), situation);
            }
            Await::Signal { name, prompt, .. } => {
                let settings =
                    Value::map([("signal", Value::Text(name.clone())), ("prompt", prompt.clone())]);
                self.note_call(&Situation { settings, ..situation });
                if let Some(at) = self.signals.iter().position(|signal| signal.name == *name) {
                    let signal = self.signals.remove(at);
                    let (name, payload) = (signal.name, signal.payload);
                    let happening = Happening::SignalComes { execution: work.execution, name, payload };
                    self.agenda.put(later(self.now, signal.after), happening);
                }
            }
            Await::Sleep { seconds } => {
                // The delay before another try of a task that waits is no call.
                if &*situation.kind == "wait" {
                    let settings = Value::map([("seconds", Value::from(*seconds))]);
                    self.note_call(&Situation { settings, ..situation });
                }
            }
        }
    }

    /// Starts a playbook that a task calls, unless a mock answers for it.
    pub(super) fn start_child(
        &mut self,
        execution: ExecutionId,
        command: CommandKey,
        path: &Arc<str>,
        payload: Value,
        parent: ParentLink,
    ) {
        let Some(situation) = self.suspended.remove(&(execution, command)) else {
            return;
        };
        match self.mocked(&situation) {
            Err(problem) => self.problem = Some(*problem),
            Ok(Some((report, delay))) => {
                let child = self.new_execution();
                self.inbox.push_back((execution, Input::ChildStarted { command, child }));
                let answer = match report.error {
                    Some(error) => Err(Box::new(error)),
                    None => Ok(report.data.as_inline().cloned().unwrap_or_default()),
                };
                let happening = Happening::ChildAnswers { execution, command, child, answer };
                self.agenda.put(later(self.now, delay), happening);
            }
            Ok(None) => match self.playbooks.by_path.get(path).cloned() {
                None => self.problem = Some(self.unknown_playbook(&situation, path)),
                Some(playbook) => {
                    let input = match self.begin(&playbook, payload, None, Some(parent)) {
                        Ok(child) => Input::ChildStarted { command, child },
                        Err(error) => Input::ChildRefused { command, error },
                    };
                    self.inbox.push_back((execution, input));
                }
            },
        }
    }

    pub(super) fn answer_for_child(
        &mut self,
        execution: ExecutionId,
        command: CommandKey,
        child: ExecutionId,
        answer: Result<Value, Box<ToolError>>,
    ) {
        let input = match answer {
            Ok(value) => {
                let report = Report::success(value);
                Input::ChildEnded { command, child, status: RunStatus::Completed, report }
            }
            Err(error) => Input::ChildRefused { command, error: *error },
        };
        self.inbox.push_back((execution, input));
    }

    fn unknown_playbook(&self, situation: &Situation, path: &str) -> Problem {
        let name = mock_name(situation, &self.playbooks.main);
        let message = match path {
            "" => format!("`{name}` calls a playbook by its catalog id, which only a server knows"),
            path => {
                format!("`{name}` calls the playbook `{path}`, which is not among the files beside this one")
            }
        };
        Problem::new("mocks", message, self.case.place)
            .with_help(format!("add `mocks: {{{name}: {{value: …}}}}` to the case"))
            .at(Some(situation.source.clone()))
    }
}
