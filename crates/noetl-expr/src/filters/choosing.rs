//! Filters that apply another filter or test to every item: `map`, `select`, `reject`, `selectattr`, `rejectattr`.

use minijinja::value::{Kwargs, Rest, Value as Jinja, ValueOrKwargs, from_args};
use minijinja::{Error, State};

use super::collections::{as_list, attribute_of};
use crate::operators::failed;

pub(super) fn filters() -> [(&'static str, Jinja); 5] {
    [
        ("map", Jinja::from_function(map)),
        (
            "reject",
            Jinja::from_function(|state: &mut State<'_, '_>, list: Jinja, args: Rest<ValueOrKwargs>| {
                choose(state, &list, None, &args.into_values(), false)
            }),
        ),
        (
            "rejectattr",
            Jinja::from_function(
                |state: &mut State<'_, '_>, list: Jinja, attribute: String, args: Rest<ValueOrKwargs>| {
                    choose(state, &list, Some(&attribute), &args.into_values(), false)
                },
            ),
        ),
        (
            "select",
            Jinja::from_function(|state: &mut State<'_, '_>, list: Jinja, args: Rest<ValueOrKwargs>| {
                choose(state, &list, None, &args.into_values(), true)
            }),
        ),
        (
            "selectattr",
            Jinja::from_function(
                |state: &mut State<'_, '_>, list: Jinja, attribute: String, args: Rest<ValueOrKwargs>| {
                    choose(state, &list, Some(&attribute), &args.into_values(), true)
                },
            ),
        ),
    ]
}

/// `map(attribute='a.b', default=0)` or `map('upper')`.
fn map(state: &mut State<'_, '_>, list: Jinja, args: Rest<ValueOrKwargs>) -> Result<Jinja, Error> {
    let args = args.into_values();
    let (positional, named): (&[Jinja], Kwargs) = from_args(&args)?;
    let items = as_list(&list)?;
    if let Some(attribute) = named.get::<Option<String>>("attribute")? {
        let default = named.get::<Option<Jinja>>("default")?.unwrap_or_default();
        named.assert_all_used()?;
        let mapped = items.iter().map(|item| match attribute_of(item, &attribute) {
            missing if missing.is_undefined() => default.clone(),
            found => found,
        });
        return Ok(mapped.collect());
    }
    let Some(filter) = positional.first().and_then(Jinja::as_str) else {
        return Err(failed("`map` needs an attribute or the name of a filter"));
    };
    let mapped = items.into_iter().map(|item| state.apply_filter(filter, &with_first(item, &args[1..])));
    mapped.collect::<Result<Vec<_>, _>>().map(Jinja::from)
}

/// The items that pass a test (those that are true when no test is named), or those that do not.
fn choose(
    state: &mut State<'_, '_>,
    list: &Jinja,
    attribute: Option<&str>,
    test: &[Jinja],
    wanted: bool,
) -> Result<Jinja, Error> {
    let mut chosen = Vec::new();
    for item in as_list(list)? {
        let tested = attribute.map_or_else(|| item.clone(), |attribute| attribute_of(&item, attribute));
        let passes = match test.split_first() {
            None => tested.is_true(),
            Some((name, args)) => {
                let name = name.as_str().ok_or_else(|| failed("the name of a test is text"))?;
                state.perform_test(name, &with_first(tested, args))?
            }
        };
        if passes == wanted {
            chosen.push(item);
        }
    }
    Ok(Jinja::from(chosen))
}

fn with_first(first: Jinja, rest: &[Jinja]) -> Vec<Jinja> {
    std::iter::once(first).chain(rest.iter().cloned()).collect()
}
