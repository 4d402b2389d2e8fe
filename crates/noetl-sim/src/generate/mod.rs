//! Writes random playbooks that use the whole language.
//!
//! What is written is accepted by the checker, and every run of it ends: arcs that lead back and jumps are guarded by
//! counters. Names follow a convention that the checks rely on: `ctx.visits_of_<step>` counts the visits whose `set` was
//! applied, `ctx.taken_<step>_<arc>` how often an arc fired, and an iteration's input has its index as `at` and its item
//! as `item`, which the tools of the simulation give back.

mod conditions;
mod graph;
mod looping;
mod step;
mod task;
mod yaml;

use noetl_types::Value;

use crate::random::Random;
use crate::scenario::{Scenario, Source};
use graph::Graph;

/// A path that no catalog has.
const NOWHERE: &str = "sim/nowhere";

pub fn scenario(random: &mut Random) -> Scenario {
    let mut playbooks: Vec<Source> = Vec::new();
    for name in ["inner", "outer"] {
        if random.chance(350) {
            let callable: Vec<String> = playbooks.iter().map(|playbook| playbook.path.clone()).collect();
            let most_steps = random.between(1, 4);
            playbooks.push(
                Author { random, callable, steps: Vec::new() }.write(&format!("sim/{name}"), most_steps),
            );
        }
    }
    let mut callable: Vec<String> = playbooks.iter().map(|playbook| playbook.path.clone()).collect();
    callable.push(NOWHERE.to_owned());
    let most_steps = *random.pick(&[2, 4, 6, 9, 12]);
    playbooks.push(Author { random, callable, steps: Vec::new() }.write("sim/main", most_steps));
    let payload = match random.below(3) {
        0 => Value::Null,
        _ => Value::map([("n", Value::from(random.below(4))), ("width", Value::from(random.between(1, 5)))]),
    };
    Scenario {
        name: "a generated playbook".to_owned(),
        playbooks,
        main: "sim/main".to_owned(),
        payload,
        ends: true,
    }
}

/// Writes one playbook.
struct Author<'r> {
    random: &'r mut Random,
    /// Paths of playbooks it may call.
    callable: Vec<String>,
    /// The names of its steps.
    steps: Vec<String>,
}

impl Author<'_> {
    fn write(mut self, path: &str, most_steps: usize) -> Source {
        let count = self.random.between(1, most_steps);
        self.steps = (0..count).map(|at| format!("s{at}")).collect();
        if self.random.chance(500) {
            self.steps[0] = "start".to_owned();
        }
        if count > 1 && self.random.chance(200) {
            self.steps[count - 1] = "end".to_owned();
        }
        let graph = Graph::draw(self.random, count);
        let mut workflow: Vec<Value> = (0..count).map(|at| self.step(at, &graph)).collect();
        let mut settings: Vec<(&str, Value)> = Vec::new();
        if self.random.chance(200) {
            settings.push(("final_step", self.final_step(&mut workflow)));
        }
        if self.steps[0] != "start" && self.random.chance(400) {
            let first = workflow.remove(0);
            let place = self.random.below(workflow.len() + 1);
            workflow.insert(place, first);
            settings.push(("entry_step", Value::from(self.steps[0].as_str())));
        }
        if self.random.chance(100) {
            settings.push(("no_next_is_error", true.into()));
        }
        if self.random.chance(150) {
            settings.push(("compat", "lenient".into()));
        }
        if self.random.chance(100) {
            settings.push(("timeout", Value::from(self.random.between(20, 500))));
        }
        let mut document = vec![
            ("apiVersion", Value::from("noetl.io/v2")),
            ("kind", Value::from("Playbook")),
            (
                "metadata",
                Value::map([("name", path.rsplit('/').next().unwrap_or(path)), ("path", path)].map(text)),
            ),
        ];
        if !settings.is_empty() {
            document.push(("executor", Value::map([("spec", Value::map(settings))])));
        }
        document.push(("workload", self.workload()));
        document.push(("workflow", Value::from(workflow)));
        Source { path: path.to_owned(), text: yaml::block(&Value::map(document)) }
    }

    fn workload(&mut self) -> Value {
        let items = (0..self.random.below(6)).map(|at| Value::from(10 + at));
        Value::map([
            ("n", Value::from(self.random.below(4))),
            ("width", Value::from(self.random.between(1, 4))),
            ("items", Value::list(items)),
        ])
    }

    /// An existing step, or one that no arc leads to.
    fn final_step(&mut self, workflow: &mut Vec<Value>) -> Value {
        if self.steps.len() > 1 && self.random.chance(300) {
            return Value::from(self.random.pick(&self.steps[1..]).as_str());
        }
        self.steps.push("last".to_owned());
        let graph = Graph::single();
        let at = self.steps.len() - 1;
        workflow.push(self.step(at, &graph));
        Value::from("last")
    }
}

fn text((key, value): (&'static str, &str)) -> (&'static str, Value) {
    (key, Value::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checker_accepts_everything_that_is_written() {
        for seed in 0..300 {
            let scenario = scenario(&mut Random::new(seed));
            for playbook in &scenario.playbooks {
                let checked = noetl_dsl::check(&playbook.text, &noetl_dsl::Options::default());
                assert!(checked.plan.is_some(), "seed {seed}: {:?}\n{}", checked.diagnostics, playbook.text);
            }
        }
    }
}
