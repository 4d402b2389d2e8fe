//! One step: its guard, its work, its assignments and its arcs.

use noetl_types::Value;

use super::Author;
use super::conditions::counted;
use super::graph::{Edge, Graph, To};

impl Author<'_> {
    pub(super) fn step(&mut self, at: usize, graph: &Graph) -> Value {
        let name = self.steps[at].clone();
        let mut step: Vec<(&str, Value)> = vec![("step", Value::from(name.as_str()))];
        if self.random.chance(80) {
            step.push(("when", self.on_data().into()));
        }
        let mut spec: Vec<(&str, Value)> = Vec::new();
        if self.random.chance(80) {
            spec.push(("timeout", Value::from(self.random.between(5, 60))));
        }
        if self.random.chance(150) {
            spec.push(("max_attempts", Value::from(self.random.between(1, 4))));
        }
        if self.random.chance(60) {
            spec.push(("policy", Value::map([("admit", Value::map([("rules", self.admission())]))])));
        }
        if !spec.is_empty() {
            step.push(("spec", Value::map(spec)));
        }
        self.work(&mut step);
        if self.random.chance(700) {
            step.push(("set", self.step_set(&name)));
        }
        // A step that is called `end` must not lead to itself.
        let leads_on = |edge: &&Edge| edge.to != To::Nowhere || name != "end";
        let arcs: Vec<Edge> = graph.arcs_of(at).iter().filter(leads_on).copied().collect();
        if !arcs.is_empty() {
            step.push(("next", self.router(&name, &arcs)));
        }
        Value::map(step)
    }

    fn admission(&mut self) -> Value {
        let rule = |condition: String, allow: bool| {
            Value::map([("when", condition.into()), ("then", Value::map([("allow", Value::from(allow))]))])
        };
        let allow = self.random.chance(500);
        let mut rules = vec![rule(self.on_data(), allow)];
        if self.random.chance(500) {
            let otherwise = Value::map([("then", Value::map([("allow", Value::from(!allow))]))]);
            rules.push(Value::map([("else", otherwise)]));
        }
        rules.into()
    }

    fn step_set(&mut self, name: &str) -> Value {
        let counter = format!("ctx.visits_of_{name}");
        let mut set: Vec<(String, Value)> = vec![(counter.clone(), counted(&counter).into())];
        if self.random.chance(200) {
            set.push((format!("ctx.seen.{name}"), "{{ output.data.v }}".into()));
        }
        if self.random.chance(100) {
            set.push(("ctx.shared".to_owned(), Value::map([("by", Value::from(name))])));
        }
        Value::map(set)
    }

    fn router(&mut self, name: &str, edges: &[Edge]) -> Value {
        let inclusive = self.random.chance(450);
        let mut arcs = Vec::new();
        for (at, edge) in edges.iter().enumerate() {
            arcs.push(self.arc(name, at, edge, inclusive || at + 1 == edges.len()));
        }
        let mut router: Vec<(&str, Value)> = Vec::new();
        if inclusive {
            router.push(("spec", Value::map([("mode", Value::from("inclusive"))])));
        }
        router.push(("arcs", arcs.into()));
        Value::map(router)
    }

    fn arc(&mut self, name: &str, at: usize, edge: &Edge, may_be_unconditional: bool) -> Value {
        let target = match edge.to {
            To::Step(to) => self.steps[to].clone(),
            // Once it is declared, `end` is an ordinary step, which ends its branch all the same.
            To::Nowhere => "end".to_owned(),
        };
        let counter = format!("ctx.taken_{name}_{at}");
        let mut arc: Vec<(&str, Value)> = vec![("step", target.into())];
        let when = if edge.back {
            Some(self.limited(&counter, edge.on_failure))
        } else if edge.on_failure {
            Some(self.on_failure())
        } else if may_be_unconditional && self.random.chance(700) {
            None
        } else {
            Some(self.on_output())
        };
        if let Some(when) = when {
            arc.push(("when", when.into()));
        }
        if edge.back || self.random.chance(300) {
            arc.push(("set", Value::map([(counter.clone(), Value::from(counted(&counter)))])));
        }
        Value::map(arc)
    }
}
