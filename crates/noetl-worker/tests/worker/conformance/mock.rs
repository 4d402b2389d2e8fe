//! The suite's mock server, as a process of its own that ends with the test.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// Serves on a free port until its input is closed.
const PROGRAM: &str = "
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import mock_server
print(mock_server.start().server_port, flush=True)
sys.stdin.read()
";

pub struct Mock {
    port: u16,
    _process: Child,
}

impl Mock {
    pub async fn start(folder: &Path) -> Mock {
        let mut process = Command::new("python3")
            .args(["-c", PROGRAM])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("python3 is installed");
        let output = process.stdout.take().expect("its output is piped");
        let port = BufReader::new(output).lines().next_line().await.expect("it can be read");
        let port = port.and_then(|line| line.trim().parse().ok()).expect("it prints its port");
        Mock { port, _process: process }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What was seen under a key.
    pub async fn stats(&self, key: &str) -> Value {
        let mut connection =
            TcpStream::connect(("127.0.0.1", self.port)).await.expect("the mock server listens");
        let request = format!("GET /_stats?k={key} HTTP/1.1\r\nHost: mock\r\nConnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).await.expect("it takes requests");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.expect("it answers");
        let body = answer.split_once("\r\n\r\n").expect("an answer has a body").1;
        serde_json::from_str(body).expect("statistics are JSON")
    }
}
