//! What this machine has: Python, room on the disk, and a file of contexts that only its owner reads.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::Check;
use crate::config::Surroundings;
use crate::connection::Contexts;

/// Less than this is said to be little.
const LITTLE_MIB: u64 = 1024;

/// Less than this is too little to go on.
const TOO_LITTLE_MIB: u64 = 64;

/// Whether Python steps can run on this machine.
pub fn python(interpreter: &Path) -> Check {
    let shown = interpreter.display();
    let advice =
        "install Python 3.9 or later, or name it in `tools.python.interpreter`; only python steps need it";
    let asked = Command::new(interpreter)
        .args(["-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"])
        .output();
    match asked {
        Ok(answer) if answer.status.success() => {
            let version = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
            let numbers: Vec<u32> = version.split('.').filter_map(|number| number.parse().ok()).collect();
            match numbers.as_slice() {
                [3, minor, ..] if *minor >= 9 => Check::ok("python", format!("{shown} is Python {version}")),
                _ => Check::warning("python", format!("{shown} is Python {version}"), advice),
            }
        }
        Ok(answer) => {
            let why = String::from_utf8_lossy(&answer.stderr);
            let why = why.lines().last().unwrap_or("it ended with an error").to_owned();
            Check::warning("python", format!("{shown}: {why}"), advice)
        }
        Err(error) => Check::warning("python", format!("{shown}: {error}"), advice),
    }
}

/// How much room there is where the data folder is, or will be.
pub fn disk(data: &Path) -> Check {
    let data = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
    let there = data.ancestors().find(|folder| folder.exists()).unwrap_or(&data);
    let shown = there.display();
    let advice = "free some space, or move the data folder with `server.data`";
    let room = match rustix::fs::statvfs(there) {
        Ok(room) => room,
        Err(error) => {
            return Check::warning("disk", format!("{shown}: {error}"), "say which folder with --data");
        }
    };
    match room.f_bavail.saturating_mul(room.f_frsize) >> 20 {
        mib if mib < TOO_LITTLE_MIB => Check::error("disk", format!("{mib} MiB are free at {shown}"), advice),
        mib if mib < LITTLE_MIB => Check::warning("disk", format!("{mib} MiB are free at {shown}"), advice),
        mib => Check::ok("disk", format!("{} GiB are free at {shown}", mib >> 10)),
    }
}

/// Whether others can read the tokens in the file of contexts.
pub fn contexts(around: &Surroundings) -> Check {
    let contexts = match Contexts::load(around) {
        Ok(contexts) => contexts,
        Err(error) => {
            return Check::warning("contexts", format!("{error:#}"), "correct the file, or remove it");
        }
    };
    let file = contexts.file().display().to_string();
    let has_token =
        contexts.names().filter_map(|name| contexts.find(name)).any(|context| context.token.is_some());
    let mode = std::fs::metadata(contexts.file()).map_or(0o600, |facts| facts.permissions().mode());
    if has_token && mode & 0o077 != 0 {
        return Check::warning(
            "contexts",
            format!("others can read the tokens in {file}"),
            format!("chmod 600 {file}"),
        );
    }
    match contexts.names().count() {
        0 => Check::ok("contexts", "none; `noetl context add` keeps servers by name"),
        count => Check::ok("contexts", format!("{count} in {file}")),
    }
}
