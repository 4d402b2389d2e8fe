//! Executions of a server.

use anyhow::{Context, Result};
use noetl_client::api::execution::EventsParameters;

use super::rows::event_of;
use super::{History, plan_of};
use crate::command::data::RunOf;
use crate::connection::{ServerFlags, ask};

/// Few enough that the server has room for their values in one answer.
const PAGE: u64 = 50;

pub fn history(run: &RunOf, server: &ServerFlags) -> Result<History> {
    ask(server, false, async |client| {
        let execution = run.on_server(&client).await?;
        let mut asked = EventsParameters {
            after_seq: Some(0),
            limit: Some(PAGE),
            resolve: Some(true),
            ..EventsParameters::default()
        };
        let mut rows = Vec::new();
        loop {
            let page = client.list_events(execution, &asked).await?;
            rows.extend(page.events);
            asked.after_seq = rows.last().map(|row| row.seq);
            if !page.has_more || rows.is_empty() {
                break;
            }
        }
        let first = rows.first().context("the execution has no events")?;
        let entry = client.entry(first.catalog_id.0).await?;
        let plan = plan_of(&entry.content.context("the server did not send the playbook's text")?)?;
        let mut events = Vec::new();
        for row in &rows {
            events.extend(event_of(row, &plan)?);
        }
        Ok((plan, events))
    })
}
