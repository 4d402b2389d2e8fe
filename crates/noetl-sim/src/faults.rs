//! How unlucky a simulation is.

use crate::random::Random;

/// Chances per mille, and weights of what may happen next.
#[derive(Clone, Debug)]
pub struct Faults {
    /// Tool calls that fail.
    pub tool_errors: usize,
    /// Commits that a crash prevents.
    pub crash_before: usize,
    /// Commits after which everything in memory is lost.
    pub crash_after: usize,
    /// Messages that are delivered and stay under way all the same.
    pub duplicates: usize,
    /// Commits with which a snapshot is taken.
    pub snapshots: usize,
    /// Decisions before which values at hand are forgotten.
    pub forgetting: usize,
    /// Delays that workers do not wait out but suspend for.
    pub suspended_delays: usize,
    /// Jobs that go on although they were told to stop.
    pub deaf_jobs: usize,
    /// Calls of a playbook that is started already and for which another run is started all the same.
    pub double_starts: usize,
    /// Values larger than this many bytes are stored aside.
    pub inline_limit: usize,
    /// What may go wrong next, against 100 for everything that goes right.
    pub expiring_leases: usize,
    pub dying_workers: usize,
    pub lost_mail: usize,
    pub echoes: usize,
    pub timers: usize,
    pub stray_timers: usize,
    pub crashes: usize,
    pub signals: usize,
    pub pauses: usize,
    pub cancels: usize,
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
            1 => {
                if random.chance(250) {
                    random.below(most + 1)
                } else {
                    0
                }
            }
            _ => random.below(most + 1),
        };
        Faults {
            tool_errors,
            crash_before: some(150),
            crash_after: some(150),
            duplicates: some(250),
            snapshots: some(300),
            forgetting: some(500),
            suspended_delays: some(1000),
            deaf_jobs: some(1000),
            double_starts: some(500),
            expiring_leases: some(15),
            dying_workers: some(6),
            lost_mail: some(6),
            echoes: some(20),
            timers: some(8),
            stray_timers: some(10),
            crashes: some(6),
            signals: some(6),
            pauses: some(4),
            cancels: some(1),
            inline_limit: *random.pick(&[usize::MAX, usize::MAX, 200, 30, 8]),
            patience: random.between(30, 600),
        }
    }

    /// Nothing goes wrong any more.
    pub fn end(&mut self) {
        *self = Faults {
            tool_errors: self.tool_errors,
            snapshots: self.snapshots,
            suspended_delays: self.suspended_delays,
            inline_limit: self.inline_limit,
            crash_before: 0,
            crash_after: 0,
            duplicates: 0,
            forgetting: 0,
            deaf_jobs: 0,
            double_starts: 0,
            expiring_leases: 0,
            dying_workers: 0,
            lost_mail: 0,
            echoes: 0,
            timers: 0,
            stray_timers: 0,
            crashes: 0,
            signals: 0,
            pauses: 0,
            cancels: 0,
            patience: 0,
        };
    }
}
