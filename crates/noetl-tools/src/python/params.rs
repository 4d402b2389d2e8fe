//! The settings of a python step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use noetl_types::{ToolError, Value};

use crate::Fields;
use crate::fields::scalar_text;

pub struct PythonParams {
    /// The interpreter that the step names: a program, or the one of a virtual environment.
    pub interpreter: Option<PathBuf>,
    pub libs: Value,
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    pub sys_path: Vec<String>,
    pub timeout: Option<Duration>,
}

impl PythonParams {
    pub fn read(fields: Fields<'_>) -> Result<PythonParams, ToolError> {
        let dependencies = fields.map("deps")?;
        let named = |key: &str| dependencies.and_then(|map| map.get(key)).filter(|value| !value.is_null());
        let venv = fields.text("venv")?.or_else(|| named("venv_path").and_then(scalar_text));
        let interpreter = match (fields.text("python")?, venv) {
            (Some(program), _) => Some(PathBuf::from(program)),
            (None, Some(venv)) => Some(Path::new(&venv).join("bin/python")),
            (None, None) => None,
        };
        let sys_path = match named("sys_path") {
            Some(Value::List(paths)) => paths.iter().filter_map(scalar_text).collect(),
            other => other.and_then(scalar_text).into_iter().collect(),
        };
        let libs = match fields.value("libs") {
            None => Value::list([]),
            Some(libs @ (Value::Map(_) | Value::List(_))) => libs.clone(),
            Some(other) => return Err(fields.wrong("libs", "a map or a list", other)),
        };
        Ok(PythonParams {
            interpreter,
            libs,
            env: fields.text_map("env")?,
            cwd: fields.text("cwd")?.unwrap_or_default().into(),
            sys_path,
            timeout: fields.seconds("timeout_seconds")?,
        })
    }
}
