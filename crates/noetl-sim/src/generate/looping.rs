//! Loops of steps and of tasks.

use noetl_types::Value;

use super::Author;

/// How an iteration's input carries its place, for the checks of order.
pub(super) fn iteration_input(iterator: &str) -> Vec<(&'static str, Value)> {
    vec![("at", "{{ _index }}".into()), ("item", format!("{{{{ iter.{iterator} }}}}").into())]
}

impl Author<'_> {
    pub(super) fn loop_over_items(&mut self, iterator: &str) -> Value {
        let items = match self.random.below(8) {
            0 => Value::list([]),
            1 => Value::from(self.random.below(7)),
            2 => Value::from("red, green, blue"),
            3 => Value::map([("k", Value::from(1)), ("l", Value::from(2))]),
            4 => Value::from("{{ workload.items }}"),
            5 => Value::from("{{ workload.n }}"),
            _ => Value::list((0..self.random.between(1, 8)).map(|at| Value::from(100 + at))),
        };
        let mut spec: Vec<(&str, Value)> = Vec::new();
        if self.random.chance(650) {
            spec.push(("mode", "parallel".into()));
            match self.random.below(3) {
                0 => spec.push(("max_in_flight", Value::from(self.random.between(1, 4)))),
                1 => spec.push(("max_in_flight", "{{ workload.width }}".into())),
                _ => {}
            }
        }
        self.push_on_error(&mut spec);
        self.looping(iterator, ("in", items), spec)
    }

    /// A loop over rows that a claim finds until there are none.
    pub(super) fn loop_over_rows(&mut self, iterator: &str) -> Value {
        let cursor = Value::map([
            ("kind", Value::from("postgres")),
            ("auth", "db".into()),
            ("claim", "update jobs set taken = true limit {{ __frame_max_rows }}".into()),
        ]);
        let mut frame: Vec<(&str, Value)> = vec![("max_rows", Value::from(self.random.between(1, 4)))];
        if self.random.chance(500) {
            frame.push(("row_concurrency", Value::from(self.random.between(1, 3))));
        }
        if self.random.chance(250) {
            frame.push(("process", "frame".into()));
        }
        let mut spec: Vec<(&str, Value)> = vec![("mode", "cursor".into()), ("frame", Value::map(frame))];
        if self.random.chance(600) {
            spec.push(("max_in_flight", Value::from(self.random.between(1, 3))));
        }
        self.push_on_error(&mut spec);
        self.looping(iterator, ("cursor", cursor), spec)
    }

    fn looping(
        &mut self,
        iterator: &str,
        source: (&'static str, Value),
        spec: Vec<(&'static str, Value)>,
    ) -> Value {
        let mut looping = vec![source, ("iterator", iterator.into())];
        if !spec.is_empty() {
            looping.push(("spec", Value::map(spec)));
        }
        Value::map(looping)
    }

    fn push_on_error(&mut self, spec: &mut Vec<(&'static str, Value)>) {
        let on_error = match self.random.below(6) {
            0 | 1 => Value::from("continue"),
            2 => "fail".into(),
            3 => Value::map([("threshold", Value::Float(*self.random.pick(&[0.0, 0.25, 0.5])))]),
            4 => "report".into(),
            _ => return,
        };
        spec.push(("policy", Value::map([("on_error", on_error)])));
    }
}
