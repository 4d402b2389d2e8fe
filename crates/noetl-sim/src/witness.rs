//! Folds the log of a run in several ways beside the server: all must come to the same.

use noetl_engine::{Run, apply};
use noetl_types::Event;

/// Snapshots of a run that are followed at the same time.
const FOLLOWED: usize = 3;

#[derive(Debug, Default)]
pub struct Witness {
    from_zero: Run,
    /// Runs that were read back from a snapshot, and the number of the event it was taken after.
    from_snapshots: Vec<(u64, Run)>,
}

impl Witness {
    pub fn record(&mut self, event: &Event) {
        apply(&mut self.from_zero, event);
        for (_, run) in &mut self.from_snapshots {
            apply(run, event);
        }
    }

    /// Follows a snapshot, in place of an older one.
    pub fn follow(&mut self, seq: u64, json: &str) -> Result<(), String> {
        let run: Run =
            serde_json::from_str(json).map_err(|error| format!("reading the snapshot at {seq}: {error}"))?;
        if self.from_snapshots.len() == FOLLOWED {
            self.from_snapshots.remove(usize::from(seq.is_multiple_of(2)));
        }
        self.from_snapshots.push((seq, run));
        Ok(())
    }

    pub fn compare(&self, live: &Run) -> Result<(), String> {
        same("folding all events", &self.from_zero, live)?;
        for (seq, run) in &self.from_snapshots {
            same(&format!("the snapshot at {seq} with the events after it"), run, live)?;
        }
        Ok(())
    }
}

/// Tells where two runs that should be the same differ.
pub fn same(way: &str, run: &Run, live: &Run) -> Result<(), String> {
    if run == live {
        return Ok(());
    }
    let (left, right) = (format!("{run:#?}"), format!("{live:#?}"));
    let difference = left.lines().zip(right.lines()).find(|(left, right)| left != right);
    let (left, right) = difference.unwrap_or(("an end", "another end"));
    Err(format!("{way} does not give the run of the server: `{}` is not `{}`", left.trim(), right.trim()))
}
