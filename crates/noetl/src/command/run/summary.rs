//! What came of a run, for programs.

use noetl_engine::Run;
use noetl_types::{Slot, Value};
use serde_json::json;

use crate::embedded::Embedded;

/// The whole value, wherever it is kept.
pub async fn load(embedded: &Embedded, slot: &Slot) -> anyhow::Result<Value> {
    Ok(match slot {
        Slot::Inline(value) => value.clone(),
        Slot::Stored(stored) => embedded.drive.values().load(&**embedded.drive.store(), stored).await?,
    })
}

/// The run as one object: `execution_id`, `path`, `status`, `result`, `error`, `steps`.
pub fn json(run: &Run, result: &Value) -> serde_json::Value {
    let steps: Vec<serde_json::Value> = run
        .steps
        .iter()
        .map(|(name, step)| {
            json!({
                "name": name,
                "status": step.status,
                "runs": step.runs,
                "result": step.result.as_ref().map(shown),
                "error": step.error,
                "started_at": step.started_at.to_string(),
                "ended_at": step.ended_at.map(|at| at.to_string()),
            })
        })
        .collect();
    json!({
        "execution_id": run.execution().to_string(),
        "path": run.started.path,
        "status": run.status,
        "result": result,
        "error": run.error,
        "duration_ms": run.ended_at.map(|end| end.since(run.started_at).as_secs_f64() * 1000.0),
        "steps": steps,
    })
}

/// A step's result: whole when it is small, else its small fields with the reference.
fn shown(slot: &Slot) -> serde_json::Value {
    match slot {
        Slot::Inline(value) => value.to_json(),
        Slot::Stored(stored) => {
            let mut fields = match stored.extract.to_json() {
                serde_json::Value::Object(fields) => fields,
                _ => serde_json::Map::new(),
            };
            fields.insert("_ref".to_owned(), stored.uri.as_str().into());
            fields.insert("_store".to_owned(), stored.store.as_str().into());
            fields.insert("_bytes".to_owned(), stored.bytes.into());
            fields.into()
        }
    }
}
