//! Commands: issuing, claiming under a lease, closing.

use std::sync::Arc;

use noetl_store::{Claim, CommandClose, CommandFilter, CommandRow, CommandStatus, Store, StoredCommand};
use noetl_types::{CommandKey, EventId, ExecutionId, Item, VisitId};

use crate::given::*;

const RUN: ExecutionId = ExecutionId(7);

async fn issue(store: &dyn Store, execution: i64, commands: Vec<CommandRow>) {
    let mut write = begin(execution);
    write.issue = commands;
    commit(store, write).await;
}

async fn close_it(store: &dyn Store, command: &CommandRow, status: CommandStatus) {
    let mut write = go_on(7, 1);
    write.close = vec![close(command, status)];
    commit(store, write).await;
}

async fn claim(store: &dyn Store, command: &CommandRow, worker: &str, now: i64, until: i64) -> Claim {
    store.claim_command(RUN, command.key, command.attempt, lease(worker, until), at(now)).await.unwrap()
}

async fn open(store: &dyn Store, filter: CommandFilter) -> Vec<i64> {
    let listed = store.list_open_commands(&filter, 100).await.unwrap();
    listed.iter().map(|command| command.row.event.0).collect()
}

async fn find(store: &dyn Store, command: &CommandRow) -> StoredCommand {
    store.find_command(RUN, command.key, command.attempt).await.unwrap().expect("it was issued")
}

pub async fn an_issued_command_is_open(store: Arc<dyn Store>) {
    let mut row = command(1, 100);
    row.priority = -3;
    issue(&*store, 7, vec![row.clone()]).await;
    let expected = StoredCommand {
        execution: RUN,
        row: row.clone(),
        status: CommandStatus::Pending,
        claimed_at: None,
        closed_at: None,
    };
    let listed = store.list_open_commands(&CommandFilter::default(), 10).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&expected));
    assert_eq!(find(&*store, &row).await, expected);
}

pub async fn a_command_issued_with_a_lease_is_claimed(store: Arc<dyn Store>) {
    let row = CommandRow { lease: Some(lease("w1", 30)), ..command(1, 100) };
    issue(&*store, 7, vec![row.clone()]).await;
    let stored = find(&*store, &row).await;
    assert_eq!((stored.status, stored.claimed_at), (CommandStatus::Claimed, Some(row.issued_at)));
    assert!(matches!(claim(&*store, &row, "w2", 10, 40).await, Claim::Held { .. }));
}

pub async fn every_shape_of_key_finds_its_command(store: Arc<dyn Store>) {
    let keys = [
        CommandKey::whole(VisitId(1)),
        CommandKey { visit: VisitId(1), item: Item::At(0), part: 0 },
        CommandKey { visit: VisitId(1), item: Item::At(u32::MAX), part: 0 },
        CommandKey { visit: VisitId(1), item: Item::Claim(0), part: 0 },
        CommandKey { visit: VisitId(1), item: Item::Whole, part: u16::MAX },
        CommandKey { visit: VisitId(u32::MAX), item: Item::At(3), part: 2 },
    ];
    let rows: Vec<CommandRow> =
        keys.iter().zip(100..).map(|(key, event)| CommandRow { key: *key, ..command(1, event) }).collect();
    issue(&*store, 7, rows.clone()).await;
    for row in &rows {
        assert_eq!(find(&*store, row).await.row, *row);
    }
}

pub async fn open_commands_are_listed_in_the_order_of_their_events(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 300), command(2, 100)]).await;
    issue(&*store, 6, vec![command(1, 200)]).await;
    assert_eq!(open(&*store, CommandFilter::default()).await, [100, 200, 300]);
}

pub async fn open_commands_page_by_event_and_execution(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100), command(2, 200)]).await;
    issue(&*store, 8, vec![command(1, 100)]).await;
    let first = store.list_open_commands(&CommandFilter::default(), 1).await.unwrap();
    assert_eq!(first[0].execution, ExecutionId(7));
    let after = CommandFilter { after: Some((EventId(100), ExecutionId(7))), ..Default::default() };
    let rest = store.list_open_commands(&after, 10).await.unwrap();
    let places: Vec<_> = rest.iter().map(|command| (command.row.event.0, command.execution.0)).collect();
    assert_eq!(places, [(100, 8), (200, 7)]);
}

