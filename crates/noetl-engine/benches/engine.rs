//! What an event costs: `accept`, `apply` and `decide` on long chains and large loops, by how many events came before, and
//! how much memory the state of a large loop takes beside the list it goes over.
//!
//! The budget is 5 µs per event, flat, and 5 MB. Times are medians of small batches, so that a busy machine does not matter
//! much; the mean is printed beside them.

#![expect(clippy::disallowed_methods, reason = "a benchmark looks at the clock, the engine does not")]
#![expect(unsafe_code, reason = "counting allocations takes an allocator, and that is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use noetl_dsl::{Options, Plan, check};
use noetl_engine::{Effect, Input, NoValues, Run, StartRequest, Values, accept, advance, start};
use noetl_types::{
    CommandKey, Event, EventBody, EventId, ExecutionId, Item, Outcome, Report, RunStatus, Timestamp, Value,
};

/// The system's allocator, with a count of the bytes that are in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on as it is; counting does not touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, which is the same here.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BUDGET_MICROS: f64 = 5.0;
const BUDGET_BYTES: usize = 5_000_000;

/// How many events are timed together.
const BATCH: usize = 50;

/// The last event of each window.
const WINDOWS: [usize; 5] = [100, 1_000, 10_000, 100_000, usize::MAX];

/// A run that is fed as fast as it goes. Commands are answered in the order they were issued.
struct Bench {
    plan: Arc<Plan>,
    run: Run,
    now: Timestamp,
    values: Arc<dyn Values>,
    open: VecDeque<(CommandKey, u16)>,
    events: usize,
    /// The number of events after each batch, and what an event in it took.
    batches: Vec<(usize, f64)>,
    in_batch: (usize, Duration),
    /// The most memory that was in use beyond what was before the run, looked at now and then.
    peak: usize,
    before: usize,
}

impl Bench {
    fn new(plan: Arc<Plan>, payload: Value) -> Bench {
        let request = StartRequest {
            execution: ExecutionId(1),
            path: plan.path.clone(),
            payload,
            ..StartRequest::default()
        };
        let now = Timestamp::from_millis(1_700_000_000_000);
        // The plan's index of names is filled at first use, once for all runs.
        assert_eq!(plan.find_step("start_of_no_run"), None);
        let mut bench = Bench {
            plan: plan.clone(),
            run: Run::new(),
            now,
            values: Arc::new(NoValues),
            open: VecDeque::with_capacity(4096),
            events: 0,
            batches: Vec::with_capacity(100_000),
            in_batch: (0, Duration::ZERO),
            peak: 0,
            before: 0,
        };
        bench.before = IN_USE.load(Ordering::Relaxed);
        let started = start(&plan, request, now).expect("the playbook starts");
        bench.feed(Input::Start(Box::new(started)));
        bench
    }

    fn feed(&mut self, input: Input) {
        let begun = Instant::now();
        let decision = accept(&self.run, &self.plan, input, self.now, &self.values);
        let (now, mut recorded) = (self.now, 0);
        let mut record = |run: &Run, body: EventBody| {
            recorded += 1;
            Event { id: EventId(run.seq as i64 + 1), seq: run.seq + 1, at: now, body }
        };
        let (effects, _) = advance(&mut self.run, &self.plan, decision, now, &self.values, &mut record);
        let took = begun.elapsed();
        for effect in effects {
            if let Effect::Dispatch(command) = effect {
                self.open.push_back((command.key, command.attempt));
            }
        }
        self.count(recorded, took);
    }

    fn count(&mut self, events: usize, took: Duration) {
        self.events += events;
        self.in_batch.0 += events;
        self.in_batch.1 += took;
        if self.in_batch.0 >= BATCH {
            self.batches.push((self.events, self.in_batch.1.as_secs_f64() * 1.0e6 / self.in_batch.0 as f64));
            self.in_batch = (0, Duration::ZERO);
            self.peak = self.peak.max(IN_USE.load(Ordering::Relaxed).saturating_sub(self.before));
        }
    }

