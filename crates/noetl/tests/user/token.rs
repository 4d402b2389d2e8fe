//! `noetl token`, and servers that ask for one.

use serde_json::json;

use crate::service::Service;
use crate::support::{Folder, see};

fn secret(folder: &Folder, scope: &str) -> String {
    let seen = folder.noetl(&["token", "create", "--data", "data", "--scope", scope, "--name", scope]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    seen.stdout.trim().to_owned()
}

fn locked(folder: &Folder) -> Service {
    let arguments = ["dev", "--listen", "127.0.0.1:0", "--data", "data", "--auth", "tokens"];
    Service::start(&mut folder.command(&arguments))
}

#[test]
fn tokens_that_were_made_without_a_server_open_it() {
    let folder = Folder::new();
    let (admin, viewer) = (secret(&folder, "admin"), secret(&folder, "viewer"));
    let listed = folder.noetl(&["token", "list", "--data", "data"]);
    assert_eq!(listed.stdout.lines().count(), 3, "{}", listed.text());
    assert!(!listed.stdout.contains(&admin), "a secret is shown once");

    let server = locked(&folder);
    assert_eq!(server.get("/health").0, 200);
    let (status, refused) = server.get("/api/executions");
    assert_eq!((status, &refused["code"]), (401, &json!("not_authenticated")));
    let execute = || Some(json!({"path": "examples/hello"}));
    assert_eq!(server.ask_as(&viewer, "GET", "/api/executions", None).0, 200);
    assert_eq!(server.ask_as(&viewer, "POST", "/api/execute", execute()).0, 403);
    assert_eq!(server.ask_as(&admin, "POST", "/api/execute", execute()).0, 200);
    assert_eq!(server.ask_as("noetl_wrong", "GET", "/api/executions", None).0, 401);
    assert_eq!(server.stop(), Some(0));

    let id = listed.stdout.lines().nth(2).and_then(|line| line.split(' ').next()).expect("an id");
    assert_eq!(folder.noetl(&["token", "revoke", "--data", "data", id]).code, Some(0));
    assert_eq!(folder.noetl(&["token", "revoke", "--data", "data", id]).code, Some(2), "only once");
    let server = locked(&folder);
    assert_eq!(server.ask_as(&viewer, "GET", "/api/executions", None).0, 401);
}

#[test]
fn listening_beyond_this_machine_needs_a_login_or_a_word_of_the_operator() {
    let folder = Folder::new();
    let open = ["dev", "--listen", "0.0.0.0:0", "--data", "data"];
    let seen = see(folder.command(&open), "");
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{}", seen.text());
    assert_eq!(seen.stderr.lines().count(), 1, "{}", seen.stderr);
    assert!(seen.stderr.contains("--auth tokens") && seen.stderr.contains("--insecure"), "{}", seen.stderr);
    for how in [["--insecure"].as_slice(), &["--auth", "tokens"]] {
        let arguments = [open.as_slice(), how].concat();
        let server = Service::start(&mut folder.command(&arguments));
        assert!(server.url.contains("0.0.0.0"), "{}", server.url);
        assert_eq!(server.stop(), Some(0));
    }
}

#[test]
fn a_key_of_the_wrong_length_is_said_in_a_sentence() {
    let folder = Folder::new();
    let mut command = folder.command(&["dev", "--listen", "127.0.0.1:0", "--data", "data"]);
    command.env("NOETL_ENCRYPTION_KEY", "c2hvcnQ=");
    let seen = see(command, "");
    assert_eq!(seen.code, Some(1), "{}", seen.text());
    assert!(
        seen.stderr.contains("NOETL_ENCRYPTION_KEY") && seen.stderr.contains("32 bytes"),
        "{}",
        seen.stderr
    );
}
