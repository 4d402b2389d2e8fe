//! How a run begins: the workload is settled once, from the playbook's defaults and the payload.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_expr::Scope;
use noetl_types::{ErrorKind, ExecutionId, Kept, Map, ParentLink, Started, Timestamp, ToolError, Value};

/// A request to run a playbook.
#[derive(Clone, Debug, Default)]
pub struct StartRequest {
    pub execution: ExecutionId,
    pub path: Arc<str>,
    pub version: i64,
    pub catalog_id: i64,
    /// Laid over the playbook's workload. It is data: templates in it are not evaluated.
    pub payload: Value,
    /// Begin at this step instead of the playbook's entry.
    pub entry: Option<Arc<str>>,
    /// Begin at these steps too.
    pub also_at: Vec<Arc<str>>,
    /// The run that this one repeats, with what it takes over from there.
    pub rerun_of: Option<(ExecutionId, Kept)>,
    pub parent: Option<ParentLink>,
    pub meta: Value,
}

/// The facts a run starts with, or why it can't start.
pub fn start(plan: &Plan, request: StartRequest, now: Timestamp) -> Result<Started, ToolError> {
    let payload = match &request.payload {
        Value::Null => Value::Map(Arc::default()),
        Value::Map(_) => request.payload.clone(),
        other => {
            let message =
                format!("the payload must be a map of names to values, not a {}", other.type_name());
            return Err(ToolError::new(ErrorKind::Config, message));
        }
    };
    let entry = match request.entry {
        None => plan.steps[plan.executor.entry].name.clone(),
        Some(name) => known_step(plan, &name)?,
    };
    let also_at = request.also_at.iter().map(|name| known_step(plan, name)).collect::<Result<_, _>>()?;
    let (rerun_of, kept) = request.rerun_of.map_or((None, Kept::default()), |(of, kept)| (Some(of), kept));
    let mut started = Started {
        execution: request.execution,
        path: request.path,
        version: request.version,
        catalog_id: request.catalog_id,
        workload: Value::Null,
        payload: None,
        entry: Some(entry),
        also_at,
        rerun_of,
        kept,
        parent: request.parent,
        meta: request.meta,
    };
    let defaults = plan
        .workload
        .render(&workload_scope(&payload, &started, now))
        .map_err(|error| ToolError::new(ErrorKind::Template, format!("workload: {error}")))?;
    match defaults {
        Value::Null => started.workload = payload,
        defaults => {
            started.workload = defaults.merged_deeply(&payload);
            started.payload = (started.workload != payload).then_some(payload);
        }
    }
    Ok(started)
}

fn known_step(plan: &Plan, name: &str) -> Result<Arc<str>, ToolError> {
    let found = plan.find_step(name).map(|at| plan.steps[at].name.clone());
    found.ok_or_else(|| {
        let message = format!("there is no step '{name}' in playbook '{}' to start at", plan.path);
        ToolError::new(ErrorKind::Config, message)
    })
}

fn workload_scope(payload: &Value, started: &Started, now: Timestamp) -> Scope {
    let mut names: Map = payload.as_map().cloned().unwrap_or_default();
    if let Some(identity) = identity_of(started).as_map() {
        for (key, value) in identity {
            names.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    names.insert("workload".into(), payload.clone());
    names.insert("payload".into(), payload.clone());
    let mut scope = Scope::of(names.into());
    scope.now = now;
    scope
}

/// What templates can say about the run itself. Ids are text: they do not fit a double.
pub fn identity_of(started: &Started) -> Value {
    let id = Value::text(started.execution.to_string());
    Value::map([
        ("execution_id", id.clone()),
        ("catalog_id", Value::text(started.catalog_id.to_string())),
        ("path", Value::Text(started.path.clone())),
        ("version", started.version.into()),
        ("job", Value::map([("uuid", id.clone()), ("execution_id", id.clone()), ("id", id)])),
    ])
}
