//! A process that is killed in mid-run, again and again, loses nothing and repeats nothing that was finished.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use noetl_store_sqlite::query;
use noetl_types::Value;

use crate::support::Folder;

const ITEMS: usize = 1000;
const KILLS: usize = 10;

const PLAYBOOK: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: crash, path: crash}
workflow:
  - step: start
    loop: {in: 1000, iterator: i, spec: {mode: parallel, max_in_flight: 4}}
    tool: {kind: shell, command: \"echo {{ iter.i }} >> out.txt\"}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: noop, result: \"{{ start.stats }}\"}
";

fn numbers(folder: &Folder, sql: &str) -> Vec<i64> {
    let answer = query(folder.path("data/noetl.db"), sql, 100_000).expect("a readable store");
    answer.rows.iter().map(|row| row.first().and_then(Value::as_i64).expect("a number")).collect()
}

/// The items written so far, in the order they were.
fn written(folder: &Folder) -> Vec<usize> {
    let text = std::fs::read_to_string(folder.path("out.txt")).unwrap_or_default();
    text.lines().map(|line| line.parse().expect("an item")).collect()
}

/// Waits until so many items were written, or the process has ended by itself.
fn wait_for(folder: &Folder, child: &mut Child, count: usize) {
    while written(folder).len() < count && child.try_wait().expect("a child").is_none() {
        std::thread::yield_now();
    }
}

#[test]
fn ten_kills_lose_nothing_and_repeat_nothing_that_was_finished() {
    let folder = Folder::with("flow.yaml", PLAYBOOK);
    let start = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts")
    };
    let mut child = start(&["run", "flow.yaml", "--data", "data"]);
    let mut execution = String::new();
    for kill in 1..=KILLS {
        wait_for(&folder, &mut child, kill * ITEMS / (KILLS + 2));
        child.kill().expect("a child");
        child.wait().expect("a child");
        execution = numbers(&folder, "SELECT execution_id FROM noetl.execution")[0].to_string();
        let finished: BTreeSet<usize> =
            numbers(&folder, "SELECT loop_index FROM noetl.event_record WHERE loop_index IS NOT NULL")
                .into_iter()
                .map(|index| index as usize)
                .collect();
        let before = written(&folder).len();
        child = start(&["run", "--data", "data", "--resume", &execution]);
        if kill < KILLS {
            wait_for(&folder, &mut child, before + 20);
        }
        let again: Vec<usize> =
            written(&folder)[before..].iter().copied().filter(|item| finished.contains(item)).collect();
        assert!(again.is_empty(), "items whose outcome was kept ran again after kill {kill}: {again:?}");
    }
    let ended = child.wait().expect("a child");
    assert_eq!(ended.code(), Some(0));
    let seqs = numbers(&folder, "SELECT seq FROM noetl.event_record ORDER BY seq");
    assert!(seqs.iter().copied().eq(1..=seqs.len() as i64), "the log has gaps");
    let items: BTreeSet<usize> = written(&folder).into_iter().collect();
    assert_eq!(items.len(), ITEMS, "some items never ran");
    let seen = folder.noetl(&["run", "--data", "data", "--resume", &execution, "--json"]);
    let run: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    assert_eq!((&run["status"], &run["result"]["success"]), (&"COMPLETED".into(), &ITEMS.into()));
}
