//! Executions: lists, details, events, and what can be done to them.

mod control;
mod detail;
mod event_row;
mod events;
mod list;
mod room;
mod summary;

use utoipa_axum::router::OpenApiRouter;

use super::guard::{Scope, only};
use crate::app::App;

pub fn router() -> OpenApiRouter<App> {
    let read = OpenApiRouter::new().merge(list::router()).merge(detail::router()).merge(events::router());
    only(Scope::Viewer, read.merge(control::viewing())).merge(only(Scope::Operator, control::router()))
}
