//! What a server keeps besides playbooks: credentials, plug-ins, subscriptions, tokens, workers.

use serde_json::json;

use crate::served::Served;
use crate::service::Service;
use crate::support::{Folder, see};

#[test]
fn credentials_are_kept_shown_without_their_fields_and_forgotten() {
    let served = Served::with(&[]);
    std::fs::write(served.folder.path("pg.yaml"), "host: db\npassword: secret-word\n").expect("a file");
    let kept =
        served.good(&["credential", "set", "pg", "--type", "postgres", "--file", "pg.yaml", "--tag", "a"]);
    assert_eq!(kept, "credential pg of type postgres\n");
    let seen = see(
        served.command(&["credential", "set", "api", "--type", "bearer", "--field", "token=-", "--quiet"]),
        "from-stdin\n",
    );
    assert_eq!(seen.text(), "exit 0\n");
    assert_eq!(served.good(&["credential", "list", "--quiet"]), "api\npg\n");
    assert_eq!(served.json(&["credential", "list", "--type", "bearer"]).as_array().map(Vec::len), Some(1));
    let listed = served.good(&["credential", "list"]);
    assert!(listed.starts_with("NAME  TYPE") && !listed.contains("secret-word"), "{listed}");
    let shown = served.good(&["credential", "get", "pg"]);
    assert!(shown.contains("type     postgres\n") && !shown.contains("secret-word"), "{shown}");
    assert!(served.good(&["credential", "get", "pg", "--show"]).contains("data.password  secret-word\n"));
    assert_eq!(served.json(&["credential", "get", "api", "--show"])["data"], json!({"token": "from-stdin"}));
    assert_eq!(served.good(&["credential", "delete", "pg"]), "Credential 'pg' deleted.\n");
    let seen = served.noetl(&["credential", "get", "pg"]);
    assert_eq!(seen.code, Some(2), "{}", seen.text());
    assert!(seen.stderr.starts_with("error[credential_not_found]: "), "{}", seen.stderr);
    assert_eq!(served.noetl(&["credential", "delete", "pg"]).code, Some(2));
    let empty = served.noetl(&["credential", "set", "none", "--type", "bearer"]);
    assert_eq!(empty.code, Some(2), "{}", empty.text());
    assert!(empty.stderr.contains("--field or --file"), "{}", empty.stderr);
}

#[test]
fn plug_ins_are_pushed_fetched_and_removed() {
    let served = Served::with(&[]);
    std::fs::write(served.folder.path("a.wasm"), b"\0asm\x01\0\0\0").expect("a file");
    std::fs::write(served.folder.path("b.wasm"), b"\0asm\x01\0\0\0\0\x02\0\0").expect("a file");
    let first = served.good(&["plugin", "push", "tools/score", "a.wasm"]);
    assert!(first.starts_with("tools/score version 1, 8 bytes, sha256 "), "{first}");
    assert_eq!(served.json(&["plugin", "push", "tools/score", "b.wasm"])["version"], 2);
    let seen = served.noetl(&["plugin", "push", "tools/score", "a.wasm", "--version", "2"]);
    assert_eq!(seen.code, Some(1), "a version keeps its code: {}", seen.text());
    assert!(seen.stderr.starts_with("error["), "{}", seen.stderr);
    let listed = served.good(&["plugin", "list"]);
    assert_eq!(listed.lines().count(), 3, "{listed}");
    served.good(&["plugin", "get", "tools/score", "--output", "got.wasm"]);
    let got = std::fs::read(served.folder.path("got.wasm")).expect("a file");
    assert_eq!(got.len(), 12, "the newest");
    assert_eq!(
        served.good(&["plugin", "delete", "tools/score", "--version", "2"]),
        "tools/score version 2 is removed\n"
    );
    assert_eq!(served.good(&["plugin", "get", "tools/score"]), "\0asm\x01\0\0\0");
    for wrong in [
        &["plugin", "get", "no/such"][..],
        &["plugin", "get", "no/such", "--version", "1"],
        &["plugin", "delete", "no/such", "--version", "1"],
        &["plugin", "push", "x", "nowhere.wasm"],
    ] {
        let seen = served.noetl(wrong);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{wrong:?}: {}", seen.text());
    }
}

