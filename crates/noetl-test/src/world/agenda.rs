//! The clock of a case: what will happen, and when. Time passes by going on to the next thing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use noetl_engine::pipeline::TaskCall;
use noetl_types::{CommandKey, ExecutionId, Report, TimerKey, Timestamp, ToolError, Value};

/// A command of a run at one of its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub execution: ExecutionId,
    pub command: CommandKey,
    pub attempt: u16,
}

/// Something that happens at its time.
#[derive(Debug)]
pub enum Happening {
    /// The delay before a call is over.
    CallBegins {
        work: Work,
        call: Box<TaskCall>,
    },
    CallEnds {
        work: Work,
        call: Box<TaskCall>,
        report: Box<Report>,
    },
    TimerFires {
        execution: ExecutionId,
        timer: TimerKey,
    },
    SignalComes {
        execution: ExecutionId,
        name: Arc<str>,
        payload: Value,
    },
    /// A mock answers for a playbook that is called.
    ChildAnswers {
        execution: ExecutionId,
        command: CommandKey,
        child: ExecutionId,
        answer: Result<Value, Box<ToolError>>,
    },
}

/// What lies ahead, in order; what is due at the same time happens in the order in which it was put here.
#[derive(Debug, Default)]
pub struct Agenda {
    ahead: BTreeMap<(Timestamp, u64), Happening>,
    timers: BTreeMap<(ExecutionId, TimerKey), (Timestamp, u64)>,
    made: u64,
}

impl Agenda {
    pub fn put(&mut self, at: Timestamp, happening: Happening) -> (Timestamp, u64) {
        self.made += 1;
        self.ahead.insert((at, self.made), happening);
        (at, self.made)
    }

    /// A run has one timer of each key: the newest.
    pub fn start_timer(&mut self, execution: ExecutionId, timer: TimerKey, at: Timestamp) {
        self.cancel_timer(execution, timer);
        let entry = self.put(at, Happening::TimerFires { execution, timer });
        self.timers.insert((execution, timer), entry);
    }

    pub fn cancel_timer(&mut self, execution: ExecutionId, timer: TimerKey) {
        if let Some(entry) = self.timers.remove(&(execution, timer)) {
            self.ahead.remove(&entry);
        }
    }

    /// A run that is over needs its timers no more.
    pub fn forget_timers(&mut self, execution: ExecutionId) {
        let timers: Vec<TimerKey> =
            self.timers.keys().filter(|(of, _)| *of == execution).map(|(_, timer)| *timer).collect();
        for timer in timers {
            self.cancel_timer(execution, timer);
        }
    }

    pub fn next(&mut self) -> Option<(Timestamp, Happening)> {
        let ((at, _), happening) = self.ahead.pop_first()?;
        if let Happening::TimerFires { execution, timer } = &happening {
            self.timers.remove(&(*execution, *timer));
        }
        Some((at, happening))
    }
}

/// So many seconds later. What is no time at all, or endless, is brought into bounds.
pub fn later(now: Timestamp, seconds: f64) -> Timestamp {
    let seconds = if seconds.is_finite() { seconds.clamp(0.0, 1.0e9) } else { 0.0 };
    now.after(Duration::from_secs_f64(seconds))
}
