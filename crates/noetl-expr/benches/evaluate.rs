//! How long the common templates take. Run with `cargo bench -p noetl-expr`; each line is the best of several rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use noetl_expr::{Condition, Scope, Template};
use noetl_types::{Value, value};

fn main() {
    let scope = Scope::of(value!({
        "workload": {"n": 5, "name": "Ada", "db": {"host": "alpha", "port": 5432}, "rows": [{"id": 1}, {"id": 2}]},
        "start": {"status": "ok", "count": 3},
        "event": {"name": "step.done", "_names": ["step.done", "call.done", "step.exit"]}
    }));
    let template = |source: Value| Template::compile(&source).expect("a template");
    let condition = |source: &str| Condition::compile(&Value::text(source)).expect("a condition");

    let ten: Vec<(String, Value)> =
        (0..10).map(|at| (format!("k{at}"), Value::text("{{ workload.db.host }}"))).collect();
    for (name, source) in [
        ("lone path", value!("{{ workload.db.host }}")),
        ("lone path with index", value!("{{ workload.rows[1].id }}")),
        ("lone expression", value!("{{ workload.n + 1 }}")),
        ("lone filter", value!("{{ workload.n | default(3) | int }}")),
        ("mixed text", value!("Hello {{ workload.name }}, n={{ workload.n }}")),
        ("loop of two rows", value!("{% for row in workload.rows %}{{ row.id }},{% endfor %}")),
        ("literal map", value!({"a": 1, "b": "x", "c": [1, 2, 3]})),
        ("map of ten templates", Value::map(ten)),
    ] {
        let template = template(source);
        measure(name, || template.render(&scope).expect("a value"));
    }
    for (name, source) in [
        ("condition: path", "workload.n"),
        ("condition: comparison", "workload.n > 3"),
        ("condition: braces", "{{ workload.n > 3 }}"),
        ("condition: event name", "event.name == 'call.done'"),
        ("condition: two comparisons", "workload.n > 3 and start.status == 'ok'"),
    ] {
        let condition = condition(source);
        measure(name, || condition.holds(&scope).expect("a truth value"));
    }
    let source = value!("{{ workload.n | default(3) | int }}");
    measure("compile one expression", || Template::compile(&source).expect("a template"));
}

fn measure<T>(name: &str, mut work: impl FnMut() -> T) {
    const ROUNDS: usize = 20;
    let mut calls = 100_u32;
    while time(&mut work, calls) < Duration::from_millis(5) {
        calls *= 2;
    }
    let best = (0..ROUNDS).map(|_| time(&mut work, calls)).min().unwrap_or_default();
    println!("{name:32} {:>8.0} ns", best.as_nanos() as f64 / f64::from(calls));
}

fn time<T>(work: &mut impl FnMut() -> T, calls: u32) -> Duration {
    let started = Instant::now();
    for _ in 0..calls {
        black_box(work());
    }
    started.elapsed()
}
