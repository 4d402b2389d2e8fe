//! Subscriptions: what they are to do now, and the events that led there.
//!
//! Which change is allowed from which state is for the server to say. The store sees to it that of two changes that race
//! one wins, and that a path has one live subscription.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{EventId, ExecutionId, Timestamp, Value};

use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubscriptionState {
    Registered,
    Active,
    Paused,
    /// Takes no more messages and finishes those under way.
    Draining,
    Deactivated,
}

impl SubscriptionState {
    pub const ALL: [SubscriptionState; 5] = [
        SubscriptionState::Registered,
        SubscriptionState::Active,
        SubscriptionState::Paused,
        SubscriptionState::Draining,
        SubscriptionState::Deactivated,
    ];

    /// A path has at most one subscription in such a state.
    pub fn is_live(self) -> bool {
        self != SubscriptionState::Deactivated
    }

    pub fn as_str(self) -> &'static str {
        match self {
            SubscriptionState::Registered => "REGISTERED",
            SubscriptionState::Active => "ACTIVE",
            SubscriptionState::Paused => "PAUSED",
            SubscriptionState::Draining => "DRAINING",
            SubscriptionState::Deactivated => "DEACTIVATED",
        }
    }
}

impl fmt::Display for SubscriptionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Also the execution id of its events, and the parent of the executions it starts.
    pub id: ExecutionId,
    pub path: Arc<str>,
    pub catalog_id: i64,
    pub state: SubscriptionState,
    /// The event that led to the state.
    pub last_event_type: Arc<str>,
    /// Counts changes of state from 1. A change must name it.
    pub version: u64,
    /// The seq of the newest event, those about messages included.
    pub seq: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Something that happened to a subscription.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscriptionEvent {
    pub id: EventId,
    /// `subscription.activated`, `subscription.message.deduplicated`…
    pub event_type: Arc<str>,
    pub status: Arc<str>,
    pub at: Timestamp,
    pub context: Value,
    pub meta: Value,
}

/// What came of registering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registration {
    New(Subscription),
    /// The path has a live subscription already. Nothing was recorded.
    Existing(Subscription),
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transition {
    Done(Subscription),
    /// Another change was faster; this is how it is now.
    Moved(Subscription),
    /// It would be live again, but this one took its path meanwhile.
    PathTaken(Subscription),
    NotFound,
}

#[async_trait]
pub trait Subscriptions {
    /// Adds a subscription in state `REGISTERED` with its first event, unless its path has a live one.
    async fn register_subscription(
        &self,
        id: ExecutionId,
        path: &str,
        catalog_id: i64,
        event: &SubscriptionEvent,
    ) -> Result<Registration, Error>;

    /// Moves a subscription to a state and records the event, if its version is still the expected one.
    async fn change_subscription(
        &self,
        id: ExecutionId,
        expected_version: u64,
        state: SubscriptionState,
        event: &SubscriptionEvent,
    ) -> Result<Transition, Error>;

    /// Records an event that leaves the state as it is. One that is recorded already is passed over. False when there is
    /// no such subscription.
    async fn append_subscription_event(
        &self,
        id: ExecutionId,
        event: &SubscriptionEvent,
    ) -> Result<bool, Error>;

    async fn find_subscription(&self, id: ExecutionId) -> Result<Option<Subscription>, Error>;

    /// The live subscription of a path; without one, the newest.
    async fn find_subscription_by_path(&self, path: &str) -> Result<Option<Subscription>, Error>;

    /// Newest first, that is by descending id; those before the given one.
    async fn list_subscriptions(
        &self,
        before: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Subscription>, Error>;

    /// Events with a higher seq than `after_seq`, oldest first, each with its seq.
    async fn list_subscription_events(
        &self,
        id: ExecutionId,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<(u64, SubscriptionEvent)>, Error>;
}
