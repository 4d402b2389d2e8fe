//! One commit over many executions: all or nothing for each, gapless, exactly once.

use std::sync::Arc;

use noetl_store::{Batch, CommandFilter, Error, Snapshot, Store};
use noetl_types::{EventBody, EventId, ExecutionId, RunStatus, Value};

use crate::given::*;

pub async fn a_new_execution_is_found_with_its_row(store: Arc<dyn Store>) {
    let mut row = row("flows/one");
    row.catalog_id = 77;
    row.version = 3;
    row.parent = Some(ExecutionId(1));
    row.labels = [("team".to_owned(), "data".to_owned())].into();
    row.meta = Value::map([("pool", "shared")].map(|(key, value)| (key, Value::text(value))));
    commit(&*store, begin_at(7, row.clone())).await;
    let found = store.find_execution(ExecutionId(7)).await.unwrap().expect("it was stored");
    assert_eq!(found.id, ExecutionId(7));
    assert_eq!(found.seq, 1);
    assert_eq!(found.row, row);
}

pub async fn an_unknown_execution_is_not_found(store: Arc<dyn Store>) {
    assert_eq!(store.find_execution(ExecutionId(404)).await.unwrap(), None);
}

pub async fn seqs_go_on_without_a_gap_over_commits(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    commit(&*store, step(7, 1)).await;
    commit(&*store, step(7, 2)).await;
    let seqs: Vec<u64> =
        store.load_events(ExecutionId(7), 0, 100).await.unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(seqs, [1, 2, 3]);
    assert_eq!(store.find_execution(ExecutionId(7)).await.unwrap().unwrap().seq, 3);
}

/// Whether the store refuses a batch as invalid and keeps nothing of it, its good parts included.
async fn assert_refused(store: &dyn Store, batch: Batch) {
    let error = store.commit(&batch).await.expect_err("the batch is invalid");
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    for write in &batch.executions {
        assert_eq!(store.find_execution(write.execution).await.unwrap(), None);
        assert_eq!(store.load_events(write.execution, 0, 10).await.unwrap(), []);
    }
}

pub async fn a_gap_in_seq_is_refused(store: Arc<dyn Store>) {
    let mut gap = begin(7);
    gap.events.push(event(99, 3, entered("work")));
    assert_refused(&*store, Batch { executions: vec![begin(6), gap] }).await;
}

pub async fn an_execution_twice_in_a_batch_is_refused(store: Arc<dyn Store>) {
    assert_refused(&*store, Batch { executions: vec![begin(7), begin(7)] }).await;
}

pub async fn an_event_id_twice_in_a_write_is_refused(store: Arc<dyn Store>) {
    let mut twice = begin(7);
    twice.events.push(event(71, 2, entered("work")));
    assert_refused(&*store, Batch { executions: vec![twice] }).await;
}

pub async fn a_new_execution_without_an_event_is_refused(store: Arc<dyn Store>) {
    assert_refused(&*store, Batch { executions: vec![go_on(7, 0)] }).await;
}

pub async fn a_snapshot_ahead_of_the_events_is_refused(store: Arc<dyn Store>) {
    let mut ahead = begin(7);
    ahead.snapshot = Some(Snapshot { seq: 2, last_event: EventId(71), state: Arc::from(&b"x"[..]) });
    assert_refused(&*store, Batch { executions: vec![ahead] }).await;
}

pub async fn an_empty_batch_commits(store: Arc<dyn Store>) {
    assert_eq!(store.commit(&Batch::default()).await.unwrap().lost, []);
}

pub async fn a_lost_race_leaves_the_others_committed(store: Arc<dyn Store>) {
    commit_all(&*store, vec![begin(1), begin(2), begin(3)]).await;
    commit(&*store, step(2, 1)).await;
    let mut late = step(2, 1);
    late.events[0].id = EventId(999);
    let batch = Batch { executions: vec![step(1, 1), late, step(3, 1)] };
    assert_eq!(store.commit(&batch).await.unwrap().lost, [ExecutionId(2)]);
    for execution in [1, 2, 3] {
        assert_eq!(store.find_execution(ExecutionId(execution)).await.unwrap().unwrap().seq, 2);
    }
    assert_eq!(store.find_event(ExecutionId(2), EventId(999)).await.unwrap(), None);
}

