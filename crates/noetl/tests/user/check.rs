//! `noetl check`, as a user meets it.

use crate::support::{Folder, see};
use expect_test::expect;

const GOOD: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: good}
workflow:
  - step: start
    tool: {kind: noop}
";

const BAD: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: bad}
workflow:
  - step: start
    tool: {kind: noop}
    next:
      arcs:
        - step: finnish
  - step: finish
    tool: {kind: noop}
    when: \"{{ start }}\"
";

/// Accepted, with a warning about an older spelling.
const OLD: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: old}
workflow:
  - step: start   # the beginning
    tool:
      kind: python
      args: {n: 1}   # was fine once
      code: |
        result = n
";

#[test]
fn a_clean_playbook_ends_with_zero() {
    let seen = Folder::with("good.yaml", GOOD).noetl(&["check", "good.yaml"]);
    expect![[r#"
        1 file checked, nothing to complain about
        exit 0
    "#]]
    .assert_eq(&seen.text());
}

#[test]
fn a_mistake_is_shown_with_its_line_and_what_to_do() {
    let seen = Folder::with("bad.yaml", BAD).noetl(&["check", "bad.yaml"]);
    expect![[r#"
        error[unknown_step]: an arc leads to the step `finnish`, which does not exist
         --> bad.yaml:9:17
          |
        9 |         - step: finnish
          |                 ^^^^^^^
          |
          = help: did you mean `finish`?
          = at: workflow[0].next.arcs[0].step (step start)

        1 file checked, 1 error
        exit 3
    "#]]
    .assert_eq(&seen.text());
}

#[test]
fn five_different_mistakes_are_reported_in_one_go() {
    let playbook = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: five}
workflow:
  - step: start
    tool: {kind: pyhton, code: \"result = 1\"}
    next: {arcs: [{step: nowhere}]}
  - step: twice
    tool: {kind: noop, result: \"{{ start | uppercase }}\"}
  - step: twice
    tool: {kind: noop, result: \"{{ start. }}\"}
";
    let seen = Folder::with("five.yaml", playbook).noetl(&["check", "five.yaml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    let found = json["files"][0]["diagnostics"].as_array().expect("a list");
    let errors: Vec<String> = found
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .map(|finding| format!("line {}: {}", finding["line"], finding["code"].as_str().expect("a text")))
        .collect();
    expect![[r#"
        line 6: unknown_kind
        line 7: unknown_step
        line 9: unknown_filter
        line 10: duplicate_step
        line 11: template_syntax"#]]
    .assert_eq(&errors.join("\n"));
    assert_eq!(seen.code, Some(3));
}

#[test]
fn warnings_alone_do_not_refuse_a_playbook() {
    let seen = Folder::with("old.yaml", OLD).noetl(&["check", "old.yaml"]);
    expect![[r#"
        warning[old_spelling]: `args` is an older spelling of `input`
         --> old.yaml:8:7
          |
        8 |       args: {n: 1}   # was fine once
          |       ^^^^
          |
          = help: write `input`
          = at: workflow[0].tool.args (step start)

        1 file checked, 1 warning
        exit 0
    "#]]
    .assert_eq(&seen.text());
}

#[test]
fn warnings_refuse_when_they_are_denied() {
    let seen = Folder::with("old.yaml", OLD).noetl(&["check", "old.yaml", "--deny-warnings"]);
    assert_eq!(seen.code, Some(3), "{}", seen.text());
}

#[test]
fn quiet_shows_errors_only() {
    let folder = Folder::with("old.yaml", OLD).and("good.yaml", GOOD);
    expect![[r#"
        exit 0
    "#]]
    .assert_eq(&folder.noetl(&["check", "old.yaml", "good.yaml", "--quiet"]).text());
}

#[test]
fn json_holds_every_finding_with_its_place() {
    let folder = Folder::with("bad.yaml", BAD).and("good.yaml", GOOD);
    let seen = folder.noetl(&["check", "--json", "good.yaml", "bad.yaml"]);
    expect![[r#"
        {
          "files": [
            {
              "path": "good.yaml",
              "diagnostics": []
            },
            {
              "path": "bad.yaml",
              "diagnostics": [
                {
                  "severity": "error",
                  "code": "unknown_step",
                  "message": "an arc leads to the step `finnish`, which does not exist",
                  "help": "did you mean `finish`?",
                  "line": 9,
                  "column": 17,
                  "end_line": 9,
                  "end_column": 24,
                  "step": "start",
                  "path": "workflow[0].next.arcs[0].step"
                }
              ]
            }
          ],
          "errors": 1,
          "warnings": 0
        }
        exit 3
    "#]]
    .assert_eq(&seen.text());
}

#[test]
fn places_in_json_and_for_people_are_the_same() {
    let playbook = GOOD.replace("{kind: noop}", "{kind: noop, result: \"größe {{ x | nix }}\"}");
    let folder = Folder::with("wide.yaml", playbook);
    let json: serde_json::Value =
        serde_json::from_str(&folder.noetl(&["check", "--json", "wide.yaml"]).stdout).expect("JSON");
    let found = &json["files"][0]["diagnostics"][0];
    let place = format!("--> wide.yaml:{}:{}\n", found["line"], found["column"]);
    let people = folder.noetl(&["check", "wide.yaml"]).stdout;
    assert!(people.contains(&place), "{place}{people}");
}

#[test]
fn a_missing_file_is_one_sentence_and_wrong_use() {
    let seen = Folder::new().noetl(&["check", "missing.yaml"]);
    expect![[r#"
        stderr: error: missing.yaml: no such file
        exit 2
    "#]]
    .assert_eq(&seen.text());
}

#[test]
fn a_missing_file_does_not_hide_the_others() {
    let seen = Folder::with("bad.yaml", BAD).noetl(&["check", "missing.yaml", "bad.yaml"]);
    assert!(seen.stdout.contains("error[unknown_step]"), "{}", seen.text());
    assert_eq!(seen.code, Some(2));
}

#[test]
fn files_that_are_not_text_are_named_for_what_they_are() {
    let folder = Folder::with("latin.yaml", b"a: 1\nb: \xE9\n")
        .and("picture.yaml", b"\x89PNG\r\n\0\0\0")
        .and("wide.yaml", b"\xFF\xFEa\0:\0");
    let seen = folder.noetl(&["check", "latin.yaml", "picture.yaml", "wide.yaml"]);
    expect![[r#"
        stderr: error: latin.yaml: this is not UTF-8 text; the first wrong byte is on line 2
        stderr: error: picture.yaml: this is a binary file, not a playbook
        stderr: error: wide.yaml: this is UTF-16 text; save it as UTF-8
        exit 2
    "#]]
    .assert_eq(&seen.text());
}

#[test]
fn a_folder_is_searched_and_files_of_others_are_left_aside() {
    let folder = Folder::with("flows/a/good.yml", GOOD)
        .and("flows/old.yaml", GOOD.replace("good", "other"))
        .and("flows/compose.yaml", "services: {}\n")
        .and("flows/.hidden/bad.yaml", BAD)
        .and("flows/notes.txt", "kind: Playbook\n");
    expect![[r#"
        2 files checked, nothing to complain about
        stderr: note: flows/compose.yaml: not a NoETL document, left aside
        exit 0
    "#]]
    .assert_eq(&folder.noetl(&["check", "flows", "--verbose"]).text());
}

#[test]
fn a_file_that_is_named_twice_is_checked_once() {
    let seen = Folder::with("flows/good.yaml", GOOD).noetl(&["check", "flows", "flows/good.yaml"]);
    expect![[r#"
        1 file checked, nothing to complain about
        exit 0
    "#]]
    .assert_eq(&seen.text());
}

#[test]
fn a_folder_without_playbooks_is_wrong_use() {
    let seen = Folder::with("other/compose.yaml", "services: {}\n").noetl(&["check", "other"]);
    expect![[r#"
        stderr: error: other: no playbooks in this folder (they are *.yaml or *.yml files with `apiVersion: noetl.io/…`)
        exit 2
    "#]]
    .assert_eq(&seen.text());
}

#[test]
fn standard_input_is_checked_like_a_file() {
    let seen = Folder::new().noetl_with_input(&["check", "-"], &GOOD.replace("noop", "nop"));
    assert!(seen.stdout.contains(" --> standard input:6:"), "{}", seen.text());
    assert_eq!(seen.code, Some(3));
}

#[test]
fn an_empty_document_is_an_error() {
    let seen = Folder::new().noetl_with_input(&["check", "-"], "");
    assert!(seen.stdout.starts_with("error["), "{}", seen.text());
    assert_eq!(seen.code, Some(3));
}

#[test]
fn text_that_is_not_yaml_is_an_error_with_its_place() {
    let seen = Folder::with("broken.yaml", "a: [1, 2\nb: 3\n").noetl(&["check", "broken.yaml"]);
    assert!(seen.stdout.starts_with("error[yaml_syntax]"), "{}", seen.text());
    assert!(seen.stdout.contains(" --> broken.yaml:"), "{}", seen.text());
    assert_eq!(seen.code, Some(3));
}

#[test]
fn subscriptions_are_checked_too() {
    let subscription = "\
apiVersion: noetl.io/v1
kind: Subscription
metadata: {name: orders}
spec:
  source: carrier_pigeon
  dispatch: {playbook: imports/order}
";
    let seen = Folder::with("orders.yaml", subscription).noetl(&["check", "orders.yaml"]);
    assert!(seen.stdout.contains(" --> orders.yaml:5:"), "{}", seen.text());
    assert_eq!(seen.code, Some(3));
}

#[test]
fn playbooks_that_call_each_other_without_end_are_found_when_given_together() {
    let calls = |name: &str, other: &str| {
        GOOD.replace("good", name).replace("{kind: noop}", &format!("{{kind: playbook, path: {other}}}"))
    };
    let folder = Folder::with("a.yaml", calls("a", "b")).and("b.yaml", calls("b", "a"));
    assert!(folder.noetl(&["check", "a.yaml", "b.yaml"]).stdout.contains("[endless_call]"));
    assert!(!folder.noetl(&["check", "a.yaml"]).stdout.contains("[endless_call]"));
}

#[test]
fn a_hostile_document_is_refused_at_once() {
    let mut bomb =
        String::from("apiVersion: noetl.io/v2\nkind: Playbook\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let before = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [before.as_str(); 9].join(", "));
    }
    let seen = Folder::with("bomb.yaml", bomb).noetl(&["check", "bomb.yaml"]);
    assert!(seen.stdout.starts_with("error["), "{}", seen.text());
    assert_eq!(seen.code, Some(3));
}

#[test]
fn a_reader_that_leaves_early_changes_nothing_about_the_verdict() {
    for (playbook, code) in [(GOOD, 0), (BAD, 3)] {
        let folder = Folder::with("flow.yaml", playbook);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output =
            folder.command(&["check", "flow.yaml"]).stdout(writer).output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let full = std::fs::File::create("/dev/full").expect("Linux has it");
    let output = Folder::with("good.yaml", GOOD)
        .command(&["check", "good.yaml"])
        .stdout(full)
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.starts_with("error: the output could not be written: "), "{complaint}");
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let folder = Folder::with("bad.yaml", BAD);
    let colored = |arguments: &[&str], variable: Option<&str>| {
        let mut command = folder.command(&[&["check", "bad.yaml"], arguments].concat());
        command.envs(variable.map(|name| (name, "1")));
        see(command, "").stdout.contains('\u{1b}')
    };
    assert!(!colored(&[], None));
    assert!(colored(&["--color", "always"], None));
    assert!(colored(&["--color=always"], Some("NO_COLOR")));
    assert!(colored(&[], Some("CLICOLOR_FORCE")));
    assert!(!colored(&["--color", "never"], Some("CLICOLOR_FORCE")));
}

#[test]
fn fix_rewrites_older_spellings_and_keeps_the_rest() {
    let folder = Folder::with("old.yaml", OLD);
    let seen = folder.noetl(&["check", "--fix", "old.yaml"]);
    expect![[r#"
        1 file checked, nothing to complain about
        stderr: note: old.yaml: 1 older spelling rewritten
        exit 0
    "#]]
    .assert_eq(&seen.text());
    assert_eq!(folder.read("old.yaml"), OLD.replace("args:", "input:"));
}

#[test]
fn fix_has_nothing_to_do_the_second_time() {
    let folder = Folder::with("old.yaml", OLD);
    folder.noetl(&["check", "--fix", "old.yaml"]);
    expect![[r#"
        1 file checked, nothing to complain about
        exit 0
    "#]]
    .assert_eq(&folder.noetl(&["check", "--fix", "old.yaml"]).text());
}

#[test]
fn a_dry_run_shows_the_changes_and_touches_nothing() {
    let folder = Folder::with("old.yaml", OLD);
    expect![[r#"
        --- old.yaml
        +++ old.yaml
        @@ -5,6 +5,6 @@
           - step: start   # the beginning
             tool:
               kind: python
        -      args: {n: 1}   # was fine once
        +      input: {n: 1}   # was fine once
               code: |
                 result = n
        stderr: note: 1 file looked at, 1 older spelling to rewrite
        exit 0
    "#]]
    .assert_eq(&folder.noetl(&["check", "--fix", "--dry-run", "old.yaml"]).text());
    assert_eq!(folder.read("old.yaml"), OLD);
}

#[cfg(unix)]
#[test]
fn fix_keeps_the_permissions_of_a_file_and_goes_through_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::with("real.yaml", OLD);
    std::fs::set_permissions(folder.path("real.yaml"), PermissionsExt::from_mode(0o640)).expect("own file");
    symlink("real.yaml", folder.path("link.yaml")).expect("own folder");
    folder.noetl(&["check", "--fix", "link.yaml"]);
    assert_eq!(folder.read("real.yaml"), OLD.replace("args:", "input:"));
    assert!(folder.path("link.yaml").is_symlink());
    let mode = std::fs::metadata(folder.path("real.yaml")).expect("own file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn standard_input_cannot_be_rewritten() {
    expect![[r#"
        stderr: error: standard input cannot be rewritten; --fix --dry-run shows the changes
        exit 2
    "#]]
    .assert_eq(&Folder::new().noetl_with_input(&["check", "--fix", "-"], OLD).text());
}

#[test]
fn a_code_is_explained_with_an_example() {
    let seen = Folder::new().noetl(&["check", "--explain", "duplicate_key"]);
    expect![[r#"
        error[duplicate_key]: a map has the same key twice

        Wrong:

            - step: start
              tool: {kind: noop}
              tool: {kind: shell, command: date}

        Right:

            - step: start
              tool: {kind: shell, command: date}
        exit 0
    "#]]
    .assert_eq(&seen.text());
}

#[test]
fn all_codes_can_be_listed() {
    let seen = Folder::new().noetl(&["check", "--explain"]);
    for (code, ..) in noetl_dsl::codes() {
        assert!(seen.stdout.lines().any(|line| line.starts_with(code)), "{code} is not listed");
    }
}

#[test]
fn a_code_that_does_not_exist_is_wrong_use() {
    expect![[r#"
        stderr: error: there is no code `unknown_stop`; `noetl check --explain` lists all
        exit 2
    "#]]
    .assert_eq(&Folder::new().noetl(&["check", "--explain", "unknown_stop"]).text());
}
