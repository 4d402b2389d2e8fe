//! The shape of a workflow: which step leads to which.

use crate::random::Random;

/// Where an arc leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Step(usize),
    /// An `end` that is not declared.
    Nowhere,
}

#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub to: To,
    /// It leads to its own step or to an earlier one, so it must be followed a limited number of times.
    pub back: bool,
    /// It is meant for failures.
    pub on_failure: bool,
}

/// The arcs of each step, in the order they are judged.
#[derive(Debug)]
pub struct Graph {
    pub arcs: Vec<Vec<Edge>>,
}

impl Graph {
    /// One step that leads nowhere, whatever its position.
    pub fn single() -> Graph {
        Graph { arcs: Vec::new() }
    }

    pub fn arcs_of(&self, step: usize) -> &[Edge] {
        self.arcs.get(step).map_or(&[], Vec::as_slice)
    }

    /// Every step but the first has a way to it; further arcs make joins, and a few lead back.
    pub fn draw(random: &mut Random, count: usize) -> Graph {
        let mut arcs: Vec<Vec<Edge>> = vec![Vec::new(); count];
        let forward = |to| Edge { to: To::Step(to), back: false, on_failure: false };
        for to in 1..count {
            // Chains are as likely as wide fans.
            let from = if random.chance(500) { to - 1 } else { random.below(to) };
            arcs[from].push(forward(to));
        }
        let further = if count > 2 { random.below(count) } else { 0 };
        for _ in 0..further {
            let from = random.below(count - 1);
            let to = random.between(from + 1, count - 1);
            if !arcs[from].iter().any(|edge| edge.to == To::Step(to)) {
                arcs[from].push(forward(to));
            }
        }
        for _ in 0..random.weighted(&[6, 3, 1]) {
            let from = random.below(count);
            let to = random.between(0, from);
            let on_failure = random.chance(250);
            arcs[from].insert(0, Edge { to: To::Step(to), back: true, on_failure });
        }
        for (from, edges) in arcs.iter_mut().enumerate() {
            if random.chance(150) {
                let to = if from + 1 < count {
                    To::Step(random.between(from + 1, count - 1))
                } else {
                    To::Nowhere
                };
                edges.insert(0, Edge { to, back: false, on_failure: true });
            }
            if random.chance(80) {
                edges.push(Edge { to: To::Nowhere, back: false, on_failure: false });
            }
        }
        Graph { arcs }
    }
}
