//! Subscriptions: sources whose messages start playbooks.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Id;

/// Which subscription of the catalog is to be registered.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SubscribeRequest {
    #[schema(min_length = 1)]
    pub path: String,
}

/// What a subscription is to do now.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SubscriptionStatus {
    /// Also the parent of the executions it starts.
    pub subscription_id: Id,
    pub path: String,
    pub catalog_id: Id,
    /// `REGISTERED`, `ACTIVE`, `PAUSED`, `DRAINING` or `DEACTIVATED`.
    pub state: String,
    /// The event that led there.
    pub last_event_type: String,
    pub updated_at: Option<String>,
}

/// The newest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SubscriptionList {
    pub subscriptions: Vec<SubscriptionStatus>,
}

/// Where pushed messages go, for the gateway that takes them in.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Ingress {
    pub listener: String,
    pub catalog_path: String,
    pub source: String,
    pub subscription_id: Id,
    pub verify: IngressVerify,
    pub dispatch: IngressDispatch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub directives: Option<Value>,
}

/// How a message proves where it comes from.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IngressVerify {
    /// `hmac_sha256`, `bearer` or `pubsub_oidc`.
    #[serde(rename = "type")]
    pub kind: String,
    /// In lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The secret itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<String>,
}

/// What a message starts.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IngressDispatch {
    pub playbook: String,
    pub payload_from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_pool: Option<String>,
}
