//! Tables of templates and what they give, as JSON.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use noetl_expr::{Condition, EvalError, Scope, Template, View};
use noetl_types::{Timestamp, Value};

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

pub fn scope(names: &str) -> Scope {
    let mut scope = Scope::of(json(names));
    scope.now = Timestamp::from_millis(1_700_000_000_000);
    scope
}

pub fn template(source: &str) -> Template {
    Template::compile(&Value::text(source)).unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
}

pub fn render(source: &str, scope: &Scope) -> Result<Value, EvalError> {
    template(source).render(scope)
}

/// Every template, in a scope of these names, gives this JSON.
pub fn renders(names: &str, rows: &[(&str, &str)]) {
    renders_in(&scope(names), rows);
}

pub fn renders_in(scope: &Scope, rows: &[(&str, &str)]) {
    let wrong = rows.iter().filter_map(|(source, expected)| {
        // Compared as text, so that 1 and 1.0 differ and the order of keys counts.
        let expected = json(expected).to_string();
        match render(source, scope) {
            Ok(value) if value.to_string() == expected => None,
            Ok(value) => Some(format!("{source}\n    gives  {value}\n    wanted {expected}")),
            Err(error) => Some(format!("{source}\n    fails: {error}")),
        }
    });
    none_wrong(wrong);
}

/// Every template fails with a message that ends like this.
pub fn fails(names: &str, rows: &[(&str, &str)]) {
    let scope = scope(names);
    let wrong = rows.iter().filter_map(|(source, ending)| match render(source, &scope) {
        Ok(value) => Some(format!("{source}\n    gives {value}")),
        Err(error) if error.message.ends_with(ending) => None,
        Err(error) => Some(format!("{source}\n    fails: {error}\n    wanted {ending}")),
    });
    none_wrong(wrong);
}

fn none_wrong(wrong: impl Iterator<Item = String>) {
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

pub fn condition(source: &str) -> Condition {
    Condition::compile(&Value::text(source)).unwrap_or_else(|error| panic!("{source}: {error:?}"))
}

pub fn holds(source: &str, scope: &Scope) -> bool {
    condition(source).holds(scope).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// Names that stand for these views.
#[derive(Debug)]
pub struct Views(pub Vec<(&'static str, View)>);

impl noetl_expr::Lookup for Views {
    fn get(&self, key: &str) -> Option<View> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, view)| view.clone())
    }
}

impl Views {
    pub fn scope(self) -> Scope {
        Scope::new(std::sync::Arc::new(self), Timestamp::default())
    }
}
