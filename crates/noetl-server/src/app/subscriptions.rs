//! The life of subscriptions: which change is possible when, and what is recorded of it.

use noetl_store::{Registration, Subscription, SubscriptionEvent, SubscriptionState, Transition};
use noetl_types::{EventId, ExecutionId, Value};

use super::{App, Code, Error};
use crate::catalog::Reference;

use SubscriptionState::{Active, Deactivated, Draining, Paused, Registered};

/// A change that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    pub name: &'static str,
    /// The states from which it is possible.
    pub from: &'static [SubscriptionState],
    pub to: SubscriptionState,
    pub event_type: &'static str,
}

/// Everything that can happen to a subscription after it is registered.
pub const ACTIONS: [Action; 5] = [
    Action {
        name: "activate",
        from: &[Registered, Paused, Deactivated, Active],
        to: Active,
        event_type: "subscription.activated",
    },
    Action { name: "pause", from: &[Active, Paused], to: Paused, event_type: "subscription.paused" },
    Action { name: "resume", from: &[Paused, Active], to: Active, event_type: "subscription.resumed" },
    Action {
        name: "drain",
        from: &[Active, Paused, Draining],
        to: Draining,
        event_type: "subscription.draining",
    },
    Action {
        name: "deactivate",
        from: &SubscriptionState::ALL,
        to: Deactivated,
        event_type: "subscription.deactivated",
    },
];

/// Subscriptions given in one list.
const MOST: usize = 1000;

impl App {
    /// Registers the subscription of a path, or gives the one that is live.
    pub async fn register_subscription(&self, path: &str) -> Result<Subscription, Error> {
        let entry = self.entry(&Reference::Latest(path.to_owned())).await?;
        if &*entry.entry.kind != "subscription" {
            let message = format!("'{path}' is a {}, not a subscription", entry.entry.kind);
            return Err(Error::new(Code::NotASubscription, message));
        }
        let id = ExecutionId(self.ids().next());
        let event = self.lifecycle_event(id, path, entry.entry.id, "subscription.registered", Registered);
        match self.store().register_subscription(id, path, entry.entry.id, &event).await? {
            Registration::New(subscription) | Registration::Existing(subscription) => Ok(subscription),
        }
    }

    pub async fn get_subscription(&self, id: ExecutionId) -> Result<Subscription, Error> {
        self.store().find_subscription(id).await?.ok_or_else(|| not_found(id))
    }

    /// The newest first.
    pub async fn list_subscriptions(&self) -> Result<Vec<Subscription>, Error> {
        Ok(self.store().list_subscriptions(None, MOST).await?)
    }

    /// Changes a subscription. When another change comes first, this one is judged by what that one left.
    pub async fn change_subscription(&self, id: ExecutionId, action: &Action) -> Result<Subscription, Error> {
        loop {
            let now = self.get_subscription(id).await?;
            if !action.from.contains(&now.state) {
                return Err(not_possible(action, &now));
            }
            let event = self.lifecycle_event(id, &now.path, now.catalog_id, action.event_type, action.to);
            match self.store().change_subscription(id, now.version, action.to, &event).await? {
                Transition::Done(changed) => return Ok(changed),
                Transition::Moved(_) => continue,
                Transition::PathTaken(other) => {
                    let message = format!("'{}' has another live subscription, {}", now.path, other.id);
                    return Err(
                        Error::new(Code::Conflict, message).help("use that one, or deactivate it first")
                    );
                }
                Transition::NotFound => return Err(not_found(id)),
            }
        }
    }

    fn lifecycle_event(
        &self,
        id: ExecutionId,
        path: &str,
        catalog_id: i64,
        event_type: &str,
        state: SubscriptionState,
    ) -> SubscriptionEvent {
        let now = self.now();
        SubscriptionEvent {
            id: EventId(self.ids().next()),
            event_type: event_type.into(),
            status: state.as_str().into(),
            at: now,
            context: Value::map([
                ("subscription_id", Value::text(id.to_string())),
                ("path", Value::text(path)),
                ("catalog_id", Value::text(catalog_id.to_string())),
            ]),
            meta: Value::map([
                ("emitted_at", Value::text(now.to_string())),
                ("emitter", Value::text("control_plane")),
                ("subscription_lifecycle", Value::Bool(true)),
            ]),
        }
    }
}

fn not_found(id: ExecutionId) -> Error {
    Error::new(Code::SubscriptionNotFound, format!("there is no subscription {id}"))
}

fn not_possible(action: &Action, now: &Subscription) -> Error {
    let allowed: Vec<&str> = action.from.iter().map(|state| state.as_str()).collect();
    let message = format!(
        "'{}' is not possible: the subscription is {}, and it must be {}",
        action.name,
        now.state,
        allowed.join(" or ")
    );
    Error::new(Code::TransitionNotAllowed, message)
}
