//! Filters on text.

use minijinja::value::{Rest, Value as Jinja, ValueKind, ValueOrKwargs};
use minijinja::{Error, HtmlEscape, State, filters};

use super::{Call, Filter};
use crate::limits;
use crate::operators::failed;
use crate::print::text_of;

pub(super) const FILTERS: &[Filter] = &[
    ("capitalize", 0, capitalize),
    ("e", 0, escape),
    ("escape", 0, escape),
    ("indent", 3, indent),
    ("join", 2, join),
    ("lines", 0, lines),
    ("lower", 0, |call| Ok(Jinja::from(text_of(call.input)?.to_lowercase()))),
    ("replace", 3, replace),
    ("safe", 0, string),
    ("split", 2, |call| {
        let limit = call.optional(1, "maxsplit")?.and_then(|limit| limit.as_usize());
        split(&text_of(call.input)?, call.optional_text(0, "sep")?.as_deref(), limit)
    }),
    ("string", 0, string),
    ("trim", 1, trim),
    ("truncate", 4, truncate),
    ("upper", 0, |call| Ok(Jinja::from(text_of(call.input)?.to_uppercase()))),
    ("urlencode", 0, urlencode),
    ("wordcount", 0, |call| Ok(Jinja::from(text_of(call.input)?.split_whitespace().count()))),
];

pub(super) fn of_the_engine() -> [(&'static str, Jinja); 2] {
    [("format", Jinja::from_function(format)), ("title", Jinja::from_function(filters::title))]
}

fn string(call: &Call) -> Result<Jinja, Error> {
    if call.input.kind() == ValueKind::String {
        return Ok(call.input.clone());
    }
    Ok(Jinja::from(text_of(call.input)?))
}

fn capitalize(call: &Call) -> Result<Jinja, Error> {
    let text = text_of(call.input)?;
    let mut rest = text.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    Ok(Jinja::from(first + &rest.as_str().to_lowercase()))
}

fn trim(call: &Call) -> Result<Jinja, Error> {
    let text = text_of(call.input)?;
    Ok(match call.optional_text(0, "chars")? {
        Some(chars) => Jinja::from(text.trim_matches(|c| chars.contains(c))),
        None => Jinja::from(text.trim()),
    })
}

fn replace(call: &Call) -> Result<Jinja, Error> {
    let (from, to) = (call.required(0, "old")?, call.required(1, "new")?);
    let count = call.optional_count(2, "count")?;
    replaced(&text_of(call.input)?, &text_of(&from)?, &text_of(&to)?, count)
}

/// The text with a part replaced, everywhere or the first few times.
pub(crate) fn replaced(text: &str, from: &str, to: &str, count: Option<usize>) -> Result<Jinja, Error> {
    limits::spend_reading(text.len())?;
    let count = text.matches(from).count().min(count.unwrap_or(usize::MAX));
    limits::spend_text(text.len().saturating_add(count.saturating_mul(to.len())))?;
    Ok(Jinja::from(text.replacen(from, to, count)))
}

/// The parts of a text: between separators, or the words when none is given.
pub(crate) fn split(text: &str, separator: Option<&str>, limit: Option<usize>) -> Result<Jinja, Error> {
    limits::spend_reading(text.len())?;
    limits::spend_text(text.len())?;
    let limit = limit.map_or(usize::MAX, |limit| limit.saturating_add(1));
    match separator {
        Some("") => Err(failed("the separator of `split` is empty")),
        Some(separator) => {
            limits::spend_items(text.matches(separator).count().saturating_add(1).min(limit))?;
            Ok(text.splitn(limit, separator).map(Jinja::from).collect())
        }
        None => {
            limits::spend_items(text.split_whitespace().count().min(limit))?;
            Ok(words(text, limit).map(Jinja::from).collect())
        }
    }
}

/// The words of a text; the last of a limited number is all that is left.
fn words(text: &str, limit: usize) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    let mut left = limit;
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        if rest.is_empty() {
            return None;
        }
        let end = if left == 0 { None } else { rest.find(char::is_whitespace) };
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after.trim_start();
        Some(word)
    })
}

fn lines(call: &Call) -> Result<Jinja, Error> {
    let text = text_of(call.input)?;
    limits::spend_items(text.lines().count())?;
    limits::spend_text(text.len())?;
    Ok(text.lines().map(Jinja::from).collect())
}

