//! Those who wait for a run to end.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use noetl_store::ExecutionRow;
use noetl_types::ExecutionId;
use tokio::sync::oneshot;

/// Who waits for the end of which run. Each hears of the one it waits for and of no other, so that many can wait at once.
#[derive(Debug, Default)]
pub struct Ends {
    waiting: Mutex<HashMap<ExecutionId, Vec<oneshot::Sender<ExecutionRow>>>>,
}

impl Ends {
    fn waiting(&self) -> MutexGuard<'_, HashMap<ExecutionId, Vec<oneshot::Sender<ExecutionRow>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to wait for the end of a run. One that has ended already, or that another server drives, is never told:
    /// whoever waits also looks into the store.
    pub fn expect(&self, execution: ExecutionId) -> End<'_> {
        let (sender, row) = oneshot::channel();
        self.waiting().entry(execution).or_default().push(sender);
        End { ends: self, execution, row }
    }

    /// Tells of runs whose ends are durable.
    pub fn tell(&self, ended: Vec<(ExecutionId, ExecutionRow)>) {
        if ended.is_empty() {
            return;
        }
        let mut waiting = self.waiting();
        for (execution, row) in ended {
            for waiter in waiting.remove(&execution).into_iter().flatten() {
                // Whoever waited may have gone away.
                let _ = waiter.send(row.clone());
            }
        }
    }
}

/// The end of a run that is waited for. Who drops it waits no more.
#[derive(Debug)]
pub struct End<'a> {
    ends: &'a Ends,
    execution: ExecutionId,
    row: oneshot::Receiver<ExecutionRow>,
}

impl End<'_> {
    pub fn execution(&self) -> ExecutionId {
        self.execution
    }

    /// The row of the run once its end is durable.
    pub async fn told(&mut self) -> ExecutionRow {
        match (&mut self.row).await {
            Ok(row) => row,
            // It was told before, and is told once.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.row.close();
        let mut waiting = self.ends.waiting();
        if let Some(others) = waiting.get_mut(&self.execution) {
            others.retain(|other| !other.is_closed());
            if others.is_empty() {
                waiting.remove(&self.execution);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::{RunStatus, Timestamp, Value};

    use super::*;

    fn completed() -> ExecutionRow {
        ExecutionRow {
            path: "a/b".into(),
            catalog_id: 1,
            version: 1,
            parent: None,
            pool: "shared".into(),
            labels: Default::default(),
            started_at: Timestamp(0),
            status: RunStatus::Completed,
            ended_at: Some(Timestamp(1)),
            error: None,
            result: None,
            meta: Value::Null,
        }
    }

    #[test]
    fn all_who_wait_for_a_run_hear_of_its_end_and_no_others() {
        let ends = Ends::default();
        let (mut first, mut second) = (ends.expect(ExecutionId(1)), ends.expect(ExecutionId(1)));
        let mut other = ends.expect(ExecutionId(2));

        ends.tell(vec![(ExecutionId(1), completed())]);

        assert_eq!(first.row.try_recv().expect("it is told").status, RunStatus::Completed);
        assert_eq!(second.row.try_recv().expect("it is told").status, RunStatus::Completed);
        assert!(other.row.try_recv().is_err());
    }

    #[test]
    fn nothing_is_kept_of_those_who_gave_up() {
        let ends = Ends::default();
        let stays = ends.expect(ExecutionId(1));
        drop(ends.expect(ExecutionId(1)));
        assert_eq!(ends.waiting()[&ExecutionId(1)].len(), 1);

        drop(stays);

        assert!(ends.waiting().is_empty());
    }
}
