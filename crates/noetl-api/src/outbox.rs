//! Messages that leave the server after the commit that caused them.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::NumericId;

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ClaimRequest {
    /// 100 without it; brought into 1 to 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// Messages that the caller is now to publish.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Claimed {
    pub rows: Vec<Message>,
    pub claimed: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Message {
    pub outbox_id: i64,
    pub event_id: NumericId,
    pub execution_id: NumericId,
    pub subject: String,
    #[schema(value_type = serde_json::Value)]
    pub payload: Value,
    /// How the payload is written: `json`.
    pub payload_codec: String,
    /// How often it was claimed, this time included.
    pub attempts: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PublishedRequest {
    #[schema(min_items = 1)]
    pub outbox_ids: Vec<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Published {
    /// How many of them exist; marking them again changes nothing.
    pub marked: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FailedRequest {
    pub outbox_id: i64,
    /// Kept up to 2,000 characters.
    #[serde(default)]
    pub error: String,
    #[serde(default = "one")]
    #[schema(minimum = 0)]
    pub attempts: u32,
    #[serde(default = "five_minutes")]
    #[schema(minimum = 0)]
    pub max_delay_seconds: u32,
}

fn one() -> u32 {
    1
}

fn five_minutes() -> u32 {
    300
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Failed {
    /// False when there is no such message.
    pub marked: bool,
    /// In how many seconds it can be claimed again.
    pub available_at_in: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Pending {
    pub pending: u64,
}
