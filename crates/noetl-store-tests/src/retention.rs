//! Letting go of what is over, and of nothing else.

use std::sync::Arc;

use noetl_store::{
    CommandFilter, CommandStatus, ExecutionDeletion, ExecutionFilter, ExecutionRow, LogChunk, LogFilter,
    LogLimit, LogStream, NewVariable, Purged, Snapshot, Store,
};
use noetl_types::{CommandKey, EventId, ExecutionId, RunStatus, Value, VisitId};

use crate::given::*;

fn over(ended: i64, parent: Option<i64>) -> ExecutionRow {
    ExecutionRow {
        status: RunStatus::Failed,
        ended_at: Some(at(ended)),
        error: Some("it broke for good".to_owned()),
        parent: parent.map(ExecutionId),
        labels: [("team".to_owned(), "data".to_owned())].into(),
        ..row("flows/one")
    }
}

/// An execution that has something of everything.
async fn rich(store: &dyn Store, execution: i64, row: ExecutionRow) {
    let mut write = begin_at(execution, row);
    write.issue = vec![command(1, execution * 10 + 1)];
    write.start_timers = vec![timer(1, 100)];
    write.outbox = vec![message(execution * 10 + 1)];
    write.snapshot =
        Some(Snapshot { seq: 1, last_event: EventId(execution * 10 + 1), state: b"{}"[..].into() });
    write.results = vec![result(execution, 1, "[1]")];
    commit(store, write).await;
    let id = ExecutionId(execution);
    let variable = NewVariable {
        name: "x".into(),
        variable_type: Default::default(),
        value: Value::Int(1),
        source_step: None,
    };
    store.set_variables(id, &[variable], at(0)).await.unwrap();
    let chunk = LogChunk {
        execution: id,
        step: "work".into(),
        command: CommandKey::whole(VisitId(1)),
        attempt: 1,
        stream: LogStream::Stdout,
        chunk: 0,
        at: at(0),
        bytes: b"hello"[..].into(),
    };
    store.append_logs(&[chunk], LogLimit::default()).await.unwrap();
}

/// How many of its things an execution has left.
async fn left(store: &dyn Store, execution: i64) -> usize {
    let id = ExecutionId(execution);
    let search = ExecutionFilter { search: Some("team=data".to_owned()), ..Default::default() };
    let listed = store.list_executions(&search, 100).await.unwrap();
    let open = CommandFilter { execution: Some(id), ..Default::default() };
    store.find_execution(id).await.unwrap().iter().count()
        + store.load_events(id, 0, 10).await.unwrap().len()
        + store.load_snapshot(id).await.unwrap().iter().count()
        + store.list_open_commands(&open, 10).await.unwrap().len()
        + store.list_timers(id).await.unwrap().len()
        + store.list_results(id, None, 10).await.unwrap().len()
        + store.list_variables(id).await.unwrap().len()
        + store.list_logs(id, &LogFilter::default(), 10).await.unwrap().len()
        + listed.iter().filter(|listed| listed.id == id).count()
}

/// Everything that [`rich`] makes.
const ALL: usize = 9;

pub async fn a_deleted_execution_is_gone_with_everything_it_owned(store: Arc<dyn Store>) {
    for execution in [7, 8] {
        rich(&*store, execution, over(10, None)).await;
    }
    assert_eq!((left(&*store, 7).await, left(&*store, 8).await), (ALL, ALL));
    let deleted = store.delete_execution(ExecutionId(7)).await.unwrap();
    assert_eq!(deleted, ExecutionDeletion::Deleted { events: 1 });
    assert_eq!((left(&*store, 7).await, left(&*store, 8).await), (0, ALL), "the other one is untouched");
    let claimed = store.claim_outbox(at(0), 10, seconds(60)).await.unwrap();
    assert_eq!(claimed.iter().map(|message| message.execution.0).collect::<Vec<_>>(), [8]);
    assert_eq!(store.count_executions().await.unwrap(), [(RunStatus::Failed, 1)]);
    assert_eq!(store.delete_execution(ExecutionId(7)).await.unwrap(), ExecutionDeletion::NotFound);
}

pub async fn an_execution_that_runs_is_not_deleted(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    assert_eq!(store.delete_execution(ExecutionId(7)).await.unwrap(), ExecutionDeletion::Running);
    assert!(store.find_execution(ExecutionId(7)).await.unwrap().is_some());
}

