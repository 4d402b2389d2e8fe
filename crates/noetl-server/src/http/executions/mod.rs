//! Executions: lists, details, events, and what can be done to them.

mod control;
mod detail;
mod event_row;
mod events;
mod inside;
mod list;
mod live;
mod logs;
mod room;
mod summary;

use utoipa_axum::router::OpenApiRouter;

pub(super) use event_row::rows as event_rows;
pub(super) use room::Room;

use super::guard::{Scope, only};
use crate::app::App;

pub use event_row::single as event_row;
pub use logs::line as log_line;
pub use summary::execution;

pub fn router() -> OpenApiRouter<App> {
    let read = OpenApiRouter::new()
        .merge(list::router())
        .merge(detail::router())
        .merge(inside::router())
        .merge(events::router())
        .merge(logs::router())
        .merge(live::router())
        .merge(control::viewing());
    only(Scope::Viewer, read).merge(only(Scope::Operator, control::router()))
}
