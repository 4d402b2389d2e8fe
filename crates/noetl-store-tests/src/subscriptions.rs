//! Subscriptions: a path has one that lives, and of two changes that race one wins.

use std::sync::Arc;

use noetl_store::{
    Registration, Store, Subscription, SubscriptionEvent, SubscriptionState as State, Transition,
};
use noetl_types::{EventId, ExecutionId, Value};

use crate::given::*;

fn happened(id: i64, what: &str) -> SubscriptionEvent {
    SubscriptionEvent {
        id: EventId(id),
        event_type: format!("subscription.{what}").into(),
        status: what.to_uppercase().into(),
        at: at(id),
        context: Value::map([("subscription_id", Value::text("500"))]),
        meta: Value::map([("emitter", Value::text("control_plane"))]),
    }
}

async fn register(store: &dyn Store, id: i64, path: &str) -> Registration {
    let event = happened(id * 10 + 1, "registered");
    store.register_subscription(ExecutionId(id), path, 5, &event).await.unwrap()
}

async fn change(store: &dyn Store, id: i64, version: u64, state: State, event: i64) -> Transition {
    let event = happened(event, &state.as_str().to_lowercase());
    store.change_subscription(ExecutionId(id), version, state, &event).await.unwrap()
}

async fn find(store: &dyn Store, id: i64) -> Subscription {
    store.find_subscription(ExecutionId(id)).await.unwrap().expect("it is there")
}

pub async fn a_subscription_is_found_as_it_was_registered(store: Arc<dyn Store>) {
    let expected = Subscription {
        id: ExecutionId(50),
        path: "subs/orders".into(),
        catalog_id: 5,
        state: State::Registered,
        last_event_type: "subscription.registered".into(),
        version: 1,
        seq: 1,
        created_at: at(501),
        updated_at: at(501),
    };
    assert_eq!(register(&*store, 50, "subs/orders").await, Registration::New(expected.clone()));
    assert_eq!(find(&*store, 50).await, expected);
    assert_eq!(store.find_subscription_by_path("subs/orders").await.unwrap(), Some(expected));
    assert_eq!(store.find_subscription(ExecutionId(51)).await.unwrap(), None);
    assert_eq!(store.find_subscription_by_path("subs").await.unwrap(), None);
}

pub async fn a_path_has_one_live_subscription(store: Arc<dyn Store>) {
    register(&*store, 50, "subs/orders").await;
    let first = find(&*store, 50).await;
    assert_eq!(register(&*store, 51, "subs/orders").await, Registration::Existing(first));
    assert_eq!(store.find_subscription(ExecutionId(51)).await.unwrap(), None);
    assert!(matches!(register(&*store, 52, "subs/other").await, Registration::New(_)));
}

pub async fn of_concurrent_registrations_one_is_new(store: Arc<dyn Store>) {
    let attempts: Vec<_> = (1..=8)
        .map(|id| {
            let store = store.clone();
            tokio::spawn(async move { register(&*store, id, "subs/orders").await })
        })
        .collect();
    let mut new = 0;
    for attempt in attempts {
        new += usize::from(matches!(attempt.await.unwrap(), Registration::New(_)));
    }
    assert_eq!((new, store.list_subscriptions(None, 10).await.unwrap().len()), (1, 1));
}

pub async fn a_change_is_recorded_with_its_event(store: Arc<dyn Store>) {
    register(&*store, 50, "subs/orders").await;
    let done = change(&*store, 50, 1, State::Active, 600).await;
    let now = find(&*store, 50).await;
    assert_eq!(done, Transition::Done(now.clone()));
    assert_eq!((now.state, now.version, now.seq), (State::Active, 2, 2));
    assert_eq!((&*now.last_event_type, now.updated_at), ("subscription.active", at(600)));
    assert_eq!(now.created_at, at(501));
    let events = store.list_subscription_events(ExecutionId(50), 0, 10).await.unwrap();
    assert_eq!(events, [(1, happened(501, "registered")), (2, happened(600, "active"))]);
    let second = store.list_subscription_events(ExecutionId(50), 1, 1).await.unwrap();
    assert_eq!(second[0].0, 2);
}

