//! What is fixed when a step is entered: its timeout, and the items and limits of its loop.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::{Loop, LoopFailure, LoopMode, LoopSource, Step};
use noetl_expr::{Scope, Template};
use noetl_types::{CursorEntry, ErrorKind, LoopEntry, LoopItems, Slot, Timestamp, ToolError, Value};

use super::enter::template_error;
use super::route::data_scope;
use crate::run::Run;
use crate::values::Resolver;

/// Items of a parallel loop without `max_in_flight` that may be under way at once. Workers take far fewer at a time, and
/// it keeps the state small.
const DEFAULT_IN_FLIGHT: u32 = 1000;

pub struct Settings {
    pub timeout: Option<f64>,
    pub looping: Option<LoopEntry>,
}

pub fn settings(
    run: &Run,
    plan: &Plan,
    step: &Step,
    from: Option<&Arc<str>>,
    now: Timestamp,
    resolver: &Arc<Resolver>,
) -> Result<Settings, ToolError> {
    if step.timeout.is_none() && step.looping.is_none() {
        return Ok(Settings { timeout: None, looping: None });
    }
    let paths = step
        .timeout
        .iter()
        .chain(step.looping.iter().flat_map(templates))
        .flat_map(|template| template.paths());
    let scope = data_scope(run, plan, paths, from, resolver).scope(now);
    let timeout = match &step.timeout {
        Some(template) => Some(number(template, "spec.timeout", &scope)?),
        None => None,
    };
    let looping = match &step.looping {
        Some(looping) => Some(entry(looping, &scope)?),
        None => None,
    };
    Ok(Settings { timeout, looping })
}

fn templates(looping: &Loop) -> Vec<&Template> {
    let mut templates = Vec::new();
    match &looping.source {
        LoopSource::In(source) => templates.push(source),
        LoopSource::Cursor(cursor) => {
            templates.extend(cursor.max_rows.iter().chain(cursor.row_concurrency.iter()));
        }
    }
    templates.extend(looping.max_in_flight.iter());
    templates
}

fn entry(looping: &Loop, scope: &Scope) -> Result<LoopEntry, ToolError> {
    let limit = match &looping.max_in_flight {
        Some(template) => Some(count(template, "loop.spec.max_in_flight", scope)?),
        None => None,
    };
    match &looping.source {
        LoopSource::In(source) => {
            let value = source.render(scope).map_err(|error| template_error("loop.in", &error))?;
            let (items, total) = items(value)?;
            let max_in_flight = match looping.mode {
                LoopMode::Sequential => 1,
                _ => limit.unwrap_or(DEFAULT_IN_FLIGHT),
            };
            let failures_allowed = failures_allowed(looping.on_error, total);
            Ok(LoopEntry { items, total: Some(total), max_in_flight, failures_allowed, cursor: None })
        }
        LoopSource::Cursor(cursor) => {
            let at_least_one = |template: &Option<Template>, place: &str| match template {
                Some(template) => count(template, place, scope),
                None => Ok(1),
            };
            let entry = CursorEntry {
                max_rows: at_least_one(&cursor.max_rows, "loop.spec.frame.max_rows")?,
                row_concurrency: at_least_one(&cursor.row_concurrency, "loop.spec.frame.row_concurrency")?,
                whole_frame: cursor.whole_frame,
            };
            let failures_allowed = matches!(looping.on_error, LoopFailure::Fail).then_some(0);
            Ok(LoopEntry {
                items: LoopItems::Cursor,
                total: None,
                max_in_flight: limit.unwrap_or(1),
                failures_allowed,
                cursor: Some(entry),
            })
        }
    }
}

/// How many failures a loop bears before it stops giving out work.
pub(crate) fn failures_allowed(on_error: LoopFailure, total: u32) -> Option<u32> {
    match on_error {
        LoopFailure::Fail => Some(0),
        LoopFailure::Threshold(share) => Some((share * f64::from(total)).floor() as u32),
        LoopFailure::Report | LoopFailure::Continue => None,
    }
}

/// The items of `loop.in`: a list as it is, a map as pairs, text as a JSON list or words, a number as 0 up to it.
pub(crate) fn items(value: Value) -> Result<(LoopItems, u32), ToolError> {
    let list = match value {
        Value::List(_) => value,
        Value::Map(map) => {
            Value::list(map.iter().map(|(key, value)| {
                Value::map([("key", Value::Text(key.clone())), ("value", value.clone())])
            }))
        }
        Value::Text(text) => split(&text),
        Value::Int(number) if number >= 0 => {
            let count = u32::try_from(number).map_err(|_| too_many(number as u64))?;
            return Ok((LoopItems::Count(count), count));
        }
        other => {
            let what =
                if other.is_null() { "nothing (null or undefined)".to_owned() } else { format!("{other}") };
            let message = format!("loop.in gives {what}; a loop needs a list, a map, text or a count");
            return Err(ToolError::new(ErrorKind::Config, message));
        }
    };
    let length = list.as_list().map_or(0, |items| items.len());
    let total = u32::try_from(length).map_err(|_| too_many(length as u64))?;
    Ok((LoopItems::List(Slot::Inline(list)), total))
}

fn too_many(count: u64) -> ToolError {
    ToolError::new(ErrorKind::Config, format!("loop.in gives {count} items, more than a loop can count"))
}

fn split(text: &str) -> Value {
    let trimmed = text.trim();
    if trimmed.starts_with('[')
        && let Ok(list @ Value::List(_)) = serde_json::from_str::<Value>(trimmed)
    {
        return list;
    }
    Value::list(trimmed.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty()).map(Value::from))
}

/// A number of seconds, given as a number or as text that reads like one.
pub(crate) fn number(template: &Template, place: &str, scope: &Scope) -> Result<f64, ToolError> {
    let value = template.render(scope).map_err(|error| template_error(place, &error))?;
    let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
    match number {
        Some(number) if number.is_finite() && number >= 0.0 => Ok(number),
        _ => {
            let message = format!("{place} must be a number of at least 0, not {value}");
            Err(ToolError::new(ErrorKind::Config, message))
        }
    }
}

/// A whole number of at least one.
pub(crate) fn count(template: &Template, place: &str, scope: &Scope) -> Result<u32, ToolError> {
    let number = number(template, place, scope)?;
    if number >= 1.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX) {
        return Ok(number as u32);
    }
    Err(ToolError::new(
        ErrorKind::Config,
        format!("{place} must be a whole number of at least 1, not {number}"),
    ))
}
