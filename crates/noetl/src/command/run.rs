//! `noetl run`

mod dry_run;
mod follow;
mod place;
mod progress;
mod remote;
mod summary;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use noetl_engine::Input;
use noetl_server::catalog::Reference;
use noetl_server::drive::{DriveError, ExecuteRequest, load_run};
use noetl_types::{ExecutionId, RunStatus, Value};
use tracing_subscriber::filter::LevelFilter;

use crate::catalog_names::complete_reference;
use crate::config::{Config, Flags};
use crate::connection::{Runtime, ServerFlags};
use crate::documents::{self, Document};
use crate::embedded::{Embedded, Settings};
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::logging;
use crate::memory;
use crate::output::{Output, mention};
use crate::payload::Inputs;
use crate::playbook_file;
use follow::{Ending, Follower};
use place::Place;
use progress::Progress;

/// Run a playbook here and now without a server, or one of the catalog on the server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl run flow.yaml                         run it and print its result
  noetl run flow.yaml --set city=Oslo         with a value of the workload
  noetl run flow.yaml --payload @input.json   with a payload from a file
  noetl run flow.yaml --data runs/            keep the state, so that the run can be resumed
  noetl run --data runs/ --resume 1234567     go on with a run that was interrupted
  noetl run flow.yaml --dry-run               show what would happen
  noetl run catalog://examples/hello@1        run it on the server, and wait for it

Playbooks that it calls are found by path among the files of its folder. Ctrl-C on a run of the server detaches: it goes
on, and `noetl status ID --wait` comes back to it.
Ends with 0 when the run completed, 1 when it failed, 2 for wrong use, 3 for an invalid playbook, 130 when
interrupted, 143 when asked to end.")]
pub struct Arguments {
    /// The playbook: a file, or catalog://PATH@VERSION for one of the server
    #[arg(value_name = "FILE|catalog://PATH", required_unless_present = "resume", add = ArgValueCompleter::new(complete_reference))]
    playbook: Option<PathBuf>,

    /// Keep the state in this folder. Without it and without `run.data` of the configuration, it is gone after the run
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Go on with a run of the data folder that was interrupted
    #[arg(long, value_name = "ID", conflicts_with_all = ["playbook", "dry_run"])]
    resume: Option<i64>,

    #[command(flatten)]
    inputs: Inputs,

    /// Begin at this step
    #[arg(long, short, value_name = "STEP")]
    target: Option<String>,

    /// Check and show the plan with its first step rendered, run nothing
    #[arg(long)]
    dry_run: bool,

    /// A file with credentials (JSON or YAML); may be given several times
    #[arg(long, value_name = "FILE")]
    credentials: Vec<PathBuf>,

    /// Write one JSON object with the status, the result and the steps
    #[arg(long, short)]
    json: bool,

    /// Show no progress
    #[arg(long, short)]
    quiet: bool,

    /// Where to run: here, or on the server, which is told to start and not waited for
    #[arg(long, short, value_enum, value_name = "WHERE", default_value_t = Runtime::Auto)]
    runtime: Runtime,

    /// The version of a playbook of the catalog; @VERSION says the same
    #[arg(long, short = 'V', value_name = "N", hide = true)]
    version: Option<String>,

    /// Accepted from older scripts: progress is told without it
    #[arg(long, short, hide = true, conflicts_with = "quiet")]
    verbose: bool,
}