pub async fn of_two_changes_that_race_one_wins(store: Arc<dyn Store>) {
    register(&*store, 50, "subs/orders").await;
    assert!(matches!(change(&*store, 50, 1, State::Active, 600).await, Transition::Done(_)));
    let now = find(&*store, 50).await;
    assert_eq!(change(&*store, 50, 1, State::Deactivated, 601).await, Transition::Moved(now.clone()));
    assert_eq!(find(&*store, 50).await, now);
    assert_eq!(store.list_subscription_events(ExecutionId(50), 0, 10).await.unwrap().len(), 2);
    assert_eq!(change(&*store, 51, 1, State::Active, 602).await, Transition::NotFound);
}

pub async fn a_deactivated_subscription_makes_room_for_another(store: Arc<dyn Store>) {
    register(&*store, 50, "subs/orders").await;
    change(&*store, 50, 1, State::Deactivated, 600).await;
    let old = find(&*store, 50).await;
    assert_eq!(store.find_subscription_by_path("subs/orders").await.unwrap(), Some(old));
    assert!(matches!(register(&*store, 40, "subs/orders").await, Registration::New(_)));
    let live = find(&*store, 40).await;
    assert_eq!(store.find_subscription_by_path("subs/orders").await.unwrap(), Some(live.clone()));
    assert_eq!(change(&*store, 50, 2, State::Active, 601).await, Transition::PathTaken(live));
    change(&*store, 40, 1, State::Deactivated, 602).await;
    assert!(matches!(change(&*store, 50, 2, State::Active, 603).await, Transition::Done(_)));
}

pub async fn events_about_messages_leave_the_state_alone(store: Arc<dyn Store>) {
    register(&*store, 50, "subs/orders").await;
    let event = happened(600, "message.deduplicated");
    assert!(store.append_subscription_event(ExecutionId(50), &event).await.unwrap());
    assert!(store.append_subscription_event(ExecutionId(50), &event).await.unwrap(), "a repeat is harmless");
    let now = find(&*store, 50).await;
    assert_eq!((now.state, now.version, now.seq), (State::Registered, 1, 2));
    assert_eq!(&*now.last_event_type, "subscription.registered");
    assert!(matches!(change(&*store, 50, 1, State::Active, 601).await, Transition::Done(_)));
    let types = store.list_subscription_events(ExecutionId(50), 0, 10).await.unwrap();
    let types: Vec<_> = types.iter().map(|(_, event)| &*event.event_type).collect();
    let expected = ["subscription.registered", "subscription.message.deduplicated", "subscription.active"];
    assert_eq!(types, expected);
    assert!(!store.append_subscription_event(ExecutionId(51), &event).await.unwrap());
}

pub async fn subscriptions_are_listed_newest_first(store: Arc<dyn Store>) {
    for id in [51, 53, 52] {
        register(&*store, id, &format!("subs/{id}")).await;
    }
    let ids = |rows: Vec<Subscription>| rows.iter().map(|row| row.id.0).collect::<Vec<_>>();
    assert_eq!(ids(store.list_subscriptions(None, 10).await.unwrap()), [53, 52, 51]);
    assert_eq!(ids(store.list_subscriptions(Some(ExecutionId(53)), 1).await.unwrap()), [52]);
}

pub async fn subscriptions_are_no_executions(store: Arc<dyn Store>) {
    register(&*store, 50, "subs/orders").await;
    commit(&*store, begin(7)).await;
    assert_eq!(store.find_execution(ExecutionId(50)).await.unwrap(), None);
    assert_eq!(store.list_executions(&Default::default(), 10).await.unwrap().len(), 1);
    assert_eq!(store.list_subscription_events(ExecutionId(7), 0, 10).await.unwrap(), []);
}
