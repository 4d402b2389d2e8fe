//! `noetl context`, and which server commands talk to.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::served::Served;
use crate::support::Folder;

#[test]
fn a_context_is_added_used_listed_and_removed() {
    let folder = Folder::new();
    let seen = folder.noetl(&["context", "add", "home", "http://127.0.0.1:1/", "--token", "hush"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), ""), "{}", seen.text());
    assert!(seen.stderr.contains("in use from now on"), "the first one is: {}", seen.stderr);
    let mode = std::fs::metadata(folder.path(".noetl/config.yaml")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let old_words =
        ["context", "add", "work", "--server-url", "https://work.example", "--runtime", "distributed"];
    assert_eq!(folder.noetl(&old_words).code, Some(0));
    let listed = folder.noetl(&["context", "list"]);
    assert_eq!(
        listed.stdout,
        "   NAME  SERVER                RUNTIME      TOKEN\n\
         *  home  http://127.0.0.1:1    auto         yes\n   \
         work  https://work.example  distributed  no\n"
    );
    assert_eq!(folder.noetl(&["context", "use", "work"]).code, Some(0));
    let current = folder.noetl(&["context", "current"]);
    assert_eq!(current.stdout, "https://work.example (context work), without a token\n");
    let current = folder.noetl(&["context", "current", "--json", "--context", "home"]);
    let current: serde_json::Value = serde_json::from_str(&current.stdout).expect("JSON");
    assert_eq!(
        current,
        json!({"context": "home", "server_url": "http://127.0.0.1:1", "origin": "context home", "has_token": true})
    );
    assert_eq!(folder.noetl(&["context", "set-runtime", "local"]).code, Some(0));
    assert_eq!(folder.noetl(&["context", "update", "home", "--server", "http://127.0.0.1:2"]).code, Some(0));
    let listed = folder.noetl(&["context", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!((&listed["current"], &listed["contexts"][1]["runtime"]), (&json!("work"), &json!("local")));
    assert_eq!(listed["contexts"][0]["server_url"], "http://127.0.0.1:2");
    assert!(!listed.to_string().contains("hush"), "tokens are not shown");
    let again = folder.noetl(&["context", "add", "home", "http://127.0.0.1:3"]);
    assert_eq!(again.code, Some(2), "a name is taken once: {}", again.text());
    let left = folder.noetl(&["context", "delete", "work", "--json"]);
    let left: serde_json::Value = serde_json::from_str(&left.stdout).expect("JSON");
    assert_eq!((&left["current"], left["contexts"].as_array().map(Vec::len)), (&json!(null), Some(1)));
    let current = folder.noetl(&["context", "current"]);
    assert_eq!(current.stdout, "http://127.0.0.1:8082 (default), without a token\n");
}

#[test]
fn commands_talk_to_the_server_of_the_context_in_use() {
    let served = Served::with(&[]);
    let add = ["context", "add", "here", &served.server.url];
    assert_eq!(served.folder.noetl(&add).code, Some(0));
    assert_eq!(served.folder.noetl(&["list"]).code, Some(0));
    let port = served.server.url.rsplit(':').next().expect("a port");
    let elsewhere = served.folder.noetl(&["--host", "127.0.0.1", "--port", port, "list"]);
    assert_eq!(elsewhere.code, Some(0), "{}", elsewhere.text());
}

#[test]
fn wrong_contexts_are_said_in_a_sentence() {
    let folder = Folder::new();
    for (arguments, words) in [
        (&["context", "add", "a"][..], "say where it is"),
        (&["context", "add", "a", "nonsense"], "no address of a server"),
        (&["context", "add", "a", "ftp://x"], "http or https"),
        (&["context", "use", "nobody"], "there is no context 'nobody'"),
        (&["context", "remove", "nobody"], "there is no context 'nobody'"),
        (&["context", "update", "nobody"], "there is no context 'nobody'"),
        (&["context", "set-runtime", "local"], "no context is in use"),
        (&["list", "--context", "nobody"], "there is no context 'nobody'"),
    ] {
        let seen = folder.noetl(arguments);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", seen.text());
        assert!(seen.stderr.contains(words), "{arguments:?}: {}", seen.text());
        assert_eq!(seen.stderr.lines().count(), 1, "{arguments:?}: {}", seen.text());
    }
    let folder = folder.and(".noetl/config.yaml", "[1, 2]");
    let seen = folder.noetl(&["context", "list"]);
    assert_eq!(seen.code, Some(1), "{}", seen.text());
    assert!(seen.stderr.contains("is no file of contexts"), "{}", seen.stderr);
}
