//! One case: its files, what is done with them, and whether the outcome is the expected one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use noetl_dsl::Diagnostic;
use noetl_engine::Run;
use noetl_types::{ExecutionId, Slot, StepStatus, Value as Data};
use serde_json::{Map, Value, json};

use super::matching::{brief, mismatch};
use super::mock::Mock;
use crate::support::Cluster;

pub struct Case {
    pub name: String,
    folder: PathBuf,
    spec: Value,
}

type Outcome = Result<(), String>;

impl Case {
    pub fn read(folder: &Path) -> Case {
        let part = |path: &Path| path.file_name().expect("a case has a name").to_string_lossy().into_owned();
        let area = folder.parent().expect("a case is in an area");
        let text = std::fs::read_to_string(folder.join("case.json")).expect("a case has a case.json");
        Case {
            name: format!("{}/{}", part(area), part(folder)),
            folder: folder.to_owned(),
            spec: serde_json::from_str(&text).expect("case.json is JSON"),
        }
    }

    pub fn needs(&self) -> Vec<String> {
        let needs = self.spec["needs"].as_array().cloned().unwrap_or_default();
        needs.iter().filter_map(|need| need.as_str().map(str::to_owned)).collect()
    }

    pub async fn run(&self, cluster: &Cluster, mock: &Mock, number: usize) -> Outcome {
        let limit = Duration::from_secs_f64(self.spec["timeout_s"].as_f64().unwrap_or(30.0) * 3.0);
        let scratch = tempfile::tempdir().expect("there is room for a temporary folder");
        let uid = format!("u{number:03}");
        let names = vec![
            ("mock", mock.url()),
            ("prefix", format!("conformance/{}", self.name)),
            ("files", self.folder.canonicalize().expect("the case exists").to_string_lossy().into_owned()),
            ("tmp", scratch.path().to_string_lossy().into_owned()),
            ("uid", uid),
        ];
        let trial = Trial { case: self, cluster, mock, names };
        tokio::time::timeout(limit, trial.go()).await.unwrap_or_else(|_| Err("it took too long".to_owned()))
    }
}

/// A case with its placeholders filled in.
struct Trial<'a> {
    case: &'a Case,
    cluster: &'a Cluster,
    mock: &'a Mock,
    names: Vec<(&'static str, String)>,
}

