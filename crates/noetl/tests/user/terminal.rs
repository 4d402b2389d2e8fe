//! What somebody at a terminal sees: colours, and that something goes on.

use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use crate::served::{FAILING, Served, WAITING};
use crate::support::Folder;

/// Runs a command on a pseudo-terminal, whose output it passes on, and ends with its exit code.
const ON_A_TERMINAL: &str =
    "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/// The same command on a terminal.
fn on_a_terminal(plain: &Command) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", ON_A_TERMINAL]).arg(plain.get_program()).args(plain.get_args());
    command.current_dir(plain.get_current_dir().expect("tests run in a folder"));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("TERM", "xterm").stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Reads until these words have come.
fn wait_for(child: &mut Child, words: &str) -> String {
    let stdout = child.stdout.as_mut().expect("stdout is piped");
    let (mut seen, mut part) = (Vec::new(), [0; 1024]);
    loop {
        let read = stdout.read(&mut part).unwrap_or(0);
        seen.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&seen).into_owned();
        if text.contains(words) {
            return text;
        }
        assert!(read > 0, "it never said {words:?}: {text}");
    }
}

#[test]
fn colours_are_for_terminals_unless_they_are_not_wanted() {
    let served = Served::with(&[FAILING]);
    let failing = served.command(&["exec", "test/failing", "--follow"]);
    let seen = on_a_terminal(&failing).output().expect("python3 runs");
    let text = String::from_utf8_lossy(&seen.stdout).into_owned();
    assert_eq!(seen.status.code(), Some(1), "{text}");
    assert!(text.contains("\x1b[32m✓\x1b[0m before") && text.contains("\x1b[31mFAILED\x1b[0m"), "{text}");
    let plain = on_a_terminal(&failing).env("NO_COLOR", "1").output().expect("python3 runs");
    let text = String::from_utf8_lossy(&plain.stdout).into_owned();
    assert!(text.contains("✓ before") && !text.contains("\x1b[3"), "{text}");
    let forced = served.good(&["list", "--color", "always"]);
    assert!(forced.contains("\x1b[31mFAILED\x1b[0m"), "{forced}");
    assert!(!served.good(&["list"]).contains('\x1b'), "no colours in a pipe");
}

#[test]
fn whoever_waits_sees_what_for_and_ctrl_c_detaches() {
    let served = Served::with(&[WAITING]);
    let mut waiting = on_a_terminal(&served.command(&["exec", "test/waiting", "--wait"]));
    let mut waiting = waiting.spawn().expect("python3 runs");
    wait_for(&mut waiting, "… ask, ");
    let keyboard = waiting.stdin.as_mut().expect("stdin is piped");
    std::io::Write::write_all(keyboard, b"\x03").expect("the terminal takes keys");
    wait_for(&mut waiting, "note: detached; execution ");
    assert_eq!(waiting.wait().expect("it ends").code(), Some(130));
}

#[test]
fn a_server_that_takes_its_time_is_named() {
    let folder = Folder::new();
    let slow = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", slow.local_addr().expect("an address"));
    let mut asking =
        on_a_terminal(&folder.command(&["list", "--server", &url])).spawn().expect("python3 runs");
    let connection = slow.accept().expect("it calls");
    wait_for(&mut asking, &format!("… waiting for {url}, "));
    // It hears no more and says so.
    drop((connection, slow));
    wait_for(&mut asking, "error: no ");
    assert_eq!(asking.wait().expect("it ends").code(), Some(1));
}
