//! A web server for tests: it answers each request with what a closure says.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::block_on;

#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("a body of text")
    }
}

pub enum Response {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    /// Never answers, but keeps the connection.
    Silence,
}

pub fn answer(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Response {
    Response::Answer { status, headers: vec![("content-type", content_type.to_owned())], body: body.into() }
}

/// Starts a server and gives its address, such as `http://127.0.0.1:5000`.
pub fn serve(respond: impl Fn(Request) -> Response + Send + Sync + 'static) -> String {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("it is bound"));
        let respond = Arc::new(respond);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let respond = respond.clone();
                tokio::spawn(async move { talk(stream, &*respond).await });
            }
        });
        address
    })
}

async fn talk(stream: TcpStream, respond: &(dyn Fn(Request) -> Response + Send + Sync)) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let request = receive(&mut stream).await?;
        let is_head = request.method == "HEAD";
        let Response::Answer { status, headers, body } = respond(request) else {
            return std::future::pending().await;
        };
        let mut head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all((head + "\r\n").as_bytes()).await.ok()?;
        if !is_head {
            stream.write_all(&body).await.ok()?;
        }
        stream.flush().await.ok()?;
    }
}

async fn receive(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request { method, target, headers, body })
}
