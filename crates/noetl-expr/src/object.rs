//! Our values inside the template engine. Lists and maps are wrapped, not copied: a child is converted when it is asked for,
//! and a result that is one of our containers gives the same shared container back.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, OnceLock};

use minijinja::value::{DynObject, Enumerator, Object, ObjectExt, ObjectRepr, Value as Jinja, ValueKind};
use minijinja::{Error, ErrorKind, State};
use noetl_types::{Map, Value};

use crate::limits;
use crate::methods;
use crate::order;
use crate::resolve::{self, is_self_alias};
use crate::{Lookup, Scope, View};

/// A wrapped map.
pub(crate) struct MapObject {
    pub(crate) map: Arc<Map>,
    /// Whether it answers to `.data` and its siblings with itself.
    aliased: bool,
    /// How many layers templates have built around data; data from outside counts as flat.
    nesting: u32,
}

/// A wrapped list.
pub(crate) struct ListObject {
    pub(crate) items: Arc<Vec<Value>>,
    aliased: bool,
    nesting: u32,
}

/// Something that is looked up key by key, and fetched as a whole only when it must be.
pub(crate) struct LazyObject {
    lookup: Arc<dyn Lookup>,
    whole: OnceLock<Value>,
}

/// The names that an expression can see.
#[derive(Debug)]
struct Root {
    scope: Scope,
}

/// The name under which code asks for the instant of the evaluation. No name in a template can be spelled like this.
pub(crate) const NOW: &str = "now()";

pub(crate) fn root(scope: &Scope) -> Jinja {
    Jinja::from_object(Root { scope: scope.clone() })
}

/// Our value for the engine.
pub(crate) fn to_jinja(value: &Value) -> Jinja {
    built(value, 0)
}

/// A value that a template has built, with the number of layers it added.
pub(crate) fn built(value: &Value, nesting: u32) -> Jinja {
    wrap(value, false, nesting)
}

fn wrap(value: &Value, aliased: bool, nesting: u32) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(flag) => Jinja::from(*flag),
        Value::Int(number) => Jinja::from(*number),
        Value::UInt(number) => Jinja::from(*number),
        Value::Float(number) => Jinja::from(*number),
        Value::Text(text) => Jinja::from(text.clone()),
        Value::List(items) => Jinja::from_object(ListObject { items: items.clone(), aliased, nesting }),
        Value::Map(map) => Jinja::from_object(MapObject { map: map.clone(), aliased, nesting }),
    }
}

pub(crate) fn view_to_jinja(view: View) -> Jinja {
    match view {
        View::Value(value) => to_jinja(&value),
        View::Aliased(value) => wrap(&value, true, 0),
        View::Lazy(lookup) => Jinja::from_object(LazyObject { lookup, whole: OnceLock::new() }),
    }
}

/// The engine's value as ours. Undefined becomes null.
pub(crate) fn from_jinja(value: &Jinja) -> Result<Value, Error> {
    Ok(from_jinja_nested(value, 0)?.0)
}

/// The value and the number of layers that templates have built.
pub(crate) fn from_jinja_nested(value: &Jinja, depth: u32) -> Result<(Value, u32), Error> {
    let flat = match value.kind() {
        ValueKind::Undefined | ValueKind::None => Value::Null,
        ValueKind::Bool => Value::Bool(value.is_true()),
        ValueKind::Number => number_from_jinja(value)?,
        ValueKind::String => Value::Text(value.to_str().unwrap_or_default()),
        ValueKind::Bytes => return Err(not_data("bytes")),
        ValueKind::Plain => return Err(not_data("a function")),
        _ => {
            let Some(object) = value.as_object() else {
                return Err(not_data("this"));
            };
            return container_from_jinja(object, depth);
        }
    };
    Ok((flat, 0))
}

fn number_from_jinja(value: &Jinja) -> Result<Value, Error> {
    if !value.is_integer() {
        return f64::try_from(value.clone()).map(Value::Float);
    }
    if let Ok(number) = i64::try_from(value.clone()) {
        return Ok(Value::Int(number));
    }
    match u64::try_from(value.clone()) {
        Ok(number) => Ok(Value::UInt(number)),
        Err(_) => Err(Error::new(ErrorKind::InvalidOperation, "the number does not fit into 64 bits")),
    }
}

