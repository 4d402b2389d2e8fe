//! A `noetl` that is running: what it says meanwhile, signals to it, and what is left of it afterwards.

use std::io::Read;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::support::{Folder, Seen};

/// A process in a session of its own, so that everything it starts can be found again.
#[derive(Debug)]
pub struct Live {
    child: Child,
    stderr: ChildStderr,
    said: Vec<u8>,
}

impl Live {
    pub fn start(folder: &Folder, arguments: &[&str]) -> Live {
        let plain = folder.command(arguments);
        let mut command = Command::new("setsid");
        command.arg(plain.get_program()).args(plain.get_args());
        if let Some(folder) = plain.get_current_dir() {
            command.current_dir(folder);
        }
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stderr = child.stderr.take().expect("stderr is piped");
        Live { child, stderr, said: Vec::new() }
    }

    /// Waits until it has said these words on standard error.
    pub fn wait_for(&mut self, words: &str) {
        let mut byte = [0];
        while !self.said.windows(words.len()).any(|said| said == words.as_bytes()) {
            let read = self.stderr.read(&mut byte).expect("readable");
            assert_eq!(read, 1, "it never said {words:?}: {}", String::from_utf8_lossy(&self.said));
            self.said.push(byte[0]);
        }
    }

    /// What it has said on standard error so far.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.said).into_owned()
    }

    /// Sends a signal by its name, such as `INT`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("there is a kill").success(), "the process takes signals");
    }

    /// Waits for its end, and makes sure that nothing it started is left.
    pub fn end(mut self) -> Seen {
        let mut stdout = String::new();
        self.child.stdout.take().expect("stdout is piped").read_to_string(&mut stdout).expect("UTF-8");
        self.stderr.read_to_end(&mut self.said).expect("readable");
        let status = self.child.wait().expect("it ends");
        wait_until_nothing_is_left(self.child.id());
        let stderr = String::from_utf8(self.said).expect("UTF-8 on stderr");
        Seen { code: status.code(), stdout, stderr }
    }
}

/// Processes that were told to end may need a moment; one that stays makes the test run into its time limit.
fn wait_until_nothing_is_left(session: u32) {
    while !processes_of(session).is_empty() {
        std::thread::yield_now();
    }
}

/// The processes of a session that are not dead.
fn processes_of(session: u32) -> Vec<String> {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let stats =
        processes.flatten().filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| {
            // After the name in parentheses: the state, the parent, the group and the session.
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
            fields.first().is_some_and(|state| !matches!(*state, "Z" | "X"))
                && fields.get(3).is_some_and(|found| *found == session.to_string())
        })
        .collect()
}
