//! The processes of a command as one group that can be ended as a whole.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// Runs the command given as its arguments. Beside it a watcher waits for the end of standard input, which the worker
/// holds open: when the worker dies, even by a kill, the watcher ends the whole group. The supervisor outlives a request to
/// end, so that it can tell the exit code, and takes the watcher along when it leaves.
const SUPERVISOR: &str = r#"
exec 3<&0 </dev/null
trap : TERM INT HUP
{ trap '' TERM INT HUP; read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &
watcher=$!
exec 3<&-
"$@"
status=$?
kill -KILL "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
exit "$status"
"#;

/// A command line in a process group of its own, under a supervisor. Its standard input belongs to the supervisor.
pub fn supervised(argv: &[String], memory_limit: Option<u64>) -> Command {
    let limit = memory_limit.map(|bytes| format!("ulimit -v {}\n", bytes / 1024)).unwrap_or_default();
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("{limit}{SUPERVISOR}")).arg("sh").args(argv);
    command.stdin(Stdio::piped()).process_group(0);
    command
}

/// A group of processes. Dropping it kills whatever is left of them.
pub struct Group {
    leader: Option<Pid>,
}

impl Group {
    pub fn of(child: &Child) -> Group {
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Group { leader }
    }

    /// Asks all processes to end, and lets them clean up.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends all processes at once, for good.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.leader = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // The only possible failure is that no process is left.
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
