//! The filters. Those of Jinja work as in Jinja; the table of each file names them.
//!
//! Every call is counted against the limits of the evaluation: what goes in by its size before the filter runs, text that
//! comes out by its length.

mod choosing;
mod collections;
mod data;
mod numbers;
mod text;

use minijinja::value::{Kwargs, Rest, Value as Jinja, ValueKind, ValueOrKwargs, from_args};
use minijinja::{Environment, Error, ErrorKind, State};

use crate::environment::Undefined;
use crate::limits;
use crate::object::{forced, is_lazy};
use crate::operators::{failed, mode, type_name};

pub(crate) use collections::as_list;
pub(crate) use text::{replaced, split};

/// A filter of our own: its name, how many arguments it takes, and what it does.
type Filter = (&'static str, usize, fn(&Call) -> Result<Jinja, Error>);

/// Filters that do not go through what they are given.
const INSTANT: [&str; 12] =
    ["attr", "bool", "count", "d", "default", "first", "get", "last", "len", "length", "safe", "string"];

/// Filters that do more with each item than look at it.
const THOROUGH: [&str; 11] = [
    "dictsort",
    "groupby",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "select",
    "selectattr",
    "sort",
    "unique",
];

/// Filters that may see undefined input in strict mode.
const FOR_UNDEFINED: [&str; 2] = ["default", "d"];

/// The arguments of a call, the filtered value first.
pub(crate) struct Call<'a> {
    input: &'a Jinja,
    positional: &'a [Jinja],
    named: Option<Kwargs>,
}

impl Call<'_> {
    /// An argument by position or name. Null stands for an argument that is not given.
    fn optional(&self, at: usize, name: &str) -> Result<Option<Jinja>, Error> {
        match self.positional.get(at) {
            Some(value) => Ok(Some(value.clone()).filter(|value| !value.is_none() && !value.is_undefined())),
            None => self.named.as_ref().map_or(Ok(None), |named| named.get::<Option<Jinja>>(name)),
        }
    }

    fn required(&self, at: usize, name: &str) -> Result<Jinja, Error> {
        match self.positional.get(at) {
            Some(value) => Ok(value.clone()),
            None => match self.named.as_ref().and_then(|named| named.get::<Jinja>(name).ok()) {
                Some(value) => Ok(value),
                None => Err(failed(format!("the argument `{name}` is missing"))),
            },
        }
    }

    fn optional_text(&self, at: usize, name: &str) -> Result<Option<String>, Error> {
        self.optional(at, name)?.map(|value| wanted_text(&value, name)).transpose()
    }

    fn optional_count(&self, at: usize, name: &str) -> Result<Option<usize>, Error> {
        let Some(value) = self.optional(at, name)? else {
            return Ok(None);
        };
        match value.as_usize() {
            Some(count) => Ok(Some(count)),
            None => Err(failed(format!("the argument `{name}` must be a whole number from 0 up"))),
        }
    }

    fn flag(&self, at: usize, name: &str) -> Result<bool, Error> {
        Ok(self.optional(at, name)?.is_some_and(|value| value.is_true()))
    }
}

fn wanted_text(value: &Jinja, name: &str) -> Result<String, Error> {
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(failed(format!("the argument `{name}` must be text, not {}", type_name(value)))),
    }
}

/// Adds all filters. They replace the engine's own set.
pub(crate) fn register(env: &mut Environment<'static>) {
    for (name, takes, filter) in own() {
        add(env, name, move |_, args| {
            let (args, named) = match args.split_last() {
                Some((last, args)) if last.is_kwargs() => {
                    (args, Some(from_args::<(Kwargs,)>(std::slice::from_ref(last))?.0))
                }
                _ => (args, None),
            };
            let Some((input, positional)) = args.split_first() else {
                return Err(Error::from(ErrorKind::MissingArgument));
            };
            if positional.len() > takes {
                return Err(failed(format!("the filter `{name}` takes at most {takes} arguments")));
            }
            let call = Call { input, positional, named };
            let result = filter(&call)?;
            call.named.as_ref().map_or(Ok(()), Kwargs::assert_all_used)?;
            Ok(result)
        });
    }
    for (name, filter) in callable() {
        add(env, name, move |state, args| filter.call(state, args));
    }
}

fn own() -> impl Iterator<Item = Filter> {
    collections::FILTERS.iter().chain(data::FILTERS).chain(numbers::FILTERS).chain(text::FILTERS).copied()
}

/// Filters in the engine's own form: those we take from it, and those that call other filters.
fn callable() -> impl Iterator<Item = (&'static str, Jinja)> {
    let of_the_engine =
        collections::of_the_engine().into_iter().chain(text::of_the_engine()).chain(numbers::of_the_engine());
    of_the_engine.chain(choosing::filters())
}

/// All filters by name, sorted.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = own().map(|(name, ..)| name).chain(callable().map(|(name, _)| name)).collect();
    names.sort_unstable();
    names
}

fn add<F>(env: &mut Environment<'static>, name: &'static str, filter: F)
where
    F: Fn(&mut State<'_, '_>, &[Jinja]) -> Result<Jinja, Error> + Send + Sync + 'static,
{
    let per_item = match name {
        name if INSTANT.contains(&name) => 0,
        name if THOROUGH.contains(&name) => 8,
        _ => 2,
    };
    env.add_filter(name, move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
        let args = counted(state, args, per_item, FOR_UNDEFINED.contains(&name))?;
        let result = filter(state, &args)?;
        if let Some(text) = result.as_str() {
            limits::spend_text(text.len())?;
        }
        Ok(result)
    });
}

/// Takes lazy arguments as a whole and counts what goes in: text by its length, lists and maps so much for each item.
pub(crate) fn counted(
    state: &State,
    args: Rest<ValueOrKwargs>,
    per_item: usize,
    may_be_undefined: bool,
) -> Result<Vec<Jinja>, Error> {
    let mut args = args.into_values();
    for arg in args.iter_mut().filter(|arg| is_lazy(arg)) {
        *arg = forced(arg);
    }
    if args.first().is_some_and(Jinja::is_undefined) && !may_be_undefined && mode(state) == Undefined::Strict
    {
        return Err(ErrorKind::UndefinedError.into());
    }
    for value in &args {
        match value.kind() {
            ValueKind::String => limits::spend_reading(value.as_str().map_or(0, str::len))?,
            ValueKind::Seq | ValueKind::Iterable | ValueKind::Map if per_item > 0 => {
                limits::spend_work(value.len().unwrap_or(0).saturating_mul(per_item))?;
            }
            _ => {}
        }
    }
    Ok(args)
}
