//! `noetl worker`

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::Args;
use noetl_client::{Client, Retry};
use noetl_tools::Toolbox;
use noetl_worker::{ControlError, RemoteControl, Worker, WorkerConfig};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use super::serving;
use crate::config::{Config, Flags};
use crate::connection::connections;
use crate::embedded::Settings;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::logging::{self, LogFlags};
use crate::output::{Output, mention};

/// Start a worker that takes commands from a server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl worker                                                  for the server on this machine
  noetl worker --server http://10.0.0.7:8082 --pool gpu         only commands of the pool gpu
  noetl worker --concurrency 4 --token \"$(cat worker.token)\"

It goes on working when the server is away, and finds it again. Ctrl-C and SIGTERM make it finish what it has begun and
give back the rest.

Environment: NOETL_SERVER_URL, WORKER_ID, WORKER_POOL_NAME, WORKER_MAX_CONCURRENT and NOETL_INTERNAL_API_TOKEN say the same
as the flags; flags count more.")]
pub struct Arguments {
    /// The address of the server, http://127.0.0.1:8082 unless configured otherwise
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// A pool to take commands from, shared unless configured otherwise; may be given several times
    #[arg(long = "pool", value_name = "NAME")]
    pools: Vec<String>,

    /// How many commands to work on at once
    #[arg(long, alias = "max-workers", value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: Option<u16>,

    /// The token that lets the worker in
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,

    /// The name of this worker, unlike that of any other; made up when it is left out
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    log: LogFlags,

    /// `noetl worker start`, as older scripts have it
    #[arg(value_parser = ["start"], hide = true)]
    action: Option<String>,
}

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    let mut flags = flags.clone();
    let given = [
        ("server.url", "--server", arguments.server.clone()),
        ("worker.concurrency", "--concurrency", arguments.concurrency.map(|count| count.to_string())),
        ("worker.name", "--name", arguments.name.clone()),
    ];
    for (key, flag, text) in given {
        if let Some(text) = text {
            flags.set(key, flag, text);
        }
    }
    arguments.log.set(&mut flags);
    let config = Config::load(&flags)?;
    logging::start(&config.log, LevelFilter::INFO);
    serving::block_on(work(arguments, config, out))
}

async fn work(arguments: &Arguments, config: Config, out: &mut Output) -> Result<Exit> {
    let server = config.server.url();
    let internal_token = config.server.internal_token.as_ref().map(|token| token.reveal().to_owned());
    let token = arguments.token.clone().or(internal_token);
    let client = Client::new(connections(&server)?, &server, token.as_deref());
    let Settings { worker, tools, credentials, .. } = Settings::of(config, &[])?;
    let config = named(worker, arguments, &server);
    let control = RemoteControl::new(client.clone(), Arc::new(credentials));

    writeln!(out, "working for {server} as {}", config.name)?;
    out.flush()?;
    mention(format_args!("pools {}; Ctrl-C stops", config.pools.join(", ")));
    match client.with_retry(Retry::NEVER).health().await {
        Err(error) if error.is_transient() => {
            mention(format_args!("{error}; trying until it is there"));
        }
        // What is wrong otherwise is said when the worker registers.
        _ => {}
    }
    let mut interrupts = Interrupts::listen()?;
    let shutdown = CancellationToken::new();
    let worker = Worker::new(config, Arc::new(control), Toolbox::builtin(tools));
    let mut working = tokio::spawn(worker.run(shutdown.clone()));
    let ended = tokio::select! {
        ended = &mut working => ended,
        _ = interrupts.next() => {
            mention(format_args!("finishing what has begun; press Ctrl-C again to end at once"));
            shutdown.cancel();
            tokio::select! {
                ended = &mut working => ended,
                again = interrupts.next() => return Ok(again),
            }
        }
    };
    match ended.context("the worker broke off")? {
        Ok(()) => Ok(Exit::Good),
        Err(ControlError::Refused { reason }) => {
            bail!("the server at {server} refused this worker: {reason}")
        }
        Err(error) => Err(error.into()),
    }
}

/// The configuration with what only this command knows: the pools as they are given, and a name of its own.
fn named(config: WorkerConfig, arguments: &Arguments, server: &str) -> WorkerConfig {
    let pools = match arguments.pools.is_empty() {
        true => config.pools,
        false => arguments.pools.iter().map(|pool| pool.as_str().into()).collect(),
    };
    let name = match config.name == WorkerConfig::default().name {
        true => made_up_name().into(),
        false => config.name,
    };
    WorkerConfig { name, pools, server_url: Some(server.trim_end_matches('/').into()), ..config }
}

/// A name that no other worker has, not even an earlier process of this machine.
fn made_up_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "worker",
        host => host,
    };
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis();
    format!("{host}-{}-{millis:x}", std::process::id())
}
