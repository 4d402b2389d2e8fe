//! The protocol of workers.

use std::time::Duration;

use noetl_api::worker::{
    Done, LoadRequest, LoadedValue, LogsRequest, ReleaseRequest, RenewRequest, Renewed, Reported,
    ReportsRequest, Stops, StopsRequest, TakeRequest, Taken,
};

use crate::call::Repeat;
use crate::{Client, Error};

impl Client {
    /// Takes commands. If the answer is lost, their leases run out.
    pub async fn take_commands(&self, request: &TakeRequest) -> Result<Taken, Error> {
        let wait = Duration::from_millis(request.wait_ms);
        self.post_and_wait("/api/worker/commands/take", request, Repeat::Harmful, wait).await
    }

    pub async fn report(&self, request: &ReportsRequest) -> Result<Reported, Error> {
        self.post("/api/worker/reports", request, Repeat::Harmless).await
    }

    pub async fn renew_leases(&self, request: &RenewRequest) -> Result<Renewed, Error> {
        self.post("/api/worker/renew", request, Repeat::Harmless).await
    }

    pub async fn wait_for_stops(&self, request: &StopsRequest) -> Result<Stops, Error> {
        let wait = Duration::from_millis(request.wait_ms);
        self.post_and_wait("/api/worker/stops", request, Repeat::Harmless, wait).await
    }

    pub async fn release_commands(&self, request: &ReleaseRequest) -> Result<Done, Error> {
        self.post("/api/worker/release", request, Repeat::Harmless).await
    }

    pub async fn load_value(&self, request: &LoadRequest) -> Result<LoadedValue, Error> {
        self.post("/api/worker/values/load", request, Repeat::Harmless).await
    }

    pub async fn append_logs(&self, request: &LogsRequest) -> Result<Done, Error> {
        self.post("/api/worker/logs", request, Repeat::Harmless).await
    }
}