pub async fn a_deleted_execution_can_begin_anew(store: Arc<dyn Store>) {
    rich(&*store, 7, over(10, None)).await;
    store.delete_execution(ExecutionId(7)).await.unwrap();
    rich(&*store, 7, over(10, None)).await;
    assert_eq!(left(&*store, 7).await, ALL);
}

pub async fn old_executions_are_purged_first_started_first(store: Arc<dyn Store>) {
    for (execution, started, ended) in [(1, 3, 10), (2, 2, 20), (3, 1, 29), (4, 1, 30)] {
        let row = ExecutionRow { started_at: at(started), ..over(ended, None) };
        commit(&*store, begin_at(execution, row)).await;
    }
    commit(&*store, begin(5)).await;
    let ids = async || {
        let listed = store.list_executions(&ExecutionFilter::default(), 10).await.unwrap();
        listed.iter().map(|execution| execution.id.0).collect::<Vec<_>>()
    };
    assert_eq!(store.purge_executions(at(30), 2).await.unwrap(), Purged { executions: 2, events: 2 });
    assert_eq!(ids().await, [5, 4, 1]);
    assert_eq!(store.purge_executions(at(30), 10).await.unwrap(), Purged { executions: 1, events: 1 });
    assert_eq!(store.purge_executions(at(30), 10).await.unwrap(), Purged::default());
    assert_eq!(ids().await, [5, 4]);
}

pub async fn an_execution_stays_while_its_family_runs(store: Arc<dyn Store>) {
    commit(&*store, begin_at(1, over(10, None))).await;
    commit(&*store, begin_at(2, over(10, Some(1)))).await;
    commit(&*store, begin_at(3, ExecutionRow { parent: Some(ExecutionId(1)), ..row("a") })).await;
    assert_eq!(store.purge_executions(at(1000), 10).await.unwrap(), Purged::default());
    let mut done = step(3, 1);
    done.row = over(20, Some(1));
    commit(&*store, done).await;
    assert_eq!(store.purge_executions(at(1000), 10).await.unwrap(), Purged { executions: 3, events: 4 });
}

pub async fn an_execution_stays_while_others_borrow_from_it(store: Arc<dyn Store>) {
    commit(&*store, begin_at(1, over(10, None))).await;
    commit(&*store, begin_at(2, over(10, Some(1)))).await;
    let mut rerun = begin_at(3, over(500, None));
    rerun.borrows_from = vec![ExecutionId(1)];
    commit(&*store, rerun).await;
    assert_eq!(
        store.delete_execution(ExecutionId(1)).await.unwrap(),
        ExecutionDeletion::Needed { by: ExecutionId(3) }
    );
    assert_eq!(store.purge_executions(at(100), 10).await.unwrap(), Purged::default());
    assert_eq!(store.purge_executions(at(1000), 10).await.unwrap(), Purged { executions: 1, events: 1 });
    assert!(store.find_execution(ExecutionId(3)).await.unwrap().is_none(), "nobody needs the borrower");
    assert_eq!(store.purge_executions(at(1000), 10).await.unwrap(), Purged { executions: 2, events: 2 });
}

pub async fn only_a_beginning_borrows(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let mut later = step(7, 1);
    later.borrows_from = vec![ExecutionId(1)];
    let batch = noetl_store::Batch { executions: vec![later] };
    let error = store.commit(&batch).await.expect_err("it has begun");
    assert!(matches!(error, noetl_store::Error::Invalid { .. }), "{error}");
}

pub async fn old_commands_are_purged_when_they_are_closed(store: Arc<dyn Store>) {
    let mut write = begin(7);
    write.issue = (1..=4).map(|visit| command(visit, 100 + i64::from(visit))).collect();
    for (row, closed) in write.issue.iter().zip([10, 20, 30]) {
        write
            .close
            .push(noetl_store::CommandClose { at: at(closed), ..close(row, CommandStatus::Completed) });
    }
    commit(&*store, write).await;
    assert_eq!(store.purge_commands(at(30), 1).await.unwrap(), 1);
    assert_eq!(store.purge_commands(at(30), 10).await.unwrap(), 1);
    assert_eq!(store.purge_commands(at(30), 10).await.unwrap(), 0);
    let known = async |visit| {
        let key = CommandKey::whole(VisitId(visit));
        store.find_command(ExecutionId(7), key, 1).await.unwrap().map(|command| command.status)
    };
    assert_eq!((known(1).await, known(2).await), (None, None));
    assert_eq!(known(3).await, Some(CommandStatus::Completed));
    assert_eq!(known(4).await, Some(CommandStatus::Pending));
}
