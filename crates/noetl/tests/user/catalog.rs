//! `noetl register` and `noetl catalog`.

use serde_json::json;

use crate::served::{FAILING, HELLO, Served, WAITING};
use crate::support::see;

#[test]
fn files_folders_and_standard_input_are_registered() {
    let served = Served::with(&[HELLO]);
    std::fs::write(served.folder.path("one.yaml"), FAILING).expect("a file");
    assert_eq!(served.good(&["register", "one.yaml"]), "playbook test/failing version 1  one.yaml\n");
    let seen = served.noetl(&["register", "playbooks", "one.yaml"]);
    assert_eq!(
        seen.text(),
        "playbook test/hello version 2  playbooks/0.yaml\nplaybook test/failing version 2  one.yaml\n\
         stderr: note: 2 documents registered\nexit 0\n"
    );
    let seen = see(served.command(&["register", "-", "--json"]), WAITING);
    let outcome: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    assert_eq!((&outcome["registered"], &outcome["failed"]), (&json!(1), &json!(0)));
    let result = &outcome["results"][0];
    assert_eq!((&result["file"], &result["path"]), (&json!("standard input"), &json!("test/waiting")));
}

#[test]
fn what_is_not_valid_is_said_with_its_place_and_the_rest_is_registered() {
    let served = Served::with(&[]);
    let broken = HELLO.replace("kind: noop", "kind: nopo").replace("test/hello", "test/broken");
    std::fs::create_dir(served.folder.path("mixed")).expect("a folder");
    std::fs::write(served.folder.path("mixed/a.yaml"), broken).expect("a file");
    std::fs::write(served.folder.path("mixed/b.yaml"), HELLO).expect("a file");
    let seen = served.noetl(&["register", "mixed"]);
    assert_eq!(seen.code, Some(3), "{}", seen.text());
    assert_eq!(seen.stdout, "playbook test/hello version 1  mixed/b.yaml\n");
    assert!(seen.stderr.contains("error[playbook_invalid]: mixed/a.yaml: "), "{}", seen.stderr);
    assert!(seen.stderr.contains("mixed/a.yaml:7:18: error[unknown_kind]: "), "{}", seen.stderr);
    assert!(seen.stderr.contains("1 document registered, 1 refused"), "{}", seen.stderr);
    let seen = served.noetl(&["register", "nowhere.yaml"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{}", seen.text());
}

#[test]
fn the_catalog_is_listed_read_and_compared() {
    let served = Served::with(&[HELLO, FAILING]);
    std::fs::write(served.folder.path("new.yaml"), HELLO.replace("world", "moon")).expect("a file");
    served.good(&["register", "new.yaml"]);
    let listed = served.good(&["catalog", "list"]);
    let lines: Vec<Vec<&str>> =
        listed.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
    assert_eq!(
        lines,
        [["PATH", "VERSION", "KIND"], ["test/hello", "2", "playbook"], ["test/failing", "1", "playbook"]]
    );
    assert_eq!(served.good(&["catalog", "list", "Subscription", "--quiet"]), "");
    assert_eq!(served.json(&["catalog", "list", "playbook"])["entries"].as_array().map(Vec::len), Some(2));

    assert_eq!(served.good(&["catalog", "get", "test/hello@1"]), HELLO);
    assert_eq!(served.json(&["catalog", "get", "test/hello"])["version"], 2);
    let versions = served.good(&["catalog", "versions", "test/hello"]);
    let numbers: Vec<&str> = versions.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(numbers, ["VERSION", "2", "1"]);
    let diff = served.good(&["catalog", "diff", "test/hello"]);
    assert!(diff.contains("-workload: {name: world}\n+workload: {name: moon}\n"), "{diff}");
    let diff = served.json(&["catalog", "diff", "test/hello", "--from", "2", "--to", "1"]);
    assert_eq!((&diff["from"], &diff["to"], &diff["added"]), (&json!(2), &json!(1), &json!(1)));
    for wrong in [
        &["catalog", "get", "no/such"][..],
        &["catalog", "versions", "no/such"],
        &["catalog", "diff", "no/such"],
        &["catalog", "delete", "no/such"],
        &["catalog", "get", "test/hello@9"],
    ] {
        let seen = served.noetl(wrong);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{wrong:?}: {}", seen.text());
        assert!(seen.stderr.starts_with("error[catalog_entry_not_found]: "), "{wrong:?}: {}", seen.text());
    }
    assert_eq!(served.noetl(&["catalog", "get", "test/hello@old"]).code, Some(2));
}

#[test]
fn what_was_run_is_hidden_and_can_be_restored() {
    let served = Served::with(&[HELLO, FAILING]);
    served.run("test/hello");
    let gone = served.good(&["catalog", "delete", "test/hello"]);
    assert_eq!(gone, "test/hello version 1 hidden, because executions of it exist\n");
    assert_eq!(served.good(&["catalog", "delete", "test/failing"]), "test/failing version 1 deleted\n");
    assert_eq!(served.noetl(&["catalog", "get", "test/hello"]).code, Some(2));
    assert!(served.good(&["catalog", "list", "--all"]).contains("(hidden "));
    assert_eq!(served.good(&["catalog", "restore", "test/hello"]), "test/hello version 1 is back\n");
    assert_eq!(served.good(&["catalog", "get", "test/hello"]), HELLO);
}
