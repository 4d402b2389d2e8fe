//! Every command that talks to a server, used wrongly: no server, a wrong token, an id that is not there, a bad flag.

use std::process::{Child, Stdio};

use crate::service::Service;
use crate::support::{Folder, Seen};

/// A command of each kind, with an id that no server has.
const COMMANDS: &[&[&str]] = &[
    &["run", "catalog://no/such"],
    &["register", "flow.yaml"],
    &["catalog", "list"],
    &["catalog", "get", "no/such"],
    &["catalog", "versions", "no/such"],
    &["catalog", "diff", "no/such"],
    &["catalog", "delete", "no/such"],
    &["catalog", "restore", "no/such"],
    &["exec", "no/such"],
    &["exec", "no/such", "--wait"],
    &["list"],
    &["list", "--watch"],
    &["status", "17"],
    &["status", "17", "--wait"],
    &["events", "17"],
    &["events", "17", "-f"],
    &["logs", "17"],
    &["logs", "17", "-f"],
    &["explain", "17"],
    &["record", "17"],
    &["cancel", "17"],
    &["pause", "17"],
    &["resume", "17"],
    &["rerun", "17"],
    &["signal", "17", "go"],
    &["query", "SELECT 1"],
    &["workers"],
    &["credential", "set", "a", "--type", "b", "--field", "c=d"],
    &["credential", "list"],
    &["credential", "get", "no-such"],
    &["credential", "delete", "no-such"],
    &["plugin", "push", "a", "flow.yaml"],
    &["plugin", "list"],
    &["plugin", "get", "a", "--version", "1"],
    &["plugin", "delete", "a", "--version", "1"],
    &["subscription", "list"],
    &["subscription", "register", "no/such"],
    &["subscription", "activate", "17"],
    &["token", "create", "--scope", "viewer"],
    &["token", "list"],
    &["token", "revoke", "17"],
    &["cleanup"],
    &["db", "validate"],
    &["execute", "playbook", "no/such"],
    &["get", "credential", "no-such"],
];

fn folder() -> Folder {
    Folder::with("flow.yaml", crate::served::HELLO)
}

/// Runs all commands at once, each with these words behind it, and gives what each left behind.
fn all(folder: &Folder, words: &[&str]) -> Vec<(&'static [&'static str], Seen)> {
    let started: Vec<(&[&str], Child)> = COMMANDS
        .iter()
        .map(|arguments| {
            let mut command = folder.command(arguments);
            command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            (*arguments, command.spawn().expect("the binary starts"))
        })
        .collect();
    started
        .into_iter()
        .map(|(arguments, child)| {
            let output = child.wait_with_output().expect("the binary ends");
            let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
            let seen =
                Seen { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
            (arguments, seen)
        })
        .collect()
}

#[test]
fn without_a_server_every_command_says_so_and_what_to_do() {
    let folder = folder();
    for (arguments, seen) in all(&folder, &["--server", "http://127.0.0.1:1"]) {
        assert_eq!(
            seen.text(),
            "stderr: error: no connection to http://127.0.0.1:1\n\
             stderr: help: start a server with `noetl dev`, or say where it is with --server, NOETL_SERVER or `noetl context`\n\
             exit 1\n",
            "{arguments:?}"
        );
    }
}

#[test]
fn a_wrong_token_is_refused_by_every_command_with_its_code() {
    let folder = folder();
    let arguments = ["dev", "--listen", "127.0.0.1:0", "--data", "data", "--auth", "tokens"];
    let server = Service::start(&mut folder.command(&arguments));
    for (arguments, seen) in all(&folder, &["--server", &server.url, "--token", "noetl_wrong"]) {
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{arguments:?}: {}", seen.text());
        assert!(seen.stderr.starts_with("error[not_authenticated]: "), "{arguments:?}: {}", seen.text());
        assert!(seen.stderr.contains("\nhelp: give a token with --token"), "{arguments:?}: {}", seen.text());
    }
}

#[test]
fn an_id_a_path_or_a_name_that_is_not_there_is_wrong_use() {
    let folder = folder();
    let server = Service::dev(&folder, &folder.path("data"));
    let asks_for_what_is_not_there =
        |arguments: &[&str]| arguments.iter().any(|word| word.contains("17") || word.contains("such"));
    let mut looked_at = 0;
    for arguments in COMMANDS.iter().filter(|arguments| asks_for_what_is_not_there(arguments)) {
        let seen = folder.noetl(&[arguments, &["--server", server.url.as_str()][..]].concat());
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", seen.text());
        assert!(
            seen.stderr.starts_with("error[") && seen.stderr.contains("_not_found]: "),
            "{}",
            seen.text()
        );
        looked_at += 1;
    }
    assert!(looked_at > 20, "{looked_at}");
}

#[test]
fn a_flag_that_does_not_exist_is_wrong_use_of_every_command() {
    let folder = folder();
    for (arguments, seen) in all(&folder, &["--no-such-flag"]) {
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", seen.text());
        assert!(seen.stderr.contains("--no-such-flag"), "{arguments:?}: {}", seen.text());
    }
}

#[test]
fn what_is_no_address_or_no_id_is_wrong_use() {
    let folder = folder();
    for (arguments, words) in [
        (&["list", "--server", "nonsense"][..], "no address of a server"),
        (&["list", "--server", "ftp://x"], "http or https"),
        (&["status", "abc"], "invalid value 'abc'"),
        (&["list", "--limit", "0"], "invalid value '0'"),
        (&["list", "--json", "--quiet"], "cannot be used with"),
        (&["exec", "a", "--payload", "{"], "--payload is not JSON"),
        (&["exec", "a@b"], "no version"),
        (&["rerun", "17", "--from", "a", "--failed"], "cannot be used with"),
        (&["events", "--data", "x", "--server", "http://127.0.0.1:1"], "cannot be used with"),
    ] {
        let seen = folder.noetl(arguments);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", seen.text());
        assert!(seen.stderr.contains(words), "{arguments:?}: {}", seen.text());
    }
}