pub async fn creating_an_execution_that_exists_is_lost(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let mut again = begin(7);
    again.events[0].id = EventId(5);
    again.row.path = "flows/other".into();
    let committed = store.commit(&Batch { executions: vec![again] }).await.unwrap();
    assert_eq!(committed.lost, [ExecutionId(7)]);
    assert_eq!(&*store.find_execution(ExecutionId(7)).await.unwrap().unwrap().row.path, "flows/one");
}

pub async fn going_on_with_an_unknown_execution_is_lost(store: Arc<dyn Store>) {
    let committed = store.commit(&Batch { executions: vec![step(7, 1), begin(8)] }).await.unwrap();
    assert_eq!(committed.lost, [ExecutionId(7)]);
    assert_eq!(store.load_events(ExecutionId(7), 0, 10).await.unwrap(), []);
    assert!(store.find_execution(ExecutionId(8)).await.unwrap().is_some());
}

/// A write that touches everything a write can.
fn with_everything(mut write: noetl_store::ExecutionWrite) -> noetl_store::ExecutionWrite {
    write.issue = vec![command(1, 500)];
    write.start_timers = vec![timer(1, 1)];
    write.outbox = vec![message(500)];
    write.results = vec![result(write.execution.0, 1, "[1]")];
    let last = write.events.last().expect("it has an event");
    write.snapshot = Some(Snapshot { seq: last.seq, last_event: last.id, state: Arc::from(&b"state"[..]) });
    write
}

/// Whether nothing is there of what [`with_everything`] adds.
async fn assert_nothing_beside(store: &dyn Store, execution: ExecutionId) {
    assert_eq!(store.list_open_commands(&CommandFilter::default(), 10).await.unwrap(), []);
    assert_eq!(store.list_timers(execution).await.unwrap(), []);
    assert_eq!(store.count_pending(at(1000)).await.unwrap(), 0);
    assert_eq!(store.load_snapshot(execution).await.unwrap(), None);
    assert_eq!(store.find_result(&result(execution.0, 1, "[1]").at).await.unwrap(), None);
}

pub async fn an_execution_that_is_lost_leaves_nothing_behind(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let late = with_everything(begin(7));
    assert_eq!(store.commit(&Batch { executions: vec![late] }).await.unwrap().lost, [ExecutionId(7)]);
    assert_nothing_beside(&*store, ExecutionId(7)).await;
}

pub async fn an_event_id_that_is_recorded_loses_its_execution_only(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let mut repeated = with_everything(step(7, 1));
    repeated.events.push(event(71, 3, entered("again")));
    repeated.row.status = RunStatus::Failed;
    let batch = Batch { executions: vec![begin(6), repeated, begin(8)] };
    assert_eq!(store.commit(&batch).await.unwrap().lost, [ExecutionId(7)]);
    let untouched = store.find_execution(ExecutionId(7)).await.unwrap().unwrap();
    assert_eq!((untouched.seq, untouched.row.status), (1, RunStatus::Running));
    assert_eq!(store.load_events(ExecutionId(7), 0, 10).await.unwrap().len(), 1);
    assert_nothing_beside(&*store, ExecutionId(7)).await;
    assert!(store.find_execution(ExecutionId(6)).await.unwrap().is_some());
    assert!(store.find_execution(ExecutionId(8)).await.unwrap().is_some());
}

pub async fn two_executions_may_have_the_same_event_id(store: Arc<dyn Store>) {
    let mut other = begin(8);
    other.events[0].id = EventId(71);
    commit_all(&*store, vec![begin(7), other]).await;
    assert!(store.find_event(ExecutionId(7), EventId(71)).await.unwrap().is_some());
    assert!(store.find_event(ExecutionId(8), EventId(71)).await.unwrap().is_some());
}

