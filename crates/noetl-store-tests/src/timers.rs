//! Timers: due, claimed, invisible for a while, answered by a commit.

use std::sync::Arc;

use noetl_store::{DueTimer, Store, TimerRow};
use noetl_types::{CommandKey, ExecutionId, Item, TimerKey, VisitId};

use crate::given::*;

async fn start(store: &dyn Store, execution: i64, timers: Vec<TimerRow>) {
    let mut write = begin(execution);
    write.start_timers = timers;
    commit(store, write).await;
}

async fn claim(store: &dyn Store, now: i64, limit: usize) -> Vec<DueTimer> {
    store.claim_due_timers(at(now), limit, seconds(30)).await.unwrap()
}

fn due(execution: i64, row: TimerRow) -> DueTimer {
    DueTimer { execution: ExecutionId(execution), row }
}

pub async fn timers_are_claimed_when_due_and_earliest_first(store: Arc<dyn Store>) {
    start(&*store, 7, vec![timer(1, 20), timer(2, 10), timer(3, 21)]).await;
    assert_eq!(claim(&*store, 9, 10).await, []);
    assert_eq!(claim(&*store, 20, 10).await, [due(7, timer(2, 10)), due(7, timer(1, 20))]);
}

pub async fn every_kind_of_timer_comes_back_as_it_was(store: Arc<dyn Store>) {
    let command = CommandKey { visit: VisitId(3), item: Item::At(1), part: 2 };
    let keys = [TimerKey::Run, TimerKey::Step(VisitId(3)), TimerKey::Wake(command)];
    let rows: Vec<TimerRow> =
        keys.iter().zip(1..).map(|(key, due)| TimerRow { key: *key, due: at(due) }).collect();
    start(&*store, 7, rows.clone()).await;
    assert_eq!(store.list_timers(ExecutionId(7)).await.unwrap(), rows);
    let claimed: Vec<TimerRow> = claim(&*store, 3, 10).await.into_iter().map(|timer| timer.row).collect();
    assert_eq!(claimed, rows);
}

pub async fn a_claimed_timer_is_invisible_for_a_while(store: Arc<dyn Store>) {
    start(&*store, 7, vec![timer(1, 10)]).await;
    assert_eq!(claim(&*store, 10, 10).await, [due(7, timer(1, 10))]);
    assert_eq!(claim(&*store, 39, 10).await, []);
    assert_eq!(claim(&*store, 40, 10).await, [due(7, timer(1, 10))], "its claimer did not answer it");
}

pub async fn claiming_takes_no_more_than_asked(store: Arc<dyn Store>) {
    start(&*store, 7, vec![timer(1, 1), timer(2, 2), timer(3, 3)]).await;
    assert_eq!(claim(&*store, 10, 2).await, [due(7, timer(1, 1)), due(7, timer(2, 2))]);
    assert_eq!(claim(&*store, 10, 2).await, [due(7, timer(3, 3))]);
}

pub async fn a_cancelled_timer_is_gone(store: Arc<dyn Store>) {
    start(&*store, 7, vec![timer(1, 10), timer(2, 10)]).await;
    claim(&*store, 10, 10).await;
    let mut write = go_on(7, 1);
    write.cancel_timers = vec![timer(1, 0).key, timer(404, 0).key];
    commit(&*store, write).await;
    assert_eq!(claim(&*store, 1000, 10).await, [due(7, timer(2, 10))]);
}

pub async fn starting_a_timer_again_replaces_it(store: Arc<dyn Store>) {
    start(&*store, 7, vec![timer(1, 10)]).await;
    claim(&*store, 10, 10).await;
    let mut write = go_on(7, 1);
    write.cancel_timers = vec![timer(1, 0).key];
    write.start_timers = vec![timer(1, 15)];
    commit(&*store, write).await;
    assert_eq!(claim(&*store, 14, 10).await, []);
    assert_eq!(claim(&*store, 15, 10).await, [due(7, timer(1, 15))], "the claim went with the old timer");
}

pub async fn executions_have_timers_of_their_own(store: Arc<dyn Store>) {
    start(&*store, 7, vec![timer(1, 10)]).await;
    start(&*store, 8, vec![timer(1, 11)]).await;
    let mut write = go_on(7, 1);
    write.cancel_timers = vec![timer(1, 0).key];
    commit(&*store, write).await;
    assert_eq!(claim(&*store, 20, 10).await, [due(8, timer(1, 11))]);
    assert_eq!(store.list_timers(ExecutionId(7)).await.unwrap(), []);
    assert_eq!(store.list_timers(ExecutionId(8)).await.unwrap(), [timer(1, 11)]);
}

pub async fn the_next_timer_is_known(store: Arc<dyn Store>) {
    assert_eq!(store.next_timer().await.unwrap(), None);
    start(&*store, 7, vec![timer(1, 20), timer(2, 10)]).await;
    assert_eq!(store.next_timer().await.unwrap(), Some(at(10)));
    claim(&*store, 10, 10).await;
    assert_eq!(
        store.next_timer().await.unwrap(),
        Some(at(20)),
        "a claimed one counts when it is visible again"
    );
}

pub async fn of_concurrent_claimers_only_one_gets_a_timer(store: Arc<dyn Store>) {
    start(&*store, 7, (0..20).map(|visit| timer(visit, 1)).collect()).await;
    let claimers: Vec<_> = (0..4)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { claim(&*store, 5, 20).await })
        })
        .collect();
    let mut keys = Vec::new();
    for claimer in claimers {
        keys.extend(claimer.await.unwrap().iter().map(|timer| timer.row.key));
    }
    keys.sort();
    assert_eq!(keys, (0..20).map(|visit| timer(visit, 1).key).collect::<Vec<_>>());
}
