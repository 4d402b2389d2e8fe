//! Runs the real binary and looks at what a user would see.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What a command left behind.
#[derive(Debug)]
pub struct Seen {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Seen {
    /// Everything in one text, for comparing with an expectation.
    pub fn text(&self) -> String {
        let code = self.code.map_or("ended by a signal".to_owned(), |code| format!("exit {code}"));
        let mut text = self.stdout.clone();
        for line in self.stderr.lines() {
            text.push_str(&format!("stderr: {line}\n"));
        }
        text + &code + "\n"
    }
}

/// A folder of the test's own, in which the binary runs.
#[derive(Debug)]
pub struct Folder {
    folder: TempDir,
}

impl Folder {
    pub fn new() -> Folder {
        Folder { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Folder {
        Folder::new().and(name, content)
    }

    /// The folder with one more file in it.
    pub fn and(self, name: &str, content: impl AsRef<[u8]>) -> Folder {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a text file")
    }

    pub fn noetl(&self, arguments: &[&str]) -> Seen {
        see(self.command(arguments), "")
    }

    pub fn noetl_with_input(&self, arguments: &[&str], input: &str) -> Seen {
        see(self.command(arguments), input)
    }

    /// The binary, ready to be started here. What the environment says about colours and about us is left out.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = noetl(arguments);
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        command
    }
}

/// The binary, run from the root of the project.
pub fn in_project(arguments: &[&str]) -> Seen {
    let mut command = noetl(arguments);
    command.current_dir(project());
    see(command, "")
}

/// The root of the project.
pub fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn noetl(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_noetl"));
    command.args(arguments);
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy();
        let is_ours = ["NOETL_", "WORKER_", "OTEL_"].iter().any(|ours| name.starts_with(ours));
        if is_ours || ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"].contains(&&*name) {
            command.env_remove(variable);
        }
    }
    command.env("XDG_CONFIG_HOME", "/nowhere").env("HOME", "/nowhere");
    command
}

pub fn see(mut command: Command, input: &str) -> Seen {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(input.as_bytes()).expect("the binary reads its input");
    drop(stdin);
    let output = child.wait_with_output().expect("the binary ends");
    Seen {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
    }
}
