//! The outbox: in order, at least once, resting longer after each failure.

use std::sync::Arc;

use noetl_store::{ClaimedMessage, MAX_CLAIMED, OutboxRow, Store};
use noetl_types::{EventId, ExecutionId};

use crate::given::*;

async fn add(store: &dyn Store, execution: i64, rows: Vec<OutboxRow>) {
    let mut write = begin(execution);
    write.outbox = rows;
    commit(store, write).await;
}

async fn claim(store: &dyn Store, now: i64, limit: usize) -> Vec<ClaimedMessage> {
    store.claim_outbox(at(now), limit, seconds(60)).await.unwrap()
}

fn events(messages: &[ClaimedMessage]) -> Vec<i64> {
    messages.iter().map(|message| message.row.event.0).collect()
}

pub async fn messages_are_claimed_in_the_order_they_were_added(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(300), message(100)]).await;
    add(&*store, 6, vec![message(200)]).await;
    let claimed = claim(&*store, 0, 10).await;
    assert_eq!(events(&claimed), [300, 100, 200]);
    assert_eq!(
        (claimed[0].execution, &claimed[0].row, claimed[0].attempts),
        (ExecutionId(7), &message(300), 1)
    );
    assert!(claimed[0].id < claimed[1].id && claimed[1].id < claimed[2].id);
}

pub async fn a_message_waits_until_it_is_available(store: Arc<dyn Store>) {
    add(&*store, 7, vec![OutboxRow { available_at: at(10), ..message(100) }]).await;
    assert_eq!(claim(&*store, 9, 10).await, []);
    assert_eq!(store.count_pending(at(9)).await.unwrap(), 0);
    assert_eq!(store.count_pending(at(10)).await.unwrap(), 1);
    assert_eq!(events(&claim(&*store, 10, 10).await), [100]);
}

pub async fn a_message_in_flight_is_not_claimed_again(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(100), message(200)]).await;
    assert_eq!(events(&claim(&*store, 0, 1).await), [100]);
    assert_eq!(store.count_pending(at(0)).await.unwrap(), 1);
    assert_eq!(events(&claim(&*store, 0, 10).await), [200]);
    assert_eq!(events(&claim(&*store, 59, 10).await), [] as [i64; 0]);
}

pub async fn a_message_left_in_flight_is_claimed_again_in_the_end(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(100)]).await;
    claim(&*store, 0, 10).await;
    let again = claim(&*store, 60, 10).await;
    assert_eq!((events(&again), again[0].attempts), (vec![100], 2));
}

pub async fn a_published_message_is_done(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(100), message(200)]).await;
    let claimed = claim(&*store, 0, 10).await;
    let ids: Vec<i64> = claimed.iter().map(|message| message.id).collect();
    assert_eq!(store.mark_published(&[ids[0], ids[1], 987_654], at(1)).await.unwrap(), 2);
    assert_eq!(claim(&*store, 1000, 10).await, []);
    assert_eq!(store.count_pending(at(1000)).await.unwrap(), 0);
    assert_eq!(store.mark_published(&[], at(1)).await.unwrap(), 0);
}

pub async fn a_failed_message_rests_longer_each_time(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(100)]).await;
    let mut now = 0;
    for (attempt, rest) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10)] {
        let claimed = claim(&*store, now, 10).await;
        assert_eq!(claimed[0].attempts, attempt);
        let delay = store.mark_failed(claimed[0].id, "refused", attempt, 10, at(now)).await.unwrap();
        assert_eq!(delay, Some(rest as u64));
        assert_eq!(claim(&*store, now + rest - 1, 10).await, [], "after attempt {attempt}");
        now += rest;
    }
    assert_eq!(store.count_pending(at(now)).await.unwrap(), 1);
}

pub async fn the_rest_is_never_longer_than_256_seconds(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(100)]).await;
    let id = claim(&*store, 0, 10).await[0].id;
    assert_eq!(store.mark_failed(id, "refused", 1000, 3600, at(0)).await.unwrap(), Some(256));
    assert_eq!(store.mark_failed(id, "refused", 0, 3600, at(0)).await.unwrap(), Some(1));
}

pub async fn a_claim_takes_one_to_1000_messages(store: Arc<dyn Store>) {
    add(&*store, 7, (1..=1100).map(message).collect()).await;
    assert_eq!(claim(&*store, 0, 0).await.len(), 1);
    assert_eq!(claim(&*store, 0, usize::MAX).await.len(), MAX_CLAIMED);
    assert_eq!(claim(&*store, 0, usize::MAX).await.len(), 99);
}

pub async fn marks_may_come_again_or_late(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(100)]).await;
    let id = claim(&*store, 0, 10).await[0].id;
    assert_eq!(store.mark_published(&[id], at(1)).await.unwrap(), 1);
    assert_eq!(store.mark_published(&[id], at(50)).await.unwrap(), 1);
    assert_eq!(store.mark_failed(id, "refused", 1, 10, at(50)).await.unwrap(), None, "it is published");
    assert_eq!(claim(&*store, 1000, 10).await, []);
    assert_eq!(store.purge_published(at(2), 10).await.unwrap(), 1, "the first time counts");
}

pub async fn an_unknown_message_cannot_fail(store: Arc<dyn Store>) {
    assert_eq!(store.mark_failed(1, "refused", 1, 10, at(0)).await.unwrap(), None);
}

pub async fn errors_are_cut_to_2000_characters(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(100)]).await;
    let id = claim(&*store, 0, 10).await[0].id;
    assert_eq!(store.find_outbox_error(id).await.unwrap(), None);
    store.mark_failed(id, &"é".repeat(2500), 1, 10, at(0)).await.unwrap();
    assert_eq!(store.find_outbox_error(id).await.unwrap(), Some("é".repeat(2000)));
    store.mark_published(&[id], at(1)).await.unwrap();
    assert_eq!(store.find_outbox_error(id).await.unwrap(), None, "success clears the error");
}

pub async fn an_event_has_one_message_per_execution(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(100)]).await;
    let mut write = go_on(7, 1);
    write.outbox = vec![OutboxRow { subject: "second".into(), ..message(100) }, message(200)];
    commit(&*store, write).await;
    add(&*store, 8, vec![message(100)]).await;
    let claimed = claim(&*store, 0, 10).await;
    assert_eq!(events(&claimed), [100, 200, 100]);
    assert_eq!(&*claimed[0].row.subject, "noetl.commands.shared");
}

pub async fn published_messages_are_purged_in_the_end(store: Arc<dyn Store>) {
    add(&*store, 7, vec![message(100), message(200), message(300)]).await;
    let claimed = claim(&*store, 0, 10).await;
    store.mark_published(&[claimed[0].id], at(1)).await.unwrap();
    store.mark_published(&[claimed[1].id], at(2)).await.unwrap();
    assert_eq!(store.purge_published(at(2), 10).await.unwrap(), 1);
    assert_eq!(store.purge_published(at(100), 10).await.unwrap(), 1);
    assert_eq!(store.purge_published(at(100), 10).await.unwrap(), 0, "a message in flight stays");
    assert_eq!(EventId(300), claim(&*store, 60, 10).await[0].row.event);
}
