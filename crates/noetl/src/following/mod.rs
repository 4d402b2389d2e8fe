//! Follows an execution on a server to its end. Whoever breaks off detaches: the execution goes on without them.

mod story;

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use noetl_client::Client;
use noetl_client::api::execution::{Detail, DetailParameters};

use crate::exit::Exit;
use crate::form::{Form, write_json};
use crate::interrupts::Interrupts;
use crate::output::{Output, mention};
use story::Story;

/// How often the line that says what goes on is written anew.
const TICK: Duration = Duration::from_millis(500);

/// What is told meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detailed {
    /// Where it stands, on a line that is written over.
    Standing,
    /// Each step that ends.
    Steps,
}

/// Waits until the execution is over and answers with what it came to. The exit code says how it went.
pub async fn to_the_end(
    client: &Client,
    execution: i64,
    path: &str,
    detailed: Detailed,
    form: Form,
    out: &mut Output,
) -> Result<Exit> {
    let mut story = Story::new(form.json || form.quiet, detailed);
    story.begin(execution, path);
    let mut interrupts = Interrupts::listen()?;
    let mut events = client.follow_events(execution, 0);
    let mut tick = tokio::time::interval(TICK);
    loop {
        let mut next = std::pin::pin!(events.next());
        let event = loop {
            tokio::select! {
                event = &mut next => break event?,
                _ = tick.tick() => story.show_standing(),
                exit = interrupts.next() => {
                    story.clear();
                    let again = format!("noetl status {execution} --wait");
                    mention(format_args!("detached; execution {execution} goes on. Come back with: {again}"));
                    return Ok(exit);
                }
            }
        };
        match event {
            Some(event) => story.tell(&event),
            None => break,
        }
    }
    let asked =
        DetailParameters { include_events: Some(false), resolve: Some(true), ..DetailParameters::default() };
    let detail = client.execution(execution, &asked).await?;
    story.end(&detail);
    answer(&detail, form, out)
}

/// The result of an execution that is over.
fn answer(detail: &Detail, form: Form, out: &mut Output) -> Result<Exit> {
    let execution = &detail.summary;
    let completed = execution.status == "COMPLETED";
    if form.json {
        write_json(detail, out)?;
    } else if completed && !execution.result.is_null() {
        serde_json::to_writer_pretty(&mut *out, &execution.result)?;
        writeln!(out)?;
    }
    Ok(if completed { Exit::Good } else { Exit::Failed })
}
