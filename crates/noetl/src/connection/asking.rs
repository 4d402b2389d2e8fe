//! Runs what a command asks of its server. Somebody who waits longer than a second sees for what.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use noetl_client::{Client, Retry};

use super::flags::ServerFlags;
use super::http::connections;
use super::target::Target;
use crate::config::Surroundings;

/// People wait, so a server that is not there is said soon.
const RETRY: Retry =
    Retry { tries: 3, first: Duration::from_millis(100), longest: Duration::from_millis(1000) };

/// How long nothing is said while a server takes its time.
const SHORT: Duration = Duration::from_secs(1);

/// Asks the server that is meant, and shows that it waits when that takes long.
pub fn ask<T>(flags: &ServerFlags, quiet: bool, work: impl AsyncFnOnce(Client) -> Result<T>) -> Result<T> {
    converse(flags, async |client| {
        let url = client.base().to_owned();
        let is_seen = !quiet && std::io::stderr().is_terminal();
        let answer = work(client);
        if is_seen { showing_that_it_waits(&url, answer).await } else { answer.await }
    })
}

/// The same for work that shows by itself how it gets on.
pub fn converse<T>(flags: &ServerFlags, work: impl AsyncFnOnce(Client) -> Result<T>) -> Result<T> {
    let target = Target::find(flags, &Surroundings::of_this_process())?;
    let client = client(&target)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("no threads can be started")?;
    let answer = runtime.block_on(work(client));
    runtime.shutdown_timeout(Duration::from_millis(100));
    answer
}

/// A client of this server.
pub fn client(target: &Target) -> Result<Client> {
    let http = connections(&target.url)?;
    Ok(Client::new(http, &target.url, target.token.as_deref()).with_retry(RETRY))
}

async fn showing_that_it_waits<T>(url: &str, work: impl Future<Output = T>) -> T {
    let begun = Instant::now();
    let mut work = std::pin::pin!(work);
    let mut is_shown = false;
    loop {
        let done = tokio::time::timeout(SHORT, &mut work).await;
        let mut stderr = std::io::stderr().lock();
        // With standard error closed there is nobody left to tell.
        if let Ok(done) = done {
            if is_shown {
                let _ = write!(stderr, "\r\x1b[2K");
            }
            return done;
        }
        let _ = write!(stderr, "\r\x1b[2K… waiting for {url}, {} s", begun.elapsed().as_secs());
        let _ = stderr.flush();
        is_shown = true;
    }
}
