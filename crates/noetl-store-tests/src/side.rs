//! The audit trail, the registry of running parts, variables, and the health check.

use std::sync::Arc;

use noetl_store::{
    AuditFilter, AuditRow, NewVariable, NewWorker, Store, Variable, VariableType, WorkerFilter, WorkerKind,
    WorkerRow,
};
use noetl_types::{ExecutionId, Value};

use crate::given::*;

pub async fn a_store_that_works_passes_its_check(store: Arc<dyn Store>) {
    store.check().await.unwrap();
}

fn audit(id: i64, action: &str) -> AuditRow {
    AuditRow {
        id,
        at: at(id),
        actor: "ada".into(),
        action: action.into(),
        target: "pg".into(),
        outcome: "success".into(),
        execution: Some(ExecutionId(7)),
        details: Value::map([("id", Value::Int(id))]),
    }
}

pub async fn audit_rows_are_listed_newest_first(store: Arc<dyn Store>) {
    let rows = [audit(1, "credential.read"), audit(2, "catalog.delete"), audit(3, "credential.read")];
    store.append_audit(&rows).await.unwrap();
    let all = store.list_audit(&AuditFilter::default(), 10).await.unwrap();
    assert_eq!(all, [rows[2].clone(), rows[1].clone(), rows[0].clone()]);
    let next = AuditFilter { before: Some(3), ..Default::default() };
    assert_eq!(store.list_audit(&next, 1).await.unwrap(), rows[1..2]);
}

pub async fn an_audit_row_is_never_changed(store: Arc<dyn Store>) {
    store.append_audit(&[audit(1, "credential.read")]).await.unwrap();
    store.append_audit(&[audit(1, "forged"), audit(2, "catalog.delete")]).await.unwrap();
    let all = store.list_audit(&AuditFilter::default(), 10).await.unwrap();
    assert_eq!(all, [audit(2, "catalog.delete"), audit(1, "credential.read")]);
}

