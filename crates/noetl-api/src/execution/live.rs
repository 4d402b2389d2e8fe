//! Where a stream begins.

use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use crate::Id;

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct StreamParameters {
    /// Only events with a higher `seq`. The header `Last-Event-ID` goes before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Leave the values out: what steps came to, what they set, what signals carried. For readers that want to know what
    /// happened and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<bool>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct StreamAllParameters {
    /// Only what was stored after this place: the `id` of a message, 0 for everything. The header `Last-Event-ID` goes
    /// before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Id>,
    /// Only events of this type, or of several with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
}
