//! What goes into variables, namespaces and the keys of maps.
//!
//! Variables hold data or a namespace, and namespaces hold data only. So namespaces cannot contain each other, and how deep
//! loops can nest data is known.

use minijinja::Error;
use minijinja::value::Value as Jinja;

use super::{failed, is_list};
use crate::object::{built, from_jinja_nested, is_lazy, is_namespace};

/// What `{% set %}` and `{% with %}` store.
pub(super) fn keep(value: &Jinja) -> Result<Jinja, Error> {
    match value.as_object() {
        Some(object) if is_namespace(object) => Ok(value.clone()),
        _ => keep_in_namespace(value),
    }
}

/// What is stored in a namespace.
pub(super) fn keep_in_namespace(value: &Jinja) -> Result<Jinja, Error> {
    if value.as_object().is_none() || is_lazy(value) {
        return Ok(value.clone());
    }
    let (value, nesting) = from_jinja_nested(value, 0)?;
    Ok(built(&value, nesting))
}

/// The key of a map that a template writes down.
pub(super) fn key(value: &Jinja) -> Result<Jinja, Error> {
    if is_list(value) || value.as_object().is_some() {
        return Err(failed("a list or map cannot be the key of a map"));
    }
    Ok(value.clone())
}
