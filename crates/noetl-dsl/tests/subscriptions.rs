//! `kind: Subscription` documents: what is accepted, and what is said about the rest.

use expect_test::{Expect, expect};
use noetl_dsl::{Options, check_subscription};

fn check(spec: &str, expected: Expect) {
    let source = format!(
        "apiVersion: noetl.io/v1\nkind: Subscription\nmetadata: {{name: s, path: subscription/s}}\nspec:\n{spec}\n"
    );
    let checked = check_subscription(&source, &Options::default());
    let mut lines: Vec<String> = checked.diagnostics.iter().map(ToString::to_string).collect();
    if let Some(subscription) = &checked.subscription {
        lines.push(format!(
            "{} from {} to {}, {}{}",
            subscription.path,
            subscription.source,
            subscription.playbook,
            if subscription.push { "pushed" } else { "pulled" },
            subscription.listener.as_ref().map(|listener| format!(" at {listener}")).unwrap_or_default(),
        ));
    }
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn each_source_is_accepted_with_what_it_needs() {
    check(
        "  source: nats\n  stream: orders\n  consumer: c\n  dispatch: {playbook: p, payload_from: message.json, batch_dispatch: true, batch_max: 1000}",
        expect!["subscription/s from nats to p, pulled"],
    );
    check(
        "  source: pubsub\n  mode: pull\n  subscription: projects/x\n  dispatch: {playbook: p}",
        expect!["subscription/s from pubsub to p, pulled"],
    );
    check(
        "  source: kafka\n  topic: t\n  group: g\n  dispatch: {playbook: p}\n  limits: {max_in_flight: 5, max_dispatch_per_sec: 0.5}",
        expect!["subscription/s from kafka to p, pulled"],
    );
    check(
        "  source: webhook\n  mode: push\n  ingress:\n    gateway_path: /ingress/orders\n    verify: {type: hmac_sha256, header: X-Sig, secret: hook}\n  dispatch: {playbook: p}\n  headers:\n    directives: [{header: x-route, controls: dispatch.playbook, allowed: [a], map: {a: b}}]\n    trace: {propagate: w3c}\n  dedup: {enabled: true, window_secs: 60}\n  spool: {mode: hybrid, backend: local_disk, path: /var/spool, ordering: per_key, drain: {on_recovery: interleave}}",
        expect!["subscription/s from webhook to p, pushed at orders"],
    );
}

#[test]
fn what_is_missing_is_named_at_what_asks_for_it() {
    check(
        "  source: nats\n  dispatch: {playbook: p}",
        expect![[r#"
        5:11 error[missing_key]: a subscription to `nats` needs `consumer`
        5:11 error[missing_key]: a subscription to `nats` needs `stream`"#]],
    );
    check(
        "  source: kafka\n  topic: t\n  dispatch: {execution_pool: x}",
        expect![[r#"
        5:11 error[missing_key]: a subscription to `kafka` needs `group`
        7:3 error[missing_key]: `dispatch` needs `playbook`"#]],
    );
    check(
        "  source: webhook\n  dispatch: {playbook: p}",
        expect!["4:1 error[missing_key]: a subscription whose messages are pushed needs `ingress`"],
    );
    check(
        "  source: webhook\n  ingress: {gateway_path: hook, verify: {type: bearer}}\n  dispatch: {playbook: p}",
        expect![[r#"
        6:27 error[unknown_value]: `gateway_path` must start with a slash
        6:48 error[missing_key]: `verify` of type `bearer` needs `secret`"#]],
    );
    check(
        "  source: webhook\n  ingress: {gateway_path: /hook}\n  dispatch: {playbook: p}",
        expect!["6:3 error[missing_key]: `ingress` needs `verify`"],
    );
    check(
        "  mode: pull",
        expect![[r#"
        4:1 error[missing_key]: a subscription's `spec` needs `dispatch`
        4:1 error[missing_key]: a subscription's `spec` needs `source`"#]],
    );
}

#[test]
fn settings_that_cannot_be_are_refused() {
    check(
        "  source: carrier_pigeon\n  dispatch: {playbook: p}",
        expect!["5:11 error[unknown_value]: `source` cannot be `carrier_pigeon`"],
    );
    check(
        "  source: nats\n  mode: push\n  stream: a\n  consumer: b\n  ingress: {gateway_path: /a, verify: {type: bearer, secret: s}}\n  dispatch: {playbook: p}",
        expect!["6:9 error[conflicting_settings]: messages of `nats` can only be pulled"],
    );
    check(
        "  source: nats\n  stream: a\n  consumer: b\n  dispatch: {playbook: p, batch_max: 2000}\n  limits: {max_in_flight: 0}",
        expect![[r#"
        8:38 error[out_of_range]: `batch_max` must be at most 1000
        9:27 error[out_of_range]: `max_in_flight` must be at least 1"#]],
    );
    check(
        "  source: nats\n  stream: a\n  consumer: b\n  dispatch: {playbook: p}\n  spool: {mode: buffer_and_ack, bucket: x, ordering: global, drain: {on_recovery: interleave}}",
        expect![
            "9:83 error[conflicting_settings]: `on_recovery: interleave` cannot keep the order that `ordering: global` asks for"
        ],
    );
    check(
        "  source: nats\n  stream: a\n  consumer: b\n  dispatch: {playbook: p}\n  spool: {mode: buffer_and_ack}\n  dedupe: {enabled: true}",
        expect![[r#"
        9:17 error[missing_key]: a spool on `nats_object` needs `bucket`
        10:3 warning[unknown_key]: `dedupe` is not a key of a subscription's `spec`"#]],
    );
}

#[test]
fn other_documents_are_not_subscriptions() {
    let codes = |source: &str| {
        let checked = check_subscription(source, &Options::default());
        assert!(checked.subscription.is_none());
        checked.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>()
    };
    assert_eq!(codes("kind: Playbook"), ["wrong_kind"]);
    assert_eq!(codes("[1]"), ["wrong_type"]);
    assert_eq!(codes("a: ["), ["yaml_syntax"]);
    assert!(codes("apiVersion: noetl.io/v2\nkind: Subscription").contains(&"wrong_api_version"));
}
