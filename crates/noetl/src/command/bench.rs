//! `noetl bench`

mod machine;
mod numbers;
mod place;
mod workload;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use noetl_store_sqlite::yardstick;

use self::machine::Watched;
use self::numbers::{Numbers, Yardsticks};
use self::place::Place;
use self::workload::Workload;
use crate::config::parse_time;
use crate::connection::ServerFlags;
use crate::exit::Exit;
use crate::form::Form;
use crate::interrupts::Interrupts;
use crate::output::{Output, mention};

/// Measure how fast playbooks run here, beside what the disk and bare SQLite do
///
/// Starts a server of its own in a temporary folder and asks it over HTTP, as any client would; nothing is answered before it
/// is on the disk. With --server it asks that one, and leaves playbooks named bench/… in its catalog.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl bench                                           everything, about a minute
  noetl bench --workload one_step --workload chain_40   some of it
  noetl bench --data /mnt/disk --json                   on the disk of this folder, one object for programs
  noetl bench --server http://127.0.0.1:8082            a server that runs already")]
pub struct Arguments {
    /// Measure a server that is started for it; the default unless --server or --context names one
    #[arg(long, conflicts_with_all = ["server", "host", "port", "context"])]
    embedded: bool,

    /// Only this; may be given several times
    #[arg(long, value_name = "NAME", value_enum)]
    workload: Vec<Workload>,

    /// How long each throughput is measured, such as 10s
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    duration: Duration,

    /// The folder on whose disk to measure, in place of the system's temporary one
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    #[command(flatten)]
    form: Form,
}

fn duration(text: &str) -> Result<Duration, &'static str> {
    parse_time(text).filter(|time| !time.is_zero()).ok_or("write a time, such as 10s")
}

/// How long each yardstick is measured.
const YARDSTICK: Duration = Duration::from_secs(1);

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let folder = match &arguments.data {
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("the folder {} can't be made", folder.display()))?;
            tempfile::Builder::new().prefix("noetl-bench-").tempdir_in(folder)
        }
        None => tempfile::Builder::new().prefix("noetl-bench-").tempdir(),
    };
    let folder = folder.context("no temporary folder can be made")?;
    let progress = Told { seen: !arguments.form.quiet && std::io::stderr().is_terminal() };
    // One thread, so that those of the server have the cores.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no threads can be started")?;
    let outcome = runtime.block_on(async {
        let mut interrupts = Interrupts::listen()?;
        tokio::select! {
            numbers = measure(arguments, server, folder.path(), &progress) => numbers.map(Ok),
            exit = interrupts.next() => Ok(Err(exit)),
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    progress.over();
    match outcome? {
        Ok(numbers) => {
            arguments.form.answer(&numbers, out, |out| numbers.write(out))?;
            let is_for_people = !arguments.form.json && !arguments.form.quiet;
            if let Some(remark) = numbers.remark().filter(|_| is_for_people) {
                mention(format_args!("{remark}"));
            }
            Ok(Exit::Good)
        }
        Err(exit) => Ok(exit),
    }
}

async fn measure(
    arguments: &Arguments,
    server: &ServerFlags,
    folder: &std::path::Path,
    progress: &Told,
) -> Result<Numbers> {
    let watched = Watched::begin();
    progress.now("the disk and bare SQLite");
    let yardsticks = yardsticks(folder.to_owned()).await?;
    let is_named = server.server.is_some() || server.host.is_some() || server.port.is_some();
    let place = if is_named || server.context.is_some() {
        Place::of(server)?
    } else {
        progress.now("start of a server");
        Place::start(&folder.join("state")).await?
    };
    let wanted = if arguments.workload.is_empty() { Workload::all() } else { arguments.workload.clone() };
    let mut numbers = Numbers::new(yardsticks);
    let before = place.usage().await?;
    for workload in wanted {
        progress.now(workload.name());
        workload.register(&place.client).await?;
        let (begun, stored) = (place.usage().await?, place.stored_bytes());
        let measured = workload.measure(&place.client, arguments.duration).await?;
        let ended = place.usage().await?;
        if workload.is_throughput() {
            numbers.count_executions(&begun, &ended, stored.zip(place.stored_bytes()));
        }
        numbers.add(workload.name(), measured, &ended);
    }
    numbers.spent(&before, &place.usage().await?);
    numbers.beside(watched.end());
    Ok(numbers)
}

async fn yardsticks(folder: PathBuf) -> Result<Yardsticks> {
    let measuring = tokio::task::spawn_blocking(move || -> Result<Yardsticks> {
        Ok(Yardsticks {
            fsync_ms: yardstick::sync_seconds(&folder, YARDSTICK).context("the disk can't be measured")?
                * 1e3,
            sqlite_commits_per_s: yardstick::commits_per_second(&folder, YARDSTICK)?,
            sqlite_rows_per_s: yardstick::rows_per_second(&folder, YARDSTICK)?,
        })
    });
    measuring.await.context("the disk can't be measured")?
}

/// Says on a terminal what is being measured.
struct Told {
    seen: bool,
}

impl Told {
    fn now(&self, what: &str) {
        if self.seen {
            // With standard error closed there is nobody left to tell.
            let _ = write!(std::io::stderr(), "\r\x1b[2K… measuring {what}");
        }
    }

    fn over(&self) {
        if self.seen {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
