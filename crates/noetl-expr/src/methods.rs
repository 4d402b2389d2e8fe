//! The methods of Python's texts, maps and lists that playbooks call.

use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{Error, ErrorKind, State, UndefinedBehavior};

use crate::filters;
use crate::object::forced;
use crate::operators::{failed, type_name};
use crate::print::text_of;

/// The methods of data, by name.
pub(crate) const NAMES: [&str; 23] = [
    "capitalize",
    "count",
    "endswith",
    "find",
    "get",
    "index",
    "isdigit",
    "items",
    "join",
    "keys",
    "lower",
    "lstrip",
    "removeprefix",
    "removesuffix",
    "replace",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "title",
    "upper",
    "values",
];

/// Methods that the engine's `loop` object answers itself.
pub(crate) const OF_LOOPS: [&str; 2] = ["cycle", "changed"];

pub(crate) fn is_known(name: &str) -> bool {
    NAMES.contains(&name) || OF_LOOPS.contains(&name)
}

/// Calls a method. Undefined answers every method with undefined.
pub(crate) fn call(
    state: &mut State<'_, '_>,
    value: &Jinja,
    method: &str,
    args: &[Jinja],
) -> Result<Jinja, Error> {
    if value.is_undefined() && state.undefined_behavior() != UndefinedBehavior::Strict {
        return Ok(Jinja::UNDEFINED);
    }
    // A single key of something lazy is fetched alone.
    if method == "get" && value.kind() == ValueKind::Map {
        return of_map(state, value, method, args);
    }
    let value = forced(value);
    match value.kind() {
        ValueKind::String => of_text(state, &value, method, args),
        ValueKind::Map => of_map(state, &value, method, args),
        ValueKind::Seq | ValueKind::Iterable => of_list(&value, method, args),
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        _ => Err(unknown(&value, method)),
    }
}

fn unknown(value: &Jinja, method: &str) -> Error {
    Error::new(ErrorKind::UnknownMethod, format!("{} has no method `{method}`", type_name(value)))
}

fn of_map(state: &mut State<'_, '_>, map: &Jinja, method: &str, args: &[Jinja]) -> Result<Jinja, Error> {
    match (method, args) {
        ("get", [key]) => Ok(found(map, key).unwrap_or_else(|| Jinja::from(()))),
        ("get", [key, default]) => Ok(found(map, key).unwrap_or_else(|| default.clone())),
        ("items" | "keys" | "values", []) => state.apply_filter(method, std::slice::from_ref(map)),
        ("items" | "keys" | "values" | "get", _) => Err(wrong_arguments(method)),
        _ => Err(unknown(map, method)),
    }
}

fn found(map: &Jinja, key: &Jinja) -> Option<Jinja> {
    map.get_item(key).ok().filter(|value| !value.is_undefined())
}

fn of_list(list: &Jinja, method: &str, args: &[Jinja]) -> Result<Jinja, Error> {
    match (method, args) {
        ("count", [wanted]) => {
            Ok(Jinja::from(filters::as_list(list)?.iter().filter(|item| *item == wanted).count()))
        }
        ("index", [wanted]) => match filters::as_list(list)?.iter().position(|item| item == wanted) {
            Some(position) => Ok(Jinja::from(position)),
            None => Err(failed("the list does not have this item")),
        },
        ("count" | "index", _) => Err(wrong_arguments(method)),
        _ => Err(unknown(list, method)),
    }
}

fn of_text(state: &mut State<'_, '_>, value: &Jinja, method: &str, args: &[Jinja]) -> Result<Jinja, Error> {
    let text = value.as_str().unwrap_or_default();
    crate::limits::spend_reading(text.len())?;
    Ok(match (method, args) {
        ("lower" | "upper" | "title" | "capitalize", []) => {
            state.apply_filter(method, std::slice::from_ref(value))?
        }
        ("strip", []) => Jinja::from(text.trim()),
        ("lstrip", []) => Jinja::from(text.trim_start()),
        ("rstrip", []) => Jinja::from(text.trim_end()),
        ("strip", [chars]) => {
            let chars = text_of(chars)?;
            Jinja::from(text.trim_matches(|c| chars.contains(c)))
        }
        ("lstrip", [chars]) => {
            let chars = text_of(chars)?;
            Jinja::from(text.trim_start_matches(|c| chars.contains(c)))
        }
        ("rstrip", [chars]) => {
            let chars = text_of(chars)?;
            Jinja::from(text.trim_end_matches(|c| chars.contains(c)))
        }
        ("split", []) => filters::split(text, None, None)?,
        ("split", [separator]) => filters::split(text, separator.as_str(), None)?,
        ("split", [separator, limit]) => filters::split(text, separator.as_str(), limit.as_usize())?,
        ("splitlines", []) => state.apply_filter("lines", std::slice::from_ref(value))?,
        ("join", [items]) => state.apply_filter("join", &[items.clone(), value.clone()])?,
        ("replace", [from, to]) => filters::replaced(text, &text_of(from)?, &text_of(to)?, None)?,
        ("replace", [from, to, count]) => {
            filters::replaced(text, &text_of(from)?, &text_of(to)?, count.as_usize())?
        }
        ("startswith", [prefix]) => Jinja::from(any_of(prefix, |prefix| text.starts_with(prefix))?),
        ("endswith", [suffix]) => Jinja::from(any_of(suffix, |suffix| text.ends_with(suffix))?),
        ("removeprefix", [prefix]) => Jinja::from(text.strip_prefix(&*text_of(prefix)?).unwrap_or(text)),
        ("removesuffix", [suffix]) => Jinja::from(text.strip_suffix(&*text_of(suffix)?).unwrap_or(text)),
        ("find", [part]) => match text.find(&*text_of(part)?) {
            Some(at) => Jinja::from(text[..at].chars().count()),
            None => Jinja::from(-1),
        },
        ("count", [part]) => Jinja::from(text.matches(&*text_of(part)?).count()),
        ("isdigit", []) => Jinja::from(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())),
        _ if is_known(method) && !["get", "items", "keys", "values", "index"].contains(&method) => {
            return Err(wrong_arguments(method));
        }
        _ => return Err(unknown(value, method)),
    })
}

/// Python takes one text or several.
fn any_of(wanted: &Jinja, holds: impl Fn(&str) -> bool) -> Result<bool, Error> {
    if let Some(text) = wanted.as_str() {
        return Ok(holds(text));
    }
    Ok(filters::as_list(wanted)?.iter().any(|text| text.as_str().is_some_and(&holds)))
}

fn wrong_arguments(method: &str) -> Error {
    failed(format!("the arguments of the method `{method}` do not fit"))
}