#[test]
fn subscriptions_are_registered_and_steered_by_path_or_id() {
    let subscription = "\
apiVersion: noetl.io/v1
kind: Subscription
metadata: {name: orders, path: shop/orders}
spec:
  source: nats
  mode: pull
  stream: ORDERS
  consumer: noetl
  dispatch: {playbook: test/hello}
";
    let served = Served::with(&[]);
    std::fs::write(served.folder.path("orders.yaml"), subscription).expect("a file");
    served.good(&["register", "orders.yaml"]);
    let registered = served.json(&["subscription", "register", "shop/orders"]);
    assert_eq!(registered["state"], "REGISTERED");
    let id = registered["subscription_id"].as_str().expect("an id");
    let active = served.good(&["subscription", "activate", "shop/orders"]);
    assert_eq!(active, format!("subscription {id} of shop/orders is ACTIVE\n"));
    assert_eq!(served.json(&["subscription", "pause", id])["state"], "PAUSED");
    assert_eq!(served.json(&["subscription", "resume", id])["state"], "ACTIVE");
    assert_eq!(served.json(&["subscription", "drain", id])["state"], "DRAINING");
    assert_eq!(served.json(&["subscription", "deactivate", id])["state"], "DEACTIVATED");
    assert!(served.good(&["subscription", "list"]).contains("shop/orders  DEACTIVATED"));
    let seen = served.noetl(&["subscription", "resume", id]);
    assert_eq!(seen.code, Some(1), "{}", seen.text());
    assert!(seen.stderr.starts_with("error[transition_not_allowed]: "), "{}", seen.stderr);
    for wrong in [["register", "no/such"], ["activate", "no/such"], ["pause", "17"]] {
        let seen = served.noetl(&[&["subscription"], &wrong[..]].concat());
        assert_eq!(seen.code, Some(2), "{wrong:?}: {}", seen.text());
    }
}

#[test]
fn tokens_of_a_server_are_made_used_and_revoked() {
    let folder = Folder::new();
    let first = folder.noetl(&["token", "create", "--data", "data", "--scope", "admin"]);
    let admin = first.stdout.trim();
    let arguments = ["dev", "--listen", "127.0.0.1:0", "--data", "data", "--auth", "tokens"];
    let server = Service::start(&mut folder.command(&arguments));
    let noetl = |token: &str, arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.env("NOETL_SERVER", &server.url).env("NOETL_TOKEN", token);
        see(command, "")
    };
    let made =
        noetl(admin, &["token", "create", "--scope", "viewer", "--name", "ci", "--days", "1", "--json"]);
    let made: serde_json::Value = serde_json::from_str(&made.stdout).expect("JSON");
    let (viewer, id) = (made["token"].as_str().expect("a secret"), made["id"].as_str().expect("an id"));
    assert_eq!(noetl(viewer, &["list"]).code, Some(0));
    let seen = noetl(viewer, &["exec", "examples/hello"]);
    assert_eq!(seen.code, Some(1), "{}", seen.text());
    assert!(
        seen.stderr.starts_with("error[forbidden]: ") && seen.stderr.contains("\nhelp: "),
        "{}",
        seen.stderr
    );
    assert_eq!(noetl(viewer, &["token", "list"]).code, Some(1), "tokens are for admins");
    let listed = noetl(admin, &["token", "list"]);
    assert!(listed.stdout.contains("ci") && !listed.stdout.contains(viewer), "{}", listed.text());
    assert_eq!(noetl(admin, &["token", "revoke", id]).code, Some(0));
    assert_eq!(noetl(viewer, &["list"]).code, Some(1));
    assert_eq!(noetl(admin, &["token", "revoke", "17"]).code, Some(2));
    assert_eq!(noetl(admin, &["token", "create", "--scope", "king"]).code, Some(2));
}

#[test]
fn workers_that_registered_are_listed() {
    let served = Served::with(&[]);
    let none = served.noetl(&["workers"]);
    assert_eq!(none.code, Some(0), "{}", none.text());
    let worker =
        json!({"name": "w1", "kind": "worker_pool", "capabilities": {"pools": ["gpu"]}, "capacity": 4});
    assert_eq!(served.server.post("/api/worker/pool/register", worker).0, 200);
    let listed = served.good(&["workers"]);
    let line = listed.lines().find(|line| line.starts_with("w1 ")).expect("the worker");
    assert!(line.ends_with("gpu"), "{listed}");
    assert!(served.json(&["workers"])["items"].as_array().is_some_and(|items| !items.is_empty()));
}
