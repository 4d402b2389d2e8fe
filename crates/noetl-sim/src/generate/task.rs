//! What a step does: single tools, pipelines with rules, waits, calls of other playbooks, and loops around them.

use noetl_types::Value;

use super::Author;
use super::conditions::counted;
use super::looping::iteration_input;

type Fields = Vec<(&'static str, Value)>;

impl Author<'_> {
    pub(super) fn work(&mut self, step: &mut Fields) {
        let looping = match self.random.weighted(&[6, 3, 1]) {
            0 => None,
            1 => Some(self.loop_over_items("each")),
            _ => Some(self.loop_over_rows("each")),
        };
        let input = if looping.is_some() { iteration_input("each") } else { Fields::new() };
        if looping.is_none() && self.random.chance(120) {
            return;
        }
        step.extend(looping.map(|looping| ("loop", looping)));
        let tool = match self.random.weighted(&[6, 4]) {
            0 => Value::map(self.task(&input)),
            _ => self.pipeline(&input),
        };
        step.push(("tool", tool));
    }

    fn pipeline(&mut self, input: &Fields) -> Value {
        let count = self.random.between(1, 4);
        let labels: Vec<String> = (0..count).map(|at| format!("t{at}")).collect();
        let tasks = (0..count).map(|at| {
            let mut task: Fields = vec![("name", labels[at].as_str().into())];
            if self.random.chance(200) {
                task.push(("loop", self.loop_over_items("part")));
                let mut inner = iteration_input("part");
                inner.push(("outer", "{{ iter.parent._index }}".into()));
                task.extend(self.task(&inner));
            } else {
                task.extend(self.task(input));
                if self.random.chance(400) {
                    task.retain(|(key, _)| *key != "spec");
                    task.push(("spec", self.policy(Some((&labels, at)))));
                }
            }
            Value::map(task)
        });
        Value::from(tasks.collect::<Vec<_>>())
    }

    /// A task without its label.
    fn task(&mut self, input: &Fields) -> Fields {
        let mut task = match self.random.weighted(&[2, 5, 3, 2, 1, 1, 2]) {
            0 => vec![("kind", "noop".into()), ("result", Value::map(input.clone()))],
            1 => vec![("kind", "python".into()), ("code", "result = {}".into())],
            2 => vec![("kind", "http".into()), ("url", "http://service.test/items".into())],
            3 => vec![("kind", "shell".into()), ("cmds", Value::list(["true".into()]))],
            4 => vec![("kind", "postgres".into()), ("auth", "db".into()), ("command", "select 1".into())],
            5 => self.wait(),
            _ => self.call(),
        };
        if !input.is_empty() {
            task.push(("input", Value::map(input.clone())));
        }
        if self.random.chance(60) && !task.iter().any(|(key, _)| key.starts_with("timeout")) {
            task.push(("timeout", Value::from(self.random.between(5, 40))));
        }
        if self.random.chance(200) {
            task.push(("set", self.task_set()));
        }
        if self.random.chance(350) {
            task.push(("spec", self.policy(None)));
        }
        task
    }

    fn wait(&mut self) -> Fields {
        let mut task: Fields = vec![("kind", "wait".into())];
        if self.random.chance(400) {
            task.push(("seconds", Value::from(self.random.between(1, 30))));
            return task;
        }
        if self.random.chance(700) {
            task.push(("signal", (*self.random.pick(&["go", "stop"])).into()));
        }
        if self.random.chance(400) {
            task.push(("timeout_seconds", Value::from(self.random.between(10, 90))));
        }
        task
    }

    fn call(&mut self) -> Fields {
        if self.callable.is_empty() {
            return vec![("kind", "noop".into()), ("message", "nobody to call".into())];
        }
        let path = self.random.pick(&self.callable).clone();
        let mut task: Fields = vec![("kind", "playbook".into()), ("path", path.into())];
        if self.random.chance(250) {
            task.push(("async", true.into()));
        }
        if self.random.chance(200) {
            task.push(("return_step", "s0".into()));
        }
        if self.random.chance(250) {
            task.push(("timeout_seconds", Value::from(self.random.between(10, 90))));
        }
        task
    }

    fn task_set(&mut self) -> Value {
        let key = match self.random.below(5) {
            0 => "iter.found",
            1 => "step.found",
            2 => "ctx.last.found",
            _ => "ctx.found",
        };
        Value::map([(key, Value::from("{{ output.data.v }}"))])
    }

    /// Rules for a task; in a pipeline they may also jump to another one.
    fn policy(&mut self, seat: Option<(&[String], usize)>) -> Value {
        let mut rules = Vec::new();
        if self.random.chance(600) {
            rules.push(self.retry_rule());
        }
        if let Some((labels, _)) = seat
            && self.random.chance(400)
        {
            let to = self.random.pick(labels).clone();
            rules.push(jump_rule(&to, self.random.between(1, 2)));
        }
        if self.random.chance(500) {
            let action = *self.random.pick(&["continue", "continue", "break", "fail"]);
            let condition = match self.random.below(3) {
                0 => "{{ (output.data.v | default(0)) % 3 == 0 }}",
                _ => "{{ output.status == 'error' }}",
            };
            rules.push(rule(condition, vec![("do", action.into()), ("set", self.task_set())]));
        }
        if self.random.chance(200) {
            let then = Value::map([("do", Value::from("continue"))]);
            rules.push(Value::map([("else", Value::map([("then", then)]))]));
        }
        Value::map([("policy", Value::map([("rules", Value::from(rules))]))])
    }

    fn retry_rule(&mut self) -> Value {
        let condition = match self.random.below(4) {
            0 => "{{ output.status == 'error' and output.error.retryable }}",
            1 => "{{ (output.data.v | default(1)) == 0 }}",
            _ => "{{ output.status == 'error' }}",
        };
        let mut then: Fields =
            vec![("do", "retry".into()), ("attempts", Value::from(self.random.between(1, 4)))];
        if self.random.chance(700) {
            then.push(("backoff", (*self.random.pick(&["none", "fixed", "linear", "exponential"])).into()));
            then.push(("delay", Value::from(self.random.between(1, 5))));
        }
        rule(condition, then)
    }
}

fn rule(condition: &str, then: Fields) -> Value {
    Value::map([("when", Value::from(condition)), ("then", Value::map(then))])
}

/// A jump that happens a limited number of times in a pipeline.
fn jump_rule(to: &str, limit: usize) -> Value {
    let counter = format!("iter.jumps_to_{to}");
    let condition =
        format!("{{{{ ({counter} | default(0)) < {limit} and (output.data.v | default(0)) % 2 == 0 }}}}");
    let set = Value::map([(counter.clone(), Value::from(counted(&counter)))]);
    rule(&condition, vec![("do", "jump".into()), ("to", to.into()), ("set", set)])
}
