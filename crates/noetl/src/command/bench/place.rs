//! The server that is measured: one that runs already, or one that is started for it and ends with it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use noetl_client::Client;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::config::Surroundings;
use crate::connection::{ServerFlags, Target, client, connections};

pub struct Place {
    pub client: Client,
    /// Where the server keeps its state, if it was started here. It is killed when this is dropped.
    own: Option<(Child, PathBuf)>,
}

/// What the server says it has used and done so far. What it does not say is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub memory_bytes: Option<f64>,
    pub cpu_seconds: Option<f64>,
    pub events: Option<f64>,
    pub executions: Option<f64>,
}

impl Place {
    /// The server that the flags name.
    pub fn of(flags: &ServerFlags) -> Result<Place> {
        let target = Target::find(flags, &Surroundings::of_this_process())?;
        Ok(Place { client: client(&target)?, own: None })
    }

    /// Starts a server with a worker in a folder of its own.
    pub async fn start(folder: &Path) -> Result<Place> {
        let binary = std::env::current_exe().context("this program can't find itself")?;
        let mut child = Command::new(binary)
            .args(["dev", "--listen", "127.0.0.1:0", "--option", "log.level=error", "--data"])
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("the server can't be started")?;
        let stdout = child.stdout.take().expect("standard output was asked for as a pipe");
        let line = BufReader::new(stdout).lines().next_line().await.ok().flatten();
        let Some(url) = line.as_deref().and_then(|line| line.strip_prefix("listening on ")) else {
            bail!("the server that was to be measured did not start; `noetl dev` says why");
        };
        let client = Client::new(connections(url)?, url, None);
        client.health().await?;
        Ok(Place { client, own: Some((child, folder.to_owned())) })
    }

    pub async fn usage(&self) -> Result<Usage> {
        let text = self.client.metrics().await?;
        Ok(Usage {
            memory_bytes: sample(&text, "process_resident_memory_bytes"),
            cpu_seconds: sample(&text, "process_cpu_seconds_total"),
            events: sample(&text, "noetl_events_total"),
            executions: sample(&text, "noetl_executions_started_total"),
        })
    }

    /// Bytes in the database and its log, if they are here.
    pub fn stored_bytes(&self) -> Option<u64> {
        let (_, folder) = self.own.as_ref()?;
        let files = std::fs::read_dir(folder).ok()?;
        let sizes = files.filter_map(|file| {
            let file = file.ok()?;
            // The log starts over now and then; what stays is in the database.
            let is_state =
                Path::new(&file.file_name()).extension().is_some_and(|extension| extension == "db");
            is_state.then(|| file.metadata().ok().map(|about| about.len()))?
        });
        Some(sizes.sum())
    }
}

/// The value of a metric without labels.
fn sample(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_found_by_their_whole_name() {
        let text = "# TYPE a gauge\na_b 1\na 2.5\n";
        assert_eq!((sample(text, "a"), sample(text, "b")), (Some(2.5), None));
    }
}