    fn play(mut self) -> Bench {
        while let Some((command, attempt)) = self.open.pop_front() {
            self.feed(Input::Began { command, attempt, worker: "worker".into() });
            let data = match command.item {
                Item::At(index) => Value::map([("index", Value::from(index)), ("text", "some text".into())]),
                _ => Value::map([("n", Value::from(1))]),
            };
            let outcome = Outcome::finished(Report::success(data));
            self.feed(Input::Ended { command, attempt, outcome });
        }
        assert_eq!(self.run.status, RunStatus::Completed, "{:?}", self.run.error);
        self
    }

    /// Prints what an event costs by how many came before, and whether that is flat and within the budget.
    fn report(&self, name: &str) {
        println!("{name}: {} events", self.events);
        let mut medians = Vec::new();
        let mut from = 0;
        for until in WINDOWS {
            let mut costs: Vec<f64> = self
                .batches
                .iter()
                .filter(|(at, _)| (from..until).contains(at))
                .map(|(_, cost)| *cost)
                .collect();
            if costs.is_empty() {
                continue;
            }
            costs.sort_by(f64::total_cmp);
            let median = costs[costs.len() / 2];
            let mean = costs.iter().sum::<f64>() / costs.len() as f64;
            let last = until.min(self.events);
            println!("  up to event {last:>7}: {median:6.2} µs/event (mean {mean:6.2})");
            medians.push(median);
            from = until;
        }
        let (Some(first), Some(last)) = (medians.first(), medians.last()) else {
            return;
        };
        let worst = medians.iter().copied().fold(0.0, f64::max);
        let verdict = if worst <= BUDGET_MICROS { "within" } else { "OVER" };
        println!(
            "  last/first {:.2}; worst {worst:.2} µs/event, {verdict} the budget of {BUDGET_MICROS} µs",
            last / first
        );
    }
}

fn compile(source: &str) -> Arc<Plan> {
    let checked = check(source, &Options::default());
    checked.plan.unwrap_or_else(|| panic!("the playbook is refused: {:?}", checked.diagnostics))
}

const HEADER: &str = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: bench}\n";

fn chain(steps: usize, with_templates: bool) -> Arc<Plan> {
    let mut source = format!("{HEADER}workflow:\n");
    for at in 0..steps {
        let _ = writeln!(source, "- step: s{at}\n  tool: {{kind: python, code: x}}");
        if with_templates {
            let _ = writeln!(source, "  set: {{ctx.n: '{{{{ output.data.n }}}}'}}");
        }
        if at + 1 < steps {
            let when = if with_templates { ", when: '{{ ctx.n == 1 }}'" } else { "" };
            let _ = writeln!(source, "  next: {{arcs: [{{step: s{}{when}}}]}}", at + 1);
        }
    }
    compile(&source)
}

fn looping(max_in_flight: usize) -> Arc<Plan> {
    compile(&format!(
        "{HEADER}workflow:\n- step: start\n  \
         loop: {{in: '{{{{ workload.items }}}}', iterator: item, spec: {{mode: parallel, max_in_flight: {max_in_flight}}}}}\n  \
         tool: {{kind: python, code: x, input: {{item: '{{{{ iter.item }}}}'}}}}\n  \
         next: {{arcs: [{{step: last}}]}}\n- step: last\n"
    ))
}

fn main() {
    for steps in [1_000, 10_000] {
        Bench::new(chain(steps, false), Value::Null).play().report(&format!("chain of {steps} steps"));
    }
    Bench::new(chain(1_000, true), Value::Null).play().report("chain of 1000 steps with set and a condition");
    for max_in_flight in [100, 1_000] {
        let items = Value::list((0..100_000).map(|at| Value::map([("id", Value::from(at))])));
        let payload = Value::map([("items", items)]);
        let bench = Bench::new(looping(max_in_flight), payload).play();
        bench.report(&format!("loop over 100000 items, {max_in_flight} in flight"));
        let verdict = if bench.peak <= BUDGET_BYTES { "within" } else { "OVER" };
        println!(
            "  state beside the list: at most {} bytes, {verdict} the budget of {BUDGET_BYTES}",
            bench.peak
        );
    }
}