pub async fn open_commands_are_filtered(store: Arc<dyn Store>) {
    let system = CommandRow { pool: "system".into(), ..command(2, 200) };
    issue(&*store, 7, vec![command(1, 100), system]).await;
    issue(&*store, 8, vec![command(1, 300)]).await;
    claim(&*store, &command(1, 100), "w1", 0, 30).await;
    let pool = CommandFilter { pool: Some("system".to_owned()), ..Default::default() };
    assert_eq!(open(&*store, pool).await, [200]);
    let execution = CommandFilter { execution: Some(RUN), ..Default::default() };
    assert_eq!(open(&*store, execution).await, [100, 200]);
    let held_by = |worker: &str| CommandFilter { held_by: Some(worker.to_owned()), ..Default::default() };
    assert_eq!(open(&*store, held_by("w1")).await, [100]);
    assert!(open(&*store, held_by("w2")).await.is_empty());
    let free = |now| CommandFilter { free_at: Some(at(now)), ..Default::default() };
    assert_eq!(open(&*store, free(29)).await, [200, 300]);
    assert_eq!(open(&*store, free(30)).await, [100, 200, 300]);
}

pub async fn a_claim_gives_the_command_and_its_body(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    let Claim::Taken(taken) = claim(&*store, &command(1, 100), "w1", 5, 35).await else {
        panic!("it was free");
    };
    assert_eq!(taken.row, CommandRow { lease: Some(lease("w1", 35)), ..command(1, 100) });
    assert_eq!((taken.status, taken.claimed_at), (CommandStatus::Claimed, Some(at(5))));
    assert_eq!(find(&*store, &command(1, 100)).await, *taken);
}

pub async fn a_claimed_command_is_held_against_others(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    claim(&*store, &command(1, 100), "w1", 0, 30).await;
    let held = Claim::Held { holder: "w1".into(), until: at(30) };
    assert_eq!(claim(&*store, &command(1, 100), "w2", 29, 60).await, held);
    assert_eq!(find(&*store, &command(1, 100)).await.row.lease, Some(lease("w1", 30)));
}

pub async fn claiming_again_extends_the_own_lease(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    claim(&*store, &command(1, 100), "w1", 0, 30).await;
    let Claim::Taken(again) = claim(&*store, &command(1, 100), "w1", 20, 50).await else {
        panic!("the worker holds it");
    };
    assert_eq!((again.row.lease, again.claimed_at), (Some(lease("w1", 50)), Some(at(0))));
}

pub async fn an_expired_lease_can_be_taken_over(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    claim(&*store, &command(1, 100), "w1", 0, 30).await;
    let Claim::Taken(taken) = claim(&*store, &command(1, 100), "w2", 30, 60).await else {
        panic!("the lease has run out");
    };
    assert_eq!((taken.row.lease, taken.claimed_at), (Some(lease("w2", 60)), Some(at(30))));
}

pub async fn a_closed_command_cannot_be_claimed(store: Arc<dyn Store>) {
    for (status, visit) in [
        (CommandStatus::Completed, 1),
        (CommandStatus::Failed, 2),
        (CommandStatus::Suspended, 3),
        (CommandStatus::Lost, 4),
        (CommandStatus::Cancelled, 5),
    ] {
        let row = command(visit, 100 + i64::from(visit));
        let mut write = if visit == 1 { begin(7) } else { go_on(7, 1) };
        write.issue = vec![row.clone()];
        commit(&*store, write).await;
        close_it(&*store, &row, status).await;
        assert_eq!(claim(&*store, &row, "w1", 0, 30).await, Claim::Closed(status));
    }
}

