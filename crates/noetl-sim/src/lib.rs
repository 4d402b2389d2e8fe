//! A seeded simulation of runs: the real engine over a store, a server and workers that exist only in memory and fail in
//! every way they can; and, in `drive`, the real drive loop over a real store with everything around it simulated.
//!
//! A seed decides a playbook (from the generator, or one of the conformance cases), what its tools give, and the order and
//! the faults of everything around it. The same seed always plays the same. Whatever happens, each run must keep the
//! rules of the language, as an independent account of its events sees them, and come to its end.

mod cases;
mod drive;
mod faults;
mod generate;
mod job;
mod ledger;
mod random;
mod scenario;
mod schedule;
mod server;
mod store;
mod tally;
mod tools;
mod trace;
mod values;
mod witness;
mod workers;
mod world;

pub use cases::Cases;
pub use tally::Tally;

use random::Random;
use scenario::Scenario;
use trace::Trace;
use world::{MAIN, World};

/// Every so many seeds, one plays a conformance case.
const CASE_EVERY: u64 = 8;

/// A seed that broke a rule.
#[derive(Debug)]
pub struct Failure {
    pub seed: u64,
    /// What was wrong, in one sentence.
    pub message: String,
    /// The playbooks, as they were written.
    pub playbooks: Vec<String>,
    /// What happened up to there, if it was traced.
    pub trace: Vec<String>,
}

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The engine alone, with a server that is part of the simulation and commits every input by itself.
    Engine,
    /// The drive loop of the real server over a real store.
    Drive,
}

impl Subject {
    /// Plays one seed and tells what it went through.
    pub fn simulate(self, seed: u64, cases: &Cases) -> Result<Tally, Box<Failure>> {
        self.play(seed, cases, false).0
    }

    /// Plays one seed with a trace, which is returned whether or not the seed fails.
    pub fn trace(self, seed: u64, cases: &Cases) -> (Result<Tally, Box<Failure>>, Vec<String>) {
        self.play(seed, cases, true)
    }

    fn play(self, seed: u64, cases: &Cases, traced: bool) -> (Result<Tally, Box<Failure>>, Vec<String>) {
        match self {
            Subject::Engine => play(seed, cases, traced),
            Subject::Drive => {
                let (scenario, played, lines) = drive::play(seed, cases, traced);
                (played.map_err(|message| failure(seed, message, &scenario, lines.clone())), lines)
            }
        }
    }
}

/// What came of something; a panic in it is an error too.
fn catching<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(format!("panicked: {text}"))
    })
}

fn play(seed: u64, cases: &Cases, traced: bool) -> (Result<Tally, Box<Failure>>, Vec<String>) {
    let mut random = Random::new(seed);
    let scenario = match cases.draw(seed, CASE_EVERY, &mut random) {
        Some(case) => case,
        None => generate::scenario(&mut random),
    };
    let mut trace = Trace::new(traced);
    trace.say(|| scenario.name.clone());
    let mut world = match scenario.compile() {
        Ok(catalog) => World::new(random.fork(), catalog, trace),
        Err(message) => return (Err(failure(seed, message, &scenario, Vec::new())), Vec::new()),
    };
    let played = catching(|| run(&mut world, &scenario));
    let tally = world.tally;
    let lines = world.trace.into_lines();
    let result = played.map(|()| tally).map_err(|message| failure(seed, message, &scenario, lines.clone()));
    (result, lines)
}

fn run(world: &mut World, scenario: &Scenario) -> Result<(), String> {
    let plan = world.catalog.get(&scenario.main).cloned().ok_or("the catalog lacks the playbook")?;
    for _ in 0..100 {
        match world.start(MAIN, &plan, scenario.payload.clone(), None)? {
            Err(error) if scenario.ends => return Err(format!("the run can't start: {error}")),
            Err(_) => return Ok(()),
            Ok(_) if world.store.runs.contains_key(&MAIN) => return world.play(scenario.ends),
            // The server crashed before the start was written: it is asked again.
            Ok(_) => {}
        }
    }
    Err("the run never starts".to_owned())
}

fn failure(seed: u64, message: String, scenario: &Scenario, trace: Vec<String>) -> Box<Failure> {
    let playbooks =
        scenario.playbooks.iter().map(|playbook| format!("# {}\n{}", playbook.path, playbook.text)).collect();
    Box::new(Failure { seed, message, playbooks, trace })
}
