//! Conditions on data that is there, whatever the run has done so far.

use super::Author;

/// The forms that a run's failure can be looked at in.
const FAILURES: [&str; 4] =
    ["event.name == 'step.failed'", "event.name == 'call.error'", "output.status == 'error'", "error"];

impl Author<'_> {
    /// A number that changes in the course of a run, or depends on its payload.
    fn number(&mut self) -> String {
        let root = match self.random.below(4) {
            0 => "workload.n".to_owned(),
            1 => "workload.width".to_owned(),
            _ => format!("ctx.visits_of_{}", self.random.pick(&self.steps)),
        };
        format!("({root} | default(0))")
    }

    fn comparison(&mut self, number: String) -> String {
        let number = if self.random.chance(300) { format!("{number} % 2") } else { number };
        let operator = *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
        format!("{number} {operator} {}", self.random.below(4))
    }

    /// A condition on `ctx` or the workload.
    pub(super) fn on_data(&mut self) -> String {
        let number = self.number();
        let condition = self.comparison(number);
        if self.random.chance(700) { format!("{{{{ {condition} }}}}") } else { condition }
    }

    /// A condition of an arc, which can also look at the step's own output.
    pub(super) fn on_output(&mut self) -> String {
        match self.random.below(10) {
            0 => "{{ event.name == 'step.done' }}".to_owned(),
            1 => "{{ event.name == 'loop.done' }}".to_owned(),
            2..=4 => {
                let condition = self.comparison("(output.data.v | default(0))".to_owned());
                format!("{{{{ {condition} }}}}")
            }
            _ => self.on_data(),
        }
    }

    pub(super) fn on_failure(&mut self) -> String {
        format!("{{{{ {} }}}}", self.random.pick(&FAILURES))
    }

    /// Holds as long as the counter has not come to its limit.
    pub(super) fn limited(&mut self, counter: &str, on_failure: bool) -> String {
        let limit = self.random.between(1, 3);
        let room = format!("({counter} | default(0)) < {limit}");
        if on_failure {
            format!("{{{{ {} and {room} }}}}", self.random.pick(&FAILURES))
        } else {
            format!("{{{{ {room} }}}}")
        }
    }
}

/// Adds one to a counter.
pub(super) fn counted(counter: &str) -> String {
    format!("{{{{ ({counter} | default(0)) + 1 }}}}")
}
