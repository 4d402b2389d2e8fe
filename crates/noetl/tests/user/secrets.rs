//! Secrets are used and nowhere to be found afterwards.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use crate::service::Service;
use crate::support::Folder;

const BEARER: &str = "canary-bearer-8f2b6d1c";
const BASIC: &str = "canary-basic-77e0a4b2";
const API_KEY: &str = "canary-key-93c1f5d8";
const CUSTOM: &str = "canary-custom-1d4e6f90";

/// How a canary may look: plain, and inside base64 as it begins with the name of the user.
fn forms() -> Vec<String> {
    let mut forms: Vec<String> = [BEARER, BASIC, API_KEY, CUSTOM].map(str::to_owned).to_vec();
    // `ann:canary-basic-77e0a4b2` in base64, without the part that other texts share.
    forms.push("Y2FuYXJ5LWJhc2ljLTc3ZTBhNGIy".to_owned());
    forms.push("OmNhbmFyeS1iYXNpYy03N2UwYTRiM".to_owned());
    forms
}

/// A service that gives back the head of each request.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let mut reader = BufReader::new(connection);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|read| read > 0) {}
            let status = if head.starts_with("GET /fail") { "500 Broken" } else { "200 OK" };
            let body = json!({"you_sent": head}).to_string();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            // A client that has gone away has no use for the answer.
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
    });
    url
}

const FLOW: &str = r#"
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: canary, path: canary/flow}
workload: {url: nowhere}
keychain:
  - {name: svc, kind: credential, credential: canary_custom}
workflow:
  - step: start
    tool: {kind: http, url: "{{ workload.url }}/ok", auth: canary_bearer}
    next: {arcs: [{step: basic}]}
  - step: basic
    tool: {kind: http, url: "{{ workload.url }}/ok", auth: canary_basic}
    next: {arcs: [{step: key}]}
  - step: key
    tool: {kind: http, url: "{{ workload.url }}/ok", auth: canary_key}
    next: {arcs: [{step: printed}]}
  - step: printed
    tool:
      kind: python
      input: {token: "{{ keychain.svc.token }}"}
      code: |
        print("got", token)
        result = {"said": token, "length": len(token)}
      set: {ctx.kept: "{{ output.data.said }}"}
    next: {arcs: [{step: child}]}
  - step: child
    tool: {kind: playbook, path: canary/child, input: {token: "{{ keychain.svc.token }}", url: "{{ workload.url }}"}}
    next: {spec: {mode: inclusive}, arcs: [{step: refused}, {step: fails}]}
  - step: refused
    tool: {kind: http, url: "{{ workload.url }}/fail", auth: canary_bearer}
  - step: fails
    tool: {kind: shell, command: "echo {{ keychain.svc.token }}; echo {{ keychain.svc.token }} >&2; exit 3"}
"#;

const CHILD: &str = r#"
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: child, path: canary/child}
workload: {token: none, url: nowhere}
workflow:
  - step: start
    tool: {kind: http, url: "{{ workload.url }}/ok", auth: canary_bearer, headers: {X-Given: "{{ workload.token }}"}}
"#;

/// Everything below a folder, as bytes.
fn every_file(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(every_file(&path));
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).expect("a file")));
        }
    }
    found
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Starts a run and waits for its end.
fn run(server: &Service, path: &str, payload: Value) -> String {
    let (status, started) = server.post("/api/execute", json!({"path": path, "payload": payload}));
    assert_eq!(status, 200, "{started}");
    let id = started["execution_id"].as_str().expect("an id").to_owned();
    loop {
        let (_, seen) = server.get(&format!("/api/executions/{id}/status"));
        if matches!(seen["status"].as_str(), Some("COMPLETED" | "FAILED" | "CANCELLED")) {
            return id;
        }
    }
}

#[test]
fn no_secret_is_left_in_files_answers_or_output() {
    let folder = Folder::new();
    let data = folder.path("data");
    let server = Service::dev(&folder, &data);
    for (name, kind, fields) in [
        ("canary_bearer", "bearer", json!({"token": BEARER})),
        ("canary_basic", "basic", json!({"username": "ann", "password": BASIC})),
        ("canary_key", "api_key", json!({"header": "X-Key", "key": API_KEY, "value": API_KEY})),
        ("canary_custom", "custom", json!({"token": CUSTOM})),
    ] {
        let body = json!({"name": name, "type": kind, "data": fields});
        let (status, answer) = server.post("/api/credentials", body);
        assert_eq!(status, 200, "{answer}");
    }
    for text in [FLOW, CHILD] {
        let (status, answer) = server.post("/api/catalog/register", json!({"content": text}));
        assert_eq!(status, 200, "{answer}");
    }
    let execution = run(&server, "canary/flow", json!({"url": echo()}));

    let (_, shown) = server.get("/api/credentials/canary_bearer?include_data=true");
    assert_eq!(shown["data"]["token"], BEARER, "the one place where it may be seen");
    let (_, detail) = server.get(&format!("/api/executions/{execution}"));
    let detail = detail.to_string();
    assert!(detail.contains("[redacted]"), "the secrets were used: {detail}");

    let (_, all) = server.get("/api/executions");
    let mut answers = vec![("detail".to_owned(), detail), ("list".to_owned(), all.to_string())];
    let items = all.as_array().expect("a list").clone();
    let ids = items.iter().filter_map(|item| item["execution_id"].as_str());
    let mut paths: Vec<String> =
        ["/api/credentials", "/api/credentials/canary_bearer", "/api/audit", "/metrics"]
            .map(str::to_owned)
            .to_vec();
    for id in ids {
        for part in ["", "/status", "/events", "/logs"] {
            paths.push(format!("/api/executions/{id}{part}"));
        }
    }
    assert!(paths.len() >= 12, "the run and its child are listed: {all}");
    for path in paths {
        let (_, answer) = server.get(&path);
        answers.push((path, answer.to_string()));
    }
    let (_, refused) = server.post("/api/credentials", json!({"name": "x", "type": "y", "data": CUSTOM}));
    answers.push(("refusal".to_owned(), refused.to_string()));
    let said = server.said();
    assert_eq!(server.stop(), Some(0));
    answers.push(("standard error".to_owned(), said));
    let looked = folder.noetl(&["logs", "--data", "data", &execution]);
    assert!(looked.stdout.contains("got [redacted]"), "{}", looked.text());
    answers.push(("noetl logs".to_owned(), looked.text()));

    for form in forms() {
        for (place, text) in &answers {
            assert!(!text.contains(&form), "{form} in {place}: {text}");
        }
        for (file, bytes) in every_file(&data) {
            assert!(!contains(&bytes, &form), "{form} in {file}");
        }
    }
}
