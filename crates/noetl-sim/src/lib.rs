//! A seeded simulation of runs: the real engine over a store, a server and workers that exist only in memory and fail in
//! every way they can.
//!
//! A seed decides a playbook (from the generator, or one of the conformance cases), what its tools give, and the order and
//! the faults of everything around it. The same seed always plays the same. Whatever happens, each run must keep the
//! rules of the language, as an independent account of its events sees them, and come to its end.

mod cases;
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

/// Plays one seed and tells what it went through.
pub fn simulate(seed: u64, cases: &Cases, traced: bool) -> Result<Tally, Box<Failure>> {
    let (result, _) = play(seed, cases, traced);
    result
}

/// Plays one seed with a trace, which is returned whether or not the seed fails.
pub fn trace(seed: u64, cases: &Cases) -> (Result<Tally, Box<Failure>>, Vec<String>) {
    play(seed, cases, true)
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
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&mut world, &scenario)));
    let tally = world.tally;
    let lines = world.trace.into_lines();
    let result = match played {
        Ok(Ok(())) => Ok(tally),
        Ok(Err(message)) => Err(failure(seed, message, &scenario, lines.clone())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(failure(seed, format!("panicked: {text}"), &scenario, lines.clone()))
        }
    };
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
