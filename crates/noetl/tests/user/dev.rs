//! `noetl dev`

use serde_json::json;

use crate::service::Service;
use crate::support::{Folder, see};

#[test]
fn it_starts_with_the_examples_and_goes_on_where_it_ended() {
    let folder = Folder::new();
    let data = folder.path("data");
    let first = Service::dev(&folder, &data);
    assert_eq!(first.get("/health").0, 200);
    let (status, health) = first.get("/api/health");
    assert_eq!((status, &health["status"]), (200, &json!("ok")));
    let (status, started) = first.post("/api/execute", json!({"path": "examples/hello"}));
    assert_eq!(status, 200, "{started}");
    let execution = started["execution_id"].as_str().expect("an id as text").to_owned();
    assert_eq!(first.stop(), Some(0));

    let second = Service::dev(&folder, &data);
    let (_, again) = second.post("/api/catalog/resource", json!({"path": "examples/hello"}));
    assert_eq!(again["version"], 1, "the examples are registered once");
    assert_eq!(second.stop(), Some(0));
    let seen = folder.noetl(&["events", "--data", "data", &execution]);
    assert!(seen.stdout.contains("playbook.completed"), "{}", seen.text());
}

#[test]
fn a_port_that_is_taken_is_said_in_a_sentence() {
    let folder = Folder::new();
    let first = Service::dev(&folder, &folder.path("data"));
    let address = first.url.strip_prefix("http://").expect("an address");
    let seen = see(folder.command(&["dev", "--listen", address, "--data", "other"]), "");
    assert_eq!(seen.code, Some(1));
    assert_eq!(seen.stdout, "");
    assert!(seen.stderr.contains(&format!("can't listen on {address}")), "{}", seen.stderr);
    assert_eq!(seen.stderr.lines().count(), 1, "{}", seen.stderr);
}

#[test]
fn two_on_one_data_folder_is_refused_and_a_killed_one_leaves_it_free() {
    let folder = Folder::new();
    let first = Service::dev(&folder, &folder.path("data"));
    let seen = see(folder.command(&["dev", "--listen", "127.0.0.1:0", "--data", "data"]), "");
    assert_eq!(seen.code, Some(1));
    assert!(seen.stderr.contains("is in use by process"), "{}", seen.stderr);
    first.kill();
    assert_eq!(Service::dev(&folder, &folder.path("data")).get("/api/health").0, 200);
}

#[test]
fn logs_are_lines_of_json_when_that_is_asked_for() {
    let folder = Folder::new();
    // Both say something about themselves at this level when they start, and when they end.
    let level = ["--option", "log.level=debug", "--log-format", "json"];
    for command in ["dev", "server"] {
        let place = [command, "--listen", "127.0.0.1:0", "--data", command];
        let server = Service::start(&mut folder.command(&[place.as_slice(), &level].concat()));
        assert_eq!(server.post("/api/execute", json!({"path": "no/such"})).0, 404);
        let (said, code) = server.end();
        assert_eq!(code, Some(0));
        let lines: Vec<serde_json::Value> =
            said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        assert!(!lines.is_empty(), "{command}: {said}");
        for line in lines {
            assert!(line["level"].is_string() && line["timestamp"].is_string(), "{line}");
        }
    }
    let seen = folder.noetl(&["worker", "--log-format", "xml"]);
    assert_eq!(seen.code, Some(2), "{}", seen.text());
}
