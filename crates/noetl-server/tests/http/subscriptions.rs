//! Subscriptions: every cell of the table of changes, and who wins when two ask at once.

use noetl_server::app::subscriptions::ACTIONS;
use noetl_store::{SubscriptionState, Subscriptions};
use noetl_types::ExecutionId;
use serde_json::{Value, json};

use crate::support::{START, Server, playbook};

const DOCUMENT: &str = "apiVersion: noetl.io/v1
kind: Subscription
metadata: {name: orders, path: subscription/orders}
spec:
  source: nats
  mode: pull
  activation: continuous
  url: nats://localhost:4222
  stream: orders
  consumer: c
  subject: orders
  dispatch: {playbook: flows/order}
";

async fn server_with_a_subscription() -> (Server, String) {
    let server = Server::new();
    server.register_text(DOCUMENT).await;
    let id = subscribe(&server).await["subscription_id"].as_str().expect("an id").to_owned();
    (server, id)
}

async fn subscribe(server: &Server) -> Value {
    server.post("/api/subscriptions", json!({"path": "subscription/orders"})).await.ok()
}

/// What the specification allows: the action, the states it is possible from, and the state and event it leads to.
const TABLE: [(&str, &[&str], &str, &str); 5] = [
    ("activate", &["REGISTERED", "PAUSED", "DEACTIVATED", "ACTIVE"], "ACTIVE", "subscription.activated"),
    ("pause", &["ACTIVE", "PAUSED"], "PAUSED", "subscription.paused"),
    ("resume", &["PAUSED", "ACTIVE"], "ACTIVE", "subscription.resumed"),
    ("drain", &["ACTIVE", "PAUSED", "DRAINING"], "DRAINING", "subscription.draining"),
    (
        "deactivate",
        &["REGISTERED", "ACTIVE", "PAUSED", "DRAINING", "DEACTIVATED"],
        "DEACTIVATED",
        "subscription.deactivated",
    ),
];

/// The actions that lead from the beginning to a state.
fn way_to(state: SubscriptionState) -> &'static [&'static str] {
    match state {
        SubscriptionState::Registered => &[],
        SubscriptionState::Active => &["activate"],
        SubscriptionState::Paused => &["activate", "pause"],
        SubscriptionState::Draining => &["activate", "drain"],
        SubscriptionState::Deactivated => &["deactivate"],
    }
}

#[tokio::test]
async fn every_cell_of_the_table_holds() {
    for state in SubscriptionState::ALL {
        for (action, from, to, event) in TABLE {
            let (server, id) = server_with_a_subscription().await;
            for step in way_to(state) {
                server.post(&format!("/api/subscriptions/{id}/{step}"), json!({})).await.ok();
            }
            let uri = format!("/api/subscriptions/{id}");
            let before = server.get(&uri).await.ok();
            assert_eq!(before["state"], state.as_str());
            let answer = server.post(&format!("{uri}/{action}"), json!({})).await;
            if from.contains(&state.as_str()) {
                let after = answer.ok();
                assert_eq!((&after["state"], &after["last_event_type"]), (&json!(to), &json!(event)));
                assert_eq!(server.get(&uri).await.ok(), after);
            } else {
                assert_eq!(
                    answer.refused(),
                    (422, "transition_not_allowed".to_owned()),
                    "{action} from {state}"
                );
                let sentence = answer.json()["error"].as_str().expect("a sentence").to_owned();
                for allowed in from {
                    assert!(sentence.contains(allowed), "{sentence} does not name {allowed}");
                }
                assert_eq!(server.get(&uri).await.ok(), before, "nothing changed");
            }
        }
    }
    assert_eq!(ACTIONS.map(|action| action.name), TABLE.map(|(action, ..)| action));
}

#[tokio::test]
async fn registering_a_path_again_gives_the_live_subscription() {
    let (server, id) = server_with_a_subscription().await;
    let again = server.post("/api/subscriptions/register", json!({"path": "subscription/orders"})).await.ok();
    assert_eq!(
        again,
        json!({
            "subscription_id": id, "path": "subscription/orders", "catalog_id": again["catalog_id"], "state": "REGISTERED",
            "last_event_type": "subscription.registered", "updated_at": START.to_string(),
        })
    );
    server.post(&format!("/api/subscriptions/{id}/deactivate"), json!({})).await.ok();
    let new = subscribe(&server).await;
    assert_ne!(new["subscription_id"], json!(id));
    let back = server.post(&format!("/api/subscriptions/{id}/activate"), json!({})).await;
    assert_eq!(back.refused(), (409, "conflict".to_owned()), "the path has another live one");
    let all = server.get("/api/subscriptions").await.ok();
    assert_eq!(all["subscriptions"].as_array().expect("a list").len(), 2);
    assert_eq!(all["subscriptions"][0]["subscription_id"], new["subscription_id"], "the newest first");
}

