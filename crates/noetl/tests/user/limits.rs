//! Things that go wrong around a run: one clear sentence, the right exit code, and nothing left behind.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::live::Live;
use crate::support::{Folder, Seen, see};

fn playbook(tool: &str) -> String {
    format!(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: flow, path: flow}}\nworkflow:\n  - step: start\n{tool}"
    )
}

/// Runs the playbook, and makes sure that no process is left.
fn run(folder: &Folder, more: &[&str]) -> Seen {
    Live::start(folder, &[&["run", "flow.yaml"], more].concat()).end()
}

#[test]
fn text_that_is_not_yaml_is_refused_with_its_place() {
    let folder = Folder::with("flow.yaml", "workflow: [unclosed\nkind: Playbook\n");
    let seen = run(&folder, &[]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(3), ""), "{}", seen.text());
    assert!(seen.stderr.contains("flow.yaml:"), "{}", seen.text());
}

#[test]
fn a_missing_interpreter_is_named_with_what_to_do() {
    let folder = Folder::with("flow.yaml", playbook("    tool: {kind: python, code: \"result = 1\"}\n"));
    let seen = run(&folder, &["-o", "tools.python.interpreter=/nowhere/python3"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{}", seen.text());
    assert!(
        seen.stderr.contains("there is no interpreter '/nowhere/python3'; install it"),
        "{}",
        seen.text()
    );
}

#[test]
fn a_host_that_cannot_be_reached_is_named() {
    // Nothing listens on a port that was free a moment ago and is held by this test without listening.
    let held = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = held.local_addr().expect("a port").port();
    let flow = playbook(&format!("    tool: {{kind: http, url: \"http://127.0.0.1:{port}/\"}}\n"));
    let seen = run(&Folder::with("flow.yaml", flow), &[]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{}", seen.text());
    assert!(seen.stderr.contains(&format!("127.0.0.1:{port}")), "{}", seen.text());
}

#[test]
fn an_endless_python_step_ends_at_its_timeout() {
    let flow = playbook("    spec: {timeout: 1}\n    tool: {kind: python, code: \"while True: pass\"}\n");
    let seen = run(&Folder::with("flow.yaml", flow), &[]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{}", seen.text());
    let last = seen.stderr.lines().last().unwrap_or_default();
    // The tool and the step have the same time, and either may notice first that it is over.
    let noticed = ["stopped at its deadline", "took longer than its timeout of 1 s"];
    let is_told = last.starts_with("FAILED") && noticed.iter().any(|words| last.contains(words));
    assert!(is_told, "{}", seen.text());
}

#[test]
fn endless_output_is_cut_in_results_and_logs_and_takes_little_memory() {
    const MEGABYTES: u64 = 200;
    let flow = playbook(&format!(
        "    tool: {{kind: shell, command: \"yes 0123456789abcde | head -c {}\"}}\n",
        MEGABYTES * 1_000_000
    ));
    let folder = Folder::with("flow.yaml", flow);
    let measure = "import resource, subprocess, sys\n\
                   code = subprocess.run(sys.argv[1:]).returncode\n\
                   print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n\
                   sys.exit(code)\n";
    let noetl = folder.command(&["run", "flow.yaml", "--json", "--data", "data"]);
    let mut measured = Command::new("python3");
    measured.args(["-c", measure]).arg(noetl.get_program()).args(noetl.get_args());
    measured.current_dir(noetl.get_current_dir().expect("a folder"));
    let seen = see(measured, "");
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    let run: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    let stdout = run["result"]["stdout"].as_str().expect("a text");
    assert!(stdout.len() < 11 << 20, "{} bytes", stdout.len());
    assert!(stdout.contains("bytes left out]"), "the result says that it was cut");
    let peak = seen.stderr.trim().strip_prefix("peak ").and_then(|text| text.parse::<u64>().ok());
    let peak = peak.expect("the peak in KiB") / 1024;
    assert!(peak < MEGABYTES, "{peak} MiB at the most");
    let logs = folder.noetl(&["logs", run["execution_id"].as_str().expect("an id"), "--data", "data"]);
    assert_eq!(logs.code, Some(0), "{}", logs.stderr);
    assert!(logs.stdout.len() < 16 << 20, "{} bytes", logs.stdout.len());
    // Where the store can't keep up, what waits too long is left out earlier.
    let notes = ["further output is not logged", "bytes of output left out"];
    assert!(notes.iter().any(|note| logs.stdout.contains(note)), "the log says that it was cut");
}

#[test]
fn a_data_folder_that_is_a_file_is_named() {
    let folder = Folder::with("flow.yaml", playbook("    tool: {kind: noop}\n")).and("file", "not a folder");
    for data in ["file", "file/data"] {
        let seen = run(&folder, &["--data", data]);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{}", seen.text());
        assert!(
            seen.stderr.starts_with(&format!("error: the data folder {data} can't be")),
            "{}",
            seen.text()
        );
        assert_eq!(seen.stderr.lines().count(), 1, "{}", seen.text());
    }
}

#[test]
fn a_data_folder_that_may_not_be_written_is_named() {
    let folder = Folder::with("flow.yaml", playbook("    tool: {kind: noop}\n"));
    std::fs::create_dir(folder.path("data")).expect("a folder");
    let set_mode = |name: &str, mode| {
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    set_mode("", 0o755);
    set_mode("data", 0o555);
    let mut command = folder.command(&["run", "flow.yaml", "--data", "data"]);
    if std::fs::File::create(folder.path("data/probe")).is_ok() {
        // Permissions mean nothing to this user, so another one runs it.
        std::fs::remove_file(folder.path("data/probe")).expect("it was made");
        // That one may not reach the folder of the build, so it gets a copy.
        std::fs::copy(command.get_program(), folder.path("noetl")).expect("a copy");
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        command = Command::new(folder.path("noetl"));
        command.args(arguments).current_dir(folder.path("")).uid(65534).gid(65534);
    }
    let seen = see(command, "");
    set_mode("data", 0o755);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{}", seen.text());
    assert!(seen.stderr.starts_with("error: data/objects is read-only; make"), "{}", seen.text());
}

/// A place with little space, as a file system in a namespace of its own; see `unshare`. Not every machine allows that.
fn on_a_small_disk(folder: &Folder, script: &str) -> Option<Seen> {
    let shell = |script: &str| {
        let mut command = Command::new("unshare");
        let mount = "mkdir -p small && mount -t tmpfs -o size=20m tmpfs small && ";
        command.args(["--map-root-user", "--mount", "sh", "-c", &format!("{mount}{script}")]);
        command.current_dir(folder.path(""));
        command
    };
    let allowed = shell("true").output().is_ok_and(|output| output.status.success());
    if !allowed {
        eprintln!("skipped: this user may not mount a small file system");
        return None;
    }
    Some(see(shell(script), ""))
}

#[test]
fn a_full_disk_ends_the_run_with_a_sentence_and_it_can_be_resumed() {
    let large = playbook(
        "    tool: {kind: shell, command: \"head -c 900000 /dev/zero | tr '\\\\0' x\"}\n    next: {arcs: [{step: end}]}\n  \
         - step: end\n    tool: {kind: noop, result: 1}\n",
    );
    let folder = Folder::with("flow.yaml", large).and("small.yaml", playbook("    tool: {kind: noop}\n"));
    let noetl = env!("CARGO_BIN_EXE_noetl");
    let script = format!(
        "{noetl} run --quiet small.yaml --data small/data && \
         head -c $(($(df -kP small | awk 'NR == 2 {{print $4}}') - 300))k /dev/zero > small/filler; \
         {noetl} run flow.yaml --data small/data; echo \"code $?\"; rm small/filler; \
         {noetl} run --quiet --data small/data --resume $({noetl} query --data small/data \
         'SELECT max(execution_id) FROM noetl.execution' | tail -n 1)"
    );
    let Some(seen) = on_a_small_disk(&folder, &script) else {
        return;
    };
    assert!(seen.stderr.contains("go on with: noetl run --data small/data --resume"), "{}", seen.text());
    assert!(seen.stderr.contains("no space is left where"), "{}", seen.text());
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), "code 1\n1\n"), "{}", seen.text());
}
