//! What a server says to those who use it wrongly. Everybody gets one clear answer, and others are served meanwhile.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::service::Service;
use crate::support::Folder;

/// A server whose patience is over soon.
fn impatient(folder: &Folder) -> Service {
    let mut command = folder.command(&["dev", "--listen", "127.0.0.1:0", "--data", "data"]);
    for setting in ["server.head-timeout=200ms", "server.stall-timeout=200ms"] {
        command.args(["--option", setting]);
    }
    Service::start(&mut command)
}

fn connect(server: &Service) -> TcpStream {
    TcpStream::connect(server.url.strip_prefix("http://").expect("an address")).expect("the server listens")
}

/// What comes until the server closes.
fn rest(connection: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A connection that is cut has ended too.
    let _ = connection.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn head(length: usize) -> String {
    format!(
        "POST /api/execute HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[test]
fn whoever_sends_nonsense_gets_one_clear_answer() {
    let folder = Folder::new();
    let server = impatient(&folder);

    let mut connection = connect(&server);
    write!(connection, "{}{{\"path\": ", head(9)).expect("the server reads");
    let answer = rest(&mut connection);
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("body_malformed"), "{answer}");

    let mut connection = connect(&server);
    connection.write_all(head(100 << 20).as_bytes()).expect("the server reads");
    let piece = vec![b' '; 1 << 20];
    for _ in 0..100 {
        connection.write_all(&piece).expect("the server reads on");
    }
    let answer = rest(&mut connection);
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("body_too_large"), "{answer}");

    let (status, answer) = server.post("/api/execute", json!({"path": "no/such"}));
    assert_eq!((status, &answer["code"]), (404, &json!("catalog_entry_not_found")), "{answer}");
    let (status, answer) = server.post("/api/catalog/register", json!({"content": "kind: [Playbook"}));
    assert_eq!(status, 422, "{answer}");
    assert!(answer["error"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{answer}");
    assert_eq!(server.get("/health").0, 200);
}

#[test]
fn whoever_dawdles_is_cut() {
    let folder = Folder::new();
    let server = impatient(&folder);
    let mut slow: Vec<TcpStream> = (0..50).map(|_| connect(&server)).collect();
    for (number, connection) in slow.iter_mut().enumerate() {
        let beginning = ["", "G", "GET /health HTTP/1.1\r\nHost: local"][number % 3];
        connection.write_all(beginning.as_bytes()).expect("the server reads");
    }
    assert_eq!(server.get("/health").0, 200, "others are served meanwhile");
    for connection in &mut slow {
        let answer = rest(connection);
        assert!(!answer.contains("200 OK"), "{answer}");
    }

    let mut connection = connect(&server);
    write!(connection, "{}{{", head(100)).expect("the server reads");
    let answer = rest(&mut connection);
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("body_malformed"), "{answer}");
}

#[test]
fn whoever_never_reads_is_cut() {
    let folder = Folder::new();
    let server = impatient(&folder);
    let mut connection = connect(&server);
    let ask = "GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(64);
    while connection.write_all(ask.as_bytes()).is_ok() {}
    assert_eq!(server.get("/health").0, 200);
}
