//! Counts of what a simulation went through, to see that faults really happen.

use std::fmt;

macro_rules! tally {
    ($($(#[doc = $doc:literal])* $field:ident => $words:literal),* $(,)?) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Tally {
            $($(#[doc = $doc])* pub $field: u64,)*
        }

        impl Tally {
            pub fn add(&mut self, other: &Tally) {
                $(self.$field += other.$field;)*
            }
        }

        /// One line per count, aligned.
        impl fmt::Display for Tally {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(writeln!(f, "{:>12}  {}", self.$field, $words)?;)*
                Ok(())
            }
        }
    };
}

tally! {
    runs => "runs",
    completed => "  completed",
    failed => "  failed",
    cancelled => "  cancelled",
    children => "  of them called by others",
    events => "events",
    commits => "commits",
    steps_entered => "steps entered",
    joins_entered => "joins entered",
    revisits => "steps entered again",
    steps_skipped => "steps skipped",
    failures_handled => "failures handled by arcs",
    loops => "loops ended",
    loop_items => "loop items done",
    cursor_frames => "cursor frames claimed",
    retries => "calls tried again",
    suspensions => "pipelines suspended",
    signals => "signals sent",
    timeouts => "steps timed out",
    values_aside => "values stored aside",
    values_loaded => "values that had to be loaded first",
    snapshots => "snapshots taken",
    crashes_before => "crashes before a commit",
    crashes_after => "crashes after a commit",
    rebuilt_from_zero => "runs rebuilt from the first event",
    rebuilt_from_snapshot => "runs rebuilt from a snapshot",
    duplicates => "messages delivered twice",
    echoes => "old messages delivered again",
    lost_messages => "messages lost",
    ignored_outcomes => "outcomes ignored",
    expired_leases => "leases expired",
    dead_workers => "workers died",
    late_outcomes => "outcomes from workers without a lease",
    double_starts => "playbooks started twice for one call",
    stray_timers => "timers fired that no longer existed",
    pauses => "pauses",
    cancels => "cancellations",
    failed_commits => "commits of which nothing was stored",
    lost_answers => "commits whose answer was lost",
    outages => "times that the store answered nobody",
    restarts => "servers that crashed and were started again",
    fed_by_explanation => "waits ended by doing what the explanation names",
}
