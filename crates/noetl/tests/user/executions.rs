//! Executions on a server: `exec`, `run catalog://`, `status`, `list`, `events`, `logs`, `explain`, and what steers them.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::served::{FAILING, HELLO, Served, WAITING};
use crate::service::Service;
use crate::support::see;

#[test]
fn exec_starts_and_says_the_id_or_waits_and_says_the_result() {
    let served = Served::with(&[HELLO]);
    let seen = served.noetl(&["exec", "test/hello"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    let id = seen.stdout.trim();
    assert!(id.parse::<i64>().is_ok(), "{}", seen.text());
    assert_eq!(
        seen.stderr,
        format!("note: test/hello version 1 started; noetl status {id} --wait waits for it\n")
    );
    let seen = served.noetl(&["exec", "test/hello@1", "--wait", "--set", "name=Ada"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), "{\n  \"greeting\": \"Hello, Ada!\"\n}\n"));
    let lines: Vec<&str> = seen.stderr.lines().collect();
    assert!(lines[0].starts_with("execution ") && lines[0].ends_with(" of test/hello"), "{}", seen.stderr);
    assert!(lines[1].starts_with("COMPLETED in "), "{}", seen.stderr);
    assert_eq!(lines.len(), 2, "{}", seen.stderr);
    let started = served.json(&["exec", "catalog://test/hello"]);
    assert_eq!((&started["status"], &started["path"]), (&json!("started"), &json!("test/hello")));
    let over = served.json(&["exec", "test/hello", "--wait", "--payload", r#"{"name": "Bo"}"#]);
    assert_eq!((&over["status"], &over["result"]["greeting"]), (&json!("COMPLETED"), &json!("Hello, Bo!")));
    assert_eq!(over["steps"][0]["name"], "greet");
}

#[test]
fn following_tells_each_step_and_a_failure_ends_with_1() {
    let served = Served::with(&[FAILING]);
    let seen = served.noetl(&["exec", "test/failing", "--follow"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{}", seen.text());
    let lines: Vec<&str> = seen.stderr.lines().collect();
    assert!(lines[1].starts_with("✓ before ") && lines[2].starts_with("✗ break "), "{}", seen.stderr);
    assert!(lines[3].starts_with("FAILED in "), "{}", seen.stderr);
    assert!(!seen.stderr.contains('\x1b'), "no colours where nobody sees them: {}", seen.stderr);
    let id = lines[0].split(' ').nth(1).expect("an id");
    let seen = served.noetl(&["status", id, "--wait", "--quiet"]);
    assert_eq!((seen.code, seen.stdout.as_str(), seen.stderr.as_str()), (Some(1), "", ""));
    let seen = served.noetl(&["status", id]);
    assert_eq!(seen.code, Some(0), "without --wait the question was answered");
    assert!(seen.stdout.contains("status     FAILED\n"), "{}", seen.text());
    assert!(seen.stdout.contains("steps      1 of 2 done, 1 failed\n"), "{}", seen.text());
    assert_eq!(served.good(&["status", id, "--quiet"]), "FAILED\n");
    let status = served.json(&["status", id]);
    assert_eq!((&status["completed"], &status["failed"]), (&json!(true), &json!(true)));
}

#[test]
fn the_same_key_starts_once() {
    let served = Served::with(&[WAITING]);
    let first = served.good(&["exec", "test/waiting", "--dedup", "today", "--quiet"]);
    let second = served.noetl(&["exec", "test/waiting", "--dedup", "today"]);
    assert_eq!(second.stdout, first);
    assert!(second.stderr.contains("runs already under this key"), "{}", second.text());
}

#[test]
fn run_takes_playbooks_of_the_catalog_and_files_for_the_server() {
    let served = Served::with(&[HELLO]);
    let seen = served.noetl(&["run", "catalog://test/hello@1", "--set", "name=Eve"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), "{\n  \"greeting\": \"Hello, Eve!\"\n}\n"));
    assert!(seen.stderr.contains("✓ greet"), "{}", seen.stderr);
    let seen = served.noetl(&["run", "playbooks/0.yaml", "-r", "distributed", "--quiet"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    let id = seen.stdout.trim();
    let listed = served.json(&["list"]);
    assert_eq!((&listed[0]["execution_id"], &listed[0]["version"]), (&json!(id), &json!(2)));
    let seen = served.noetl(&["exec", "playbooks/0.yaml", "--wait", "--quiet"]);
    assert_eq!(seen.text(), "{\n  \"greeting\": \"Hello, world!\"\n}\nexit 0\n");
    assert_eq!(served.json(&["list"])[0]["version"], json!(3), "the file is registered first");
    std::fs::write(served.folder.path("broken.yaml"), HELLO.replace("noop", "nopo")).expect("a file");
    assert_eq!(served.noetl(&["exec", "broken.yaml"]).code, Some(3));
    let seen = served.noetl(&["run", "catalog://test/hello", "-r", "local"]);
    assert_eq!(seen.code, Some(2), "{}", seen.text());
    let seen = served.noetl(&["run", "catalog://test/hello", "--data", "runs"]);
    assert_eq!(seen.code, Some(2), "{}", seen.text());
    let seen = served.noetl(&["run", "catalog://no/such"]);
    assert_eq!(seen.code, Some(2), "{}", seen.text());
    assert!(seen.stderr.starts_with("error[catalog_entry_not_found]: "), "{}", seen.stderr);
}

#[test]
fn lists_are_narrowed_cut_and_quiet() {
    let served = Served::with(&[HELLO, FAILING, WAITING]);
    let (good, bad, open) =
        (served.run("test/hello"), served.run("test/failing"), served.start("test/waiting"));
    let seen = served.noetl(&["list"]);
    let lines: Vec<&str> = seen.stdout.lines().collect();
    assert!(lines[0].starts_with("ID  "), "{}", seen.text());
    let ids: Vec<&str> = lines[1..].iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(ids, [&open, &bad, &good], "the newest first");
    for (arguments, expected) in [
        (&["--status", "FAILED,COMPLETED"][..], vec![&bad, &good]),
        (&["--path", "wait"], vec![&open]),
        (&["--limit", "1"], vec![&open]),
        (&["--search", &good], vec![&good]),
        (&["--until", "2001-01-01T00:00:00Z"], vec![]),
    ] {
        let quiet = served.good(&[&["list", "--quiet"], arguments].concat());
        assert_eq!(quiet.lines().collect::<Vec<_>>(), expected, "{arguments:?}");
    }
    let none = served.noetl(&["list", "--status", "PAUSED"]);
    assert_eq!(none.text(), "stderr: note: there are no such executions\nexit 0\n");
    let wrong = served.noetl(&["list", "--status", "DANCING"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.text());
    assert!(wrong.stderr.starts_with("error[parameter_invalid]: "), "{}", wrong.stderr);
}

#[test]
fn a_list_that_is_watched_tells_what_changes_until_it_is_broken_off() {
    let served = Served::with(&[WAITING]);
    let id = served.start("test/waiting");
    let mut watching = served.command(&["list", "--watch", "--json"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().expect("the binary starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("stdout is piped")).lines();
    let mut next = || -> serde_json::Value {
        let line = lines.next().expect("a line").expect("readable");
        serde_json::from_str(&line).expect("an object on a line")
    };
    assert_eq!(next()["execution_id"], json!(id));
    served.good(&["cancel", &id]);
    while next()["status"] != "CANCELLED" {}
    interrupt(watching.id());
    assert_eq!(watching.wait().expect("it ends").code(), Some(130));
}

fn interrupt(process: u32) {
    let sent = Command::new("kill").args(["-INT", &process.to_string()]).status().expect("there is a kill");
    assert!(sent.success(), "the process takes signals");
}

#[test]
fn ctrl_c_detaches_and_says_how_to_come_back() {
    let served = Served::with(&[WAITING]);
    let mut waiting = served.command(&["exec", "test/waiting", "--wait"]);
    let mut waiting =
        waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut lines = BufReader::new(waiting.stderr.take().expect("stderr is piped")).lines();
    let first = lines.next().expect("a line").expect("readable");
    let id = first.split(' ').nth(1).expect("an id").to_owned();
    served.wait_until_it_waits(&id);
    interrupt(waiting.id());
    let said = lines.next().expect("a line").expect("readable");
    assert_eq!(
        said,
        format!("note: detached; execution {id} goes on. Come back with: noetl status {id} --wait")
    );
    assert_eq!(waiting.wait().expect("it ends").code(), Some(130));
    assert_eq!(served.json(&["status", &id])["status"], "RUNNING", "it goes on");
    served.good(&["signal", &id, "go"]);
    assert_eq!(served.noetl(&["status", &id, "--wait"]).code, Some(0));
}

#[test]
fn signals_pauses_and_cancels_reach_the_execution() {
    let served = Served::with(&[WAITING]);
    let id = served.start("test/waiting");
    served.wait_until_it_waits(&id);
    let sentences = served.good(&["explain", &id]);
    assert!(sentences.contains("'go'"), "{sentences}");
    let explained = served.json(&["explain", &id]);
    assert_eq!((&explained["execution_id"], &explained["status"]), (&json!(id), &json!("RUNNING")));

    let paused = served.good(&["pause", &id, "--reason", "lunch"]);
    assert_eq!(paused, format!("execution {id} is paused\n"));
    assert_eq!(served.json(&["status", &id])["status"], "PAUSED");
    assert_eq!(served.json(&["resume", &id])["changed"], json!(true));
    assert_eq!(served.good(&["resume", &id]), format!("execution {id} is RUNNING as before\n"));

    let cancelled = served.good(&["cancel", &id, "--reason", "enough"]);
    assert_eq!(cancelled, format!("execution {id} is cancelled\n"));
    let seen = served.noetl(&["cancel", &id]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), ""), "{}", seen.text());
    assert!(seen.stderr.starts_with("note: "), "{}", seen.stderr);
    assert_eq!(served.json(&["cancel", &id])["status"], "already_completed");
    assert_eq!(served.noetl(&["status", &id, "--wait"]).code, Some(1), "cancelled is not completed");
    let wrong = served.noetl(&["signal", &id, "go", "--payload", "{"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.text());
}

#[test]
fn a_rerun_from_where_it_failed_keeps_what_was_done() {
    let served = Served::with(&[FAILING]);
    let first = served.run("test/failing");
    std::fs::write(served.folder.path("mended"), "").expect("a file");
    let again = served.json(&["rerun", &first, "--failed"]);
    assert_eq!((&again["rerun_of"], &again["kept_steps"]), (&json!(first), &json!(["before"])));
    let seen = served.noetl(&["rerun", &first, "--from", "break", "--wait"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    let seen = served.noetl(&["rerun", &first, "--set", "x=1", "--version", "1"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    assert!(seen.stderr.contains("test/failing version 1 runs again"), "{}", seen.stderr);
    let wrong = served.noetl(&["rerun", &first, "--from", "nowhere"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.text());
    assert!(wrong.stderr.starts_with("error[step_not_found]: "), "{}", wrong.stderr);
    assert_eq!(served.noetl(&["rerun", &first, "--version", "old"]).code, Some(2));
}

#[test]
fn events_and_logs_of_the_server_are_shown_and_followed() {
    let served = Served::with(&[FAILING, WAITING]);
    let id = served.run("test/failing");
    let events = served.good(&["events", &id]);
    let names: Vec<&str> = events.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert_eq!((names.first(), names.last()), (Some(&"playbook_started"), Some(&"playbook.failed")));
    assert_eq!(served.good(&["events", &id, "--follow"]), events, "both tell the same");
    assert_eq!(served.good(&["events"]), events, "the newest without an id");
    let last = served.good(&["events", &id, "-j"]).lines().last().expect("a line").to_owned();
    let last: serde_json::Value = serde_json::from_str(&last).expect("an object on a line");
    assert_eq!((&last["event_type"], &last["execution_id"]), (&json!("playbook.failed"), &json!(id)));

    assert_eq!(served.good(&["logs", &id]), "break | printed\n");
    assert_eq!(served.good(&["logs", &id, "-f", "--step", "break"]), "break | printed\n");
    assert_eq!(served.json(&["logs", &id])["text"], "printed\n");
    let quiet = served.noetl(&["logs", &id, "--step", "before"]);
    assert_eq!(quiet.text(), "stderr: note: nothing was printed\nexit 0\n");
}

#[test]
fn following_goes_on_when_the_server_starts_again() {
    let served = Served::with(&[WAITING]);
    let id = served.start("test/waiting");
    let mut following = served.command(&["events", &id, "--follow"]);
    let mut following = following.stdout(Stdio::piped()).spawn().expect("the binary starts");
    let mut lines = BufReader::new(following.stdout.take().expect("stdout is piped")).lines();
    let mut told = Vec::new();
    while !told.last().is_some_and(|line: &String| line.contains("call.suspended")) {
        told.push(lines.next().expect("a line").expect("readable"));
    }
    let Served { folder, server } = served;
    let address = server.url.strip_prefix("http://").expect("an address").to_owned();
    let url = server.url.clone();
    server.kill();
    let arguments = ["dev", "--listen", &address, "--data", "data", "--no-examples"];
    let server = Service::start(&mut folder.command(&arguments));
    assert_eq!(server.url, url);
    let mut signal = folder.command(&["signal", &id, "go"]);
    signal.env("NOETL_SERVER", &url);
    assert_eq!(see(signal, "").code, Some(0));
    told.extend(lines.map_while(Result::ok));
    assert!(following.wait().expect("it ends").success());
    let numbers: Vec<u64> =
        told.iter().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
    assert_eq!(numbers, (1..=told.len() as u64).collect::<Vec<_>>(), "none is missed and none comes twice");
}

#[test]
fn sql_is_asked_of_the_server() {
    let served = Served::with(&[HELLO]);
    served.run("test/hello");
    let seen = served.noetl(&["query", "SELECT path, status FROM noetl.execution"]);
    assert_eq!(seen.text(), "path        status\ntest/hello  COMPLETED\nexit 0\n");
    let answer = served.json(&["query", "SELECT 1 AS one UNION SELECT 2", "--limit", "1"]);
    assert_eq!(answer, json!({"columns": ["one"], "rows": [[1]], "is_cut": true}));
    let seen = served.noetl(&["query", "DELETE FROM noetl.event_record"]);
    assert_eq!(seen.code, Some(2), "{}", seen.text());
    assert!(seen.stderr.starts_with("error[query_invalid]: "), "{}", seen.stderr);
}
