//! A server, and a folder whose commands talk to it.

use std::process::Command;

use serde_json::Value;

use crate::service::Service;
use crate::support::{Folder, Seen, see};

#[derive(Debug)]
pub struct Served {
    pub folder: Folder,
    pub server: Service,
}

/// A playbook that ends at once with `{"greeting": …}`.
pub const HELLO: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: hello, path: test/hello}
workload: {name: world}
workflow:
  - step: greet
    tool: {kind: noop, result: {greeting: \"Hello, {{ workload.name }}!\"}}
";

/// A playbook that fails with a sentence.
pub const FAILING: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: failing, path: test/failing}
workflow:
  - step: before
    tool: {kind: noop, result: kept}
    next: {arcs: [{step: break}]}
  - step: break
    tool: {kind: shell, command: \"echo printed; test -e mended\"}
";

/// A playbook that waits for the signal `go`.
pub const WAITING: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: waiting, path: test/waiting}
workflow:
  - step: ask
    tool: {kind: wait, signal: go}
";

impl Served {
    /// A server with these documents registered, and no others.
    pub fn with(documents: &[&str]) -> Served {
        let mut folder = Folder::new();
        for (at, document) in documents.iter().enumerate() {
            folder = folder.and(&format!("playbooks/{at}.yaml"), document);
        }
        let arguments = ["dev", "--listen", "127.0.0.1:0", "--data", "data", "--no-examples"];
        let server = Service::start(&mut folder.command(&arguments));
        let served = Served { folder, server };
        if !documents.is_empty() {
            served.good(&["register", "playbooks", "--quiet"]);
        }
        served
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.folder.command(arguments);
        command.env("NOETL_SERVER", &self.server.url);
        command
    }

    pub fn noetl(&self, arguments: &[&str]) -> Seen {
        see(self.command(arguments), "")
    }

    /// What a command that must end with 0 writes.
    pub fn good(&self, arguments: &[&str]) -> String {
        let seen = self.noetl(arguments);
        assert_eq!(seen.code, Some(0), "{arguments:?}: {}", seen.text());
        seen.stdout
    }

    /// The same as JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let text = self.good(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    /// Starts a playbook and gives the id of its execution.
    pub fn start(&self, playbook: &str) -> String {
        self.good(&["exec", playbook, "--quiet"]).trim().to_owned()
    }

    /// Starts a playbook and waits until it is over.
    pub fn run(&self, playbook: &str) -> String {
        let id = self.start(playbook);
        self.noetl(&["status", &id, "--wait"]);
        id
    }

    /// Waits until the execution waits for a signal, which its events tell.
    pub fn wait_until_it_waits(&self, id: &str) {
        let mut events = self.command(&["events", id, "-f"]);
        let mut child = events.stdout(std::process::Stdio::piped()).spawn().expect("the binary starts");
        let lines =
            std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("stdout is piped")));
        let suspended = lines.map_while(Result::ok).any(|line| line.contains("call.suspended"));
        let _ = child.kill();
        let _ = child.wait();
        assert!(suspended, "execution {id} never waited");
    }
}
