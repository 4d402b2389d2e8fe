//! Starting runs.

use std::time::Duration;

use noetl_api::execute::{ExecuteRequest, Executed};

use crate::call::Repeat;
use crate::{Client, Error};

impl Client {
    /// Starts a run. With a dedup key it may be asked for twice and starts once.
    pub async fn execute(&self, request: &ExecuteRequest) -> Result<Executed, Error> {
        let repeat = if request.dedup.is_some() { Repeat::Harmless } else { Repeat::Harmful };
        self.post("/api/execute", request, repeat).await
    }

    /// Starts a run and waits for its end, for so many seconds at most: the answer has an outcome if it came to one.
    pub async fn execute_and_wait(&self, request: &ExecuteRequest, seconds: u32) -> Result<Executed, Error> {
        let repeat = if request.dedup.is_some() { Repeat::Harmless } else { Repeat::Harmful };
        let path = format!("/api/execute?wait={seconds}");
        self.post_and_wait(&path, request, repeat, Duration::from_secs(seconds.into())).await
    }
}
