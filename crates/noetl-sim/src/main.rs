//! Plays seeds and stops at the first that breaks a rule.
//!
//! `noetl-sim --seeds 10000 [--from N] [--threads N]` plays many; with `--all` it goes on after a failure and lists them.
//! `noetl-sim --seed N [--trace]` plays one. `noetl-sim drive` does the same with the drive loop of the server.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use noetl_sim::{Cases, Failure, Subject, Tally};

const USAGE: &str = "usage: noetl-sim [drive] [--seeds COUNT] [--from SEED] [--threads COUNT] [--all]
       noetl-sim [drive] --seed SEED [--trace]";

/// Lines of a trace that are shown with a failure.
const SHOWN: usize = 60;

#[derive(Debug)]
struct Arguments {
    subject: Subject,
    seeds: u64,
    from: u64,
    threads: usize,
    seed: Option<u64>,
    trace: bool,
    all: bool,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        subject: Subject::Engine,
        seeds: 1000,
        from: 0,
        threads: 2,
        seed: None,
        trace: false,
        all: false,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "drive" => {
                arguments.subject = Subject::Drive;
                continue;
            }
            "--trace" => {
                arguments.trace = true;
                continue;
            }
            "--all" => {
                arguments.all = true;
                continue;
            }
            _ => {}
        }
        let number = words.next().and_then(|value| value.parse::<u64>().ok());
        let number = number.ok_or_else(|| format!("{word} needs a number\n{USAGE}"))?;
        match word.as_str() {
            "--seeds" => arguments.seeds = number,
            "--from" => arguments.from = number,
            "--threads" => arguments.threads = usize::try_from(number).unwrap_or(1).max(1),
            "--seed" => arguments.seed = Some(number),
            _ => return Err(format!("{word} is not known\n{USAGE}")),
        }
    }
    Ok(arguments)
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    // A panic is caught and reported with its seed.
    std::panic::set_hook(Box::new(|_| {}));
    let cases = Cases::of_workspace();
    match arguments.seed {
        Some(seed) => play_one(&arguments, seed, &cases),
        None => play_many(&arguments, &cases),
    }
}

fn play_one(arguments: &Arguments, seed: u64, cases: &Cases) -> ExitCode {
    let (result, lines) = arguments.subject.trace(seed, cases);
    let traced = arguments.trace;
    match result {
        Ok(tally) => {
            if traced {
                println!("{}", lines.join("\n"));
            }
            println!("seed {seed} passes\n{tally}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            report(arguments.subject, &failure, if traced { usize::MAX } else { SHOWN });
            ExitCode::FAILURE
        }
    }
}

fn play_many(arguments: &Arguments, cases: &Cases) -> ExitCode {
    let begun = Instant::now();
    let next = AtomicU64::new(arguments.from);
    let end = arguments.from.saturating_add(arguments.seeds);
    let total = Mutex::new((Tally::default(), 0u64));
    let failed: Mutex<Option<u64>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..arguments.threads {
            scope.spawn(|| {
                let mut tally = Tally::default();
                let mut played = 0;
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || (!arguments.all && failed.lock().is_ok_and(|failed| failed.is_some())) {
                        break;
                    }
                    match arguments.subject.simulate(seed, cases) {
                        Ok(of_seed) => tally.add(&of_seed),
                        Err(failure) => {
                            if arguments.all {
                                println!("seed {seed} fails: {}", failure.message);
                            }
                            if let Ok(mut failed) = failed.lock() {
                                *failed = Some(failed.map_or(seed, |other| other.min(seed)));
                            }
                        }
                    }
                    played += 1;
                }
                if let Ok(mut total) = total.lock() {
                    total.0.add(&tally);
                    total.1 += played;
                }
            });
        }
    });
    let (tally, played) = total.into_inner().unwrap_or_default();
    let seconds = begun.elapsed().as_secs_f64();
    println!("{played} seeds in {seconds:.1} s, {:.0} seeds/s\n{tally}", played as f64 / seconds);
    match failed.into_inner().unwrap_or_default() {
        None => ExitCode::SUCCESS,
        Some(seed) => {
            if let (Err(failure), _) = arguments.subject.trace(seed, cases) {
                report(arguments.subject, &failure, SHOWN);
            }
            ExitCode::FAILURE
        }
    }
}

fn report(subject: Subject, failure: &Failure, shown: usize) {
    for playbook in &failure.playbooks {
        println!("{playbook}");
    }
    let skipped = failure.trace.len().saturating_sub(shown);
    if skipped > 0 {
        println!("… {skipped} lines before");
    }
    for line in &failure.trace[skipped..] {
        println!("{line}");
    }
    println!("seed {} fails: {}", failure.seed, failure.message);
    let subject = if subject == Subject::Drive { "drive " } else { "" };
    println!("play it again: cargo run -p noetl-sim -- {subject}--seed {} --trace", failure.seed);
}
