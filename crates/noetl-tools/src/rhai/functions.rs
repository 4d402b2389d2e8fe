//! What scripts can do beside the language itself: log, tell and pass the time, read and write JSON, search text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ::rhai::{Array, Dynamic, Engine, EvalAltResult, ImmutableString, Position};
use noetl_types::Value;
use tokio::runtime::Handle;

use super::convert::{from_rhai, to_rhai};
use crate::{Call, Deadline, Stream};

pub type Fallible<T> = Result<T, Box<EvalAltResult>>;

pub fn register(engine: &mut Engine, call: &Call, deadline: &Deadline) {
    register_logging(engine, call);
    register_time(engine, deadline);
    engine.register_fn("parse_json", |text: ImmutableString| -> Fallible<Dynamic> {
        let value: Value =
            serde_json::from_str(&text).map_err(|error| format!("this is not JSON: {error}"))?;
        Ok(to_rhai(&value))
    });
    engine.register_fn("to_json", |value: Dynamic| -> Fallible<String> {
        Ok(from_rhai(&value, "value").map_err(|error| error.message)?.to_string())
    });
    engine.register_fn("contains_any", |text: ImmutableString, parts: Array| {
        parts.iter().any(|part| part.as_immutable_string_ref().is_ok_and(|part| text.contains(part.as_str())))
    });
}

fn register_logging(engine: &mut Engine, call: &Call) {
    let (print, debug) = (call.logs.clone(), call.logs.clone());
    engine.on_print(move |text| print.write(Stream::Stdout, &format!("{text}\n")));
    engine.on_debug(move |text, _, position| {
        let place = position.line().map(|line| format!("line {line}: ")).unwrap_or_default();
        debug.write(Stream::Stdout, &format!("{place}{text}\n"));
    });
    for (name, stream) in [
        ("log", Stream::Stdout),
        ("info", Stream::Stdout),
        ("warn", Stream::Stderr),
        ("error", Stream::Stderr),
    ] {
        let logs = call.logs.clone();
        engine.register_fn(name, move |value: Dynamic| logs.write(stream, &format!("{value}\n")));
    }
}

fn register_time(engine: &mut Engine, deadline: &Deadline) {
    engine.register_fn("timestamp", || since_epoch().as_secs() as i64);
    engine.register_fn("timestamp_ms", || since_epoch().as_millis() as i64);
    let pause = |deadline: &Deadline, time: Duration| -> Fallible<()> {
        let slept = Handle::current().block_on(deadline.guard(tokio::time::sleep(time)));
        slept.map_err(|_| stopped())
    };
    let by = deadline.clone();
    engine.register_fn("sleep", move |seconds: i64| pause(&by, Duration::from_secs(seconds.max(0) as u64)));
    let by = deadline.clone();
    engine.register_fn("sleep", move |seconds: f64| {
        pause(&by, Duration::try_from_secs_f64(seconds).unwrap_or_default())
    });
    let by = deadline.clone();
    engine
        .register_fn("sleep_ms", move |millis: i64| pause(&by, Duration::from_millis(millis.max(0) as u64)));
}

/// Ends the script because its time is over.
pub fn stopped() -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE))
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
