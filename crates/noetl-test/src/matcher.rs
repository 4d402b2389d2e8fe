//! Expected values. A value stands for itself; a map with one key that begins with `$` says what must hold instead.
//!
//! | Written | Holds for |
//! |---|---|
//! | `{$contains: {a: 1}}` | a map that has at least these entries |
//! | `{$contains: [1, 2]}` | a list that has each of these somewhere |
//! | `{$contains: "text"}` | text that has this in it |
//! | `{$type: number}` | any value of the type |
//! | `{$where: "{{ value > 3 }}"}` | a value for which the condition holds |

use std::sync::Arc;

use noetl_expr::{Condition, Scope};
use noetl_types::{Map, Value};

#[derive(Clone, Debug)]
pub enum Matcher {
    Exactly(Value),
    /// A map with exactly these entries.
    Map(Vec<(Arc<str>, Matcher)>),
    /// A list of exactly these.
    List(Vec<Matcher>),
    /// A map with at least these entries.
    Entries(Vec<(Arc<str>, Matcher)>),
    /// A list that has each of these somewhere.
    Members(Vec<Matcher>),
    /// Text that has this in it.
    Text(Arc<str>),
    Type(Arc<str>),
    Where(Condition),
}

/// The types that `$type` knows.
pub const TYPES: &[&str] = &["null", "boolean", "number", "text", "list", "map"];

impl Matcher {
    /// What a value in a test file expects, or what is wrong with it.
    pub fn read(value: &Value) -> Result<Matcher, String> {
        match value {
            Value::Map(map) => match map.iter().next() {
                Some((operator, operand)) if map.len() == 1 && operator.starts_with('$') => {
                    Matcher::operator(operator, operand)
                }
                _ => Ok(Matcher::Map(entries(map)?)),
            },
            Value::List(items) => {
                Ok(Matcher::List(items.iter().map(Matcher::read).collect::<Result<_, _>>()?))
            }
            other => Ok(Matcher::Exactly(other.clone())),
        }
    }

    fn operator(operator: &str, operand: &Value) -> Result<Matcher, String> {
        match (operator, operand) {
            ("$contains", Value::Map(map)) => Ok(Matcher::Entries(entries(map)?)),
            ("$contains", Value::List(items)) => {
                Ok(Matcher::Members(items.iter().map(Matcher::read).collect::<Result<_, _>>()?))
            }
            ("$contains", Value::Text(text)) => Ok(Matcher::Text(text.clone())),
            ("$contains", other) => {
                Err(format!("`$contains` takes a map, a list or text, not a {}", other.type_name()))
            }
            ("$type", Value::Text(word)) if TYPES.contains(&&**word) => Ok(Matcher::Type(word.clone())),
            ("$type", other) => Err(format!("`$type` takes {}, not {other}", TYPES.join(", "))),
            ("$where", condition) => Condition::compile(condition)
                .map(Matcher::Where)
                .map_err(|error| format!("the condition of `$where` does not parse: {}", error.message)),
            (other, _) => Err(format!(
                "there is no `{other}`; a value is matched with `$contains`, `$type` or `$where`"
            )),
        }
    }

    /// Text that is looked for, whatever else the value has around it.
    pub fn text_or(value: &Value) -> Result<Matcher, String> {
        match value {
            Value::Text(text) => Ok(Matcher::Text(text.clone())),
            other => Matcher::read(other),
        }
    }

    /// Whether the value is as expected. If not, what it should have been: as near to what it is as the expectation
    /// allows, so that the two can be laid side by side.
    pub fn judge(&self, actual: &Value) -> Result<(), Value> {
        let as_it_is = |holds: bool, wanted: &dyn Fn() -> Value| if holds { Ok(()) } else { Err(wanted()) };
        match (self, actual) {
            (Matcher::Exactly(expected), _) => as_it_is(expected == actual, &|| expected.clone()),
            (Matcher::Map(expected), Value::Map(actual)) => judge_map(expected, actual, true),
            (Matcher::Entries(expected), Value::Map(actual)) => judge_map(expected, actual, false),
            (Matcher::List(expected), Value::List(actual)) => judge_list(expected, actual),
            (Matcher::Members(expected), Value::List(actual)) => {
                let lacks = |wanted: &&Matcher| !actual.iter().any(|item| wanted.judge(item).is_ok());
                let lacking: Vec<Value> = expected.iter().filter(lacks).map(Matcher::shown).collect();
                let all = || Value::list(actual.iter().cloned().chain(lacking.iter().cloned()));
                as_it_is(lacking.is_empty(), &all)
            }
            (Matcher::Text(part), Value::Text(text)) => as_it_is(text.contains(&**part), &|| self.shown()),
            (Matcher::Type(word), _) => as_it_is(actual.type_name() == &**word, &|| self.shown()),
            (Matcher::Where(condition), _) => {
                let scope = Scope::of(Value::map([("value", actual.clone())]));
                as_it_is(condition.holds(&scope).unwrap_or(false), &|| self.shown())
            }
            _ => Err(self.shown()),
        }
    }

