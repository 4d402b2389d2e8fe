//! What the server says of itself: that it is there, lets us in, has its database, workers and the same time as we.

use std::time::{Duration, SystemTime};

use noetl_client::api::execution::ListParameters;
use noetl_client::api::registry::PartQuery;
use noetl_client::{Client, Error, Retry};

use super::Check;
use crate::connection::Target;

/// Clocks further apart make tokens expire early and durations look odd.
const TOLERATED: Duration = Duration::from_secs(5);

pub async fn look(client: &Client, target: &Target) -> Vec<Check> {
    let client = client.clone().with_retry(Retry::NEVER);
    let health = match client.health().await {
        Ok(health) => health,
        // It is there, and wants to know who asks.
        Err(Error::Refused(refusal)) if refusal.status == 401 => {
            let found = Check::ok("server", format!("{} ({})", target.url, target.origin));
            return vec![found, entrance(&client, target).await];
        }
        Err(error) => return vec![not_there(&error, target)],
    };
    let mut checks = vec![Check::ok(
        "server",
        format!(
            "{} ({}), version {}, up {} s",
            target.url, target.origin, health.version, health.uptime_seconds
        ),
    )];
    let own = env!("CARGO_PKG_VERSION");
    if health.version != own {
        let finding = format!("the server is version {}, this command is {own}", health.version);
        checks.push(Check::warning("version", finding, "use the same release for both"));
    }
    let entrance = entrance(&client, target).await;
    let may_enter = entrance.status == super::Health::Ok;
    checks.push(entrance);
    checks.push(database(&client, &health.database, may_enter).await);
    if may_enter {
        checks.extend(workers(&client).await);
    }
    checks.extend(clock(&client).await);
    checks
}

fn not_there(error: &Error, target: &Target) -> Check {
    let finding = format!("{} ({}): {error}", target.url, target.origin);
    match error {
        Error::Unreachable { .. } | Error::NoAnswer { .. } | Error::BrokenOff { .. } => Check::error(
            "server",
            finding,
            "start one with `noetl dev`, or say where it is with --server, NOETL_SERVER or `noetl context`",
        ),
        Error::Refused(_) => Check::error("server", finding, "see the log of the server"),
        Error::Strange { .. } => Check::error("server", finding, "something else than NoETL listens there"),
    }
}

/// Whether we may come in.
async fn entrance(client: &Client, target: &Target) -> Check {
    let one = ListParameters { limit: Some(1), ..ListParameters::default() };
    match client.list_executions(&one).await {
        Ok(_) if target.token.is_some() => Check::ok("token", "it lets us in"),
        Ok(_) => Check::ok("token", "none is needed to read"),
        Err(Error::Refused(refusal)) if refusal.status == 401 && target.token.is_none() => Check::error(
            "token",
            "the server wants a token",
            "make one with `noetl token create`, and give it with --token, NOETL_TOKEN or `noetl context update`",
        ),
        Err(Error::Refused(refusal)) if refusal.status == 401 => Check::error(
            "token",
            "the server does not take our token",
            "make a new one with `noetl token create`; `noetl token list` says which are revoked or expired",
        ),
        Err(error) => Check::error("token", error.to_string(), "see the log of the server"),
    }
}

async fn database(client: &Client, health: &str, may_enter: bool) -> Check {
    if health != "connected" {
        return Check::error(
            "database",
            format!("the server says that its database is {health}"),
            "see the log of the server; a full disk and a folder that is away are the usual reasons",
        );
    }
    if !may_enter {
        return Check::ok("database", "connected");
    }
    match client.validate_database().await {
        Ok(state) if state.valid => Check::ok("database", "connected, with all its tables"),
        Ok(state) => Check::error(
            "database",
            state.message,
            "start the server again: it brings its tables up to date when it starts",
        ),
        Err(error) => Check::warning("database", error.to_string(), "see the log of the server"),
    }
}

/// Nothing when it can't be asked.
async fn workers(client: &Client) -> Option<Check> {
    let query = PartQuery { kind: Some("worker_pool".to_owned()), ..PartQuery::default() };
    let workers = client.list_workers(&query).await.ok()?;
    Some(match workers.count {
        0 => Check::warning(
            "workers",
            "none has registered, so that steps wait",
            "start one with `noetl worker`; `noetl dev` has its own",
        ),
        count => Check::ok("workers", format!("{count} registered; `noetl workers` lists them")),
    })
}

/// Nothing when the server does not say what time it is.
async fn clock(client: &Client) -> Option<Check> {
    let before = SystemTime::now();
    let theirs = httpdate::parse_http_date(&client.date().await.ok()??).ok()?;
    // The header has whole seconds, so up to one of them is nobody's fault.
    let difference = match theirs.duration_since(before) {
        Ok(ahead) => ahead,
        Err(behind) => behind.duration(),
    };
    Some(if difference <= TOLERATED {
        Check::ok("clock", "the server has the same time as this machine")
    } else {
        Check::warning(
            "clock",
            format!("the clock of the server is {} s off from this machine", difference.as_secs()),
            "set both by NTP",
        )
    })
}
