//! API tokens: found by the digest of their secret, ended for good.

use std::sync::Arc;

use noetl_store::{ApiToken, Error, Store, sha256_hex};

use crate::given::*;

fn token(id: i64) -> ApiToken {
    ApiToken {
        id,
        name: format!("token {id}").into(),
        hash: sha256_hex(format!("secret {id}").as_bytes()),
        scopes: vec!["viewer".to_owned(), "worker".to_owned()],
        created_at: at(id),
        expires_at: Some(at(100)),
        last_used_at: None,
        revoked_at: None,
    }
}

async fn find(store: &dyn Store, id: i64) -> ApiToken {
    store.find_token_by_hash(&token(id).hash).await.unwrap().expect("it is there")
}

pub async fn a_token_is_found_by_the_digest_of_its_secret(store: Arc<dyn Store>) {
    let endless = ApiToken { expires_at: None, scopes: Vec::new(), ..token(2) };
    store.add_token(&token(1)).await.unwrap();
    store.add_token(&endless).await.unwrap();
    assert_eq!(find(&*store, 1).await, token(1));
    assert_eq!(find(&*store, 2).await, endless);
    assert_eq!(store.find_token_by_hash(&token(3).hash).await.unwrap(), None);
    assert_eq!(store.list_tokens().await.unwrap(), [token(1), endless]);
}

pub async fn a_token_id_or_digest_that_is_taken_is_a_conflict(store: Arc<dyn Store>) {
    store.add_token(&token(1)).await.unwrap();
    for other in [ApiToken { id: 1, ..token(2) }, ApiToken { id: 2, ..token(1) }] {
        let error = store.add_token(&other).await.expect_err("it is taken");
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
    }
    assert_eq!(store.list_tokens().await.unwrap(), [token(1)]);
}

pub async fn a_token_is_valid_until_it_expires_or_is_revoked(store: Arc<dyn Store>) {
    store.add_token(&token(1)).await.unwrap();
    assert!(find(&*store, 1).await.is_valid_at(at(99)));
    assert!(!find(&*store, 1).await.is_valid_at(at(100)));
    assert!(store.revoke_token(1, at(50)).await.unwrap());
    assert!(!store.revoke_token(1, at(60)).await.unwrap(), "it is revoked already");
    assert!(!store.revoke_token(2, at(60)).await.unwrap());
    let revoked = find(&*store, 1).await;
    assert_eq!(revoked.revoked_at, Some(at(50)));
    assert!(!revoked.is_valid_at(at(51)));
}

pub async fn the_last_use_of_a_token_is_known(store: Arc<dyn Store>) {
    store.add_token(&token(1)).await.unwrap();
    for now in [20, 10] {
        store.touch_token(1, at(now)).await.unwrap();
    }
    assert_eq!(find(&*store, 1).await.last_used_at, Some(at(20)));
    store.touch_token(404, at(20)).await.unwrap();
}

pub async fn the_debug_form_of_a_token_has_no_digest(store: Arc<dyn Store>) {
    store.add_token(&token(1)).await.unwrap();
    let text = format!("{:?}", find(&*store, 1).await);
    assert!(text.contains("token 1") && !text.contains(&token(1).hash), "{text}");
}
