//! Filters on lists and maps, and those that choose between values.

use std::collections::HashSet;

use minijinja::Error;
use minijinja::filters;
use minijinja::value::{Value as Jinja, ValueIter, ValueKind};

use super::{Call, Filter};
use crate::limits;
use crate::object::from_jinja;
use crate::operators::{Number, add, failed, type_name};
use crate::order::spend_on_all;

pub(super) const FILTERS: &[Filter] = &[
    ("batch", 2, batch),
    ("count", 0, length),
    ("d", 2, default),
    ("default", 2, default),
    ("first", 0, |call| Ok(items_of(call.input)?.next().unwrap_or_default())),
    ("get", 2, get),
    ("items", 0, items),
    ("keys", 0, |call| {
        Ok(Jinja::from(pairs(call.input)?.into_iter().map(|(key, _)| key).collect::<Vec<_>>()))
    }),
    ("last", 0, last),
    ("len", 0, length),
    ("length", 0, length),
    ("list", 0, |call| Ok(Jinja::from(as_list(call.input)?))),
    ("reverse", 0, reverse),
    ("slice", 2, slice),
    ("sum", 2, sum),
    ("unique", 2, unique),
    ("values", 0, |call| {
        Ok(Jinja::from(pairs(call.input)?.into_iter().map(|(_, value)| value).collect::<Vec<_>>()))
    }),
];

pub(super) fn of_the_engine() -> [(&'static str, Jinja); 6] {
    [
        ("attr", Jinja::from_function(filters::attr)),
        ("dictsort", Jinja::from_function(filters::dictsort)),
        ("groupby", Jinja::from_function(filters::groupby)),
        ("max", Jinja::from_function(filters::max)),
        ("min", Jinja::from_function(filters::min)),
        ("sort", Jinja::from_function(filters::sort)),
    ]
}

/// The items of a list, the characters of a text, the keys of a map. Undefined and null have none.
pub(crate) fn as_list(value: &Jinja) -> Result<Vec<Jinja>, Error> {
    let length = value.len().unwrap_or(0);
    if value.kind() == ValueKind::String {
        limits::spend_items(length)?;
    }
    limits::spend_work(length)?;
    items_of(value).map(Iterator::collect)
}

fn items_of(value: &Jinja) -> Result<ValueIter, Error> {
    match value.kind() {
        ValueKind::Number | ValueKind::Bool | ValueKind::Plain => {
            Err(failed(format!("a list is needed, not {}", type_name(value))))
        }
        _ => value.try_iter(),
    }
}

/// `a.b.0` of an item; undefined where there is nothing.
pub(super) fn attribute_of(item: &Jinja, path: &str) -> Jinja {
    path.split('.').fold(item.clone(), |value, part| {
        let found = match part.parse::<usize>() {
            Ok(index) if value.kind() != ValueKind::Map => value.get_item_by_index(index),
            _ => value.get_attr(part),
        };
        found.unwrap_or_default()
    })
}

fn default(call: &Call) -> Result<Jinja, Error> {
    let missing = call.input.is_undefined() || (call.flag(1, "boolean")? && !call.input.is_true());
    if !missing {
        return Ok(call.input.clone());
    }
    match call.positional.first() {
        Some(default) => Ok(default.clone()),
        None => Ok(call.optional(0, "default_value")?.unwrap_or_else(|| Jinja::from(""))),
    }
}

fn length(call: &Call) -> Result<Jinja, Error> {
    match call.input.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(Jinja::from(0)),
        _ => match call.input.len() {
            Some(length) => Ok(Jinja::from(length)),
            None => Err(failed(format!("{} has no length", type_name(call.input)))),
        },
    }
}

fn last(call: &Call) -> Result<Jinja, Error> {
    if call.input.kind() != ValueKind::Seq {
        return Ok(as_list(call.input)?.pop().unwrap_or_default());
    }
    let last = call.input.len().and_then(|length| length.checked_sub(1));
    last.map_or(Ok(Jinja::UNDEFINED), |last| call.input.get_item_by_index(last))
}

