//! Who can follow whom: reachability over the arcs of a workflow, worked out once.

use std::sync::Arc;

use crate::plan::StepIndex;

/// Reachability between steps and an order of them along the arcs.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// For each step, the distinct steps with an arc to it, ascending.
    predecessors: Vec<Vec<StepIndex>>,
    /// For each step, the distinct steps its arcs lead to, ascending.
    successors: Vec<Vec<StepIndex>>,
    /// For each step, a bit set of the steps it can reach by one or more arcs.
    reach: Arc<Vec<Vec<u64>>>,
    /// For each step, its place in reverse postorder from the entry; steps the entry can't reach come last.
    order: Vec<u32>,
    /// Steps the entry can reach, the entry included.
    reachable: Vec<bool>,
}

impl Graph {
    /// From the targets of each step's arcs.
    pub fn new(entry: StepIndex, arcs: &[Vec<StepIndex>]) -> Graph {
        let count = arcs.len();
        let mut successors: Vec<Vec<StepIndex>> = arcs.to_vec();
        let mut predecessors = vec![Vec::new(); count];
        for (from, targets) in successors.iter_mut().enumerate() {
            targets.sort_unstable();
            targets.dedup();
            for &to in targets.iter() {
                predecessors[to].push(from);
            }
        }
        let postorder = postorder_from(entry, arcs);
        let mut order = vec![u32::MAX; count];
        let mut reachable = vec![false; count];
        for (place, &step) in postorder.iter().rev().enumerate() {
            order[step] = place as u32;
            reachable[step] = true;
        }
        let unreached = order.iter_mut().filter(|place| **place == u32::MAX);
        for (next, place) in (postorder.len() as u32..).zip(unreached) {
            *place = next;
        }
        let reach = Arc::new(reach_of(&successors));
        Graph { predecessors, successors, reach, order, reachable }
    }

    /// Whether one or more arcs lead from `from` to `to`.
    pub fn reaches(&self, from: StepIndex, to: StepIndex) -> bool {
        self.reach[from][to / 64] >> (to % 64) & 1 == 1
    }

    pub fn predecessors(&self, step: StepIndex) -> &[StepIndex] {
        &self.predecessors[step]
    }

    pub fn successors(&self, step: StepIndex) -> &[StepIndex] {
        &self.successors[step]
    }

    /// Smaller comes earlier along the arcs from the entry.
    pub fn order(&self, step: StepIndex) -> u32 {
        self.order[step]
    }

    pub fn is_reachable(&self, step: StepIndex) -> bool {
        self.reachable[step]
    }

    /// A step that several others lead to waits for every branch that can still reach it.
    pub fn is_join(&self, step: StepIndex) -> bool {
        self.predecessors[step].len() > 1
    }
}

/// Depth first without recursion, so that long workflows don't use up the stack.
fn postorder_from(entry: StepIndex, arcs: &[Vec<StepIndex>]) -> Vec<StepIndex> {
    let mut seen = vec![false; arcs.len()];
    let mut postorder = Vec::with_capacity(arcs.len());
    let mut stack = Vec::new();
    if entry < arcs.len() {
        seen[entry] = true;
        stack.push((entry, 0));
    }
    while let Some((step, at)) = stack.last_mut() {
        let step = *step;
        match arcs[step].get(*at) {
            Some(&to) => {
                *at += 1;
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => {
                postorder.push(step);
                stack.pop();
            }
        }
    }
    postorder
}

fn reach_of(successors: &[Vec<StepIndex>]) -> Vec<Vec<u64>> {
    let words = successors.len().div_ceil(64);
    let mut reach = vec![vec![0u64; words]; successors.len()];
    // Repeats until nothing changes. Going backwards settles forward chains in one pass; each cycle costs a further one.
    let mut changed = true;
    while changed {
        changed = false;
        for step in (0..successors.len()).rev() {
            let mut row = std::mem::take(&mut reach[step]);
            let before = row.clone();
            for &to in &successors[step] {
                row[to / 64] |= 1 << (to % 64);
                if to != step {
                    for (word, below) in row.iter_mut().zip(&reach[to]) {
                        *word |= below;
                    }
                }
            }
            changed |= row != before;
            reach[step] = row;
        }
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_reach_themselves_and_chains_do_not_reach_back() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3
        let graph = Graph::new(0, &[vec![1], vec![2], vec![1, 3], vec![]]);
        assert!(graph.reaches(0, 3) && graph.reaches(1, 1) && graph.reaches(2, 1));
        assert!(!graph.reaches(0, 0) && !graph.reaches(3, 0) && !graph.reaches(1, 0));
        assert!(graph.is_join(1) && !graph.is_join(3));
        assert!(graph.order(0) < graph.order(1) && graph.order(2) < graph.order(3));
    }

    #[test]
    fn a_very_long_chain_is_no_trouble() {
        let arcs: Vec<Vec<usize>> =
            (0..5000).map(|at| if at < 4999 { vec![at + 1] } else { vec![] }).collect();
        let graph = Graph::new(0, &arcs);
        assert!(graph.reaches(0, 4999));
        assert_eq!(graph.order(4999), 4999);
    }
}
