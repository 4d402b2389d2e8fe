//! Starting runs.

use noetl_api::execute::{ExecuteRequest, Executed};

use crate::call::Repeat;
use crate::{Client, Error};

impl Client {
    /// Starts a run. With a dedup key it may be asked for twice and starts once.
    pub async fn execute(&self, request: &ExecuteRequest) -> Result<Executed, Error> {
        let repeat = if request.dedup.is_some() { Repeat::Harmless } else { Repeat::Harmful };
        self.post("/api/execute", request, repeat).await
    }
}