/// Text for HTML.
fn escape(call: &Call) -> Result<Jinja, Error> {
    let text = text_of(call.input)?;
    limits::check_text(text.len().saturating_mul(6))?;
    Ok(Jinja::from(HtmlEscape(&text).to_string()))
}

fn join(call: &Call) -> Result<Jinja, Error> {
    let separator =
        call.optional(0, "d")?.map(|separator| text_of(&separator).map(String::from)).transpose()?;
    let attribute = call.optional_text(1, "attribute")?;
    let mut joined = String::new();
    for (at, item) in super::as_list(call.input)?.iter().enumerate() {
        let item = match &attribute {
            Some(attribute) => &super::collections::attribute_of(item, attribute),
            None => item,
        };
        if at > 0 {
            joined.push_str(separator.as_deref().unwrap_or_default());
        }
        joined.push_str(&text_of(item)?);
        if joined.len() > limits::TEXT {
            limits::spend_text(joined.len())?;
        }
    }
    Ok(Jinja::from(joined))
}

/// Indents every line but the first.
fn indent(call: &Call) -> Result<Jinja, Error> {
    let (first, blank) = (call.flag(1, "first")?, call.flag(2, "blank")?);
    let text = text_of(call.input)?;
    let lines = text.split('\n').count();
    let margin = match call.optional(0, "width")? {
        Some(width) if width.as_str().is_some() => text_of(&width)?.into_owned(),
        _ => {
            let width = call.optional_count(0, "width")?.unwrap_or(4);
            limits::spend_text(width)?;
            " ".repeat(width)
        }
    };
    limits::spend_text(text.len().saturating_add(lines.saturating_mul(margin.len())))?;
    let mut indented = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            indented.push('\n');
        }
        if (at > 0 || first) && (blank || !line.trim_end_matches('\r').is_empty()) {
            indented.push_str(&margin);
        }
        indented.push_str(line);
    }
    Ok(Jinja::from(indented))
}

/// Cuts long text, at a word unless told otherwise, and ends it with dots.
fn truncate(call: &Call) -> Result<Jinja, Error> {
    let length = call.optional_count(0, "length")?.unwrap_or(255);
    let anywhere = call.flag(1, "killwords")?;
    let end = call.optional_text(2, "end")?.unwrap_or_else(|| "...".to_owned());
    let leeway = call.optional_count(3, "leeway")?.unwrap_or(5);
    let text = text_of(call.input)?;
    if text.chars().count() <= length.saturating_add(leeway) {
        return Ok(Jinja::from(text));
    }
    let kept = length.saturating_sub(end.chars().count());
    let mut cut: String = text.chars().take(kept).collect();
    if !anywhere && let Some(space) = cut.rfind(' ') {
        cut.truncate(space);
    }
    Ok(Jinja::from(cut + &end))
}

/// One text percent-encoded, or a map as the query of a URL.
fn urlencode(call: &Call) -> Result<Jinja, Error> {
    if call.input.kind() != ValueKind::Map {
        return Ok(Jinja::from(encoded(call.input)?));
    }
    let mut query = String::new();
    for key in call.input.try_iter()? {
        let value = call.input.get_item(&key)?;
        if value.is_none() || value.is_undefined() {
            continue;
        }
        if !query.is_empty() {
            query.push('&');
        }
        query += &encoded(&key)?;
        query.push('=');
        query += &encoded(&value)?;
        limits::check_text(query.len())?;
    }
    Ok(Jinja::from(query))
}

fn encoded(value: &Jinja) -> Result<String, Error> {
    let text = text_of(value)?;
    limits::check_text(text.len().saturating_mul(3))?;
    filters::urlencode(&Jinja::from(text))
}

/// `"%05d" | format(n)`. What could come out is bounded before anything is formatted.
fn format(state: &mut State<'_, '_>, format: &str, args: Rest<ValueOrKwargs>) -> Result<Jinja, Error> {
    const WIDEST: usize = 9999;
    let mut digits = 0;
    for byte in format.bytes() {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > 4 || byte == b'*' {
            return Err(failed("the widths of `format` have at most 4 digits"));
        }
    }
    let mut longest = WIDEST;
    let mut all = vec![Jinja::from(format)];
    for arg in args.into_values() {
        longest = longest.max(text_of(&arg)?.len());
        all.push(arg);
    }
    let places = format.matches('%').count();
    limits::check_text(format.len().saturating_add(places.saturating_mul(longest)))?;
    Jinja::from_function(filters::format).call(state, &all)
}
