//! Runs that are broken off: what they say, how they end, and that nothing is left of them.

use crate::live::Live;
use crate::support::Folder;

/// A step that says when it has begun, and goes on for ever unless the file `go-on` exists.
fn endless(command: &str) -> String {
    format!(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: endless, path: endless}}\nworkflow:\n  \
         - step: start\n    tool: {{kind: shell, command: \"test -e go-on && exit; {command}\"}}\n"
    )
}

/// Waits until a step has made the file.
fn wait_for_file(folder: &Folder, name: &str) {
    while !folder.path(name).exists() {
        std::thread::yield_now();
    }
}

#[test]
fn ctrl_c_stops_the_tools_and_says_how_to_go_on() {
    let folder = Folder::with("flow.yaml", endless("touch begun; sleep infinity"));
    let live = Live::start(&folder, &["run", "flow.yaml", "--data", "my runs"]);
    wait_for_file(&folder, "begun");
    live.signal("INT");
    let seen = live.end();
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(130), ""), "{}", seen.text());
    let advice = seen.stderr.lines().last().unwrap_or_default();
    let (words, resume) = advice.split_once(": noetl ").expect("the way to go on");
    assert_eq!(words, "note: interrupted; go on with", "{}", seen.text());
    let id = resume.strip_prefix("run --data 'my runs' --resume ").expect("the way to go on");
    let folder = folder.and("go-on", "");
    let seen = folder.noetl(&["run", "--data", "my runs", "--resume", id]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    assert!(seen.stderr.contains("COMPLETED"), "{}", seen.text());
}

#[test]
fn ctrl_c_without_a_data_folder_cancels_the_run() {
    let folder = Folder::with("flow.yaml", endless("touch begun; sleep infinity"));
    let live = Live::start(&folder, &["run", "flow.yaml", "--quiet"]);
    wait_for_file(&folder, "begun");
    live.signal("INT");
    let seen = live.end();
    assert_eq!(seen.text(), "stderr: note: interrupted; the run is cancelled\nexit 130\n");
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_still_leaves_nothing_behind() {
    let folder = Folder::with("flow.yaml", endless("trap '' TERM; touch begun; sleep infinity & wait; wait"));
    let patient = ["-o", "tools.process.kill-grace=1h", "-o", "worker.stop-grace=1h"];
    let mut live =
        Live::start(&folder, &[&["run", "flow.yaml", "--quiet", "--data", "data"], &patient[..]].concat());
    wait_for_file(&folder, "begun");
    live.signal("INT");
    live.wait_for("interrupted");
    live.signal("INT");
    assert_eq!(live.end().code, Some(130));
}

#[test]
fn a_request_to_end_is_obeyed_like_ctrl_c() {
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let folder = Folder::with("flow.yaml", endless("touch begun; sleep infinity"));
        let live = Live::start(&folder, &["run", "flow.yaml", "--quiet", "--data", "data"]);
        wait_for_file(&folder, "begun");
        live.signal(signal);
        let seen = live.end();
        assert_eq!(seen.code, Some(code), "{}", seen.text());
        assert!(seen.stderr.starts_with("note: asked to end; go on with: noetl run"), "{}", seen.text());
    }
}

#[test]
fn python_steps_are_stopped_too() {
    let flow = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: endless, path: endless}\nworkflow:\n  \
                - step: start\n    tool:\n      kind: python\n      code: |\n        \
                import subprocess\n        subprocess.Popen(['sleep', 'infinity'])\n        open('begun', 'w').close()\n        \
                while True: pass\n";
    let folder = Folder::with("flow.yaml", flow);
    let live = Live::start(&folder, &["run", "flow.yaml", "--quiet", "--data", "data"]);
    wait_for_file(&folder, "begun");
    live.signal("INT");
    let seen = live.end();
    assert_eq!(seen.code, Some(130), "{}", seen.text());
}
