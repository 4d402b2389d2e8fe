//! What the whole drive loop does per second: engine, SQLite with full durability, a real worker and real tools, no HTTP.
//!
//! `cargo bench -p noetl-server` measures in a temporary folder, or in the folder that `NOETL_BENCH_FOLDER` names. Words
//! behind `--` choose among `machine`, `rate`, `latency`, `loops`, `chain`, `python`. What the disk and bare SQLite do is
//! measured in the same run, because the budgets follow from it. Processor time is printed beside elapsed time: it says
//! what work costs even when other programs keep the machine busy.

mod control;
mod machine;
mod system;
mod table;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use noetl_server::catalog::Reference;
use noetl_store_sqlite::yardstick;
use noetl_tools::{Call, CodeText, Environment, ToolConfig, Toolbox};
use noetl_types::value;

use system::System;
use table::{Budget, head, line, remark};

/// How much is measured, and where.
struct Bench {
    folder: PathBuf,
    wanted: Vec<String>,
    /// A short run only shows that everything works.
    brief: bool,
    /// Seconds per write that is on the disk when it returns.
    sync: f64,
}

fn main() {
    let brief = !std::env::args().any(|argument| argument == "--bench");
    let temporary;
    let folder = match std::env::var_os("NOETL_BENCH_FOLDER") {
        Some(folder) => folder.into(),
        None => {
            temporary = tempfile::tempdir().expect("a temporary folder can be made");
            temporary.path().to_owned()
        }
    };
    let wanted = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let time = Duration::from_millis(if brief { 20 } else { 1000 });
    let sync = yardstick::sync_seconds(&folder, time).expect("files can be written");
    let bench = Bench { folder, wanted, brief, sync };
    head();
    line("disk: write and sync 4 KiB", sync * 1e6, "µs", Budget::None);
    if bench.wants("machine") {
        line(
            "bare SQLite: commits of one row",
            yardstick::commits_per_second(&bench.folder, time).expect("a database can be made"),
            "/s",
            Budget::None,
        );
        line(
            "bare SQLite: rows in commits of 100",
            yardstick::rows_per_second(&bench.folder, time).expect("a database can be made"),
            "/s",
            Budget::None,
        );
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(bench.run());
}

const ONE_STEP: &str = "workflow:\n  - step: start\n    tool: {kind: noop, result: {ok: true}}\n";

impl Bench {
    fn wants(&self, name: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| wanted == name)
    }

    fn scaled(&self, count: usize) -> usize {
        if self.brief { (count / 100).max(2) } else { count }
    }

    fn system(&self, name: &str) -> System {
        System::start(&self.folder.join(format!("{name}.db")))
    }

    async fn run(&self) {
        if self.wants("rate") {
            self.rate(64, Budget::AtLeast(8000.0)).await;
            self.rate(16, Budget::None).await;
        }
        if self.wants("latency") {
            self.latency().await;
        }
        if self.wants("loops") {
            self.loops().await;
        }
        if self.wants("chain") {
            self.chain().await;
        }
        if self.wants("python") {
            self.python().await;
        }
    }

    /// One-step executions per second, when so many are under way at any time.
    async fn rate(&self, in_flight: usize, budget: Budget) {
        let system = Arc::new(self.system(&format!("rate-{in_flight}")));
        let playbook = system.register("bench/one", ONE_STEP).await;
        let count = self.scaled(if in_flight >= 64 { 60_000 } else { 20_000 });
        repeat(&system, &playbook, count / 20, in_flight).await;
        let spent = Spent::begin(&system);
        repeat(&system, &playbook, count, in_flight).await;
        let spent = spent.end(&system);
        let what = format!("one-step executions, {in_flight} in flight");
        line(&what, count as f64 / spent.seconds, "/s", budget);
        spent.remark(count, "execution");
        end(system).await;
    }

    /// One-step executions one after the other.
    async fn latency(&self) {
        let system = self.system("latency");
        let playbook = system.register("bench/one", ONE_STEP).await;
        let mut times = Vec::new();
        for _ in 0..self.scaled(1000) {
            let start = Instant::now();
            system.run(&playbook).await;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let budget = Budget::AtMost(2.0 * self.sync * 1e3 + 1.0);
        line("one-step execution, start to finished, p50", times[times.len() / 2], "ms", budget);
        line("one-step execution, start to finished, p99", times[times.len() * 99 / 100], "ms", Budget::None);
        system.stop().await;
    }

    async fn loops(&self) {
        let system = self.system("loops");
        let looping = |items: usize| {
            format!(
                "workflow:\n  - step: start\n    loop: {{in: {items}, iterator: i, spec: {{mode: parallel, max_in_flight: 100}}}}\n    \
                 tool: {{kind: noop, result: \"{{{{ i }}}}\"}}\n"
            )
        };
        let thousand = system.register("bench/thousand", &looping(self.scaled(1000))).await;
        let ten_thousand = system.register("bench/ten-thousand", &looping(self.scaled(10_000))).await;
        let nested = system
            .register(
                "bench/nested",
                "workflow:\n  - step: start\n    loop: {in: 10, iterator: n, spec: {mode: parallel}}\n    \
                 tool: {kind: playbook, path: bench/thousand}\n",
            )
            .await;
        let within = system
            .register(
                "bench/within",
                &format!(
                    "workflow:\n  - step: start\n    loop: {{in: 10, iterator: n, spec: {{mode: parallel}}}}\n    tool:\n      \
                     - name: each\n        kind: noop\n        result: \"{{{{ iter.i }}}}\"\n        \
                     loop: {{in: {}, iterator: i, spec: {{mode: parallel, max_in_flight: 100}}}}\n",
                    self.scaled(1000)
                ),
            )
            .await;
        system.run(&thousand).await;
        let items = self.scaled(1000);
        self.once(&system, &thousand, "1,000-item parallel noop loop", items, 0.15).await;
        self.once(&system, &ten_thousand, "10,000-item parallel noop loop", items * 10, 1.5).await;
        self.once(&system, &nested, "10 sub-playbooks × 1,000 items", items * 10, 2.0).await;
        self.once(&system, &within, "10 iterations × a task's loop of 1,000", items * 10, 2.0).await;
        for _ in 0..self.scaled(5) {
            system.run(&nested).await;
        }
        self.once(&system, &nested, "10 sub-playbooks × 1,000 items, after five more", items * 10, 2.0).await;
        system.stop().await;
    }

    /// One run, with its memory.
    async fn once(&self, system: &System, playbook: &Reference, what: &str, items: usize, budget: f64) {
        let before = machine::memory();
        machine::forget_peak();
        let spent = Spent::begin(system);
        system.run(playbook).await;
        let spent = spent.end(system);
        line(what, spent.seconds, "s", Budget::AtMost(budget));
        spent.remark(items, "item");
        if let (Some((before, _)), Some((after, peak))) = (before, machine::memory()) {
            remark(&format!("memory {before:.0} MiB before, {after:.0} MiB after, {peak:.0} MiB at most"));
        }
    }

    async fn chain(&self) {
        let system = self.system("chain");
        let budget = 40.0 * (self.sync + 0.0002);
        let tool = |step: usize| format!("{{kind: noop, result: {{n: {step}}}}}");
        let playbook = system.register("bench/chain", &chain(tool)).await;
        let seconds = self.median(&system, &playbook, 11).await;
        line("chain of 40 noop steps", seconds * 1e3, "ms", Budget::AtMost(budget * 1e3));
        // What reaches outside, or may, goes to a worker: its command is durable before it begins.
        let code = |step: usize| format!("{{kind: rhai, code: \"#{{n: {step}}}\"}}");
        let playbook = system.register("bench/worked-chain", &chain(code)).await;
        let seconds = self.median(&system, &playbook, 11).await;
        line("chain of 40 steps for a worker", seconds * 1e3, "ms", Budget::AtMost(budget * 1e3));
        // A noop without settings asks nothing of a worker.
        let playbook = system.register("bench/bare-chain", &chain(|_| "{kind: noop}".to_owned())).await;
        let seconds = self.median(&system, &playbook, 11).await;
        line("chain of 40 steps that only lead on", seconds * 1e3, "ms", Budget::None);
        system.stop().await;
    }

    async fn python(&self) {
        let system = self.system("python");
        let code = |step: usize| format!("{{kind: python, code: \"result = {{'n': {step}}}\"}}");
        let playbook = system.register("bench/python", &chain(code)).await;
        system.run(&playbook).await;
        let seconds = self.median(&system, &playbook, 5).await;
        line("40 Python steps, one after the other", seconds * 1e3, "ms", Budget::AtMost(200.0));
        let bare = bare_python_call(if self.brief { 3 } else { 40 }).await;
        let over = seconds / 40.0 - bare;
        line("bare call of the Python tool, p50", bare * 1e3, "ms", Budget::None);
        line("Python step beyond the bare call", over * 1e3, "ms", Budget::AtMost(3.0));
        system.stop().await;
    }

    async fn median(&self, system: &System, playbook: &Reference, rounds: usize) -> f64 {
        let mut times = Vec::new();
        for _ in 0..if self.brief { 1 } else { rounds } {
            let start = Instant::now();
            system.run(playbook).await;
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}

/// Runs a playbook so many times, never more than so many at once.
async fn repeat(system: &Arc<System>, playbook: &Reference, count: usize, in_flight: usize) {
    let left = Arc::new(AtomicUsize::new(count));
    let clients: Vec<_> = (0..in_flight)
        .map(|_| {
            let (system, playbook, left) = (system.clone(), playbook.clone(), left.clone());
            tokio::spawn(async move {
                let take = |left: usize| left.checked_sub(1);
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                    system.run(&playbook).await;
                }
            })
        })
        .collect();
    for client in clients {
        client.await.expect("no client panics");
    }
}

/// Steps `s0` to `s39`, each leading to the next.
fn chain(tool: impl Fn(usize) -> String) -> String {
    let mut text = "workflow:\n".to_owned();
    for step in 0..40 {
        let name = if step == 0 { "start".to_owned() } else { format!("s{step}") };
        text.push_str(&format!("  - step: {name}\n    tool: {}\n", tool(step)));
        if step < 39 {
            text.push_str(&format!("    next: {{arcs: [{{step: s{}}}]}}\n", step + 1));
        }
    }
    text
}

async fn bare_python_call(calls: usize) -> f64 {
    let mut config = ToolConfig::default();
    config.process.environment = Environment::inherited(std::env::vars(), &[]);
    let toolbox = Toolbox::builtin(config);
    let mut times = Vec::new();
    for _ in 0..=calls {
        let mut call = Call::new(value!({}));
        call.code = Some(CodeText::new("result = {'n': 1}"));
        let start = Instant::now();
        let report = toolbox.call("python", call).await;
        assert!(report.error.is_none(), "{report:?}");
        times.push(start.elapsed().as_secs_f64());
    }
    // The first call starts the interpreter.
    times.remove(0);
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

async fn end(system: Arc<System>) {
    match Arc::try_unwrap(system) {
        Ok(system) => system.stop().await,
        Err(_) => panic!("all clients have ended"),
    }
}

/// Time and events that something takes.
struct Spent {
    began: Instant,
    processor: Option<f64>,
    events: u64,
    seconds: f64,
}

impl Spent {
    fn begin(system: &System) -> Spent {
        Spent {
            processor: machine::processor_seconds(),
            events: system.events(),
            began: Instant::now(),
            seconds: 0.0,
        }
    }

    fn end(mut self, system: &System) -> Spent {
        self.seconds = self.began.elapsed().as_secs_f64();
        self.events = system.events() - self.events;
        self.processor =
            machine::processor_seconds().zip(self.processor).map(|(after, before)| after - before);
        self
    }

    fn remark(&self, count: usize, unit: &str) {
        let events = self.events as f64 / count as f64;
        let Some(processor) = self.processor else {
            return remark(&format!("{events:.1} events per {unit}"));
        };
        remark(&format!(
            "{events:.1} events per {unit}, processor time {:.1} µs per {unit}, {:.1} µs per event",
            processor * 1e6 / count as f64,
            processor * 1e6 / self.events as f64,
        ));
    }
}
