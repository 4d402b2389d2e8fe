//! The command line that the NoETL project publishes, against our server.

use std::path::Path;
use std::process::Command;

use crate::support::project;

#[test]
fn the_published_command_line_works_with_our_server() {
    let client = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../test-tools/bin/noetl");
    if !client.exists() {
        eprintln!("skipped: there is no published client; scripts/setup-tests installs it");
        return;
    }
    let done = Command::new("python3")
        .arg(project().join("tests/compat/official_cli.py"))
        .arg("--client")
        .arg(client)
        .args(["--noetl", env!("CARGO_BIN_EXE_noetl")])
        .output()
        .expect("python3 runs");
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}");
}
