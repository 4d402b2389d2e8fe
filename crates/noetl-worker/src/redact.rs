//! Keeps the secrets that a command knew of out of everything it reports.

use noetl_tools::Secrets;
use noetl_types::{Assignment, Await, Outcome, Report, Slot, Value};

/// The outcome with every known secret masked. Data that merely looks secret is left alone.
pub(crate) fn redact(outcome: Outcome, secrets: &Secrets) -> Outcome {
    if secrets.is_empty() {
        return outcome;
    }
    match outcome {
        Outcome::Finished { report, sets, attempts, decisions } => Outcome::Finished {
            report: redact_report(report, secrets),
            sets: redact_sets(sets, secrets),
            attempts,
            decisions,
        },
        Outcome::Suspended { pipeline, on, sets } => Outcome::Suspended {
            pipeline: secrets.redact_value(&pipeline),
            on: redact_await(on, secrets),
            sets: redact_sets(sets, secrets),
        },
    }
}

fn redact_report(report: Report, secrets: &Secrets) -> Report {
    let error = report.error.map(|mut error| {
        secrets.redact_error(&mut error);
        error
    });
    Report {
        data: redact_slot(report.data, secrets),
        error,
        facets: secrets.redact_value(&report.facets),
        duration_ms: report.duration_ms,
    }
}

fn redact_sets(sets: Vec<Assignment>, secrets: &Secrets) -> Vec<Assignment> {
    sets.into_iter()
        .map(|set| Assignment { path: set.path, value: redact_slot(set.value, secrets) })
        .collect()
}

fn redact_slot(slot: Slot, secrets: &Secrets) -> Slot {
    match slot {
        Slot::Inline(value) => Slot::Inline(secrets.redact_value(&value)),
        stored @ Slot::Stored(_) => stored,
    }
}

/// What is asked of the outside is recorded too.
fn redact_await(on: Await, secrets: &Secrets) -> Await {
    let masked = |value: &Value| secrets.redact_value(value);
    match on {
        sleep @ Await::Sleep { .. } => sleep,
        Await::Signal { name, seconds, prompt } => Await::Signal { name, seconds, prompt: masked(&prompt) },
        Await::Child { path, catalog_id, version, payload, return_step, detached, seconds } => Await::Child {
            path,
            catalog_id,
            version,
            payload: masked(&payload),
            return_step,
            detached,
            seconds,
        },
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::{ErrorKind, ToolError, value};

    use super::*;

    #[test]
    fn no_part_of_an_outcome_keeps_a_secret() {
        let secrets = Secrets::new(["hush-hush-7"]);
        let report = Report {
            data: value!({"echo": "Bearer hush-hush-7", "n": 7}).into(),
            error: Some(ToolError::new(ErrorKind::Auth, "hush-hush-7 was refused")),
            facets: value!({"http": {"headers": {"x": "hush-hush-7"}}}),
            duration_ms: 1.0,
        };
        let sets = vec![Assignment { path: "key".into(), value: Value::text("hush-hush-7").into() }];
        let outcome = Outcome::Finished { report, sets: sets.clone(), attempts: 1, decisions: Vec::new() };
        let Outcome::Finished { report, .. } = &redact(outcome.clone(), &secrets) else {
            panic!("a finished outcome stays finished");
        };
        assert_eq!(report.data.as_inline().and_then(|data| data.get("n")), Some(&Value::Int(7)));
        let on = Await::Child {
            path: "p".into(),
            catalog_id: None,
            version: None,
            payload: value!({"key": "hush-hush-7"}),
            return_step: None,
            detached: false,
            seconds: None,
        };
        let suspended = Outcome::Suspended { pipeline: value!({"results": ["hush-hush-7"]}), on, sets };
        for outcome in [outcome, suspended] {
            assert!(format!("{outcome:?}").contains("hush"), "the test has a secret to lose");
            let masked = format!("{:?}", redact(outcome, &secrets));
            assert!(!masked.contains("hush"), "{masked}");
        }
    }

    #[test]
    fn without_secrets_nothing_changes() {
        let outcome = Outcome::finished(Report::success(value!({"password": "abc"})));
        assert_eq!(redact(outcome.clone(), &Secrets::default()), outcome);
    }
}
