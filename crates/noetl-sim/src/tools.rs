//! The tools of the simulation. `noop` does what it does; claims take rows from tables that exist only here; every other
//! kind makes something up, and fails now and then.

use std::collections::BTreeMap;

use noetl_engine::pipeline::TaskCall;
use noetl_types::{CommandKey, ErrorKind, ExecutionId, Item, Map, Report, ToolError, Value, VisitId};

use crate::random::Random;

#[derive(Debug)]
pub struct Tools {
    /// How many calls in a thousand fail.
    pub errors: usize,
    tables: BTreeMap<(ExecutionId, VisitId), Table>,
}

/// Rows for the claims of one visit of a cursor loop.
#[derive(Debug)]
struct Table {
    left: usize,
    next_id: usize,
}

const ERRORS: [ErrorKind; 6] = [
    ErrorKind::Connection,
    ErrorKind::Timeout,
    ErrorKind::ServerError,
    ErrorKind::ClientError,
    ErrorKind::Exception,
    ErrorKind::Auth,
];

impl Tools {
    pub fn new(errors: usize) -> Tools {
        Tools { errors, tables: BTreeMap::new() }
    }

    pub fn answer(
        &mut self,
        random: &mut Random,
        execution: ExecutionId,
        key: CommandKey,
        call: &TaskCall,
    ) -> Report {
        let is_claim = matches!(key.item, Item::Claim(_));
        if let Some(report) = noop(call).filter(|_| !is_claim) {
            return report;
        }
        let mut report = if random.chance(self.errors) {
            error(random, call)
        } else if is_claim {
            Report::success(self.claim(random, (execution, key.visit), call))
        } else {
            Report::success(data(random, call))
        };
        report.duration_ms = random.below(100_000) as f64 / 7.0;
        report
    }

    /// Takes as many rows as the statement asks for at most.
    fn claim(&mut self, random: &mut Random, place: (ExecutionId, VisitId), call: &TaskCall) -> Value {
        let table = self.tables.entry(place).or_insert_with(|| Table { left: random.below(8), next_id: 0 });
        let statement = call.config.get("query").and_then(Value::as_str).unwrap_or_default();
        let limit: usize = statement.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let count = table.left.min(limit);
        let rows = (table.next_id..table.next_id + count).map(|id| Value::map([("id", Value::from(id))]));
        let rows = Value::list(rows);
        table.left -= count;
        table.next_id += count;
        Value::map([
            ("rows", rows),
            ("row_count", Value::from(count)),
            ("columns", Value::list(["id".into()])),
        ])
    }
}

fn error(random: &mut Random, call: &TaskCall) -> Report {
    let kind = *random.pick(&ERRORS);
    let mut error = ToolError::new(kind, format!("the {} tool gives up", call.kind));
    error.answered = random.chance(400);
    let mut report = Report::failure(error);
    if &*call.kind == "http" {
        let status = *random.pick(&[404, 429, 500, 503]);
        report.facets = Value::map([("http", Value::map([("status", Value::from(status))]))]);
        report.data = Value::map([("body", Value::from("not today"))]).into();
    }
    report
}

fn data(random: &mut Random, call: &TaskCall) -> Value {
    let mut map = Map::new();
    for key in ["at", "item"] {
        if let Some(value) = call.input.get(key) {
            map.insert(key.into(), value.clone());
        }
    }
    if map.is_empty() {
        // Results come in all shapes, and one that reads like an error is data all the same.
        match random.below(12) {
            0 => return Value::Null,
            1 => return Value::from(random.below(100)),
            2 => return Value::list([Value::from(1.5), "two".into()]),
            3 => return Value::from("plain text"),
            4 => {
                map.insert("status".into(), "error".into());
                map.insert("error".into(), "only data".into());
            }
            _ => {}
        }
    }
    map.insert("v".into(), Value::from(random.below(6)));
    if random.chance(200) {
        let filler = "x".repeat(random.below(120));
        map.insert("filler".into(), Value::list([filler.into(), Value::from(random.below(9) as f64 / 3.0)]));
    }
    map.into()
}

/// What a call of `noop` comes to.
pub fn noop(call: &TaskCall) -> Option<Report> {
    (&*call.kind == "noop").then(|| {
        let data = call.config.get("result").or_else(|| call.config.get("message")).cloned();
        Report::success(data.unwrap_or_default())
    })
}
