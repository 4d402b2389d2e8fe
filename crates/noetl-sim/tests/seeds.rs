//! A few thousand seeds as an ordinary test. `cargo run -p noetl-sim -- --seeds 10000` plays more.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use noetl_sim::{Cases, Subject, Tally};

const SEEDS: u64 = 2000;

/// Seeds of the drive loop, which take longer.
const DRIVE_SEEDS: u64 = 300;

/// Plays all seeds on all cores and returns what they went through together, and the failures.
fn play_all(subject: Subject, seeds: u64, cases: &Cases) -> (Tally, Vec<String>) {
    let next = AtomicU64::new(0);
    let total = Mutex::new((Tally::default(), Vec::new()));
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        return;
                    }
                    let played = subject.simulate(seed, cases);
                    let mut total = total.lock().expect("no thread panics while it holds the lock");
                    match played {
                        Ok(tally) => total.0.add(&tally),
                        Err(failure) => total.1.push(format!("seed {seed}: {}", failure.message)),
                    }
                }
            });
        }
    });
    total.into_inner().expect("no thread panics while it holds the lock")
}

#[test]
fn every_seed_keeps_the_rules_and_the_faults_really_happen() {
    let cases = Cases::of_workspace();
    assert!(!cases.is_empty(), "the conformance cases are part of the simulation");
    let (tally, failures) = play_all(Subject::Engine, SEEDS, &cases);
    assert!(
        failures.is_empty(),
        "{} of {SEEDS} seeds fail; play one with `cargo run -p noetl-sim -- --seed N --trace`\n{}",
        failures.len(),
        failures.join("\n")
    );
    let happened = [
        tally.joins_entered,
        tally.revisits,
        tally.failures_handled,
        tally.cursor_frames,
        tally.retries,
        tally.suspensions,
        tally.timeouts,
        tally.values_loaded,
        tally.crashes_before,
        tally.crashes_after,
        tally.rebuilt_from_snapshot,
        tally.duplicates,
        tally.echoes,
        tally.expired_leases,
        tally.late_outcomes,
        tally.stray_timers,
        tally.pauses,
        tally.cancels,
        tally.children,
        tally.fed_by_explanation,
    ];
    assert!(happened.iter().all(|&count| count > 20), "some faults hardly happen:\n{tally}");
}

#[test]
fn the_same_seed_plays_the_same_way_twice() {
    let cases = Cases::of_workspace();
    for seed in [3, 7, 11, 42, 1000] {
        let (first, lines) = Subject::Engine.trace(seed, &cases);
        let (second, again) = Subject::Engine.trace(seed, &cases);
        assert_eq!(lines, again, "seed {seed}");
        assert_eq!(first.ok(), second.ok(), "seed {seed}");
        assert!(lines.len() > 3, "seed {seed} does nothing");
    }
}

#[test]
fn the_drive_loop_loses_nothing_and_brings_every_run_to_its_end() {
    let cases = Cases::of_workspace();
    let (tally, failures) = play_all(Subject::Drive, DRIVE_SEEDS, &cases);
    assert!(
        failures.is_empty(),
        "{} of {DRIVE_SEEDS} seeds fail; play one with `cargo run -p noetl-sim -- drive --seed N --trace`\n{}",
        failures.len(),
        failures.join("\n")
    );
    let happened = [
        tally.children,
        tally.suspensions,
        tally.failed_commits,
        tally.lost_answers,
        tally.outages,
        tally.restarts,
        tally.duplicates,
        tally.echoes,
        tally.lost_messages,
        tally.dead_workers,
        tally.expired_leases,
        tally.ignored_outcomes,
        tally.fed_by_explanation,
    ];
    assert!(happened.iter().all(|&count| count > 20), "some faults hardly happen:\n{tally}");
}

#[test]
fn the_same_seed_of_the_drive_loop_plays_the_same_way_twice() {
    let cases = Cases::of_workspace();
    for seed in [1, 2, 3, 5, 8] {
        let (first, lines) = Subject::Drive.trace(seed, &cases);
        let (second, again) = Subject::Drive.trace(seed, &cases);
        assert_eq!(lines, again, "seed {seed}");
        assert_eq!(first.ok(), second.ok(), "seed {seed}");
        assert!(lines.len() > 3, "seed {seed} does nothing");
    }
}