impl Trial<'_> {
    fn fill(&self, text: &str) -> String {
        let fill =
            |text: String, (name, value): &(&str, String)| text.replace(&format!("${{{name}}}"), value);
        self.names.iter().fold(text.to_owned(), fill)
    }

    fn fill_all(&self, value: &Value) -> Value {
        serde_json::from_str(&self.fill(&value.to_string())).expect("placeholders stand for plain words")
    }

    fn text(&self, file: &str) -> String {
        self.fill(&std::fs::read_to_string(self.case.folder.join(file)).expect("the files of a case exist"))
    }

    fn path(&self) -> String {
        self.fill("${prefix}/main")
    }

    async fn go(&self) -> Outcome {
        let spec = self.fill_all(&self.case.spec);
        let expect = &spec["expect"];
        for credential in spec["credentials"].as_array().into_iter().flatten() {
            let text =
                |key: &str| credential[key].as_str().expect("a credential has a name and a type").to_owned();
            self.cluster.server.add_credential(
                &text("name"),
                &text("type"),
                Data::from_json(&credential["data"]),
            );
        }
        for file in spec["register"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.cluster
                .server
                .register(&self.text(file))
                .map_err(|found| format!("{file} is refused: {found:?}"))?;
        }
        let registered = self.cluster.server.register(&self.text("playbook.yaml"));
        match (expect["status"].as_str(), registered) {
            (Some("register_error"), Ok(_)) => Err("registration should have been refused".to_owned()),
            (Some("register_error"), Err(found)) => {
                contains_all(&expect["error_contains"], &format!("{found:?}"))?;
                self.check_diagnostics(expect, &found)
            }
            (_, Err(found)) => Err(format!("the playbook is refused: {found:#?}")),
            (_, Ok(found)) => {
                self.check_diagnostics(expect, &found)?;
                let execution = self.execute(&spec).await?;
                let expect = expect.to_string().replace("${execution_id}", &execution.to_string());
                let expect = serde_json::from_str(&expect).expect("an id is a plain word");
                self.check(execution, &expect).await
            }
        }
    }

    async fn execute(&self, spec: &Value) -> Result<ExecutionId, String> {
        let server = &self.cluster.server;
        let payload = match &spec["payload"] {
            Value::Null => json!({}),
            payload => payload.clone(),
        };
        let start = |payload: &Value| {
            server
                .start(&self.path(), Data::from_json(payload), spec["execute"]["version"].as_i64())
                .map_err(|error| format!("it can't start: {error}"))
        };
        let execution = start(&payload)?;
        if let Some(key) = spec["cancel_when"]["key"].as_str() {
            let calls = spec["cancel_when"]["calls"].as_u64();
            while self.mock.stats(key).await["calls"].as_u64() < calls {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            if !server.cancel(execution) {
                return Err("it was over before it could be cancelled".to_owned());
            }
        }
        server.end_of(execution).await;
        if spec["cancel_after_end"] == true && server.cancel(execution) {
            return Err("a finished run can be cancelled".to_owned());
        }
        let Some(changes) = spec["rerun_with"].as_object() else {
            return Ok(execution);
        };
        let mut payload = payload;
        payload.as_object_mut().expect("a payload is a map").extend(changes.clone());
        let again = start(&payload)?;
        server.end_of(again).await;
        Ok(again)
    }

    async fn check(&self, execution: ExecutionId, expect: &Value) -> Outcome {
        let run = self.cluster.server.run(execution);
        let events = self.cluster.server.events(execution);
        let steps = step_records(&run);
        let errors = json!([run.error.as_ref().map(|error| error.to_value().to_json()), steps]);
        if expect["status"].as_str() != Some(run.status.as_str()) {
            return Err(format!("status is {}, expected {}; {:?}", run.status, expect["status"], run.error));
        }
        for (name, want) in expect["steps"].as_object().into_iter().flatten() {
            none(mismatch(want, steps.get(name), &format!("step {name}")))?;
        }
        for name in texts(&expect["not_run"]) {
            if run
                .steps
                .get(name)
                .is_some_and(|record| record.runs > 0 || record.status != StepStatus::Skipped)
            {
                return Err(format!("step {name} should not have run"));
            }
        }
        for pair in expect["order"].as_array().into_iter().flatten() {
            let [earlier, later] = texts(pair)[..] else {
                return Err("an order has two steps".to_owned());
            };
            let ended = run.steps.get(earlier).and_then(|record| record.ended_at);
            let started = run.steps.get(later).map(|record| record.started_at);
            if ended.is_none() || ended > started {
                return Err(format!("{earlier} should have ended before {later} started"));
            }
        }
        if let Some(want) = expect.get("result") {
            none(mismatch(want, Some(&run.result().map_or(Value::Null, visible)), "result"))?;
        }
        contains_all(&expect["error_contains"], &format!("{errors} {events:?}"))?;
        self.check_mock(expect).await?;
        self.check_children(execution, expect).await?;
        let events: Vec<String> =
            events.iter().map(|event| serde_json::to_string(event).expect("events are JSON")).collect();
        for secret in texts(&expect["absent"]) {
            if events.iter().any(|event| event.contains(secret)) {
                return Err(format!("{secret} is in an event"));
            }
        }
        let limit = expect["max_event_bytes"].as_u64().unwrap_or(u64::MAX);
        if let Some(event) = events.iter().find(|event| event.len() as u64 > limit) {
            return Err(format!("an event has {} bytes: {event:.200}", event.len()));
        }
        Ok(())
    }

    async fn check_mock(&self, expect: &Value) -> Outcome {
        for key in texts(&expect["quiet"]) {
            while self.mock.stats(key).await["in_flight"] != 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let before = self.mock.stats(key).await["calls"].clone();
            tokio::time::sleep(Duration::from_millis(500)).await;
            let after = self.mock.stats(key).await["calls"].clone();
            if before != after {
                return Err(format!("there were calls of {key} after the end: {before}, then {after}"));
            }
        }
        for (key, want) in expect["mock"].as_object().into_iter().flatten() {
            none(mismatch(want, Some(&self.mock.stats(key).await), &format!("mock {key}")))?;
        }
        Ok(())
    }

    async fn check_children(&self, execution: ExecutionId, expect: &Value) -> Outcome {
        for (path, want) in expect["children"].as_object().into_iter().flatten() {
            let children = self.cluster.server.children(execution, path);
            let count = want.get("count").cloned().unwrap_or_else(|| json!({"$gte": 1}));
            none(mismatch(&count, Some(&json!(children.len())), &format!("children of {path}")))?;
            for child in children {
                let status = self.cluster.server.end_of(child).await;
                if want["status"].as_str().is_some_and(|want| want != status.as_str()) {
                    return Err(format!("child {child} is {status}, expected {}", want["status"]));
                }
            }
        }
        Ok(())
    }

    fn check_diagnostics(&self, expect: &Value, found: &[Diagnostic]) -> Outcome {
        let source = self.text("playbook.yaml");
        for want in expect["diagnostics"].as_array().into_iter().flatten() {
            let line = want["at"].as_str().map(|mark| {
                1 + source.lines().position(|line| line.contains(mark)).expect("the mark is in the playbook")
            });
            let within = want["within"].as_u64().unwrap_or(0);
            let matches = |diagnostic: &&Diagnostic| {
                let severity = want["severity"].as_str().unwrap_or("any");
                let words = want["contains"].as_str().unwrap_or_default().to_lowercase();
                (severity == "any" || severity == diagnostic.severity.to_string())
                    && line.is_none_or(|line| u64::from(diagnostic.line).abs_diff(line as u64) <= within)
                    && diagnostic.message.to_lowercase().contains(&words)
            };
            if !found.iter().any(|diagnostic| matches(&diagnostic)) {
                return Err(format!("no diagnostic on line {line:?} is like {want}: {found:#?}"));
            }
        }
        Ok(())
    }
}