pub async fn a_command_that_begins_and_ends_in_one_commit_was_never_open(store: Arc<dyn Store>) {
    let (ended, goes_on) = (
        CommandRow { lease: Some(lease("w1", 30)), ..command(1, 100) },
        CommandRow { attempt: 2, ..command(1, 101) },
    );
    let mut write = begin(7);
    write.issue = vec![ended.clone(), goes_on.clone()];
    let status = CommandStatus::Suspended;
    write.close = vec![CommandClose { key: ended.key, attempt: ended.attempt, status, at: at(3) }];
    commit(&*store, write).await;

    let stored = find(&*store, &ended).await;
    assert_eq!(
        (stored.status, stored.claimed_at, stored.closed_at),
        (status, Some(ended.issued_at), Some(at(3)))
    );
    assert!(stored.row.body.is_empty());
    assert_eq!(stored.row.lease.map(|lease| lease.worker), Some("w1".into()));
    assert_eq!(open(&*store, CommandFilter::default()).await, [101]);
    assert_eq!(claim(&*store, &ended, "w2", 60, 90).await, Claim::Closed(status));
    assert_eq!(find(&*store, &goes_on).await.row, goes_on);
}

pub async fn an_unknown_command_cannot_be_claimed(store: Arc<dyn Store>) {
    assert_eq!(claim(&*store, &command(1, 100), "w1", 0, 30).await, Claim::NotFound);
    issue(&*store, 7, vec![command(1, 100)]).await;
    let other_attempt = CommandRow { attempt: 2, ..command(1, 100) };
    assert_eq!(claim(&*store, &other_attempt, "w1", 0, 30).await, Claim::NotFound);
    assert_eq!(claim(&*store, &command(2, 100), "w1", 0, 30).await, Claim::NotFound);
}

pub async fn of_concurrent_claims_exactly_one_succeeds(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    let claims: Vec<_> = (0..8)
        .map(|worker| {
            let store = store.clone();
            tokio::spawn(async move { claim(&*store, &command(1, 100), &format!("w{worker}"), 0, 30).await })
        })
        .collect();
    let mut taken = 0;
    for claim in claims {
        taken += usize::from(matches!(claim.await.unwrap(), Claim::Taken(_)));
    }
    assert_eq!(taken, 1);
}

pub async fn closing_keeps_the_row_and_drops_the_body(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    claim(&*store, &command(1, 100), "w1", 5, 35).await;
    close_it(&*store, &command(1, 100), CommandStatus::Completed).await;
    let closed = find(&*store, &command(1, 100)).await;
    assert_eq!((closed.status, closed.closed_at), (CommandStatus::Completed, Some(at(50))));
    assert_eq!(closed.row.lease, Some(lease("w1", 50)), "the worker had it until it closed");
    assert_eq!(closed.row.body.len(), 0);
    assert_eq!(open(&*store, CommandFilter::default()).await, [] as [i64; 0]);
}

pub async fn the_first_close_counts(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    close_it(&*store, &command(1, 100), CommandStatus::Completed).await;
    close_it(&*store, &command(1, 100), CommandStatus::Failed).await;
    assert_eq!(find(&*store, &command(1, 100)).await.status, CommandStatus::Completed);
}

pub async fn closing_an_unknown_command_is_passed_over(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    close_it(&*store, &command(9, 900), CommandStatus::Completed).await;
    assert_eq!(open(&*store, CommandFilter::default()).await, [100]);
}

pub async fn attempts_are_commands_of_their_own(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    let second = CommandRow { attempt: 2, event: EventId(200), ..command(1, 100) };
    let mut write = go_on(7, 1);
    write.close = vec![close(&command(1, 100), CommandStatus::Lost)];
    write.issue = vec![second.clone()];
    commit(&*store, write).await;
    assert_eq!(claim(&*store, &command(1, 100), "w1", 0, 30).await, Claim::Closed(CommandStatus::Lost));
    assert!(matches!(claim(&*store, &second, "w1", 0, 30).await, Claim::Taken(_)));
}