#[tokio::test]
async fn what_is_unknown_or_no_subscription_is_refused() {
    let (server, id) = server_with_a_subscription().await;
    server.register_text(&playbook("plain")).await;
    let register =
        async |path: &str| server.post("/api/subscriptions", json!({ "path": path })).await.refused();
    assert_eq!(register("nowhere").await, (404, "catalog_entry_not_found".to_owned()));
    assert_eq!(register("plain").await, (422, "not_a_subscription".to_owned()));
    assert_eq!(
        server.get("/api/subscriptions/1").await.refused(),
        (404, "subscription_not_found".to_owned())
    );
    let change = server.post("/api/subscriptions/1/activate", json!({})).await;
    assert_eq!(change.refused(), (404, "subscription_not_found".to_owned()));
    let unknown = server.post(&format!("/api/subscriptions/{id}/explode"), json!({})).await;
    assert_eq!(unknown.refused(), (422, "parameter_invalid".to_owned()));
    let no_id = server.get("/api/subscriptions/x").await;
    assert_eq!(no_id.refused(), (422, "parameter_invalid".to_owned()));
}

#[tokio::test]
async fn of_racing_changes_each_is_judged_by_what_the_one_before_left() {
    let (server, id) = server_with_a_subscription().await;
    server.post(&format!("/api/subscriptions/{id}/activate"), json!({})).await.ok();
    let pause = format!("/api/subscriptions/{id}/pause");
    let drain = format!("/api/subscriptions/{id}/drain");
    let (paused, drained) = tokio::join!(server.post(&pause, json!({})), server.post(&drain, json!({})));
    // Draining is possible from PAUSED too, pausing is not from DRAINING: either both happened in that order, or one.
    assert_eq!(drained.ok()["state"], "DRAINING");
    assert!(paused.status == 200 || paused.refused() == (422, "transition_not_allowed".to_owned()));
    assert_eq!(server.get(&format!("/api/subscriptions/{id}")).await.ok()["state"], "DRAINING");
    let events = server
        .store
        .list_subscription_events(ExecutionId(id.parse().expect("an id")), 0, 100)
        .await
        .expect("events");
    assert_eq!(events.len(), if paused.status == 200 { 4 } else { 3 }, "each change is one event");
}

#[tokio::test]
async fn every_change_is_recorded_as_an_event() {
    let (server, id) = server_with_a_subscription().await;
    for action in ["activate", "pause", "resume", "drain", "deactivate"] {
        server.post(&format!("/api/subscriptions/{id}/{action}"), json!({})).await.ok();
    }
    let events = server
        .store
        .list_subscription_events(ExecutionId(id.parse().expect("an id")), 0, 100)
        .await
        .expect("events");
    let told: Vec<(&str, &str)> =
        events.iter().map(|(_, event)| (&*event.event_type, &*event.status)).collect();
    assert_eq!(
        told,
        [
            ("subscription.registered", "REGISTERED"),
            ("subscription.activated", "ACTIVE"),
            ("subscription.paused", "PAUSED"),
            ("subscription.resumed", "ACTIVE"),
            ("subscription.draining", "DRAINING"),
            ("subscription.deactivated", "DEACTIVATED"),
        ]
    );
    let (_, first) = &events[0];
    assert_eq!(first.context.get("subscription_id").and_then(|id| id.as_str()), Some(&*id));
    assert_eq!(first.meta.get("emitter").and_then(|emitter| emitter.as_str()), Some("control_plane"));
}

#[tokio::test]
async fn the_gateway_learns_where_pushed_messages_go_and_how_they_prove_themselves() {
    let server = Server::new();
    let secret = json!({"name": "hook", "type": "generic", "data": {"secret": "s3cret"}});
    server.post("/api/credentials", secret).await.ok();
    server
        .register_text(
            "apiVersion: noetl.io/v1
kind: Subscription
metadata: {name: hooks, path: subscription/hooks}
spec:
  source: webhook
  mode: push
  ingress:
    gateway_path: /hooks/orders
    verify: {type: hmac_sha256, header: X-Signature, secret: hook}
  dispatch: {playbook: flows/order, execution_pool: fast}
",
        )
        .await;
    let found = server.get("/api/internal/ingress/orders").await.ok();
    assert_eq!(
        found,
        json!({
            "listener": "orders", "catalog_path": "subscription/hooks", "source": "webhook",
            "subscription_id": found["subscription_id"],
            "verify": {"type": "hmac_sha256", "header": "x-signature", "secret": "s3cret"},
            "dispatch": {"playbook": "flows/order", "payload_from": "message.json", "execution_pool": "fast"},
        })
    );
    let again = server.get("/api/internal/ingress/orders").await.ok();
    assert_eq!(again["subscription_id"], found["subscription_id"], "it is registered once");
    let unknown = server.get("/api/internal/ingress/other").await;
    assert_eq!(unknown.refused(), (404, "subscription_not_found".to_owned()));
}
