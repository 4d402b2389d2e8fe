//! `noetl dev`

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use noetl_server::app::App;
use noetl_server::http::serve;
use noetl_store::CatalogFilter;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, Flags};
use crate::embedded::{Embedded, Settings};
use crate::examples::EXAMPLES;
use crate::exit::Exit;
use crate::output::{Output, mention};

/// Start a server with a worker on this machine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl dev                                        on http://127.0.0.1:8082, state in ./noetl-data
  noetl dev --listen 127.0.0.1:0 --data /tmp/try   on a free port

The first line on stdout says where it listens. A second start on the same data goes on where the first one ended.")]
pub struct Arguments {
    /// Where to listen, 127.0.0.1:8082 unless configured otherwise; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Keep the state in this folder, noetl-data unless configured otherwise
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Do not register the examples on the first start
    #[arg(long)]
    no_examples: bool,
}

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    let mut flags = flags.clone();
    if let Some(listen) = &arguments.listen {
        flags.set("server.listen", "--listen", listen);
    }
    let config = Config::load(&flags)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(serve_here(arguments, config, out));
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    exit
}

async fn serve_here(arguments: &Arguments, config: Config, out: &mut Output) -> Result<Exit> {
    let listen = &config.server.listen;
    let listener = TcpListener::bind((listen.host.as_str(), listen.port))
        .await
        .with_context(|| format!("can't listen on {listen}"))?;
    let data = arguments.data.clone().unwrap_or_else(|| config.server.data.clone());
    let mut settings = Settings::of(config, &[])?;
    settings.keys = settings.keys.creating();
    let embedded = Embedded::start(&data, settings)?;
    let app =
        App::builder(embedded.drive.clone(), env!("CARGO_PKG_VERSION")).vault(embedded.vault.clone()).build();
    if !arguments.no_examples {
        register_examples(&app).await?;
    }
    let going_on = embedded.recover().await?;
    writeln!(out, "listening on http://{}", listener.local_addr()?)?;
    out.flush()?;
    tell(&data, going_on);
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(listener, app, stop.clone()));
    interrupted().await?;
    mention(format_args!("stopping; press Ctrl-C again to end at once"));
    stop.cancel();
    let finish = async {
        serving.await.context("the server broke off")??;
        embedded.stop().await;
        Ok(Exit::Good)
    };
    tokio::select! {
        exit = finish => exit,
        again = interrupted() => again.map(|()| Exit::Interrupted),
    }
}

/// Puts the examples into an empty catalog.
async fn register_examples(app: &App) -> Result<()> {
    let all = CatalogFilter { include_archived: true, ..CatalogFilter::default() };
    if !app.store().list_entries(&all, 1).await?.is_empty() {
        return Ok(());
    }
    for (name, text) in EXAMPLES {
        app.register(text, None).await.with_context(|| format!("the example {name}"))?;
    }
    Ok(())
}

fn tell(data: &Path, going_on: usize) {
    mention(format_args!("state in {}; Ctrl-C stops", data.display()));
    if going_on > 0 {
        mention(format_args!("{going_on} runs that were under way go on"));
    }
}

/// Waits for Ctrl-C or a request to end.
async fn interrupted() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("signals can't be heard")?;
    tokio::select! {
        heard = tokio::signal::ctrl_c() => heard.context("interrupts can't be heard"),
        _ = terminate.recv() => Ok(()),
    }
}
