//! The registry of running parts, and whether the store itself runs.

use std::sync::Arc;

use noetl_store::{NewWorker, OFFLINE, Store, WorkerFilter, WorkerKind, WorkerRow};
use noetl_types::Value;

use crate::given::*;

pub async fn a_store_that_works_passes_its_check(store: Arc<dyn Store>) {
    store.check().await.unwrap();
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

pub async fn silent_workers_are_offline_until_they_are_heard_again(store: Arc<dyn Store>) {
    for (id, name, now) in [(1, "w1", 10), (2, "w2", 20)] {
        store.register_worker(&worker(id, name), at(now)).await.unwrap();
    }
    let silent = store.sweep_workers(at(20), at(50)).await.unwrap();
    assert_eq!(silent.iter().map(|row| &*row.worker.name).collect::<Vec<_>>(), ["w1"]);
    assert_eq!((&*silent[0].worker.status, silent[0].updated_at), (OFFLINE, at(50)));
    assert_eq!(store.sweep_workers(at(20), at(51)).await.unwrap(), [], "it is known by now");
    let find = async |name: &str| {
        let filter = WorkerFilter { name: Some(name.to_owned()), ..WorkerFilter::default() };
        store.list_workers(&filter).await.unwrap().remove(0)
    };
    assert_eq!(&*find("w1").await.worker.status, OFFLINE);
    assert!(store.heartbeat(WorkerKind::WorkerPool, "w1", at(60)).await.unwrap());
    let back = find("w1").await;
    assert_eq!((&*back.worker.status, back.heartbeat, back.updated_at), ("active", at(60), at(60)));
    assert_eq!(find("w2").await.worker.status, worker(2, "w2").status);
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
