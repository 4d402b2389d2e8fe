//! Events that others tell of: each is new once.

use std::sync::Arc;

use noetl_store::{ProjectedEvent, Store};
use noetl_types::{EventId, ExecutionId, Value};

use crate::given::*;

fn told(execution: i64, id: i64) -> ProjectedEvent {
    ProjectedEvent {
        execution: ExecutionId(execution),
        id: EventId(id),
        event_type: "call.done".into(),
        at: at(id),
        envelope: Value::map([("event_id", Value::Int(id)), ("extra", Value::text("é"))]),
    }
}

pub async fn an_event_is_new_once(store: Arc<dyn Store>) {
    let first = store.project_events(&[told(7, 1), told(7, 2), told(7, 1)]).await.unwrap();
    assert_eq!(first, [true, true, false]);
    let again = store.project_events(&[told(7, 2), told(8, 2)]).await.unwrap();
    assert_eq!(again, [false, true], "executions have ids of their own");
    assert_eq!(store.list_projected(ExecutionId(7), 10).await.unwrap(), [told(7, 1), told(7, 2)]);
    assert_eq!(store.list_projected(ExecutionId(7), 1).await.unwrap(), [told(7, 1)]);
}

pub async fn an_event_of_the_log_is_known(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    assert_eq!(store.project_events(&[told(7, 71), told(7, 72)]).await.unwrap(), [false, true]);
    assert_eq!(store.list_projected(ExecutionId(7), 10).await.unwrap(), [told(7, 72)]);
    assert_eq!(store.load_events(ExecutionId(7), 0, 10).await.unwrap().len(), 1, "the log is untouched");
}

pub async fn told_events_go_by_age_or_with_their_execution(store: Arc<dyn Store>) {
    let mut over = row("a");
    over.status = noetl_types::RunStatus::Completed;
    commit(&*store, begin_at(7, over)).await;
    store.project_events(&[told(7, 1), told(8, 2), told(8, 3), told(8, 4)]).await.unwrap();
    assert_eq!(store.purge_projected(at(4), 2).await.unwrap(), 2);
    assert_eq!(store.purge_projected(at(4), 2).await.unwrap(), 1);
    assert_eq!(store.list_projected(ExecutionId(8), 10).await.unwrap(), [told(8, 4)]);
    store.project_events(&[told(7, 5)]).await.unwrap();
    store.delete_execution(ExecutionId(7)).await.unwrap();
    assert_eq!(store.list_projected(ExecutionId(7), 10).await.unwrap(), []);
}
