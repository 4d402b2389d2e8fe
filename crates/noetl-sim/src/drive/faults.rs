//! How unlucky a simulation of the drive loop is.

use crate::random::Random;

/// Chances per mille, and weights of what may go wrong next, against 100 for each thing that goes right.
#[derive(Clone, Debug)]
pub struct Faults {
    /// Tool calls that fail.
    pub tool_errors: usize,
    /// Messages that are delivered and stay under way all the same.
    pub duplicates: usize,
    /// Delays that workers do not wait out but suspend for.
    pub suspended_delays: usize,
    /// Jobs that go on although they were told to stop.
    pub deaf_jobs: usize,
    /// Messages that go to another server than the one whose command they are about.
    pub strangers: usize,
    /// The workers of a server go on when it crashes.
    pub workers_survive: bool,
    /// Commits of which nothing is stored.
    pub failed_commits: usize,
    /// Commits that are stored and answered with an error.
    pub lost_answers: usize,
    /// The store answers nobody for a while.
    pub outages: usize,
    pub crashes: usize,
    pub dying_workers: usize,
    pub lost_mail: usize,
    pub echoes: usize,
    /// Leases run out while workers go on.
    pub expiring_leases: usize,
    pub timers: usize,
    pub signals: usize,
    pub pauses: usize,
    pub cancels: usize,
    /// Servers do themselves what needs no worker.
    pub at_once: bool,
    /// How long things may go wrong, in actions.
    pub patience: usize,
}

impl Faults {
    /// Some simulations have no faults at all, some one sort only, some everything.
    pub fn draw(random: &mut Random) -> Faults {
        let tool_errors = *random.pick(&[0, 30, 100, 350]);
        let mood = random.below(4);
        let mut some = |most: usize| match mood {
            0 => 0,
            1 if !random.chance(250) => 0,
            _ => random.below(most + 1),
        };
        Faults {
            tool_errors,
            duplicates: some(250),
            suspended_delays: some(1000),
            deaf_jobs: some(1000),
            strangers: some(500),
            workers_survive: some(1) == 1,
            failed_commits: some(15),
            lost_answers: some(15),
            outages: some(8),
            crashes: some(8),
            dying_workers: some(6),
            lost_mail: some(6),
            echoes: some(20),
            expiring_leases: some(8),
            timers: some(8),
            signals: some(6),
            pauses: some(4),
            cancels: some(1),
            at_once: random.chance(500),
            patience: random.between(30, 500),
        }
    }
}
