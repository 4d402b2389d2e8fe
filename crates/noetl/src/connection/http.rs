//! Connections to a server.

use std::time::Duration;

use anyhow::{Context, Result};
use noetl_tools::{Trust, client_config};

use crate::exit::WrongUse;

/// How the server at this address is reached.
pub fn connections(server: &str) -> Result<reqwest::Client> {
    let no_address = |why: String| WrongUse(format!("'{server}' is no address of a server: {why}"));
    let url = reqwest::Url::parse(server).map_err(|error| no_address(error.to_string()))?;
    let trust = match url.scheme() {
        "https" => Trust::System,
        // No certificate is looked at.
        "http" => Trust::Anyone,
        other => return Err(no_address(format!("it begins with {other}, not with http or https")).into()),
    };
    builder(trust)?.no_proxy().build().context("no connections can be made")
}

/// Connections as this program makes them, to whoever is trusted.
pub fn builder(trust: Trust) -> Result<reqwest::ClientBuilder> {
    let tls = client_config(trust).map_err(|error| anyhow::anyhow!(error.message))?;
    Ok(reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("noetl/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(Duration::from_secs(5)))
}