pub async fn a_command_issued_and_closed_at_once_is_closed(store: Arc<dyn Store>) {
    let mut write = begin(7);
    write.issue = vec![command(1, 100)];
    write.close = vec![close(&command(1, 100), CommandStatus::Completed)];
    commit(&*store, write).await;
    assert_eq!(find(&*store, &command(1, 100)).await.status, CommandStatus::Completed);
    assert_eq!(open(&*store, CommandFilter::default()).await, [] as [i64; 0]);
}

pub async fn a_command_is_found_by_its_event(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100), command(2, 200)]).await;
    close_it(&*store, &command(1, 100), CommandStatus::Completed).await;
    let by_event = |event| store.find_command_by_event(EventId(event));
    assert_eq!(by_event(200).await.unwrap().unwrap().row, command(2, 200));
    assert_eq!(by_event(100).await.unwrap().unwrap().status, CommandStatus::Completed);
    assert_eq!(by_event(300).await.unwrap(), None);
}

pub async fn renewing_extends_all_claims_of_one_worker(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100), command(2, 200), command(3, 300), command(4, 400)]).await;
    claim(&*store, &command(1, 100), "w1", 0, 30).await;
    claim(&*store, &command(2, 200), "w1", 0, 90).await;
    claim(&*store, &command(3, 300), "w2", 0, 30).await;
    assert_eq!(store.renew_leases("w1", at(60)).await.unwrap(), 2);
    let lease_of = async |row| find(&*store, &row).await.row.lease;
    assert_eq!(lease_of(command(1, 100)).await, Some(lease("w1", 60)));
    assert_eq!(lease_of(command(2, 200)).await, Some(lease("w1", 90)), "a lease never gets shorter");
    assert_eq!(lease_of(command(3, 300)).await, Some(lease("w2", 30)));
    assert_eq!(lease_of(command(4, 400)).await, None);
    close_it(&*store, &command(1, 100), CommandStatus::Completed).await;
    assert_eq!(store.renew_leases("w1", at(99)).await.unwrap(), 1, "closed commands are not renewed");
    assert_eq!(store.renew_leases("nobody", at(99)).await.unwrap(), 0);
}

pub async fn expired_leases_are_listed_longest_overdue_first(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100), command(2, 200), command(3, 300), command(4, 400)]).await;
    claim(&*store, &command(1, 100), "w1", 0, 30).await;
    claim(&*store, &command(2, 200), "w1", 0, 20).await;
    claim(&*store, &command(3, 300), "w1", 0, 31).await;
    let expired = async |limit| {
        let listed = store.list_expired_leases(at(30), limit).await.unwrap();
        listed.iter().map(|command| command.row.event.0).collect::<Vec<_>>()
    };
    assert_eq!(expired(10).await, [200, 100]);
    assert_eq!(expired(1).await, [200]);
    close_it(&*store, &command(2, 200), CommandStatus::Lost).await;
    assert_eq!(expired(10).await, [100]);
}

pub async fn a_released_command_is_free_at_once(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    let release = |worker: &'static str| store.release_command(RUN, command(1, 100).key, 1, worker);
    assert!(!release("w1").await.unwrap(), "nobody holds it");
    claim(&*store, &command(1, 100), "w1", 0, 30).await;
    assert!(!release("w2").await.unwrap(), "another worker holds it");
    assert!(release("w1").await.unwrap());
    let stored = find(&*store, &command(1, 100)).await;
    assert_eq!((stored.status, stored.row.lease, stored.claimed_at), (CommandStatus::Pending, None, None));
    assert!(matches!(claim(&*store, &command(1, 100), "w2", 1, 31).await, Claim::Taken(_)));
}

pub async fn issuing_an_attempt_again_replaces_it(store: Arc<dyn Store>) {
    issue(&*store, 7, vec![command(1, 100)]).await;
    claim(&*store, &command(1, 100), "w1", 0, 30).await;
    let mut write = go_on(7, 1);
    write.issue = vec![command(1, 101)];
    commit(&*store, write).await;
    assert_eq!(open(&*store, CommandFilter::default()).await, [101]);
    assert_eq!(find(&*store, &command(1, 101)).await.status, CommandStatus::Pending);
}
