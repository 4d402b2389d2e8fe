//! One step of an execution.

use noetl_engine::StepRecord;
use noetl_types::{Event, EventBody, ExecutionId};

use super::Looked;
use crate::app::{App, Code, Error};

/// What happened in the latest visit of a step, newest first.
#[derive(Clone, Debug)]
pub struct StepHistory {
    pub looked: Looked,
    pub record: StepRecord,
    pub events: Vec<Event>,
}

/// Events looked at at a time, and how often.
const PAGE: usize = 500;
const PAGES: usize = 20;

/// Events of the step that are told.
const MOST: usize = 400;

impl App {
    pub async fn step_history(&self, id: ExecutionId, step: &str) -> Result<StepHistory, Error> {
        let looked = self.look(id).await?;
        let Some(record) = looked.run.steps.get(step).cloned() else {
            let known = looked.plan.as_ref().is_some_and(|plan| plan.find_step(step).is_some());
            let message = match known {
                true => format!("execution {id} has not come to step '{step}'"),
                false => format!("the playbook of execution {id} has no step '{step}'"),
            };
            return Err(Error::new(Code::StepNotFound, message));
        };
        let mut events = Vec::new();
        let mut before = looked.run.seq.saturating_add(1);
        for _ in 0..PAGES {
            let page = self.store().load_events_back(id, before, PAGE).await?;
            let is_last = page.len() < PAGE;
            before = page.last().map_or(0, |event| event.seq);
            for event in page {
                if event.body.step().is_none_or(|name| **name != *step) {
                    continue;
                }
                // A visit begins where the step is entered; one that is skipped has that alone.
                let is_begin = matches!(
                    event.body,
                    EventBody::StepEntered { .. }
                        | EventBody::StepSkipped { .. }
                        | EventBody::StepKept { .. }
                );
                events.push(event);
                if is_begin {
                    return Ok(StepHistory { looked, record, events });
                }
                if events.len() > MOST {
                    events.pop();
                }
            }
            if is_last {
                break;
            }
        }
        Ok(StepHistory { looked, record, events })
    }
}
