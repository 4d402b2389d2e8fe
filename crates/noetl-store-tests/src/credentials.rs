//! Credentials: opaque bytes with what is known of them.

use std::sync::Arc;

use noetl_store::{CredentialFilter, CredentialRow, Error, Store};
use noetl_types::Value;

use crate::given::*;

fn credential(id: i64, name: &str) -> CredentialRow {
    CredentialRow {
        id,
        name: name.into(),
        kind: "postgres".into(),
        data_encrypted: Arc::from(&[0, 159, 255, 10][..]),
        schema: Value::Null,
        meta: Value::map([("owner", Value::text("data"))]),
        tags: vec!["a".to_owned(), "ü".to_owned()],
        description: Some("The warehouse".to_owned()),
        created_at: at(1),
        updated_at: at(1),
    }
}

pub async fn a_credential_is_found_by_name_and_id(store: Arc<dyn Store>) {
    let row = credential(5, "pg");
    assert_eq!(store.put_credential(&row).await.unwrap(), row);
    assert_eq!(store.find_credential("pg").await.unwrap(), Some(row.clone()));
    assert_eq!(store.find_credential_by_id(5).await.unwrap(), Some(row));
    assert_eq!(store.find_credential("PG").await.unwrap(), None);
    assert_eq!(store.find_credential_by_id(6).await.unwrap(), None);
}

pub async fn a_credential_of_the_same_name_is_replaced(store: Arc<dyn Store>) {
    store.put_credential(&credential(5, "pg")).await.unwrap();
    let mut second = credential(6, "pg");
    second.kind = "mysql".into();
    second.data_encrypted = Arc::from(&b"other"[..]);
    second.description = None;
    second.created_at = at(2);
    second.updated_at = at(2);
    let expected = CredentialRow { id: 5, created_at: at(1), ..second.clone() };
    assert_eq!(store.put_credential(&second).await.unwrap(), expected);
    assert_eq!(store.find_credential("pg").await.unwrap(), Some(expected));
    assert_eq!(store.find_credential_by_id(6).await.unwrap(), None);
}

pub async fn a_credential_id_that_is_taken_is_a_conflict(store: Arc<dyn Store>) {
    store.put_credential(&credential(5, "pg")).await.unwrap();
    let error = store.put_credential(&credential(5, "other")).await.expect_err("the id is taken");
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
}

pub async fn credentials_are_listed_by_name_and_filtered(store: Arc<dyn Store>) {
    let token = CredentialRow { kind: "bearer".into(), description: None, ..credential(3, "api_token") };
    for row in [credential(1, "pg"), credential(2, "mysql"), token] {
        store.put_credential(&row).await.unwrap();
    }
    let listed = async |filter: CredentialFilter, limit| {
        let rows = store.list_credentials(&filter, limit).await.unwrap();
        rows.iter().map(|row| row.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed(CredentialFilter::default(), 10).await, ["api_token", "mysql", "pg"]);
    assert_eq!(listed(CredentialFilter::default(), 1).await, ["api_token"]);
    let kind = CredentialFilter { kind: Some("bearer".to_owned()), ..Default::default() };
    assert_eq!(listed(kind, 10).await, ["api_token"]);
    let search = |text: &str| CredentialFilter { search: Some(text.to_owned()), ..Default::default() };
    assert_eq!(listed(search("WAREHOUSE"), 10).await, ["mysql", "pg"]);
    assert_eq!(listed(search("i_t"), 10).await, ["api_token"]);
    let after = CredentialFilter { after: Some("mysql".to_owned()), ..Default::default() };
    assert_eq!(listed(after, 10).await, ["pg"]);
}

pub async fn a_deleted_credential_is_gone(store: Arc<dyn Store>) {
    store.put_credential(&credential(1, "pg")).await.unwrap();
    assert!(store.delete_credential("pg").await.unwrap());
    assert!(!store.delete_credential("pg").await.unwrap());
    assert_eq!(store.find_credential("pg").await.unwrap(), None);
}

pub async fn the_debug_form_of_a_credential_has_no_data(store: Arc<dyn Store>) {
    let mut row = credential(1, "pg");
    row.data_encrypted = Arc::from(&b"SECRET"[..]);
    let row = store.put_credential(&row).await.unwrap();
    let bytes = format!("{:?}", b"SECRET");
    assert!(!format!("{row:?}").contains(&bytes));
}
