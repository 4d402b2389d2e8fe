//! `noetl doctor`

use serde_json::json;

use crate::served::Served;
use crate::service::Service;
use crate::support::{Folder, see};

fn check<'v>(diagnosis: &'v serde_json::Value, name: &str) -> &'v serde_json::Value {
    let checks = diagnosis["checks"].as_array().expect("a list");
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name}: {diagnosis}"))
}

#[test]
fn a_server_that_is_well_passes_every_check() {
    let served = Served::with(&[]);
    let diagnosis = served.json(&["doctor"]);
    assert_eq!(diagnosis["healthy"], json!(true), "{diagnosis}");
    for name in ["server", "token", "database", "workers", "clock", "python", "disk", "contexts"] {
        assert_eq!(check(&diagnosis, name)["status"], "ok", "{diagnosis}");
    }
    let seen = served.noetl(&["doctor"]);
    assert_eq!(seen.stderr, "note: nothing is in the way\n");
    assert!(seen.stdout.contains("ok  database  connected, with all its tables\n"), "{}", seen.text());
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let folder = Folder::new();
    let arguments =
        ["doctor", "--server", "http://127.0.0.1:1", "-o", "tools.python.interpreter=/nowhere/python"];
    let seen = folder.noetl(&arguments);
    assert_eq!(seen.code, Some(1), "{}", seen.text());
    assert!(seen.stdout.contains("→ start one with `noetl dev`"), "{}", seen.text());
    assert!(seen.stdout.contains("warning  python    /nowhere/python: "), "{}", seen.text());

    let secret = folder.noetl(&["token", "create", "--data", "data", "--scope", "viewer"]);
    let arguments = ["dev", "--listen", "127.0.0.1:0", "--data", "data", "--auth", "tokens"];
    let server = Service::start(&mut folder.command(&arguments));
    let diagnosis = |token: Option<&str>| -> serde_json::Value {
        let mut command = folder.command(&["doctor", "--json", "--server", &server.url]);
        command.args(token.map(|token| ["--token", token]).into_iter().flatten());
        serde_json::from_str(&see(command, "").stdout).expect("JSON")
    };
    let none = diagnosis(None);
    assert_eq!(check(&none, "token")["finding"], "the server wants a token");
    let wrong = diagnosis(Some("noetl_wrong"));
    assert_eq!(check(&wrong, "token")["finding"], "the server does not take our token");
    assert_eq!(diagnosis(Some(secret.stdout.trim()))["healthy"], json!(true));
}
