//! The wall clock, read in one place.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use noetl_types::Timestamp;

pub(crate) fn now() -> Timestamp {
    Timestamp::default().after(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO))
}
