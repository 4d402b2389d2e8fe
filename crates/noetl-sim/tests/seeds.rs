//! A few thousand seeds as an ordinary test. `cargo run -p noetl-sim -- --seeds 10000` plays more.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use noetl_sim::{Cases, Tally, simulate};

const SEEDS: u64 = 2000;

/// Plays all seeds on all cores and returns what they went through together, and the failures.
fn play_all(cases: &Cases) -> (Tally, Vec<String>) {
    let next = AtomicU64::new(0);
    let total = Mutex::new((Tally::default(), Vec::new()));
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= SEEDS {
                        return;
                    }
                    let played = simulate(seed, cases, false);
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
    let (tally, failures) = play_all(&cases);
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
        let (first, lines) = noetl_sim::trace(seed, &cases);
        let (second, again) = noetl_sim::trace(seed, &cases);
        assert_eq!(lines, again, "seed {seed}");
        assert_eq!(first.ok(), second.ok(), "seed {seed}");
        assert!(lines.len() > 3, "seed {seed} does nothing");
    }
}
