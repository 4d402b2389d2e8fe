//! `noetl run`: a playbook here and now.

use crate::live::Live;
use crate::support::{Folder, in_project};

fn playbook(workflow: &str) -> String {
    format!("apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: flow, path: test/flow}}\n{workflow}")
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_run_prints_its_result_and_tells_what_it_does() {
    let flow = playbook(
        "workload: {name: nobody}\nworkflow:\n  - step: start\n    tool: {kind: noop, result: {hello: \"{{ workload.name }}\"}}\n",
    );
    let folder = Folder::with("flow.yaml", flow);
    let seen = folder.noetl(&["run", "flow.yaml", "--set", "name=Ada"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    assert_eq!(json(&seen.stdout), serde_json::json!({"hello": "Ada"}));
    assert!(seen.stderr.contains("✓ start"), "{}", seen.text());
    assert!(seen.stderr.contains("COMPLETED in"), "{}", seen.text());
    let seen = folder.noetl(&["run", "flow.yaml", "--quiet", "--payload", r#"{"name": "Bob"}"#]);
    assert_eq!((json(&seen.stdout), seen.stderr.as_str()), (serde_json::json!({"hello": "Bob"}), ""));
}

#[test]
fn a_failed_run_ends_with_one_and_says_why() {
    let flow = playbook("workflow:\n  - step: start\n    tool: {kind: shell, command: exit 3}\n");
    let seen = Folder::with("flow.yaml", flow).noetl(&["run", "flow.yaml", "--json"]);
    assert_eq!(seen.code, Some(1), "{}", seen.text());
    let run = json(&seen.stdout);
    assert_eq!(run["status"], "FAILED");
    assert_eq!(run["steps"][0]["status"], "failed");
    assert!(run["error"]["message"].as_str().is_some_and(|text| text.contains("start")), "{run}");
}

#[test]
fn an_invalid_playbook_ends_with_three_and_shows_the_place() {
    let flow = playbook("workflow:\n  - step: start\n    tool: {kind: teleport}\n");
    let seen = Folder::with("flow.yaml", flow).noetl(&["run", "flow.yaml"]);
    assert_eq!(seen.code, Some(3), "{}", seen.text());
    assert!(seen.stderr.contains("flow.yaml:6") && seen.stderr.contains("teleport"), "{}", seen.text());
}

#[test]
fn wrong_use_ends_with_two_and_one_sentence() {
    let folder = Folder::with("flow.yaml", playbook("workflow:\n  - step: start\n"));
    assert_eq!(folder.noetl(&["run", "flow.yaml", "--data", "kept"]).code, Some(0));
    for (arguments, words) in [
        (&["run", "absent.yaml"][..], "absent.yaml"),
        (&["run", "flow.yaml", "--payload", "[1]"], "must be a map"),
        (&["run", "flow.yaml", "--set", "novalue"], "KEY=VALUE"),
        (&["run", "flow.yaml", "--target", "nowhere"], "nowhere"),
        (&["run", "--resume", "1"], "--data"),
        (&["run", "--data", "kept", "--resume", "1"], "no execution 1"),
        (&["run", "--data", "nowhere", "--resume", "1"], "nowhere is not a data folder"),
        (&["run", "flow.yaml", "--credentials", "absent.json"], "absent.json"),
    ] {
        let seen = folder.noetl(arguments);
        assert_eq!(seen.code, Some(2), "{arguments:?}: {}", seen.text());
        assert!(seen.stderr.contains(words), "{arguments:?}: {}", seen.text());
    }
    assert!(!folder.path("nowhere").exists(), "nothing is made by mistake");
}

#[test]
fn a_called_playbook_is_found_by_its_path_in_the_same_folder() {
    let flow =
        playbook("workflow:\n  - step: start\n    tool: {kind: playbook, path: lib/child, input: {n: 4}}\n");
    let child = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: child, path: lib/child}\n\
                 workflow:\n  - step: start\n    tool: {kind: noop, result: {double: \"{{ workload.n * 2 }}\"}}\n";
    let seen =
        Folder::with("flow.yaml", flow).and("child.yaml", child).noetl(&["run", "flow.yaml", "--quiet"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    assert_eq!(json(&seen.stdout)["double"], 8);
}

#[test]
fn credentials_come_from_a_file_and_stay_out_of_the_output() {
    let flow = playbook(
        "keychain:\n  - {name: svc, kind: credential, credential: vault}\nworkflow:\n  - step: start\n    \
         tool: {kind: shell, command: \"printf %s '{{ keychain.svc.token }}' | wc -c\"}\n",
    );
    let secret = "[{\"name\": \"vault\", \"type\": \"bearer\", \"data\": {\"token\": \"hush-hush-canary\"}}]";
    let folder = Folder::with("flow.yaml", flow).and("secrets.json", secret);
    let seen =
        folder.noetl(&["run", "flow.yaml", "--json", "--data", "data", "--credentials", "secrets.json"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    assert!(
        json(&seen.stdout)["result"]["stdout"].as_str().is_some_and(|text| text.trim() == "16"),
        "{}",
        seen.text()
    );
    assert!(!seen.text().contains("hush-hush-canary"), "{}", seen.text());
    let stored = std::fs::read(folder.path("data/noetl.db")).expect("the data");
    assert!(!stored.windows(16).any(|bytes| bytes == b"hush-hush-canary"));
}

#[test]
fn two_runs_on_one_data_folder_do_not_mix() {
    let flow = playbook("workflow:\n  - step: start\n    tool: {kind: wait, signal: never}\n");
    let folder = Folder::with("flow.yaml", flow);
    let mut first = Live::start(&folder, &["run", "flow.yaml", "--data", "data"]);
    first.wait_for("waits for the signal");
    let seen = folder.noetl(&["run", "flow.yaml", "--data", "data"]);
    assert_eq!(seen.code, Some(1), "{}", seen.text());
    assert!(seen.stderr.contains("in use by process"), "{}", seen.text());
    first.signal("INT");
    assert_eq!(first.end().code, Some(130));
}

#[test]
fn a_dry_run_shows_the_plan_and_runs_nothing() {
    let flow = playbook(
        "workflow:\n  - step: start\n    tool: {kind: shell, command: \"touch {{ workload.mark }}\"}\n    next: {arcs: [{step: end}]}\n",
    );
    let folder = Folder::with("flow.yaml", flow);
    let seen = folder.noetl(&["run", "flow.yaml", "--dry-run", "--set", "mark=made"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    assert!(seen.stdout.contains("start (entry): shell -> end"), "{}", seen.text());
    assert!(seen.stdout.contains("touch made"), "{}", seen.text());
    assert!(!folder.path("made").exists());
}

#[test]
fn the_examples_that_need_no_service_complete() {
    for example in [
        "hello",
        "conditional",
        "fan_out",
        "retry",
        "pagination",
        "sub_playbook",
        "score_customer",
        "error_handling",
    ] {
        let seen = in_project(&["run", &format!("examples/{example}.yaml"), "--quiet"]);
        assert_eq!(seen.code, Some(0), "{example}: {}", seen.text());
    }
}
