//! `noetl test` and `noetl record`, as a user sees them.

use expect_test::{Expect, expect};

use crate::served::{FAILING, Served};
use crate::support::Folder;

const FLOW: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: flow, path: flow}
workload: {n: 5}
workflow:
  - step: start
    tool:
      kind: python
      input: {n: '{{ workload.n }}'}
      code: |
        result = {'twice': n * 2}
    next:
      arcs:
        - {step: large, when: '{{ start.twice > 5 }}'}
        - {step: small}
  - step: large
    tool: {kind: noop, result: {size: large, twice: '{{ start.twice }}'}}
  - step: small
    tool: {kind: noop, result: {size: small}}
";

const TESTS: &str = "\
cases:
  - name: ten is large
    mocks: {start: {value: {twice: 10}}}
    expect: {result: {size: large, twice: 10}}
";

fn folder(tests: &str) -> Folder {
    Folder::with("flow.yaml", FLOW).and("flow.test.yaml", tests)
}

fn check(folder: &Folder, arguments: &[&str], expected: Expect) {
    expected.assert_eq(&without_times(&folder.noetl(arguments).text()));
}

/// Times differ from run to run.
fn without_times(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let timed = line
            .split_once(" (0.")
            .filter(|_| line.ends_with(" s)"))
            .map(|(before, _)| format!("{before} (TIME)"));
        let summed = line.split_once(", in ").map(|(before, _)| format!("{before}, in TIME"));
        lines.push(timed.or(summed).unwrap_or_else(|| line.to_owned()));
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_case_that_passes_takes_one_line() {
    check(
        &folder(TESTS),
        &["test", "flow.yaml"],
        expect![[r#"
            flow.test.yaml
              ok    ten is large (TIME)

            1 case passed, in TIME
            exit 0
        "#]],
    );
    check(
        &folder(TESTS),
        &["test", "--quiet", "."],
        expect![[r#"
        exit 0
    "#]],
    );
}

#[test]
fn a_wrong_expectation_gives_a_difference_with_the_line_of_the_playbook() {
    let wrong = TESTS.replace(
        "result: {size: large, twice: 10}",
        "result: {size: large, twice: 11}, arcs: [start -> small]",
    );
    check(
        &folder(&wrong),
        &["test", "flow.test.yaml"],
        expect![[r#"
            flow.test.yaml
              FAIL  ten is large (TIME)

                    the result is not as expected
                      at flow.test.yaml:4:14
                      of flow.yaml:16 (step large)
                      - expected
                      + actual
                        {
                          "size": "large",
                      -   "twice": 11
                      +   "twice": 10
                        }

                    the arc `start -> small` was not followed, and should have been
                      at flow.test.yaml:4:55
                      of flow.yaml:15 (arc start -> small)
                      help: followed instead: `start -> large` (line 14)

            0 cases passed, 1 failed, in TIME
            exit 1
        "#]],
    );
}

#[test]
fn a_call_that_nothing_answers_says_what_to_write() {
    check(
        &folder("cases:\n  - name: forgotten\n"),
        &["test", "."],
        expect![[r#"
            ./flow.test.yaml
              FAIL  forgotten (TIME)

                    `start` calls python, and nothing answers for it
                      at ./flow.test.yaml:2:11
                      of ./flow.yaml:8 (step start)
                      help: add `mocks: {start: {value: …}}` to the case, or `allow: [python]` to call it for real

            0 cases passed, 1 failed, in TIME
            exit 1
        "#]],
    );
}

#[test]
fn python_runs_where_it_is_allowed() {
    let tests =
        "allow: [python]\ncases:\n  - {name: real, payload: {n: 2}, expect: {result: {size: small}}}\n";
    let seen = folder(tests).noetl(&["test", "."]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
}

#[test]
fn parts_that_are_not_reached_are_listed_and_too_few_of_them_are_a_failure() {
    check(
        &folder(TESTS),
        &["test", ".", "--quiet", "--coverage", "--coverage-min", "90"],
        expect![[r#"
            ./flow.yaml   60.0 %  steps 2/3, arcs 1/2, rules 0/0
              not reached: ./flow.yaml:15 arc start -> small
              not reached: ./flow.yaml:18 step small
            all           60.0 %
            stderr: error: 60.0 % of the playbooks was reached, less than 90 %
            exit 1
        "#]],
    );
}

#[test]
fn cases_are_chosen_by_their_names() {
    let tests = "mocks: {start: {value: {twice: 1}}}\ncases:\n  - name: one\n  - name: two\n";
    check(
        &folder(tests),
        &["test", ".", "--filter", "wo"],
        expect![[r#"
            ./flow.test.yaml
              ok    two (TIME)

            1 case passed, in TIME
            exit 0
        "#]],
    );
}

#[test]
fn a_file_that_is_not_valid_is_shown_with_its_place() {
    check(
        &folder("cases:\n  - name: a\n    mokcs: {}\n"),
        &["test", "."],
        expect![[r#"
            error[unknown_test_key]: `mokcs` is not a key of a case
             --> ./flow.test.yaml:3:5
              |
            3 |     mokcs: {}
              |     ^^^^^
              |
              = help: did you mean `mocks`?
              = at: cases[0].mokcs

            0 cases passed, 1 file not valid, in TIME
            exit 3
        "#]],
    );
    let seen = Folder::with("flow.yaml", "apiVersion: noetl.io/v2\nkind: Playbook\n")
        .and("flow.test.yaml", TESTS)
        .noetl(&["test", "."]);
    assert_eq!(seen.code, Some(3), "{}", seen.text());
    assert!(seen.stdout.contains("missing_key"), "{}", seen.text());
}

#[test]
fn what_is_not_there_is_named() {
    check(
        &Folder::with("flow.yaml", FLOW),
        &["test", "flow.yaml"],
        expect![[r#"
            stderr: error: flow.yaml: there is no flow.test.yaml beside it
            exit 2
        "#]],
    );
    check(
        &Folder::with("flow.yaml", FLOW),
        &["test", "."],
        expect![[r#"
            stderr: error: .: no tests in this folder (they are *.test.yaml files)
            exit 2
        "#]],
    );
    check(
        &Folder::with("flow.test.yaml", TESTS),
        &["test", "flow.test.yaml", "nothing.yaml"],
        expect![[r#"
            stderr: error: flow.test.yaml: the playbook is not beside it; name it with `playbook:`
            stderr: error: nothing.yaml: no such file
            exit 2
        "#]],
    );
    let seen = folder(TESTS).noetl(&["test", ".", "--coverage-min", "many"]);
    assert_eq!(seen.code, Some(2), "{}", seen.text());
}

#[test]
fn programs_get_every_case_and_its_problems() {
    let wrong = TESTS.replace("size: large, twice: 10", "size: large, twice: 11");
    let folder = folder(&wrong);
    let seen = folder.noetl(&["test", ".", "--json", "--junit", "out.xml"]);
    assert_eq!(seen.code, Some(1), "{}", seen.text());
    let answer: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    let problem = &answer["files"][0]["cases"][0]["problems"][0];
    assert_eq!(answer["failed"], 1);
    assert_eq!(problem["about"], "result");
    assert_eq!(problem["line"], 4);
    assert_eq!(
        (&problem["playbook"]["file"], &problem["playbook"]["line"]),
        (&"./flow.yaml".into(), &16.into())
    );
    assert_eq!((&problem["expected"]["twice"], &problem["actual"]["twice"]), (&11.into(), &10.into()));
    let junit = folder.read("out.xml");
    assert!(junit.contains(r#"tests="1" failures="1" errors="0""#), "{junit}");
    assert!(junit.contains(r#"<failure message="the result is not as expected">"#), "{junit}");
}

#[test]
fn a_run_becomes_a_test_that_passes() {
    let folder = Folder::with("flow.yaml", FLOW);
    let seen = folder.noetl(&["run", "flow.yaml", "--quiet", "--data", "runs", "--set", "n=1"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    let seen = folder.noetl(&["record", "--data", "runs", "--test", "--output", "flow.test.yaml"]);
    assert_eq!(seen.text(), "stderr: note: wrote flow.test.yaml\nexit 0\n");
    let seen = folder.noetl(&["test", "flow.yaml"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.text(), folder.read("flow.test.yaml"));
    let recorded = folder.noetl(&["record", "--data", "runs"]);
    assert!(
        recorded.stdout.contains("mocks:\n  start:\n    value:\n      twice: 2\n"),
        "{}",
        recorded.text()
    );
}

#[test]
fn an_execution_of_a_server_becomes_a_test_that_passes() {
    let served = Served::with(&[FLOW, FAILING]);
    for (at, playbook) in ["flow", "test/failing"].into_iter().enumerate() {
        let id = served.run(playbook);
        let file = format!("playbooks/{at}.test.yaml");
        served.good(&["record", &id, "--test", "--output", &file]);
        let seen = served.folder.noetl(&["test", &file]);
        assert_eq!(seen.code, Some(0), "{}{}", seen.text(), served.folder.read(&file));
    }
    assert!(served.folder.read("playbooks/1.test.yaml").contains("status: failed"));
}

#[test]
fn what_was_recorded_answers_where_a_case_says_nothing() {
    let tests = "cases:\n  - name: recorded\n    recorded: was.yaml\n    expect: {result: {size: small}}\n";
    let folder = folder(tests).and("was.yaml", "payload: {n: 1}\nmocks:\n  start: {value: {twice: 2}}\n");
    let seen = folder.noetl(&["test", "."]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
}

#[test]
fn an_execution_that_is_not_there_cannot_be_recorded() {
    check(
        &Folder::new(),
        &["record", "7", "--data", "nowhere"],
        expect![[r#"
            stderr: error: nowhere is not a data folder; it is made by `noetl run --data`
            exit 2
        "#]],
    );
}
