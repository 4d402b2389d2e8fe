use noetl_server::catalog::{Playbooks, Reference};
use noetl_server::clock::SystemClock;
use noetl_server::drive::{DriveConfig, ExecuteRequest};
use noetl_store::MemoryStore;

use super::*;

const PLAYBOOK: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: endless, path: endless}
workflow:
  - step: start
    loop: {in: 2, iterator: i, spec: {mode: parallel}}
    tool: {kind: shell, command: sleep infinity}
";

#[tokio::test]
async fn a_renewal_names_the_attempts_whose_cancellation_was_missed() {
    let clock = SystemClock::shared();
    let ids = Arc::new(IdSource::new(clock.clone(), 0));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let playbooks = Playbooks::new(store.clone(), ids.clone(), clock.clone());
    let queue = WorkQueue::new("worker");
    let config = DriveConfig::default();
    let lease = config.lease;
    let drive = Drive::spawn(config, store, playbooks, clock.clone(), ids.clone(), Arc::new(queue.clone()));
    let control = LocalControl::new(drive.clone(), queue, clock, ids, lease, LocalCredentials::default());

    let (playbook, _) = drive.playbooks().register(PLAYBOOK).await.expect("a valid playbook");
    let request = ExecuteRequest::new(Reference::Id(playbook.catalog_id), Value::map::<&str>([]));
    let execution = drive.execute(request).await.expect("it starts").execution;
    let mut running = Vec::new();
    while running.len() < 2 {
        let taken = control.take("worker", &["shared".into()], 2).await.expect("commands").expect("some");
        running.extend(taken.iter().map(|assigned| AttemptId::of(&assigned.command)));
    }
    assert_eq!(control.renew("worker", &running).await, Ok(Vec::new()), "both are open");

    let cancel = Input::Cancel { reason: "enough".into() };
    drive.input(execution, cancel).await.expect("it is cancelled");
    assert_eq!(control.renew("worker", &running).await, Ok(running), "both are to be stopped");
}
