use std::sync::Arc;
use std::time::{Duration, Instant};

use noetl_tools::{Call, Secrets, Stream, Toolbox};
use noetl_types::{ErrorKind, value};

use crate::harness::*;

#[test]
fn outputs_and_exit_code_come_back_apart() {
    let report = run("shell", value!({"command": "printf out; printf err >&2"}));
    assert_eq!(*data(&report), value!({"stdout": "out", "stderr": "err", "exit_code": 0}));
    assert!(report.duration_ms > 0.0);
}

#[test]
fn environment_and_folder_are_applied_over_a_clean_base() {
    let report = run(
        "shell",
        value!({"cwd": "/", "env": {"GREETING": "hej", "NUM": 7}, "command": "printf '%s %s %s' \"$GREETING\" \"$NUM\" \"$(pwd)\""}),
    );
    assert_eq!(data(&report).get("stdout"), Some(&value!("hej 7 /")));

    let inherited = run("shell", value!({"command": "env"}));
    let inherited = data(&inherited).get("stdout").unwrap().as_str().unwrap().to_owned();
    assert!(inherited.contains("PATH="));
    assert!(!inherited.contains("CARGO"), "the worker's own variables leak: {inherited}");
}

#[test]
fn a_list_is_a_program_and_its_arguments() {
    let report = run("shell", value!({"command": ["printf", "%s|", "a b", "$HOME", 5]}));
    assert_eq!(data(&report).get("stdout"), Some(&value!("a b|$HOME|5|")));
}

#[test]
fn commands_run_in_order_in_one_shell_until_one_fails() {
    let report = run("shell", value!({"cmds": ["cd /", "X=5 # note", "printf \"$X $(pwd)\""]}));
    assert_eq!(data(&report).get("stdout"), Some(&value!("5 /")));
    for cmds in [value!(["printf a", "exit 3", "printf b"]), value!("printf a\nsh -c 'exit 3'\nprintf b")] {
        let report = run("shell", value!({"cmds": cmds}));
        assert_fails(&report, ErrorKind::Exit, "exit code 3");
        assert_eq!(report.data.as_inline().unwrap().get("stdout"), Some(&value!("a")));
    }
}

#[test]
fn a_non_zero_exit_is_an_answer_that_counts_as_an_error() {
    let report = run("shell", value!({"command": "echo broken >&2; exit 37"}));
    assert_fails(&report, ErrorKind::Exit, "the command ended with exit code 37: broken");
    let error = error(&report);
    assert_eq!((error.code.as_deref(), error.answered, error.retryable), (Some("EXIT_37"), true, false));
    assert_eq!(error.details, value!({"exit_code": 37}));
    assert_eq!(
        *report.data.as_inline().unwrap(),
        value!({"stdout": "", "stderr": "broken\n", "exit_code": 37})
    );
}

#[test]
fn wrong_settings_are_told_in_one_sentence() {
    assert_fails(&run("shell", value!({})), ErrorKind::Config, "shell: give `command` or `cmds`");
    assert_fails(
        &run("shell", value!({"command": "true", "cwd": "/no/such/place"})),
        ErrorKind::Config,
        "is not a folder",
    );
    assert_fails(
        &run("shell", value!({"command": "true", "shell": "no-such-shell"})),
        ErrorKind::Exit,
        "no-such-shell",
    );
    assert_fails(&run("shell", value!({"command": ["no-such-program"]})), ErrorKind::Exit, "no-such-program");
}

#[test]
fn output_that_is_not_text_does_no_harm() {
    let report = run("shell", value!({"command": "printf 'a\\377b'"}));
    assert_eq!(data(&report).get("stdout"), Some(&value!("a\u{fffd}b")));
}

#[test]
fn two_hundred_megabytes_of_output_are_bounded() {
    let mut config = config();
    config.process.output_limit = 1024;
    let logs = Arc::new(KeptLogs::default());
    let mut call = Call::new(value!({"command": "head -c 200000000 /dev/zero | tr '\\0' x; printf END"}));
    call.logs = logs.clone();
    let report = block_on(Toolbox::builtin(config).call("shell", call));
    let stdout = data(&report).get("stdout").unwrap().as_str().unwrap().to_owned();
    assert!(stdout.len() < 1200 && stdout.ends_with("END"), "{} bytes", stdout.len());
    assert!(stdout.contains("[199998979 bytes left out]"), "{}", &stdout[500..600]);
    assert!(logs.text(Stream::Stdout).len() < 1200);
}

#[test]
fn a_timeout_kills_the_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let report = run(
        "shell",
        value!({
            "cwd": folder.path().to_str(), "timeout_seconds": 0.5,
            "command": "printf early; trap '' TERM; sh -c \"trap '' TERM; echo \\$\\$ > pid; while :; do sleep 60; done\" & wait; sleep 60",
        }),
    );
    assert_fails(&report, ErrorKind::Timeout, "stopped at its timeout of 0.5 s");
    assert!(error(&report).retryable && !error(&report).answered);
    assert_eq!(report.data.as_inline().unwrap().get("stdout"), Some(&value!("early")));
    assert!(start.elapsed() < Duration::from_secs(10));
    let pid = pid_in(&folder.path().join("pid"));
    eventually("the grandchild is gone", || !is_running(pid));
}

#[test]
fn processes_left_in_the_background_end_with_the_step() {
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let report = run(
        "shell",
        value!({"cwd": folder.path().to_str(), "command": "sleep 600 & echo $! > pid; printf done"}),
    );
    assert_eq!(data(&report).get("stdout"), Some(&value!("done")));
    assert!(start.elapsed() < Duration::from_secs(10), "the step waited for the background process");
    let pid = pid_in(&folder.path().join("pid"));
    eventually("the background process is gone", || !is_running(pid));
}

#[test]
fn cancelling_ends_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let call = Call::new(value!({"cwd": folder.path().to_str(), "command": "echo $$ > pid; exec sleep 600"}));
    let cancel = call.cancel.clone();
    let pid_file = folder.path().join("pid");
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run_call("shell", call));
        let pid = pid_in(&pid_file);
        cancel.cancel();
        assert_fails(&running.join().unwrap(), ErrorKind::Cancelled, "was cancelled");
        eventually("the process is gone", || !is_running(pid));
    });
}

#[test]
fn dropping_the_call_ends_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let call = Call::new(value!({"cwd": folder.path().to_str(), "command": "echo $$ > pid; exec sleep 600"}));
    let pid = block_on(async {
        let running = tokio::spawn(shared().call("shell", call));
        let path = folder.path().join("pid");
        let pid = tokio::task::spawn_blocking(move || pid_in(&path)).await.unwrap();
        running.abort();
        pid
    });
    eventually("the process is gone", || !is_running(pid));
}

#[test]
fn secrets_are_masked_in_messages_and_logs_but_not_in_data() {
    let logs = Arc::new(KeptLogs::default());
    let mut call = Call::new(value!({"command": "echo token hush-123456; echo bad hush-123456 >&2; exit 2"}));
    call.secrets = Secrets::new(["hush-123456"]);
    call.logs = logs.clone();
    let report = run_call("shell", call);
    assert_fails(&report, ErrorKind::Exit, "exit code 2: bad [redacted]");
    assert_eq!(logs.text(Stream::Stdout), "token [redacted]\n");
    assert_eq!(report.data.as_inline().unwrap().get("stdout"), Some(&value!("token hush-123456\n")));
}
