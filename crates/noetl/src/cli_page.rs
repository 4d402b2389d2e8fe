//! `docs/cli.md`, made from the command line itself. The test here holds the page equal to it.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};

use crate::cli::Cli;

const BEGINNING: &str = "\
# The command line

Made from the command line itself; `cargo xtask generate` writes it anew.

## What all commands have in common

**Which server.** Commands that talk to a server take the first of these that says something: `--server URL`, `--host` and `--port`,
`--context NAME`, `NOETL_SERVER`, `NOETL_HOST` and `NOETL_PORT`, the context in use (`noetl context`), `http://127.0.0.1:8082`. The token is that of
`--token`, of `NOETL_TOKEN`, or the one kept with the context, which goes to the server of that context only.

**Output.** Results go to standard output, everything else to standard error. People get tables; colours only where a terminal shows
them and `NO_COLOR` is not set (`--color` decides otherwise). `--json`, `-j` for short, writes one JSON object, or one object a line where the answer goes on
(`events`, `logs`, `list --watch`). Unless a command says otherwise it is the answer of the HTTP API as [openapi.json](openapi.json) describes it: keys may
be added, none goes away. `--quiet` leaves ids, or nothing.

**Errors** are on standard error: `error[code]: sentence`, with the stable code of the API ([errors/](errors/)), and `help: ` with what to do.

**Ctrl-C** during `exec --wait`, `status --wait` and `run catalog://…` detaches. The execution goes on, and it is said how to come back.

| Exit code | Meaning |
|---|---|
| 0 | done; with `--wait`: the execution completed |
| 1 | it could not be done: no server, not allowed; with `--wait`: the execution failed or was cancelled |
| 2 | wrong use: an unknown flag, a file that cannot be read, an id or a path that is not there |
| 3 | a document is not valid |
| 129, 130, 143 | the terminal went away, Ctrl-C was pressed, the system asked to end |

**Scripts of earlier NoETL command lines** keep working: `run REF -r distributed`, `execute playbook|rerun|status`, `register playbook|credential -f|-d`,
`get credential`, `list TYPE`, `catalog register|load`, `query -s -f`, `cleanup`, `db init|validate`, `context add --server-url --set-current`, `set-runtime`,
`delete`, `--workload`, `-i FILE`, `schema -o`. Commands that make no sense here (`k8s`, `build`, `iap`, `provider`, `ehdb`, `codex`, `ai`, `auth`, `console`,
`subscribe`) are refused with a sentence that says what to use.
";

fn page() -> String {
    let mut root = Cli::command().term_width(100);
    root.build();
    let mut page = BEGINNING.to_owned();
    page.push_str("\n## Options of every command\n\n");
    options(&mut page, root.get_arguments().filter(|option| option.is_global_set()));
    for command in root.get_subcommands().filter(|command| is_shown(command)) {
        section(&mut page, command, "##", "noetl");
    }
    page
}

fn is_shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn section(page: &mut String, command: &Command, heading: &str, before: &str) {
    let name = format!("{before} {}", command.get_name());
    let _ = write!(page, "\n{heading} {name}\n\n");
    if let Some(about) = command.get_about() {
        let _ = writeln!(page, "{about}.");
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let _ = write!(page, "\n```text\n{usage}\n```\n");
    let own: Vec<&Arg> = command.get_arguments().filter(|option| !option.is_global_set()).collect();
    if own.iter().any(|option| is_listed(option)) {
        page.push('\n');
        options(page, own.into_iter());
    }
    for below in command.get_subcommands().filter(|command| is_shown(command)) {
        section(page, below, "###", &name);
    }
    if let Some(examples) = command.get_after_help() {
        let _ = write!(page, "\n```text\n{}\n```\n", examples.to_string().trim_end());
    }
}

/// Not hidden, and not one that clap adds to every command.
fn is_listed(option: &Arg) -> bool {
    let is_added =
        !option.get_action().takes_values() && ["help", "version"].contains(&option.get_id().as_str());
    !option.is_hide_set() && !is_added
}

fn options<'a>(page: &mut String, all: impl Iterator<Item = &'a Arg>) {
    page.push_str("| | |\n|---|---|\n");
    for option in all.filter(|option| is_listed(option)) {
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let default = match option.get_default_values() {
            [] => String::new(),
            _ if !option.get_action().takes_values() => String::new(),
            values => {
                let words: Vec<String> =
                    values.iter().map(|value| value.to_string_lossy().into_owned()).collect();
                format!(" (default {})", words.join(" "))
            }
        };
        let choices: Vec<String> = match option.get_action().takes_values() {
            true => option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
            false => Vec::new(),
        };
        let choices = if choices.is_empty() { String::new() } else { format!(": {}", choices.join(", ")) };
        let _ = writeln!(page, "| `{}` | {}{choices}{default} |", spelled(option), help.replace('|', "\\|"));
    }
}

/// The option as it is typed.
fn spelled(option: &Arg) -> String {
    let values: Vec<String> =
        option.get_value_names().unwrap_or_default().iter().map(|name| format!(" {name}")).collect();
    let value = if option.get_action().takes_values() { values.concat() } else { String::new() };
    let value = value.replace('|', "\\|");
    match (option.get_short(), option.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (None, Some(long)) => format!("--{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, None) => value.trim().to_owned(),
    }
}

#[test]
fn the_page_says_what_the_command_line_takes() {
    expect_test::expect_file!["../../../docs/cli.md"].assert_eq(&page());
}
