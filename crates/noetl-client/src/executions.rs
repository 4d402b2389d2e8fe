//! Executions: looking at them and steering them.

use noetl_api::execution::{
    CancelRequest, Cancelled, CleanedUp, CleanupRequest, Detail, DetailParameters, EventPage,
    EventsParameters, Execution, Explained, ListParameters, LogPage, LogParameters, PauseRequest, Rerun,
    RerunRequest, SignalRequest, Status, Steered,
};

use crate::address::question;
use crate::call::Repeat;
use crate::{Client, Error};

impl Client {
    pub async fn list_executions(&self, parameters: &ListParameters) -> Result<Vec<Execution>, Error> {
        self.get(&format!("/api/executions{}", question(parameters))).await
    }

    pub async fn execution(&self, id: i64, parameters: &DetailParameters) -> Result<Detail, Error> {
        self.get(&format!("/api/executions/{id}{}", question(parameters))).await
    }

    pub async fn execution_status(&self, id: i64) -> Result<Status, Error> {
        self.get(&format!("/api/executions/{id}/status")).await
    }

    pub async fn explain(&self, id: i64) -> Result<Explained, Error> {
        self.get(&format!("/api/executions/{id}/explain")).await
    }

    pub async fn list_events(&self, id: i64, parameters: &EventsParameters) -> Result<EventPage, Error> {
        self.get(&format!("/api/executions/{id}/events{}", question(parameters))).await
    }

    pub async fn list_logs(&self, id: i64, parameters: &LogParameters) -> Result<LogPage, Error> {
        self.get(&format!("/api/executions/{id}/logs{}", question(parameters))).await
    }

    pub async fn cancel(&self, id: i64, request: &CancelRequest) -> Result<Cancelled, Error> {
        self.post(&format!("/api/executions/{id}/cancel"), request, Repeat::Harmless).await
    }

    pub async fn pause(&self, id: i64, request: &PauseRequest) -> Result<Steered, Error> {
        self.post(&format!("/api/executions/{id}/pause"), request, Repeat::Harmless).await
    }

    pub async fn resume(&self, id: i64) -> Result<Steered, Error> {
        let nothing = serde_json::Map::new();
        self.post(&format!("/api/executions/{id}/resume"), &nothing, Repeat::Harmless).await
    }

    pub async fn signal(&self, id: i64, request: &SignalRequest) -> Result<Steered, Error> {
        self.post(&format!("/api/executions/{id}/signal"), request, Repeat::Harmful).await
    }

    pub async fn rerun(&self, id: i64, request: &RerunRequest) -> Result<Rerun, Error> {
        self.post(&format!("/api/executions/{id}/rerun"), request, Repeat::Harmful).await
    }

    /// Cancels what has not moved for a while.
    pub async fn clean_up(&self, request: &CleanupRequest) -> Result<CleanedUp, Error> {
        self.post("/api/executions/cleanup", request, Repeat::Harmless).await
    }
}