pub async fn audit_rows_are_filtered(store: Arc<dyn Store>) {
    let other = AuditRow {
        actor: "bob".into(),
        target: "api".into(),
        execution: None,
        ..audit(3, "credential.delete")
    };
    store.append_audit(&[audit(1, "credential.read"), audit(2, "credential.delete"), other]).await.unwrap();
    let ids = async |filter| {
        let rows = store.list_audit(&filter, 10).await.unwrap();
        rows.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let none = AuditFilter::default;
    assert_eq!(ids(AuditFilter { actor: Some("bob".to_owned()), ..none() }).await, [3]);
    assert_eq!(ids(AuditFilter { action: Some("credential.delete".to_owned()), ..none() }).await, [3, 2]);
    assert_eq!(ids(AuditFilter { target: Some("pg".to_owned()), ..none() }).await, [2, 1]);
    assert_eq!(ids(AuditFilter { execution: Some(ExecutionId(7)), ..none() }).await, [2, 1]);
    assert_eq!(ids(AuditFilter { from: Some(at(2)), until: Some(at(3)), ..none() }).await, [2]);
}

fn worker(id: i64, name: &str) -> NewWorker {
    NewWorker {
        id,
        kind: WorkerKind::WorkerPool,
        name: name.into(),
        uri: Some("http://127.0.0.1:9".to_owned()),
        status: "ready".into(),
        labels: Value::map([("pool", Value::text("shared"))]),
        capabilities: Value::list([Value::text("python")]),
        capacity: Some(4),
        runtime: Value::Null,
    }
}

pub async fn a_worker_registers_and_is_listed(store: Arc<dyn Store>) {
    let row = store.register_worker(&worker(1, "w1"), at(0)).await.unwrap();
    let expected =
        WorkerRow { worker: worker(1, "w1"), heartbeat: at(0), created_at: at(0), updated_at: at(0) };
    assert_eq!(row, expected);
    assert_eq!(store.list_workers(&WorkerFilter::default()).await.unwrap(), [expected]);
}

pub async fn a_worker_that_registers_again_keeps_its_id(store: Arc<dyn Store>) {
    store.register_worker(&worker(1, "w1"), at(0)).await.unwrap();
    let again = NewWorker { status: "draining".into(), capacity: None, uri: None, ..worker(2, "w1") };
    let row = store.register_worker(&again, at(5)).await.unwrap();
    let expected = WorkerRow {
        worker: NewWorker { id: 1, ..again },
        heartbeat: at(5),
        created_at: at(0),
        updated_at: at(5),
    };
    assert_eq!(row, expected);
    assert_eq!(store.list_workers(&WorkerFilter::default()).await.unwrap(), [expected]);
}

pub async fn a_heartbeat_shows_that_a_worker_lives(store: Arc<dyn Store>) {
    assert!(!store.heartbeat(WorkerKind::WorkerPool, "w1", at(0)).await.unwrap());
    store.register_worker(&worker(1, "w1"), at(0)).await.unwrap();
    assert!(store.heartbeat(WorkerKind::WorkerPool, "w1", at(20)).await.unwrap());
    assert!(!store.heartbeat(WorkerKind::Broker, "w1", at(20)).await.unwrap());
    let row = &store.list_workers(&WorkerFilter::default()).await.unwrap()[0];
    assert_eq!((row.heartbeat, row.updated_at), (at(20), at(0)));
}

pub async fn workers_are_filtered(store: Arc<dyn Store>) {
    let server = NewWorker { kind: WorkerKind::ServerApi, ..worker(3, "a") };
    let draining = NewWorker { status: "draining".into(), ..worker(2, "w2") };
    for (part, now) in [(worker(1, "w1"), 10), (draining, 20), (server, 30)] {
        store.register_worker(&part, at(now)).await.unwrap();
    }
    let names = async |filter| {
        let rows = store.list_workers(&filter).await.unwrap();
        rows.iter().map(|row| row.worker.name.to_string()).collect::<Vec<_>>()
    };
    let none = WorkerFilter::default;
    assert_eq!(names(none()).await, ["a", "w1", "w2"]);
    assert_eq!(names(WorkerFilter { kind: Some(WorkerKind::WorkerPool), ..none() }).await, ["w1", "w2"]);
    assert_eq!(names(WorkerFilter { status: Some("draining".to_owned()), ..none() }).await, ["w2"]);
    assert_eq!(names(WorkerFilter { alive_since: Some(at(20)), ..none() }).await, ["a", "w2"]);
}

pub async fn workers_leave_or_are_purged(store: Arc<dyn Store>) {
    for (id, name, now) in [(1, "w1", 10), (2, "w2", 20), (3, "w3", 30)] {
        store.register_worker(&worker(id, name), at(now)).await.unwrap();
    }
    assert!(store.deregister_worker(WorkerKind::WorkerPool, "w3").await.unwrap());
    assert!(!store.deregister_worker(WorkerKind::WorkerPool, "w3").await.unwrap());
    assert_eq!(store.purge_workers(at(20)).await.unwrap(), 1);
    let left = store.list_workers(&WorkerFilter::default()).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(&*left[0].worker.name, "w2");
}

const RUN: ExecutionId = ExecutionId(7);

fn variable(name: &str, value: impl Into<Value>) -> NewVariable {
    NewVariable {
        name: name.into(),
        variable_type: VariableType::Computed,
        value: value.into(),
        source_step: Some("work".into()),
    }
}

pub async fn reading_a_variable_counts_the_access(store: Arc<dyn Store>) {
    store.set_variables(RUN, &[variable("a", 1i64)], at(0)).await.unwrap();
    let read = store.read_variable(RUN, "a", at(3)).await.unwrap();
    let expected = Variable {
        variable: variable("a", 1i64),
        created_at: at(0),
        accessed_at: Some(at(3)),
        access_count: 1,
    };
    assert_eq!(read, Some(expected.clone()));
    assert_eq!(store.list_variables(RUN).await.unwrap(), [expected], "listing counts nothing");
    assert_eq!(store.read_variable(RUN, "b", at(3)).await.unwrap(), None);
    assert_eq!(store.read_variable(ExecutionId(8), "a", at(3)).await.unwrap(), None);
}

pub async fn setting_a_variable_again_replaces_its_value(store: Arc<dyn Store>) {
    store.set_variables(RUN, &[variable("a", 1i64)], at(0)).await.unwrap();
    store.read_variable(RUN, "a", at(1)).await.unwrap();
    let newer =
        NewVariable { source_step: None, variable_type: VariableType::UserDefined, ..variable("a", "x") };
    store.set_variables(RUN, &[newer.clone(), variable("b", Value::Null)], at(5)).await.unwrap();
    let all = store.list_variables(RUN).await.unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!((&all[0].variable, all[0].created_at, all[0].access_count), (&newer, at(0), 1));
    assert_eq!(all[1].variable, variable("b", Value::Null));
}

pub async fn variables_are_deleted_one_by_one_or_all(store: Arc<dyn Store>) {
    let other = ExecutionId(8);
    for execution in [RUN, other] {
        let all = [variable("a", 1i64), variable("b", 2i64), variable("c", 3i64)];
        store.set_variables(execution, &all, at(0)).await.unwrap();
    }
    assert!(store.delete_variable(RUN, "a").await.unwrap());
    assert!(!store.delete_variable(RUN, "a").await.unwrap());
    assert_eq!(store.delete_variables(RUN).await.unwrap(), 2);
    assert_eq!(store.list_variables(RUN).await.unwrap(), []);
    assert_eq!(store.list_variables(other).await.unwrap().len(), 3);
}