    /// The expectation as it is shown where there is nothing to compare it with.
    pub fn shown(&self) -> Value {
        let map = |entries: &[(Arc<str>, Matcher)]| {
            Value::map(entries.iter().map(|(key, matcher)| (key.clone(), matcher.shown())))
        };
        match self {
            Matcher::Exactly(value) => value.clone(),
            Matcher::Map(entries) => map(entries),
            Matcher::List(items) => Value::list(items.iter().map(Matcher::shown)),
            Matcher::Entries(entries) => Value::map([("$contains", map(entries))]),
            Matcher::Members(items) => {
                Value::map([("$contains", Value::list(items.iter().map(Matcher::shown)))])
            }
            Matcher::Text(text) => Value::map([("$contains", Value::Text(text.clone()))]),
            Matcher::Type(word) => Value::map([("$type", Value::Text(word.clone()))]),
            Matcher::Where(condition) => Value::map([("$where", condition.source().clone())]),
        }
    }
}

fn entries(map: &Map) -> Result<Vec<(Arc<str>, Matcher)>, String> {
    map.iter().map(|(key, value)| Ok((key.clone(), Matcher::read(value)?))).collect()
}

/// What is as expected is shown as it is, in the order in which it is there; then comes what is missing.
fn judge_map(expected: &[(Arc<str>, Matcher)], actual: &Map, nothing_else: bool) -> Result<(), Value> {
    let mut wanted = Map::new();
    let mut holds = true;
    for (key, value) in actual {
        let matcher = expected.iter().find(|(name, _)| name == key).map(|(_, matcher)| matcher);
        match matcher.map(|matcher| matcher.judge(value)) {
            Some(Err(instead)) => {
                holds = false;
                wanted.insert(key.clone(), instead);
            }
            None if nothing_else => holds = false,
            Some(Ok(())) | None => {
                wanted.insert(key.clone(), value.clone());
            }
        }
    }
    for (key, matcher) in expected.iter().filter(|(key, _)| !actual.contains_key(key)) {
        holds = false;
        wanted.insert(key.clone(), matcher.shown());
    }
    if holds { Ok(()) } else { Err(wanted.into()) }
}

fn judge_list(expected: &[Matcher], actual: &[Value]) -> Result<(), Value> {
    let mut holds = expected.len() == actual.len();
    let wanted: Vec<Value> = expected
        .iter()
        .enumerate()
        .map(|(at, matcher)| match actual.get(at).map(|item| (item, matcher.judge(item))) {
            Some((item, Ok(()))) => item.clone(),
            Some((_, Err(instead))) => {
                holds = false;
                instead
            }
            None => matcher.shown(),
        })
        .collect();
    if holds { Ok(()) } else { Err(wanted.into()) }
}

#[cfg(test)]
mod tests {
    use noetl_types::value;

    use super::*;

    fn judge(expected: Value, actual: Value) -> String {
        let matcher = Matcher::read(&expected).expect("a valid expectation");
        matcher.judge(&actual).map_or_else(|wanted| wanted.to_string(), |()| "holds".to_owned())
    }

    #[test]
    fn a_plain_value_stands_for_itself_whatever_the_order_of_keys() {
        assert_eq!(judge(value!({"a": 1, "b": [1, 2.0]}), value!({"b": [1, 2], "a": 1})), "holds");
        assert_eq!(judge(value!({"a": 1}), value!({"a": 1, "b": 2})), r#"{"a":1}"#);
        assert_eq!(judge(value!({"a": 1, "b": 2}), value!({"a": 3})), r#"{"a":1,"b":2}"#);
        assert_eq!(judge(value!([1, 2]), value!([1])), "[1,2]");
        assert_eq!(judge(value!("1"), value!(1)), r#""1""#);
    }

    #[test]
    fn what_is_not_asked_for_is_left_as_it_is() {
        let contains = value!({"$contains": {"a": {"$contains": {"x": 1}}}});
        assert_eq!(judge(contains.clone(), value!({"a": {"x": 1, "y": 2}, "b": 0})), "holds");
        assert_eq!(judge(contains, value!({"a": {"x": 3, "y": 2}, "b": 0})), r#"{"a":{"x":1,"y":2},"b":0}"#);
    }

    #[test]
    fn members_and_parts_of_texts_are_found_anywhere() {
        assert_eq!(judge(value!({"$contains": [2, {"$type": "map"}]}), value!([{}, 1, 2])), "holds");
        assert_eq!(judge(value!({"$contains": [3]}), value!([1])), "[1,3]");
        assert_eq!(judge(value!({"$contains": "refused"}), value!("it was refused")), "holds");
        assert_eq!(judge(value!({"$contains": "refused"}), value!(1)), r#"{"$contains":"refused"}"#);
    }

    #[test]
    fn conditions_see_the_value() {
        assert_eq!(judge(value!({"$where": "{{ value.n > 3 }}"}), value!({"n": 4})), "holds");
        assert_eq!(judge(value!({"$where": "value > 3"}), value!(3)), r#"{"$where":"value > 3"}"#);
    }

    #[test]
    fn an_operator_that_does_not_exist_is_refused() {
        let refused = |value: Value| Matcher::read(&value).expect_err("not an expectation");
        assert!(refused(value!({"a": [{"$regex": "x"}]})).contains("there is no `$regex`"));
        assert!(refused(value!({"$type": "string"})).contains("null, boolean, number, text, list, map"));
        assert!(refused(value!({"$where": "{{ value >"})).contains("does not parse"));
    }
}
