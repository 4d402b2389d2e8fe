//! Servers that believe an OpenID provider.

use serde_json::json;

use crate::issuer::{Issuer, Signer};
use crate::service::Service;
use crate::support::{Folder, see};

fn believing(issuer: &str) -> (Folder, Service) {
    let folder = Folder::with(
        "noetl.toml",
        format!(
            "[server]\nauth = \"tokens\"\n[server.oidc]\nissuer = \"{issuer}\"\naudience = \"noetl\"\n\
             claim = \"realm_access.roles\"\neveryone = [\"viewer\"]\n"
        ),
    );
    let server = Service::start(&mut folder.command(&["dev", "--listen", "127.0.0.1:0", "--data", "data"]));
    (folder, server)
}

#[test]
fn tokens_of_the_provider_open_the_server_by_the_roles_they_name() {
    let signer = Signer::new("one");
    let issuer = Issuer::start(vec![signer.published()]);
    let (folder, server) = believing(&issuer.url);
    let token = |roles| {
        let claims =
            json!({"email": "ann@example.com", "email_verified": true, "realm_access": {"roles": roles}});
        signer.token(&issuer.claims("noetl", claims))
    };
    let execute = || Some(json!({"path": "examples/hello"}));
    let (anyone, operator) = (token(json!(["other:admin"])), token(json!(["noetl:operator"])));
    let admin = token(json!(["noetl:admin"]));
    assert_eq!(server.ask_as(&anyone, "GET", "/api/executions", None).0, 200);
    assert_eq!(server.ask_as(&anyone, "POST", "/api/execute", execute()).0, 403);
    assert_eq!(server.ask_as(&operator, "POST", "/api/execute", execute()).0, 200);
    assert_eq!(server.ask_as(&operator, "GET", "/api/audit", None).0, 403);
    let (status, trail) = server.ask_as(&admin, "GET", "/api/audit", None);
    assert_eq!(status, 200);
    assert!(trail.to_string().contains("oidc:u-7 <ann@example.com>"), "{trail}");

    let for_others = signer.token(&issuer.claims("billing", json!({"aud": "billing"})));
    let (status, refused) = server.ask_as(&for_others, "GET", "/api/executions", None);
    assert_eq!((status, &refused["error"]), (401, &json!("the token is not for the audience 'noetl'")));

    let address = server.url.clone();
    let listed = folder.noetl(&["list", "--server", &address, "--token", &operator]);
    assert_eq!(listed.code, Some(0), "{}", listed.text());
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_provider_that_is_not_there_is_told_at_the_start_and_with_every_token() {
    let signer = Signer::new("one");
    let issuer = Issuer::start(vec![signer.published()]);
    issuer.be_down(true);
    let (_folder, server) = believing(&issuer.url);
    let token = signer.token(&issuer.claims("noetl", json!({})));
    let (status, refused) = server.ask_as(&token, "GET", "/api/executions", None);
    assert_eq!((status, &refused["code"]), (503, &json!("issuer_unavailable")));
    let (said, code) = server.end();
    assert!(said.contains("answers with status 503") && said.contains("let nobody in"), "{said}");
    assert_eq!(code, Some(0));
}

#[test]
fn settings_that_make_no_sense_are_refused_at_the_start() {
    for (section, why) in [
        ("issuer = \"https://id.example.com\"", "server.oidc.audience"),
        ("issuer = \"http://id.example.com\"\naudience = \"noetl\"", "it must begin with https://"),
        (
            "issuer = \"https://id.example.com\"\naudience = \"noetl\"\neveryone = [\"reader\"]",
            "'reader', which is no scope",
        ),
    ] {
        let folder =
            Folder::with("noetl.toml", format!("[server]\nauth = \"tokens\"\n[server.oidc]\n{section}\n"));
        let seen = see(folder.command(&["dev", "--listen", "127.0.0.1:0", "--data", "data"]), "");
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{}", seen.text());
        assert!(seen.stderr.contains(why), "{}", seen.stderr);
    }
    let folder = Folder::with(
        "noetl.toml",
        "[server.oidc]\nissuer = \"https://id.example.com\"\naudience = \"noetl\"\n",
    );
    let seen = see(folder.command(&["dev", "--listen", "127.0.0.1:0", "--data", "data"]), "");
    assert!(seen.stderr.contains("add --auth tokens"), "{}", seen.stderr);
}
