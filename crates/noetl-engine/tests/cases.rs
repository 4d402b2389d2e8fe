//! Engine behaviour as transcripts: what is done to a run, and what it does, in words.
//!
//! Every file in `cases/` holds cases. A case begins with `=== name`, then the playbook (the header may be left out), then
//! lines of a script that begin with `> `, each followed by what the run did. `UPDATE_CASES=1 cargo test -p noetl-engine`
//! writes what the engine does now into the files, to be read before it is committed.

#![expect(
    clippy::disallowed_methods,
    reason = "the engine keeps off files and the environment, its tests read their cases"
)]

mod support;

use std::fmt::Write as _;
use std::path::Path;

use noetl_dsl::{Options, check};
use support::{World, play};

const HEADER: &str = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: case}\n";

#[test]
fn every_case_plays_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut files: Vec<_> = std::fs::read_dir(&folder).expect("the folder of cases").flatten().collect();
    files.sort_by_key(|file| file.path());
    for file in files {
        let text = std::fs::read_to_string(file.path()).expect("a readable file of cases");
        let (played, cases) = replay_file(&text);
        count += cases;
        if played != text {
            if std::env::var_os("UPDATE_CASES").is_some() {
                std::fs::write(file.path(), &played).expect("a writable file of cases");
            } else {
                wrong.push(difference(&file.path(), &text, &played));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 460, "only {count} cases were found");
}

/// The file as the engine plays it now, and the number of its cases.
fn replay_file(text: &str) -> (String, usize) {
    let mut played = String::new();
    let (preface, cases) = match text.find("=== ") {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    played.push_str(preface);
    let mut count = 0;
    for case in cases.split("\n=== ").map(|case| case.strip_prefix("=== ").unwrap_or(case)) {
        if case.trim().is_empty() {
            continue;
        }
        if count > 0 {
            played.push('\n');
        }
        count += 1;
        replay_case(case, &mut played);
    }
    (played, count)
}

fn replay_case(case: &str, played: &mut String) {
    let (name, body) = case.split_once('\n').unwrap_or((case, ""));
    let playbook: String =
        body.lines().take_while(|line| !line.starts_with("> ")).map(|line| format!("{line}\n")).collect();
    let source =
        if playbook.contains("apiVersion:") { playbook.clone() } else { format!("{HEADER}{playbook}") };
    let _ = write!(played, "=== {name}\n{playbook}");
    let checked = check(&source, &Options::default());
    let Some(plan) = checked.plan else {
        for diagnostic in checked.diagnostics {
            let _ = writeln!(played, "{}: {}", diagnostic.code, diagnostic.message);
        }
        return;
    };
    let mut world = World::new(plan);
    let mut children = Vec::new();
    for line in body.lines().filter_map(|line| line.strip_prefix("> ")) {
        play(&mut world, &mut children, line);
        let _ = writeln!(played, "> {line}");
        for line in world.transcript.drain(..) {
            let _ = writeln!(played, "{line}");
        }
    }
    assert_eq!(world.replay(), world.run, "case {name:?}: folding the log again gives another run");
    survives_a_snapshot(&world, name);
}

/// A snapshot taken anywhere, with the events after it, gives the same run.
fn survives_a_snapshot(world: &World, name: &str) {
    let mut run = noetl_engine::Run::new();
    for event in &world.log {
        let text = serde_json::to_string(&run).expect("a run is JSON");
        let back: noetl_engine::Run = serde_json::from_str(&text).expect("a run is read back");
        assert_eq!(back, run, "case {name:?}: the state at {} changes when it is stored", run.seq);
        let text = serde_json::to_string(event).expect("an event is JSON");
        let event = serde_json::from_str(&text).expect("an event is read back");
        run = back;
        noetl_engine::apply(&mut run, &event);
    }
    assert_eq!(run, world.run, "case {name:?}: snapshots and events give another run");
}

fn difference(path: &Path, expected: &str, played: &str) -> String {
    let mut text = format!("{}:\n", path.display());
    let (mut case, mut shown) = ("", 0);
    let (mut left, mut right) = (expected.lines(), played.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => break,
            (a, b) => {
                if let Some(name) = a.and_then(|line| line.strip_prefix("=== ")) {
                    case = name;
                }
                if a != b {
                    let _ =
                        writeln!(text, "  in {case:?}\n    - {}\n    + {}", a.unwrap_or(""), b.unwrap_or(""));
                    shown += 1;
                    if shown == 5 {
                        break;
                    }
                }
            }
        }
    }
    text
}
