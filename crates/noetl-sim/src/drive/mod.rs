//! The drive loop under simulation: one or two real servers over one store, with workers, messages, faults and a clock
//! that a seed decides on.
//!
//! Each server has a runtime of its own that only moves when it is its turn, so that a seed over the store in memory
//! always plays the same, and a crash is simply the end of that runtime. After the faults everything must come to its
//! end, and the stored logs must keep the rules of the language and what was acknowledged.

mod account;
mod bus;
mod ending;
mod faults;
mod server;
mod storage;
mod workers;
mod world;

use crate::Cases;
use crate::random::Random;
use crate::scenario::Scenario;
use crate::tally::Tally;
use crate::trace::Trace;
use storage::Storage;
use world::World;

/// What came of a seed, and what happened in it if it was traced.
pub fn play(seed: u64, cases: &Cases, traced: bool) -> (Scenario, Result<Tally, String>, Vec<String>) {
    let mut random = Random::new(seed);
    let scenario = match cases.draw(seed, crate::CASE_EVERY, &mut random) {
        Some(case) => case,
        None => crate::generate::scenario(&mut random),
    };
    let mut trace = Trace::new(traced);
    trace.say(|| scenario.name.clone());
    let storage = match Storage::of_seed(seed) {
        Ok(storage) => storage,
        Err(error) => return (scenario, Err(error), Vec::new()),
    };
    let mut world = World::new(storage, random.fork(), trace);
    let played = crate::catching(|| world.play(&scenario));
    let World { tally, trace, .. } = world;
    (scenario, played.map(|()| tally), trace.into_lines())
}
