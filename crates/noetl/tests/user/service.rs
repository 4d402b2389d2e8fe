//! A `noetl` that serves, as a process of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::support::Folder;

/// A serving process. It is ended with the value.
#[derive(Debug)]
pub struct Service {
    child: Child,
    /// Kept open: a process that can't write what it says would end.
    _stdout: BufReader<ChildStdout>,
    /// What it said on standard error so far.
    said: Arc<Mutex<Vec<u8>>>,
    listener: Option<JoinHandle<()>>,
    pub url: String,
}

impl Service {
    /// `noetl dev` on a free port, ready to answer.
    pub fn dev(folder: &Folder, data: &Path) -> Service {
        Service::start(folder.command(&["dev", "--listen", "127.0.0.1:0", "--data"]).arg(data))
    }

    /// Starts a command that says `listening on URL` in its first line.
    pub fn start(command: &mut Command) -> Service {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("text on stdout");
        let Some(url) = line.trim().strip_prefix("listening on ") else {
            let _ = child.kill();
            let mut complaint = String::new();
            let _ = child.stderr.take().expect("stderr is piped").read_to_string(&mut complaint);
            panic!("it does not listen: {line}{complaint}");
        };
        let url = url.to_owned();
        // What it says later must not fill the pipe.
        let mut stderr = child.stderr.take().expect("stderr is piped");
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = said.clone();
        let listener = std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(read @ 1..) = stderr.read(&mut part) {
                heard.lock().expect("nobody panics with it").extend_from_slice(&part[..read]);
            }
        });
        Service { child, _stdout: stdout, said, listener: Some(listener), url }
    }

    /// Asks for a path. Gives the status and the body.
    pub fn get(&self, path: &str) -> (u16, Value) {
        self.ask("GET", path, None)
    }

    pub fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask("POST", path, Some(body))
    }

    /// One request on a connection of its own.
    pub fn ask(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        self.ask_as("", method, path, body)
    }

    /// One request with a token.
    pub fn ask_as(&self, token: &str, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let login =
            if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        let host = self.url.strip_prefix("http://").expect("an address");
        let mut connection = TcpStream::connect(host).expect("the server listens");
        let body = body.map_or(String::new(), |body| body.to_string());
        write!(
            connection,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{login}Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("the server reads");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("the server answers in text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned())))
    }

    /// What it said on standard error so far.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.said.lock().expect("nobody panics with it")).into_owned()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().expect("the process is ours");
        self.child.wait().expect("the process ends");
    }

    /// Asks it to end, waits until it has, and gives its exit code.
    pub fn stop(mut self) -> Option<i32> {
        self.terminate()
    }

    /// The same, with all that it said on standard error.
    pub fn end(mut self) -> (String, Option<i32>) {
        let code = self.terminate();
        // Its end is the end of the pipe, so that the listener ends too.
        if let Some(listener) = self.listener.take() {
            listener.join().expect("the listener does not panic");
        }
        (self.said(), code)
    }

    fn terminate(&mut self) -> Option<i32> {
        let asked =
            Command::new("kill").args(["-TERM", &self.pid().to_string()]).status().expect("kill runs");
        assert!(asked.success(), "the process is there");
        self.child.wait().expect("the process ends").code()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
