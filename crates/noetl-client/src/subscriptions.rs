//! Subscriptions.

use noetl_api::subscription::{SubscribeRequest, SubscriptionList, SubscriptionStatus};

use crate::address::segment;
use crate::call::Repeat;
use crate::{Client, Error};

impl Client {
    pub async fn list_subscriptions(&self) -> Result<SubscriptionList, Error> {
        self.get("/api/subscriptions").await
    }

    /// Registers the subscription of a catalog path. Asking again gives the same one.
    pub async fn register_subscription(&self, path: &str) -> Result<SubscriptionStatus, Error> {
        let request = SubscribeRequest { path: path.to_owned() };
        self.post("/api/subscriptions", &request, Repeat::Harmless).await
    }

    /// Changes what a subscription is to do: `activate`, `pause`, `resume`, `drain` or `deactivate`.
    pub async fn change_subscription(&self, id: i64, action: &str) -> Result<SubscriptionStatus, Error> {
        let nothing = serde_json::Map::new();
        let path = format!("/api/subscriptions/{id}/{}", segment(action));
        self.post(&path, &nothing, Repeat::Harmful).await
    }
}
