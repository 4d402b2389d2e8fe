//! `noetl config`, and what the configuration changes.

use crate::support::Folder;

const PLAYBOOK: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: flow, path: test/flow}
workflow:
  - step: start
    tool: {kind: shell, command: \"printf %s \\\"$GREETING\\\"\"}
";

#[test]
fn the_default_file_can_be_used_as_it_is() {
    let folder = Folder::new();
    let seen = folder.noetl(&["config", "default"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    let folder = folder.and("noetl.toml", &seen.stdout);
    let seen = folder.noetl(&["config", "show"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    let line = seen.stdout.lines().find(|line| line.starts_with("drive.lease")).expect("the setting");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[..3], ["drive.lease", "=", "\"30s\""]);
    assert!(words[3].starts_with("noetl.toml:"), "{line}");
}

#[test]
fn show_says_where_each_value_came_from() {
    let folder = Folder::with("other.toml", "[worker]\nconcurrency = 5\n");
    let mut command =
        folder.command(&["config", "show", "--json", "--config", "other.toml", "-o", "drive.tasks=3"]);
    command.env("NOETL_DRIVE_LEASE", "1m");
    let seen = crate::support::see(command, "");
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    let shown: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    let setting = |key: &str| {
        let settings = shown["settings"].as_array().expect("a list");
        let found = settings.iter().find(|setting| setting["key"] == key).expect("the setting");
        (found["value"].clone(), found["origin"].clone())
    };
    let origin = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    assert_eq!(shown["file"], "other.toml");
    assert_eq!(
        setting("worker.concurrency"),
        (5.into(), origin(r#"{"source": "file", "file": "other.toml", "line": 2}"#))
    );
    assert_eq!(
        setting("drive.lease"),
        ("1m".into(), origin(r#"{"source": "environment", "variable": "NOETL_DRIVE_LEASE"}"#))
    );
    assert_eq!(setting("drive.tasks"), (3.into(), origin(r#"{"source": "flag", "flag": "--option"}"#)));
    assert_eq!(setting("drive.batch"), (512.into(), origin(r#"{"source": "default"}"#)));
}

#[test]
fn a_wrong_configuration_is_wrong_use_and_every_mistake_is_named() {
    let folder = Folder::with("noetl.toml", "[worker]\nconcurency = 5\n[drive]\nlease = true\n")
        .and("flow.yaml", PLAYBOOK);
    for arguments in [&["run", "flow.yaml"][..], &["config", "show"]] {
        let seen = folder.noetl(arguments);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{}", seen.text());
        assert_eq!(
            seen.stderr,
            "error: noetl.toml:2: there is no setting `worker.concurency`; did you mean `worker.concurrency`?\n\
             error: noetl.toml:4: `drive.lease` must be a time, such as \"30s\" or \"200ms\"\n"
        );
    }
}

#[test]
fn runs_obey_the_configuration() {
    let folder =
        Folder::with("noetl.toml", "[run]\ndata = \"kept\"\n[tools.process]\ninherit = [\"GREETING\"]\n")
            .and("flow.yaml", PLAYBOOK);
    let mut command = folder.command(&["run", "flow.yaml", "--json"]);
    command.env("GREETING", "hello");
    let seen = crate::support::see(command, "");
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    let run: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    assert_eq!(run["result"]["stdout"], "hello", "{}", seen.text());
    assert!(folder.path("kept/noetl.db").is_file());
}

#[test]
fn runs_log_nothing_unless_asked_and_then_as_text_or_json() {
    let folder = Folder::with("flow.yaml", PLAYBOOK);
    let logged = |more: &[&str]| folder.noetl(&[&["run", "flow.yaml", "--quiet"], more].concat()).stderr;
    assert_eq!(logged(&[]), "");
    assert!(logged(&["-o", "log.level=info"]).contains("worker started"));
    assert_eq!(logged(&["-o", "log.level=info,noetl_worker=off"]), "");
    let lines = logged(&["-o", "log.level=info", "-o", "log.format=json"]);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["level"], &first["message"]), (&"INFO".into(), &"worker started".into()));
}
