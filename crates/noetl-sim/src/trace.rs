//! What happened in a simulation, in words, when someone wants to read it.

#[derive(Debug, Default)]
pub struct Trace {
    on: bool,
    lines: Vec<String>,
}

impl Trace {
    pub fn new(on: bool) -> Trace {
        Trace { on, lines: Vec::new() }
    }

    /// Notes a line; its words are only put together when they are wanted.
    pub fn say(&mut self, line: impl FnOnce() -> String) {
        if self.on {
            self.lines.push(line());
        }
    }

    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }
}
