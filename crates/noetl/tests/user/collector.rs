//! A collector of traces, and a web service beside it, on one port of this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::Value;

/// What came in.
#[derive(Debug)]
pub enum Heard {
    /// Spans as they were sent.
    Spans(Vec<Value>),
    /// A request to anywhere else, with the trace that it belongs to.
    Call { path: String, traceparent: Option<String> },
}

#[derive(Debug)]
pub struct Collector {
    pub url: String,
    heard: Receiver<Heard>,
}

impl Collector {
    pub fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (tell, heard) = channel();
        // The thread ends with the test process.
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let tell = tell.clone();
                std::thread::spawn(move || serve(connection, &tell));
            }
        });
        Collector { url, heard }
    }

    /// Waits for what comes next.
    pub fn next(&self) -> Heard {
        self.heard.recv_timeout(Duration::from_secs(60)).expect("something comes in")
    }
}

/// Answers the requests of one connection until it ends.
fn serve(connection: TcpStream, tell: &Sender<Heard>) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let mut writer = connection;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let path = line.split(' ').nth(1)?.to_owned();
        let (mut length, mut traceparent) = (0, None);
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "traceparent" => traceparent = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let heard = match path.as_str() {
            "/v1/traces" => Heard::Spans(spans(&body)),
            _ => Heard::Call { path, traceparent },
        };
        tell.send(heard).ok()?;
        write!(writer, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}")
            .ok()?;
    }
}

fn spans(body: &[u8]) -> Vec<Value> {
    let body: Value = serde_json::from_slice(body).expect("JSON");
    let scopes = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array();
    scopes.expect("spans in the shape of OTLP").clone()
}
