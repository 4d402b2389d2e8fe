//! `noetl server` and `noetl worker`

use std::process::Stdio;

use serde_json::json;

use crate::service::Service;
use crate::support::{Folder, see};

fn server(folder: &Folder) -> Service {
    let data = folder.path("data");
    Service::start(folder.command(&["server", "--listen", "127.0.0.1:0", "--data"]).arg(data))
}

#[test]
fn a_worker_in_another_process_runs_what_the_server_starts_and_drains_when_it_is_told_to_end() {
    let folder = Folder::new();
    let server = server(&folder);
    let playbook = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: apart, path: apart}
workflow:
  - step: start
    tool: {kind: shell, command: echo hello}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: noop, result: \"{{ start.stdout | trim }}\"}
";
    let (status, answer) = server.post("/api/catalog/register", json!({"content": playbook}));
    assert_eq!(status, 200, "{answer}");
    let mut worker = folder
        .command(&["worker", "--server", &server.url, "--name", "w1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let (_, started) = server.post("/api/execute", json!({"path": "apart"}));
    let execution = started["execution_id"].as_str().expect("an id as text").to_owned();
    let status = loop {
        let (_, status) = server.get(&format!("/api/executions/{execution}/status"));
        if status["completed"] == json!(true) {
            break status;
        }
        std::thread::yield_now();
    };
    assert_eq!(status["status"], "COMPLETED", "{status}");
    let (_, workers) = server.get("/api/worker/pools");
    assert_eq!(workers["items"][0]["name"], "w1", "{workers}");

    let asked = std::process::Command::new("kill").args(["-TERM", &worker.id().to_string()]).status();
    assert!(asked.expect("kill runs").success());
    assert_eq!(worker.wait().expect("the worker ends").code(), Some(0));
    let (_, workers) = server.get("/api/worker/pools");
    assert_eq!(workers["count"], 0, "it said goodbye: {workers}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn an_address_that_makes_no_sense_is_said_in_a_sentence() {
    let folder = Folder::new();
    let seen = see(folder.command(&["worker", "--server", "ftp://somewhere"]), "");
    assert_eq!(seen.code, Some(2));
    assert!(seen.stderr.contains("is no address of a server"), "{}", seen.stderr);
}