pub async fn of_concurrent_writers_exactly_one_wins(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let writers = (0..8).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut write = step(7, 1);
            write.events[0].id = EventId(1000 + writer);
            store
                .commit(&Batch { executions: vec![write, begin(100 + writer)] })
                .await
                .unwrap()
                .lost
                .is_empty()
        })
    });
    let mut winners = 0;
    for writer in writers.collect::<Vec<_>>() {
        winners += usize::from(writer.await.unwrap());
    }
    assert_eq!(winners, 1);
    assert_eq!(store.load_events(ExecutionId(7), 0, 10).await.unwrap().len(), 2);
    for writer in 0..8 {
        assert!(store.find_execution(ExecutionId(100 + writer)).await.unwrap().is_some());
    }
}

pub async fn the_first_commit_fixes_what_never_changes(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let mut later = step(7, 1);
    later.row = row("flows/other");
    later.row.catalog_id = 5;
    later.row.version = 9;
    later.row.parent = Some(ExecutionId(3));
    later.row.labels = [("a".to_owned(), "b".to_owned())].into();
    later.row.started_at = at(500);
    commit(&*store, later).await;
    assert_eq!(store.find_execution(ExecutionId(7)).await.unwrap().unwrap().row, row("flows/one"));
}

pub async fn every_commit_sets_what_changes(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let mut failed = step(7, 1);
    failed.row.status = RunStatus::Failed;
    failed.row.ended_at = Some(at(9));
    failed.row.error = Some("division by zero".to_owned());
    failed.row.result = Some(Value::Int(3));
    failed.row.meta = Value::list([Value::Null]);
    let row = failed.row.clone();
    commit(&*store, failed).await;
    assert_eq!(store.find_execution(ExecutionId(7)).await.unwrap().unwrap().row, row);
    let mut restarted = step(7, 2);
    restarted.row.status = RunStatus::Running;
    let row = restarted.row.clone();
    commit(&*store, restarted).await;
    assert_eq!(store.find_execution(ExecutionId(7)).await.unwrap().unwrap().row, row);
}

pub async fn the_newest_event_and_step_are_known(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let mut write = go_on(7, 1);
    write.events = vec![event(72, 2, entered("fetch")), event(73, 3, EventBody::Resumed)];
    commit(&*store, write).await;
    let last = store.find_execution(ExecutionId(7)).await.unwrap().unwrap().last;
    assert_eq!((last.id, &*last.event_type, last.at), (EventId(73), "playbook.resumed", at(3)));
    assert_eq!(last.step.as_deref(), Some("fetch"));
    let mut write = go_on(7, 3);
    write.events = vec![event(74, 4, EventBody::PlaybookCompleted { from: None })];
    commit(&*store, write).await;
    let last = store.find_execution(ExecutionId(7)).await.unwrap().unwrap().last;
    assert_eq!((last.id, last.step.as_deref()), (EventId(74), Some("fetch")));
}

pub async fn a_write_without_events_changes_the_rest(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let before = store.find_execution(ExecutionId(7)).await.unwrap().unwrap();
    let mut write = go_on(7, 1);
    write.row.status = RunStatus::Paused;
    write.start_timers = vec![timer(1, 5)];
    commit(&*store, write).await;
    let after = store.find_execution(ExecutionId(7)).await.unwrap().unwrap();
    assert_eq!((after.seq, after.row.status), (1, RunStatus::Paused));
    assert_eq!(after.last, before.last);
    assert_eq!(store.list_timers(ExecutionId(7)).await.unwrap(), [timer(1, 5)]);
}

pub async fn a_large_batch_commits_whole(store: Arc<dyn Store>) {
    let writes = (1..=200).map(|execution| {
        let mut write = begin(execution * 1000);
        for seq in 2..=20 {
            write.events.push(event(execution * 1_000_000 + seq, seq as u64, entered("work")));
        }
        write
    });
    commit_all(&*store, writes.collect()).await;
    for execution in [1, 100, 200] {
        let events = store.load_events(ExecutionId(execution * 1000), 0, 100).await.unwrap();
        assert_eq!(events.len(), 20);
    }
}
