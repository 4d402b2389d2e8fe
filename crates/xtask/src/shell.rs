//! Runs other programs from the root of the workspace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The folder of the workspace's `Cargo.toml`.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("xtask lives two folders below the root").to_path_buf()
}

/// Runs a program with its output on the terminal; anything but success is an error that shows the command.
pub fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let status =
        command(program, arguments).status().with_context(|| format!("could not start {program}"))?;
    if !status.success() {
        bail!("`{program} {}` failed ({status})", arguments.join(" "));
    }
    Ok(())
}

/// Runs a program and gives what it wrote to stdout.
pub fn read(program: &str, arguments: &[&str]) -> Result<String> {
    let output = command(program, arguments)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start {program}"))?;
    if !output.status.success() {
        bail!("`{program} {}` failed ({})", arguments.join(" "), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{program} did not write UTF-8"))
}

/// Whether a program answers to these arguments with success.
pub fn succeeds(program: &str, arguments: &[&str]) -> bool {
    command(program, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}
