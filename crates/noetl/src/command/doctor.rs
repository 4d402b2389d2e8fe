//! `noetl doctor`

mod here;
mod there;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::config::{Config, Flags, Surroundings};
use crate::connection::{ServerFlags, Target, converse};
use crate::exit::Exit;
use crate::form::Form;
use crate::output::{Output, mention};
use crate::table::{Cell, Table};

/// Check the server, its database, Python, the disk and the clock, and say what to do
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl doctor
  noetl doctor --data noetl-data          with the disk of this data folder
  noetl doctor --json                     {\"healthy\", \"checks\": [{\"name\", \"status\", \"finding\", \"advice\"}]}

The status of a check is ok, warning or error. Ends with 1 when one is an error.")]
pub struct Arguments {
    /// The data folder whose disk is looked at; that of the configuration when left out
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    #[command(flatten)]
    form: Form,
}

/// What one look has shown.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Health,
    finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Ok,
    Warning,
    Error,
}

impl Health {
    fn as_str(self) -> &'static str {
        match self {
            Health::Ok => "ok",
            Health::Warning => "warning",
            Health::Error => "error",
        }
    }
}

impl Check {
    fn ok(name: &'static str, finding: impl Into<String>) -> Check {
        Check { name, status: Health::Ok, finding: finding.into(), advice: None }
    }

    fn warning(name: &'static str, finding: impl Into<String>, advice: impl Into<String>) -> Check {
        Check { name, status: Health::Warning, finding: finding.into(), advice: Some(advice.into()) }
    }

    fn error(name: &'static str, finding: impl Into<String>, advice: impl Into<String>) -> Check {
        Check { name, status: Health::Error, finding: finding.into(), advice: Some(advice.into()) }
    }
}

#[derive(Debug, Serialize)]
struct Diagnosis {
    healthy: bool,
    checks: Vec<Check>,
}

pub fn run(arguments: &Arguments, flags: &Flags, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let config = Config::load(flags)?;
    let target = Target::find(server, &Surroundings::of_this_process())?;
    let mut checks = converse(server, async |client| Ok(there::look(&client, &target).await))?;
    let data = arguments.data.clone().unwrap_or_else(|| config.server.data.clone());
    checks.push(here::python(&config.tools.python.interpreter));
    checks.push(here::disk(&data));
    checks.push(here::contexts(&Surroundings::of_this_process()));
    let healthy = checks.iter().all(|check| check.status != Health::Error);
    let diagnosis = Diagnosis { healthy, checks };
    arguments.form.answer(&diagnosis, out, |out| show(&diagnosis, out))?;
    Ok(if healthy { Exit::Good } else { Exit::Failed })
}

fn show(diagnosis: &Diagnosis, out: &mut Output) -> Result<()> {
    let mut table = Table::of_facts();
    for check in &diagnosis.checks {
        table.row([Cell::status(check.status.as_str()), check.name.into(), (&check.finding).into()]);
        if let Some(advice) = &check.advice {
            table.row(["".into(), "".into(), format!("→ {advice}").into()]);
        }
    }
    table.write(out)?;
    if diagnosis.healthy {
        mention(format_args!("nothing is in the way"));
    }
    Ok(())
}
