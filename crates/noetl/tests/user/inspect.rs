//! Looking into a data folder: `query`, `events`, `logs`, `explain`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::live::Live;
use crate::support::Folder;

const PLAYBOOK: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: flow, path: test/flow}
workflow:
  - step: start
    tool: {kind: shell, command: \"echo first line; echo second line\"}
";

fn folder_with_a_run() -> (Folder, String) {
    let folder = Folder::with("flow.yaml", PLAYBOOK);
    let seen = folder.noetl(&["run", "flow.yaml", "--data", "data", "--json"]);
    let run: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    let id = run["execution_id"].as_str().expect("an id").to_owned();
    (folder, id)
}

#[test]
fn a_data_folder_answers_sql_events_logs_and_where_a_run_stands() {
    let (folder, id) = folder_with_a_run();
    let seen = folder.noetl(&["query", "--data", "data", "SELECT path, status FROM noetl.execution"]);
    assert_eq!(seen.text(), "path       status\ntest/flow  COMPLETED\nexit 0\n");
    let seen = folder.noetl(&["events", &id, "--data", "data"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    let names: Vec<&str> = seen.stdout.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert_eq!(names.first(), Some(&"playbook_started"), "{}", seen.text());
    assert_eq!(names.last(), Some(&"playbook.completed"), "{}", seen.text());
    let seen = folder.noetl(&["logs", &id, "--data", "data", "--step", "start"]);
    assert_eq!(seen.text(), "start | first line\nstart | second line\nexit 0\n");
    let seen = folder.noetl(&["explain", &id, "--data", "data"]);
    assert_eq!(seen.text(), "the run completed; its result is the data of step 'start'\nexit 0\n");
}

#[test]
fn wrong_questions_get_one_sentence() {
    let (folder, id) = folder_with_a_run();
    for (arguments, code, words) in [
        (&["query", "--data", "data", "SELEC 1"][..], 2, "syntax"),
        (&["query", "--data", "data", "DELETE FROM noetl.event_record"], 2, "read"),
        (&["query", "--data", "nowhere", "SELECT 1"], 2, "not a data folder"),
        (&["events", "17", "--data", "data"], 2, "no execution 17"),
        (&["logs", &id, "--data", "nowhere"], 2, "not a data folder"),
        (&["explain", &id, "--server", "http://127.0.0.1:1"], 1, "no connection"),
    ] {
        let seen = folder.noetl(arguments);
        assert_eq!(seen.code, Some(code), "{arguments:?}: {}", seen.text());
        assert!(seen.stderr.to_lowercase().contains(words), "{arguments:?}: {}", seen.text());
    }
}

#[test]
fn logs_and_events_follow_a_run_of_another_process_to_its_end() {
    let flow = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: flow, path: test/flow}\nworkflow:\n  \
                - step: start\n    tool: {kind: shell, command: \"echo begun; until test -e go-on; do sleep 0.02; done; echo done\"}\n";
    let folder = Folder::with("flow.yaml", flow);
    let mut live = Live::start(&folder, &["run", "flow.yaml", "--data", "data"]);
    live.wait_for(" of flow.yaml");
    let id = live.said().split_whitespace().nth(1).expect("the id").to_owned();
    let mut logs = folder.command(&["logs", &id, "--data", "data", "--follow"]);
    let mut logs = logs.stdout(Stdio::piped()).spawn().expect("the binary starts");
    let mut shown = BufReader::new(logs.stdout.take().expect("stdout is piped")).lines();
    assert_eq!(shown.next().expect("a line").expect("readable"), "start | begun");
    std::fs::write(folder.path("go-on"), "").expect("a file");
    let events = folder.noetl(&["events", &id, "--data", "data", "-f"]);
    assert!(
        events.stdout.lines().last().is_some_and(|line| line.contains("playbook.completed")),
        "{}",
        events.text()
    );
    assert_eq!(shown.next().expect("a line").expect("readable"), "start | done");
    assert!(shown.next().is_none(), "nothing more comes");
    assert!(logs.wait().expect("it ends").success());
    assert_eq!(live.end().code, Some(0));
}

#[test]
fn programs_get_logs_and_explanations_as_json() {
    let (folder, id) = folder_with_a_run();
    let seen = folder.noetl(&["logs", &id, "--data", "data", "--json"]);
    let line: serde_json::Value = serde_json::from_str(&seen.stdout).expect("one JSON object");
    assert_eq!((&line["step"], &line["stream"]), (&"start".into(), &"stdout".into()));
    assert_eq!(line["text"], "first line\nsecond line\n");
    let seen = folder.noetl(&["explain", &id, "--data", "data", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    assert_eq!((&answer["execution_id"], &answer["status"]), (&id.into(), &"COMPLETED".into()));
}

#[test]
fn the_configured_data_folder_is_the_one_to_look_into() {
    let (folder, id) = folder_with_a_run();
    let folder = folder.and("noetl.toml", "[run]\ndata = \"data\"\n");
    let seen = folder.noetl(&["logs", &id]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    assert!(seen.stdout.starts_with("start | first line"), "{}", seen.text());
}
