//! Looking into a data folder: `query`, `events`, `logs`, `explain`.

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
        (&["events", "17", "--data", "data"], 1, "no execution 17"),
        (&["logs", &id, "--data", "nowhere"], 1, "not a data folder"),
    ] {
        let seen = folder.noetl(arguments);
        assert_eq!(seen.code, Some(code), "{arguments:?}: {}", seen.text());
        assert!(seen.stderr.to_lowercase().contains(words), "{arguments:?}: {}", seen.text());
    }
}