/// Every item once, where it is first. As in Jinja, texts that differ only in case count as the same unless told otherwise.
fn unique(call: &Call) -> Result<Jinja, Error> {
    let exact = call.flag(0, "case_sensitive")?;
    let attribute = call.optional_text(1, "attribute")?;
    // Each item is hashed, which goes through all of it.
    spend_on_all(&from_jinja(call.input)?)?;
    let mut seen = HashSet::new();
    let mut items = as_list(call.input)?;
    items.retain(|item| {
        let item = attribute.as_ref().map_or_else(|| item.clone(), |attribute| attribute_of(item, attribute));
        seen.insert(match item.as_str() {
            Some(text) if !exact => Jinja::from(text.to_lowercase()),
            _ => item,
        })
    });
    Ok(Jinja::from(items))
}

fn pairs(map: &Jinja) -> Result<Vec<(Jinja, Jinja)>, Error> {
    match map.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(Vec::new()),
        ValueKind::Map => {
            Ok(map.as_object().and_then(|map| map.try_iter_pairs()).into_iter().flatten().collect())
        }
        _ => Err(failed(format!("a map is needed, not {}", type_name(map)))),
    }
}

fn items(call: &Call) -> Result<Jinja, Error> {
    let items: Vec<Jinja> =
        pairs(call.input)?.into_iter().map(|(key, value)| Jinja::from(vec![key, value])).collect();
    Ok(Jinja::from(items))
}

fn get(call: &Call) -> Result<Jinja, Error> {
    let key = call.required(0, "key")?;
    let found = call.input.get_item(&key).unwrap_or_default();
    if found.is_undefined() {
        return Ok(call.optional(1, "default")?.unwrap_or_default());
    }
    Ok(found)
}

fn reverse(call: &Call) -> Result<Jinja, Error> {
    if let Some(text) = call.input.as_str() {
        return Ok(Jinja::from(text.chars().rev().collect::<String>()));
    }
    let mut items = as_list(call.input)?;
    items.reverse();
    Ok(Jinja::from(items))
}

fn sum(call: &Call) -> Result<Jinja, Error> {
    let attribute = call.optional_text(0, "attribute")?;
    let mut sum = call.optional(1, "start")?.unwrap_or_else(|| Jinja::from(0));
    for item in as_list(call.input)? {
        let item = match &attribute {
            Some(attribute) => attribute_of(&item, attribute),
            None => item,
        };
        if item.is_undefined() {
            continue;
        }
        if Number::of(&sum).is_some() && Number::of(&item).is_none() {
            return Err(failed(format!("only numbers can be summed, not {}", type_name(&item))));
        }
        sum = add(&sum, &item)?;
    }
    Ok(sum)
}

/// Rows of so many items each.
fn batch(call: &Call) -> Result<Jinja, Error> {
    let size = call.optional_count(0, "linecount")?.filter(|size| *size > 0);
    let size = size.ok_or_else(|| failed("`batch` needs a number of items from 1 up"))?;
    let filler = call.optional(1, "fill_with")?;
    let mut batches: Vec<Vec<Jinja>> = as_list(call.input)?.chunks(size).map(<[Jinja]>::to_vec).collect();
    if let (Some(filler), Some(last)) = (filler, batches.last_mut()) {
        limits::spend_items(size)?;
        last.resize(size, filler);
    }
    Ok(Jinja::from(batches.into_iter().map(Jinja::from).collect::<Vec<_>>()))
}

/// So many columns of about the same length.
fn slice(call: &Call) -> Result<Jinja, Error> {
    let count = call.optional_count(0, "slices")?.filter(|count| *count > 0);
    let count = count.ok_or_else(|| failed("`slice` needs a number of slices from 1 up"))?;
    limits::spend_items(count)?;
    let filler = call.optional(1, "fill_with")?;
    let items = as_list(call.input)?;
    let (each, longer) = (items.len() / count, items.len() % count);
    let mut rest = items.as_slice();
    let slices = (0..count).map(|at| {
        let (slice, after) = rest.split_at(each + usize::from(at < longer));
        rest = after;
        let mut slice = slice.to_vec();
        if at >= longer && longer > 0 {
            slice.extend(filler.clone());
        }
        Jinja::from(slice)
    });
    Ok(Jinja::from(slices.collect::<Vec<_>>()))
}