pub fn run(arguments: &Arguments, flags: &Flags, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    if let Some(manner) = remote::manner(arguments, server)? {
        return remote::run(arguments, manner, server, out);
    }
    let config = Config::load(flags)?;
    logging::start(&config.log, LevelFilter::ERROR);
    let given = arguments.inputs.read()?;
    if arguments.resume.is_some() {
        let data = arguments.data.as_ref().or(config.run.data.as_ref());
        let Some(data) = data else {
            let sentence = "--resume needs the data folder that the run is in; give it with --data";
            return Err(WrongUse(sentence.to_owned()).into());
        };
        super::data::database(data)?;
    }
    let document = match &arguments.playbook {
        None => None,
        Some(file) => match playbook_file::read(file)? {
            Ok(document) => Some(document),
            Err(exit) => return Ok(exit),
        },
    };
    if let (true, Some(document)) = (arguments.dry_run, &document) {
        return dry_run::run(document, given, arguments.target.as_deref(), out);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(run_here(arguments, config, document, given, out));
    runtime.shutdown_timeout(Duration::from_secs(2));
    exit
}

async fn run_here(
    arguments: &Arguments,
    config: Config,
    document: Option<Document>,
    payload: Value,
    out: &mut Output,
) -> Result<Exit> {
    let place = Place::choose(arguments.data.clone().or_else(|| config.run.data.clone()))?;
    let mut settings = Settings::of(config, &arguments.credentials)?;
    settings.worker.drain = Duration::ZERO;
    let mut interrupts = Interrupts::listen()?;
    let embedded = Embedded::start(place.folder(), settings)?;
    memory::give_back_soon();
    let exit = drive_run(&embedded, arguments, &place, document, payload, &mut interrupts, out).await;
    tokio::select! {
        () = embedded.stop() => exit,
        // Tools that are still there end with this process.
        impatient = interrupts.next() => Ok(impatient),
    }
}

async fn drive_run(
    embedded: &Embedded,
    arguments: &Arguments,
    place: &Place,
    document: Option<Document>,
    payload: Value,
    interrupts: &mut Interrupts,
    out: &mut Output,
) -> Result<Exit> {
    let mut follower = Follower::new(embedded);
    if let Some(resume) = arguments.resume {
        let Some(known) = embedded.drive.store().find_execution(ExecutionId(resume)).await? else {
            return Err(WrongUse(format!("there is no execution {resume} in this data folder")).into());
        };
        follower.pass_over(known.seq);
    }
    let going_on = embedded.recover().await?;
    let execution = match (arguments.resume, &document) {
        (Some(resume), _) => ExecutionId(resume),
        (None, Some(document)) => {
            if going_on > 0 {
                mention(format_args!("{going_on} interrupted runs of this data folder go on too"));
            }
            match begin(embedded, document, payload, arguments.target.as_deref()).await {
                Ok(execution) => execution,
                Err(DriveError::Refused(error)) => return Err(WrongUse(error.to_string()).into()),
                Err(error) => return Err(error.into()),
            }
        }
        (None, None) => bail!("there is nothing to run"),
    };
    let mut progress = Progress::new(arguments.quiet || arguments.json);
    progress.begin(execution, document.as_ref().map(|document| document.name.as_str()));
    match follower.follow(execution, &mut progress, interrupts).await? {
        Ending::Over => {}
        Ending::Stuck(why) => return Err(why).context(place.advice("the run stopped", execution)),
        Ending::Unwanted(exit) => {
            break_off(embedded, execution, place, exit).await?;
            return Ok(exit);
        }
    }
    finish(embedded, execution, arguments, &mut progress, out).await
}

/// Registers the playbook and those beside it, then starts the run.
async fn begin(
    embedded: &Embedded,
    document: &Document,
    payload: Value,
    target: Option<&str>,
) -> Result<ExecutionId, DriveError> {
    let playbooks = embedded.drive.playbooks();
    for sibling in documents::siblings(document) {
        // What is invalid can't be called; a call of it says so.
        let _ = playbooks.register(&sibling.text).await;
    }
    let (playbook, _) = playbooks.register(&document.text).await?;
    let request = ExecuteRequest {
        entry: target.map(Arc::from),
        ..ExecuteRequest::new(Reference::Id(playbook.catalog_id), payload)
    };
    Ok(embedded.drive.execute(request).await?.execution)
}

/// Leaves a run that can be resumed as it is, and cancels one that can't.
async fn break_off(embedded: &Embedded, execution: ExecutionId, place: &Place, exit: Exit) -> Result<()> {
    let what = if exit == Exit::Interrupted { "interrupted" } else { "asked to end" };
    mention(format_args!("{}", place.advice(what, execution)));
    if let Place::Temporary(_) = place {
        embedded.drive.input(execution, Input::Cancel { reason: what.into() }).await?;
    }
    Ok(())
}

async fn finish(
    embedded: &Embedded,
    execution: ExecutionId,
    arguments: &Arguments,
    progress: &mut Progress,
    out: &mut Output,
) -> Result<Exit> {
    let store = embedded.drive.store();
    let Some((run, _)) = load_run(&**store, execution).await? else {
        bail!("execution {execution} is gone");
    };
    let result = match run.result() {
        Some(slot) => summary::load(embedded, slot).await?,
        None => Value::Null,
    };
    progress.end(&run);
    if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &summary::json(&run, &result))?;
        writeln!(out)?;
    } else if run.status == RunStatus::Completed && !result.is_null() {
        serde_json::to_writer_pretty(&mut *out, &result)?;
        writeln!(out)?;
    }
    Ok(match run.status {
        RunStatus::Completed => Exit::Good,
        _ => Exit::Failed,
    })
}