fn none(problem: Option<String>) -> Outcome {
    problem.map_or(Ok(()), Err)
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn contains_all(wanted: &Value, text: &str) -> Outcome {
    let wanted = wanted.as_str().map_or_else(|| texts(wanted), |one| vec![one]);
    let text = text.to_lowercase();
    match wanted.iter().find(|part| !text.contains(&part.to_lowercase())) {
        Some(part) => Err(format!("no error says {part:?}: {}", brief(&Value::String(text)))),
        None => Ok(()),
    }
}

/// The records of steps as clients see them.
fn step_records(run: &Run) -> Map<String, Value> {
    let record = |record: &noetl_engine::StepRecord| {
        json!({
            "runs": record.runs,
            "status": record.status.as_str(),
            "result": record.result.as_ref().map(visible),
            "error": record.error.as_ref().map(|error| error.to_value().to_json()),
        })
    };
    run.steps.iter().map(|(name, step)| (name.to_string(), record(step))).collect()
}

/// A value, reduced to its small fields and its address when it is stored aside.
fn visible(slot: &Slot) -> Value {
    match slot {
        Slot::Inline(value) => value.to_json(),
        Slot::Stored(stored) => {
            let mut fields = stored.extract.to_json().as_object().cloned().unwrap_or_default();
            fields.insert("_ref".to_owned(), json!(stored.uri));
            fields.insert("_store".to_owned(), json!(stored.store));
            fields.into()
        }
    }
}
