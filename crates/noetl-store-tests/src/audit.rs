//! The audit trail: added to, never changed.

use std::sync::Arc;

use noetl_store::{AuditFilter, AuditRow, Batch, ExecutionWrite, Store};
use noetl_types::{ExecutionId, Value};

use crate::given::*;

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

pub async fn who_asked_is_written_with_what_was_asked_for(store: Arc<dyn Store>) {
    let asked = |id: i64, write| ExecutionWrite { audit: Some(audit(id, "execution.start")), ..write };
    let batch = |executions| Batch { executions };
    store.commit(&batch(vec![asked(1, begin(7)), asked(2, begin(8)), begin(9)])).await.unwrap();
    let late = store.commit(&batch(vec![asked(3, begin(7)), asked(4, begin(10))])).await.unwrap();
    assert_eq!(late.lost, [ExecutionId(7)]);
    let all = store.list_audit(&AuditFilter::default(), 10).await.unwrap();
    assert_eq!(all, [4, 2, 1].map(|id| audit(id, "execution.start")), "what was not done is not told of");
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