fn container_from_jinja(object: &DynObject, depth: u32) -> Result<(Value, u32), Error> {
    if let Some(list) = object.downcast_ref::<ListObject>() {
        return Ok((Value::List(list.items.clone()), list.nesting));
    }
    if let Some(map) = object.downcast_ref::<MapObject>() {
        return Ok((Value::Map(map.map.clone()), map.nesting));
    }
    if let Some(lazy) = object.downcast_ref::<LazyObject>() {
        return Ok((lazy.whole().clone(), 0));
    }
    if is_namespace(object) {
        return Err(not_data("a namespace"));
    }
    limits::check_nesting(depth)?;
    let mut deepest = 0;
    let value = match object.repr() {
        ObjectRepr::Map => {
            let mut map = Map::new();
            for (key, item) in object.try_iter_pairs().into_iter().flatten() {
                limits::spend_work(1)?;
                let (item, nesting) = from_jinja_nested(&item, depth + 1)?;
                deepest = deepest.max(nesting);
                map.insert(key_from_jinja(&key)?, item);
            }
            Value::from(map)
        }
        ObjectRepr::Seq | ObjectRepr::Iterable => {
            let mut items = Vec::with_capacity(object.enumerator_len().unwrap_or(0).min(4096));
            for item in object.try_iter().into_iter().flatten() {
                limits::spend_work(1)?;
                let (item, nesting) = from_jinja_nested(&item, depth + 1)?;
                deepest = deepest.max(nesting);
                items.push(item);
            }
            Value::from(items)
        }
        _ => return Err(not_data("this")),
    };
    limits::check_nesting(deepest + 1)?;
    Ok((value, deepest + 1))
}

/// Keys of maps are text, as in JSON; other scalars become what JSON prints for them.
fn key_from_jinja(key: &Jinja) -> Result<Arc<str>, Error> {
    match from_jinja(key)? {
        Value::Text(text) => Ok(text),
        scalar @ (Value::Null | Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_)) => {
            Ok(scalar.to_string().into())
        }
        Value::List(_) | Value::Map(_) => {
            Err(Error::new(ErrorKind::InvalidOperation, "a list or map cannot be the key of a map"))
        }
    }
}

/// The engine keeps its namespace type to itself.
pub(crate) fn is_namespace(object: &DynObject) -> bool {
    object.type_name().ends_with("::Namespace")
}

fn not_data(what: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("{what} is not data and cannot be a result"))
}

/// A lazy object as its whole; any other value as it is.
pub(crate) fn forced(value: &Jinja) -> Jinja {
    match value.downcast_object_ref::<LazyObject>() {
        Some(lazy) => to_jinja(lazy.whole()),
        None => value.clone(),
    }
}

pub(crate) fn is_lazy(value: &Jinja) -> bool {
    value.downcast_object_ref::<LazyObject>().is_some()
}

impl Object for Root {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        if key == NOW {
            return Some(Jinja::from(self.scope.now.to_string()));
        }
        resolve::follow_dotted(key, &self.scope).map(view_to_jinja)
    }
}

impl fmt::Debug for MapObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Value::Map(self.map.clone()))
    }
}

impl Object for MapObject {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        match self.map.get(key) {
            Some(value) => Some(built(value, self.nesting.saturating_sub(1))),
            None => (self.aliased && is_self_alias(key)).then(|| Jinja::from_dyn_object(self.clone())),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_rev_key_value_enumerator(|this| {
            let nesting = this.nesting.saturating_sub(1);
            Box::new(
                this.map.iter().map(move |(key, value)| (Jinja::from(key.clone()), built(value, nesting))),
            )
        })
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.map.len())
    }

    fn call_method(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        method: &str,
        args: &[Jinja],
    ) -> Result<Jinja, Error> {
        methods::call(state, &Jinja::from_dyn_object(self.clone()), method, args)
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        Some(order::of_maps(&self.map, &other.downcast_ref::<MapObject>()?.map))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Debug for ListObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Value::List(self.items.clone()))
    }
}

impl Object for ListObject {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        match key.as_usize() {
            Some(index) => Some(built(self.items.get(index)?, self.nesting.saturating_sub(1))),
            None => self.get_value_by_str(key.as_str()?),
        }
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        (self.aliased && is_self_alias(key)).then(|| Jinja::from_dyn_object(self.clone()))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.items.len())
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.items.len())
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        Some(order::of_lists(&self.items, &other.downcast_ref::<ListObject>()?.items))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl LazyObject {
    fn whole(&self) -> &Value {
        self.whole.get_or_init(|| self.lookup.whole().unwrap_or_default())
    }
}

impl fmt::Debug for LazyObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.whole())
    }
}

impl Object for LazyObject {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        match key.as_str() {
            Some(key) => self.get_value_by_str(key),
            None => to_jinja(self.whole()).get_item(key).ok().filter(|item| !item.is_undefined()),
        }
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        self.lookup.get(key).map(view_to_jinja)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match to_jinja(self.whole()).as_object() {
            Some(object) => object.enumerate(),
            None => Enumerator::Empty,
        }
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        to_jinja(self.whole()).as_object().and_then(DynObject::enumerator_len)
    }

    fn is_true(self: &Arc<Self>) -> bool {
        match self.lookup.whole() {
            Some(whole) => to_jinja(&whole).is_true(),
            None => true,
        }
    }

    fn call_method(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        method: &str,
        args: &[Jinja],
    ) -> Result<Jinja, Error> {
        methods::call(state, &Jinja::from_dyn_object(self.clone()), method, args)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
