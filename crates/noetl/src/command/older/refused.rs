//! Commands of earlier command lines that make no sense here. Each is refused with a sentence that says what to use.

use anyhow::Result;
use clap::Args;

use crate::exit::{Exit, WrongUse};

/// Whatever stands behind such a command.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

/// Says why there is no such command, and what to use.
pub fn run(sentence: &str, _: &Arguments) -> Result<Exit> {
    Err(WrongUse(sentence.to_owned()).into())
}

pub const AI: &str = "`noetl ai` is not part of this command line: it talks to no language model; use the one of your \
                      editor, with the schema of `noetl schema`";
pub const AUTH: &str = "`noetl auth` is not part of this command line: servers take API tokens; make one with `noetl \
                        token create` and keep it with `noetl context add --token`";
pub const BUILD: &str =
    "`noetl build` is not part of this command line: it built images of another code base; use `make build`";
pub const CODEX: &str = "`noetl codex` is not part of this command line: it talks to no language model; use the one of \
                         your editor, with the schema of `noetl schema`";
pub const CONSOLE: &str = "`noetl console` is not part of this command line: open the address of the server in a browser, \
                           or use `noetl list --watch`";
pub const EHDB: &str = "`noetl ehdb` is not part of this command line: this server keeps its state in SQL; use `noetl \
                        query`, `noetl list` and `noetl events`";
pub const IAP: &str = "`noetl iap` is not part of this command line: it plans no infrastructure; use a tool made for that, \
                       such as Terraform";
pub const K8S: &str = "`noetl k8s` is not part of this command line: it deploys nothing; use kubectl or Helm with the \
                       binary in an image";
pub const PROVIDER: &str = "`noetl provider` is not part of this command line: it plans no infrastructure; use a tool \
                            made for that, such as Terraform";
pub const SUBSCRIBE: &str = "`noetl subscribe` is not part of this command line: subscriptions live on a server; use \
                             `noetl register` and `noetl subscription register`";
