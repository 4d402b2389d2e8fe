//! Objects in a bucket, against a server that speaks the little of S3 that is needed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use noetl_objects::ObjectPlace;
use noetl_store::Objects;
use noetl_types::Timestamp;

const SERVER: &str = r#"
import http.server, re, urllib.parse
kept = {}
class Bucket(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def parts(self):
        parts = urllib.parse.urlsplit(self.path)
        return urllib.parse.unquote(parts.path)[len("/bucket/"):], parts.query
    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))
    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"tag"')
        self.send_header("Last-Modified", "Sun, 01 Jan 2023 00:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)
    def do_PUT(self):
        kept[self.parts()[0]] = self.body()
        self.answer(200)
    def do_GET(self):
        key, query = self.parts()
        if "list-type" in query:
            entry = "<Contents><Key>{}</Key><LastModified>2023-01-01T00:00:00.000Z</LastModified><Size>{}</Size></Contents>"
            found = "".join(entry.format(key, len(kept[key])) for key in sorted(kept))
            self.answer(200, f"<ListBucketResult>{found}</ListBucketResult>".encode())
        elif key in kept:
            self.answer(200, kept[key])
        else:
            self.answer(404)
    def do_DELETE(self):
        kept.pop(self.parts()[0], None)
        self.answer(204)
    def do_POST(self):
        keys = re.findall("<Key>(.*?)</Key>", self.body().decode())
        for key in keys:
            kept.pop(key, None)
        told = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self.answer(200, f"<DeleteResult>{told}</DeleteResult>".encode())
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
print(server.server_port, flush=True)
server.serve_forever()
"#;

struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start() -> Server {
        let mut process = Command::new("python3")
            .args(["-c", SERVER])
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python is there");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut line).expect("the port");
        Server { process, port: line.trim().parse().expect("a port") }
    }

    fn environment(&self) -> Vec<(String, String)> {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        [
            ("AWS_ENDPOINT", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "nowhere"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("PATH", "/bin"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn objects_in_a_bucket_can_be_stored_found_listed_and_removed() {
    let server = Server::start();
    let place = ObjectPlace::at("s3://bucket/some/prefix", server.environment()).expect("a bucket");
    let content: Vec<u8> = (0..3 << 20).map(|at| (at % 251) as u8).collect();
    place.put("12/34-abc", content.clone().into()).await.expect("it is stored");
    assert_eq!(place.find("12/34-abc").await.expect("readable"), Some(content));
    assert_eq!(place.find("12/35-abc").await.expect("readable"), None);
    let listed = place.list_older(Timestamp::from_millis(1_700_000_000_000)).await.expect("readable");
    assert_eq!(listed, ["12/34-abc"]);
    place.delete("12/34-abc").await.expect("it is removed");
    assert_eq!(place.find("12/34-abc").await.expect("readable"), None);
}
