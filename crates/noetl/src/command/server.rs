//! `noetl server`

use anyhow::Result;
use clap::Args;

use super::serving::{self, Place};
use crate::config::{Flags, Loaded};
use crate::embedded::Embedded;
use crate::exit::Exit;
use crate::output::Output;

/// Start a server whose workers run elsewhere
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl server                                     on http://127.0.0.1:8082, state in ./noetl-data
  noetl worker --server http://127.0.0.1:8082      a worker for it, in another terminal

The first line on stdout says where it listens. Runs wait until a worker takes their commands. A second start on the same
data goes on where the first one ended, and workers find it again by themselves.")]
pub struct Arguments {
    #[command(flatten)]
    place: Place,

    /// `noetl server start`, as older scripts have it
    #[arg(value_parser = ["start"], hide = true)]
    action: Option<String>,

    /// Accepted from older scripts: the tables are made at every start
    #[arg(long, hide = true)]
    init_db: bool,
}

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    let loaded = arguments.place.config(flags)?;
    serving::block_on(serve_here(arguments, loaded, out))
}

async fn serve_here(arguments: &Arguments, loaded: Loaded, out: &mut Output) -> Result<Exit> {
    let in_effect = loaded.in_effect();
    let config = loaded.config;
    let door = serving::door(&config).await?;
    let data = arguments.place.data(&config);
    let embedded = Embedded::start_server(&data, serving::settings(config)?)?;
    let app = serving::app(&embedded, &door, in_effect);
    serving::run(door, app, embedded, &data, out).await
}
