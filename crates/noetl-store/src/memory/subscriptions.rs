//! Subscriptions and their events.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::ExecutionId;

use super::MemoryStore;
use super::state::{State, SubscriptionLog};
use crate::{
    Error, Registration, Subscription, SubscriptionEvent, SubscriptionState, Subscriptions, Transition,
};

impl State {
    fn live_subscription(&self, path: &str) -> Option<&Subscription> {
        let all = self.subscriptions.values().map(|log| &log.row);
        all.filter(|row| *row.path == *path).find(|row| row.state.is_live())
    }
}

impl SubscriptionLog {
    fn knows(&self, event: &SubscriptionEvent) -> bool {
        self.events.iter().any(|known| known.id == event.id)
    }

    fn append(&mut self, event: &SubscriptionEvent) {
        self.events.push(event.clone());
        self.row.seq = self.events.len() as u64;
    }

    fn change(&mut self, state: SubscriptionState, event: &SubscriptionEvent) {
        self.append(event);
        self.row.state = state;
        self.row.last_event_type = event.event_type.clone();
        self.row.version += 1;
        self.row.updated_at = event.at;
    }
}

fn taken(id: ExecutionId, event: &SubscriptionEvent) -> Error {
    Error::Conflict { what: format!("event {} of subscription {id}", event.id) }
}

#[async_trait]
impl Subscriptions for MemoryStore {
    async fn register_subscription(
        &self,
        id: ExecutionId,
        path: &str,
        catalog_id: i64,
        event: &SubscriptionEvent,
    ) -> Result<Registration, Error> {
        self.with(|state| {
            if let Some(live) = state.live_subscription(path) {
                return Ok(Registration::Existing(live.clone()));
            }
            if state.subscriptions.contains_key(&id) {
                return Err(Error::Conflict { what: format!("subscription {id}") });
            }
            let row = Subscription {
                id,
                path: path.into(),
                catalog_id,
                state: SubscriptionState::Registered,
                last_event_type: event.event_type.clone(),
                version: 1,
                seq: 1,
                created_at: event.at,
                updated_at: event.at,
            };
            let log = SubscriptionLog { row: row.clone(), events: vec![event.clone()] };
            state.subscriptions.insert(id, Arc::new(log));
            Ok(Registration::New(row))
        })?
    }

    async fn change_subscription(
        &self,
        id: ExecutionId,
        expected_version: u64,
        to: SubscriptionState,
        event: &SubscriptionEvent,
    ) -> Result<Transition, Error> {
        self.with(|state| {
            let Some(log) = state.subscriptions.get(&id) else {
                return Ok(Transition::NotFound);
            };
            if log.row.version != expected_version {
                return Ok(Transition::Moved(log.row.clone()));
            }
            if to.is_live()
                && let Some(live) = state.live_subscription(&log.row.path).filter(|live| live.id != id)
            {
                return Ok(Transition::PathTaken(live.clone()));
            }
            if log.knows(event) {
                return Err(taken(id, event));
            }
            let log = state.subscriptions.get_mut(&id).expect("it was just looked at");
            Arc::make_mut(log).change(to, event);
            Ok(Transition::Done(log.row.clone()))
        })?
    }

    async fn append_subscription_event(
        &self,
        id: ExecutionId,
        event: &SubscriptionEvent,
    ) -> Result<bool, Error> {
        self.with(|state| match state.subscriptions.get_mut(&id) {
            Some(log) => {
                if !log.knows(event) {
                    Arc::make_mut(log).append(event);
                }
                true
            }
            None => false,
        })
    }

    async fn find_subscription(&self, id: ExecutionId) -> Result<Option<Subscription>, Error> {
        self.with(|state| state.subscriptions.get(&id).map(|log| log.row.clone()))
    }

    async fn find_subscription_by_path(&self, path: &str) -> Result<Option<Subscription>, Error> {
        self.with(|state| {
            let newest = || {
                let mut newest_first = state.subscriptions.values().rev().map(|log| &log.row);
                newest_first.find(|row| *row.path == *path)
            };
            state.live_subscription(path).or_else(newest).cloned()
        })
    }

    async fn list_subscriptions(
        &self,
        before: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Subscription>, Error> {
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        self.with(|state| {
            let newest_first = state.subscriptions.range((Bound::Unbounded, end)).rev();
            newest_first.take(limit).map(|(_, log)| log.row.clone()).collect()
        })
    }

    async fn list_subscription_events(
        &self,
        id: ExecutionId,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<(u64, SubscriptionEvent)>, Error> {
        self.with(|state| {
            let events = state.subscriptions.get(&id).map(|log| log.events.as_slice()).unwrap_or_default();
            let numbered = (1..).zip(events).filter(|(seq, _)| *seq > after_seq);
            numbered.take(limit).map(|(seq, event)| (seq, event.clone())).collect()
        })
    }
}
