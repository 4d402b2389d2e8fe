//! Commands and flags of earlier NoETL command lines, which scripts still use.

use serde_json::json;

use crate::served::{HELLO, Served, WAITING};
use crate::service::Service;
use crate::support::Folder;

#[test]
fn older_commands_do_what_they_did() {
    let served = Served::with(&[WAITING]);
    let seen = served.noetl(&["register", "playbook", "--file", "playbooks/0.yaml"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    std::fs::create_dir(served.folder.path("more")).expect("a folder");
    std::fs::write(served.folder.path("more/hello.yaml"), HELLO).expect("a file");
    served.good(&["register", "playbook", "-d", "more"]);
    served.good(&["catalog", "register", "more/hello.yaml"]);
    served.good(&["catalog", "load", "more", "playbooks", "--batch-size", "1"]);
    assert_eq!(served.good(&["catalog", "load", "more", "--dry-run"]), "more/hello.yaml\n");
    assert!(served.good(&["list", "Playbook"]).contains("test/hello"));
    assert_eq!(served.json(&["list", "Playbook"])["entries"].as_array().map(Vec::len), Some(2));

    std::fs::write(served.folder.path("input.json"), r#"{"name": "Ida"}"#).expect("a file");
    let started = served.json(&["execute", "playbook", "test/hello", "-i", "input.json"]);
    let id = started["execution_id"].as_str().expect("an id");
    assert_eq!(served.noetl(&["status", id, "--wait"]).stdout, "{\n  \"greeting\": \"Hello, Ida!\"\n}\n");
    assert_eq!(served.json(&["execute", "status", id])["completed"], json!(true));
    assert_eq!(served.json(&["execute", "rerun", id])["rerun_of"], json!(id));
    let run =
        served.json(&["run", "test/hello", "-r", "distributed", "--workload", r#"{"name": "x"}"#, "-V", "1"]);
    assert_eq!(run["version"], 1);

    let credential = r#"{"name": "pg", "type": "postgres", "data": {"password": "p"}}"#;
    std::fs::create_dir(served.folder.path("secrets")).expect("a folder");
    std::fs::write(served.folder.path("secrets/pg.json"), credential).expect("a file");
    std::fs::write(served.folder.path("secrets/other.json"), "[]").expect("a file");
    assert_eq!(
        served.good(&["register", "credential", "-f", "secrets/pg.json"]),
        "credential pg of type postgres\n"
    );
    let seen = served.noetl(&["register", "credential", "--directory", "secrets"]);
    assert!(seen.code == Some(0) && seen.stderr.contains("left aside"), "{}", seen.text());
    assert_eq!(served.json(&["get", "credential", "pg"])["data"]["password"], "p");
    assert!(!served.good(&["get", "credential", "pg", "--include-data=false"]).contains("password"));

    let answer = served.good(&["query", "SELECT 1 AS n", "-s", "noetl", "-f", "json"]);
    assert!(answer.contains("\"rows\""), "{answer}");
    assert_eq!(served.good(&["db", "validate"]), "The database has all its tables.\n");
    assert_eq!(served.json(&["db", "init"])["valid"], json!(true));

    let waiting = served.start("test/waiting");
    let cleaned = served.json(&["cleanup", "--older-than-minutes", "0", "--dry-run"]);
    assert_eq!(cleaned["cancelled_count"], 1, "{cleaned}");
    assert!(served.good(&["cleanup", "--older-than-minutes", "0"]).contains(&waiting));
    assert_eq!(served.json(&["status", &waiting])["status"], "CANCELLED");
}

#[test]
fn servers_start_as_older_scripts_start_them() {
    let folder = Folder::new();
    let arguments = ["server", "start", "--init-db", "--listen", "127.0.0.1:0", "--data", "data"];
    let server = Service::start(&mut folder.command(&arguments));
    assert_eq!(server.get("/health").0, 200);
    assert_eq!(folder.noetl(&["server", "stop"]).code, Some(2));
    let worker = ["worker", "start", "--max-workers", "2", "--server", "ftp://x"];
    assert!(folder.noetl(&worker).stderr.contains("is no address of a server"), "the words are understood");
}

#[test]
fn the_schema_is_written_to_a_file() {
    let folder = Folder::new();
    assert_eq!(folder.noetl(&["schema", "-o", "s.json"]).text(), "exit 0\n");
    assert_eq!(folder.read("s.json"), folder.noetl(&["schema"]).stdout);
}

#[test]
fn what_makes_no_sense_here_is_refused_with_what_to_use() {
    for (command, words) in [
        (&["k8s", "deploy", "--all"][..], "kubectl"),
        (&["build", "--no-cache"], "make build"),
        (&["iap", "plan"], "Terraform"),
        (&["codex", "hello"], "editor"),
        (&["ai"], "editor"),
        (&["provider", "plan", "--stack", "x"], "Terraform"),
        (&["ehdb", "query", "executions"], "noetl query"),
        (&["auth", "login", "--auth0"], "noetl token create"),
        (&["console"], "browser"),
        (&["subscribe", "spec.yaml", "--once"], "noetl subscription"),
    ] {
        let seen = Folder::new().noetl(command);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{command:?}: {}", seen.text());
        assert!(seen.stderr.contains(words), "{command:?}: {}", seen.text());
        assert_eq!(seen.stderr.lines().count(), 1, "{command:?}: {}", seen.text());
    }
    assert!(!Folder::new().noetl(&["--help"]).stdout.contains("k8s"), "the help shows what there is");
}

#[test]
fn an_older_credential_file_that_is_none_is_said() {
    let served = Served::with(&[]);
    std::fs::write(served.folder.path("x.json"), "{}").expect("a file");
    let seen = served.noetl(&["register", "credential", "-f", "x.json"]);
    assert_eq!(seen.code, Some(2), "{}", seen.text());
    assert!(seen.stderr.contains("x.json is no credential"), "{}", seen.stderr);
    assert_eq!(served.noetl(&["register", "playbook"]).code, Some(2), "a file or a folder");
}
