//! Secrets reach tools and nothing else.

use noetl_types::{ErrorKind, Report, RunStatus, ToolError, Value, value};

use crate::support::{Cluster, Probe};

const CANARY: &str = "hush/canary+7 of coal";

/// Everything that a run has left behind, as text.
fn everything(cluster: &Cluster, run: &noetl_engine::Run) -> String {
    let logs: String = cluster.server.logs().iter().map(|chunk| chunk.text.clone()).collect();
    format!("{:?}\n{:?}\n{logs}", cluster.server.events(run.execution()), cluster.server.reports())
}

/// Gives back what it was given, in every way it can.
fn echo() -> Probe {
    Probe::new(|call| async move {
        let text = call.config.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
        call.logs.write(noetl_tools::Stream::Stdout, &format!("got {text}\n"));
        let mut report = Report::success(value!({"length": text.len(), "said": text.clone()}));
        if text.starts_with("fail ") {
            report.error = Some(ToolError::new(ErrorKind::ClientError, format!("can't {text}")));
        }
        report
    })
}

const ECHO: &str = r#"
keychain:
  - {name: svc, kind: credential, credential: "vault"}
workflow:
  - step: start
    tool:
      kind: shell
      command: "{{ keychain.svc.token }}"
      set: {ctx.kept: "{{ output.data.said }}"}
    next: {arcs: [{step: coded}]}
  - step: coded
    tool: {kind: noop, result: {b: "{{ keychain.svc.token | b64encode }}", u: "{{ keychain.svc.token | urlencode }}"}}
    next: {arcs: [{step: fails}]}
  - step: fails
    tool: {kind: shell, command: "fail {{ keychain.svc.token }}"}
"#;

#[tokio::test]
async fn a_keychain_secret_reaches_tools_and_is_recorded_nowhere() {
    let cluster = Cluster::with_probe(echo());
    cluster.server.add_credential("vault", "bearer", value!({"token": CANARY, "type": "bearer"}));
    let run = cluster.run(ECHO, Value::Null).await;
    assert_eq!(run.status, RunStatus::Failed, "the last step fails");
    let length = cluster.result_of(&run, "start").get("length").cloned();
    assert_eq!(length, Some(Value::from(CANARY.len())), "the tool got the whole secret");
    cluster.until(|server| (server.logs().len() >= 2).then_some(())).await;
    let everything = everything(&cluster, &run);
    for form in [
        CANARY,
        "aHVzaC9jYW5hcnkrNyBvZiBjb2Fs",
        "hush%2Fcanary%2B7%20of%20coal",
        "hush/canary%2B7%20of%20coal",
    ] {
        assert!(!everything.contains(form), "{form} in {everything}");
    }
}

#[tokio::test]
async fn data_that_only_looks_secret_is_left_alone() {
    let cluster = Cluster::with_probe(echo());
    cluster.server.add_credential(
        "vault",
        "basic",
        value!({"username": "ann", "password": "hush-password-1"}),
    );
    let run = cluster
        .run(
            r#"
keychain: [{name: svc, kind: credential_ref, credential: vault}]
workflow:
  - step: start
    tool: {kind: shell, command: "user {{ keychain.svc.username }}, token abc123, password hint: blue"}
"#,
            Value::Null,
        )
        .await;
    let said = cluster.result(&run).get("said").cloned();
    assert_eq!(said, Some(Value::text("user ann, token abc123, password hint: blue")));
}

#[tokio::test]
async fn entries_can_be_static_mapped_and_use_those_before_them() {
    let cluster = Cluster::with_probe(echo());
    cluster.server.add_credential("vault", "custom", value!({"keys": {"main": "hush-main-1"}}));
    let run = cluster
        .run(
            r#"
workload: {vault: vault}
keychain:
  - {name: store, kind: credential, credential: "{{ workload.vault }}", map: {key: keys.main}}
  - {name: api, kind: bearer, token: "tok-{{ keychain.store.key }}"}
  - {name: fixed, kind: static, data: {pin: "hush-pin-1234"}, region: eu}
workflow:
  - step: start
    tool: {kind: shell, command: "{{ keychain.api.token }} {{ keychain.fixed.pin }}"}
"#,
            Value::Null,
        )
        .await;
    let result = cluster.result(&run);
    assert_eq!(result.get("length"), Some(&Value::from("tok-hush-main-1 hush-pin-1234".len())), "{result}");
    assert!(!result.to_string().contains("hush"), "{result}");
}

#[tokio::test]
async fn what_can_not_be_resolved_fails_the_step_with_its_name() {
    let cluster = Cluster::with_probe(echo());
    for (entry, words) in [
        ("{name: svc, kind: credential, credential: nowhere}", vec!["nowhere"]),
        ("{name: svc, kind: oauth2, provider: gcp}", vec!["svc", "oauth2", "gcp", "not supported yet"]),
        ("{name: svc, kind: bearer}", vec!["svc", "token"]),
    ] {
        let flow = format!(
            "keychain: [{entry}]\nworkflow: [{{step: start, tool: {{kind: shell, command: '{{{{ keychain.svc.token }}}}'}}}}]"
        );
        let run = cluster.run(&flow, Value::Null).await;
        let error = run.steps["start"].error.clone().expect("the step fails");
        assert!(words.iter().all(|word| error.message.contains(word)), "{error}");
    }
}

#[tokio::test]
async fn a_credential_that_a_tool_asks_for_and_does_not_exist_is_named() {
    let cluster = Cluster::start();
    let flow =
        "workflow: [{step: start, tool: {kind: http, url: 'http://127.0.0.1:1/', auth: nobody_knows_it}}]";
    let run = cluster.run(flow, Value::Null).await;
    let error = run.error.expect("the run fails");
    assert!(error.message.contains("nobody_knows_it"), "{error}");
}
