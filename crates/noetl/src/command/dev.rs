//! `noetl dev`

use anyhow::{Context, Result};
use clap::Args;
use noetl_server::app::App;
use noetl_store::CatalogFilter;

use super::serving::{self, Place};
use crate::config::{Flags, Loaded};
use crate::embedded::Embedded;
use crate::examples::EXAMPLES;
use crate::exit::Exit;
use crate::output::Output;

/// Start a server with a worker on this machine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl dev                                        on http://127.0.0.1:8082, state in ./noetl-data
  noetl dev --listen 127.0.0.1:0 --data /tmp/try   on a free port

The first line on stdout says where it listens. A second start on the same data goes on where the first one ended.")]
pub struct Arguments {
    #[command(flatten)]
    place: Place,

    /// Do not register the examples on the first start
    #[arg(long)]
    no_examples: bool,
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
    let embedded = Embedded::start(&data, serving::settings(config)?)?;
    let app = serving::app(&embedded, &door, in_effect);
    if !arguments.no_examples {
        register_examples(&app).await?;
    }
    serving::run(door, app, embedded, &data, out).await
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
