//! What `noetl dev` and `noetl server` have in common: where they listen, what they say, and how they end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use noetl_client::api::config::ConfigInEffect;
use noetl_server::app::App;
use noetl_server::http::{HttpConfig, Identities, serve_with};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use super::entrance::{self, Entrance};
use super::login;
use crate::config::{self, Config, Flags, Loaded, Surroundings};
use crate::embedded::{Embedded, Settings};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::logging::{self, LogFlags};
use crate::memory;
use crate::output::{Output, mention};
use crate::telemetry::{Collector, Telemetry};

#[derive(Debug, Args)]
pub struct Place {
    /// Where to listen, 127.0.0.1:8082 unless configured otherwise; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Keep the state in this folder, noetl-data unless configured otherwise
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    #[command(flatten)]
    entrance: Entrance,

    #[command(flatten)]
    log: LogFlags,
}

/// Where requests come in, and what they have to pass.
pub struct Door {
    listener: TcpListener,
    gate: HttpConfig,
    reader_patience: Duration,
    /// Where traces go, if anywhere.
    collector: Option<Collector>,
}

impl Place {
    /// The configuration, with what the flags say about the place and who may come in. From here on it is logged.
    pub fn config(&self, flags: &Flags) -> Result<Loaded> {
        let mut flags = flags.clone();
        if let Some(listen) = &self.listen {
            flags.set("server.listen", "--listen", listen);
        }
        if let Some(data) = self.data.as_ref().and_then(|data| data.to_str()) {
            flags.set("server.data", "--data", data);
        }
        self.entrance.set(&mut flags);
        self.log.set(&mut flags);
        let loaded = config::load(&flags, &Surroundings::of_this_process())?;
        entrance::check(&loaded.config)?;
        logging::start(&loaded.config.log, LevelFilter::INFO);
        Ok(loaded)
    }

    pub fn data(&self, config: &Config) -> PathBuf {
        self.data.clone().unwrap_or_else(|| config.server.data.clone())
    }
}

/// Runs a command that lives until it is interrupted.
pub fn block_on(command: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(command);
    runtime.shutdown_timeout(Duration::from_secs(2));
    exit
}

pub async fn door(config: &Config) -> Result<Door> {
    let collector = config.telemetry.sink()?;
    let login = login::identities(&config.server)?;
    if let Some(login) = login.clone() {
        // Who waits for the server need not wait for the provider.
        tokio::spawn(async move {
            if let Err(error) = login.look_up().await {
                mention(format_args!("{error}; until that changes, tokens of this issuer let nobody in"));
            }
        });
    }
    let listen = &config.server.listen;
    let listener = TcpListener::bind((listen.host.as_str(), listen.port))
        .await
        .with_context(|| format!("can't listen on {listen}"))?;
    Ok(Door {
        listener,
        gate: HttpConfig {
            identities: login.map(|login| login as Arc<dyn Identities>),
            ..config.server.http()
        },
        reader_patience: config.server.reader_patience,
        collector,
    })
}

/// What a server is made of. Its data folder gets a key for secrets when it has none.
pub fn settings(config: Config) -> Result<Settings> {
    // With a place for traces, every run has one.
    let traces = config.telemetry.is_on();
    let mut settings = Settings::of(config, &[])?;
    settings.drive.traces = traces;
    settings.keys = settings.keys.creating();
    Ok(settings)
}

pub fn app(embedded: &Embedded, door: &Door, config: ConfigInEffect) -> App {
    App::builder(embedded.drive.clone(), env!("CARGO_PKG_VERSION"))
        .config(config)
        .vault(embedded.vault.clone())
        .reader_patience(door.reader_patience)
        .build()
}

/// By then a server has made what it keeps for as long as it runs.
const START: Duration = Duration::from_secs(1);

/// Takes up what was under way, says where it listens, and answers requests until it is interrupted. Then it lets what is
/// under way finish.
pub async fn run(
    Door { listener, gate, collector, .. }: Door,
    app: App,
    embedded: Embedded,
    data: &Path,
    out: &mut Output,
) -> Result<Exit> {
    let rewrapped = app.rewrap_credentials().await?;
    if rewrapped > 0 {
        mention(format_args!("{rewrapped} credentials of an earlier key are under the new one"));
    }
    let telemetry = collector.map(|collector| Telemetry::start(app.clone(), collector));
    let going_on = embedded.recover().await?;
    // Before anybody can know that there is something to end.
    let mut interrupts = Interrupts::listen()?;
    let address = listener.local_addr()?;
    writeln!(out, "listening on http://{address}")?;
    out.flush()?;
    if noetl_ui::is_built() {
        mention(format_args!("open it in a browser; its API is described at http://{address}/api/docs"));
    } else {
        mention(format_args!(
            "the web UI was not built; what the API can do is at http://{address}/api/docs"
        ));
    }
    mention(format_args!("state in {}; Ctrl-C stops", data.display()));
    if going_on > 0 {
        mention(format_args!("{going_on} runs that were under way go on"));
    }
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve_with(listener, app, gate, noetl_ui::answer, stop.clone()));
    tokio::spawn(async {
        tokio::time::sleep(START).await;
        memory::give_back_soon();
    });
    interrupts.next().await;
    mention(format_args!("stopping; press Ctrl-C again to end at once"));
    // Workers that wait for commands would keep their connections open.
    embedded.close();
    stop.cancel();
    let finish = async {
        serving.await.context("the server broke off")??;
        embedded.stop().await;
        if let Some(telemetry) = telemetry {
            telemetry.stop().await;
        }
        Ok(Exit::Good)
    };
    tokio::select! {
        exit = finish => exit,
        again = interrupts.next() => Ok(again),
    }
}
