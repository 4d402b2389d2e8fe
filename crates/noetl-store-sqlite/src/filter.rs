//! Building the `WHERE` of a list out of the parts of its filter that are given.

use rusqlite::ToSql;

/// Conditions with their values. All must hold.
#[derive(Default)]
pub struct Conditions {
    texts: Vec<String>,
    values: Vec<Box<dyn ToSql + Send>>,
}

impl Conditions {
    /// Adds a condition; `?` in it stands for the value wherever it occurs.
    pub fn add(&mut self, condition: &str, value: impl ToSql + Send + 'static) {
        self.values.push(Box::new(value));
        self.texts.push(condition.replace('?', &format!("?{}", self.values.len())));
    }

    /// Adds a condition if there is a value for it.
    pub fn add_some(&mut self, condition: &str, value: Option<impl ToSql + Send + 'static>) {
        if let Some(value) = value {
            self.add(condition, value);
        }
    }

    /// Adds a condition without a value.
    pub fn add_plain(&mut self, condition: &str) {
        self.texts.push(condition.to_owned());
    }

    /// Adds a condition with two values, `?a` and `?b`.
    pub fn add_pair(
        &mut self,
        condition: &str,
        a: impl ToSql + Send + 'static,
        b: impl ToSql + Send + 'static,
    ) {
        self.values.push(Box::new(a));
        self.values.push(Box::new(b));
        let (a, b) = (self.values.len() - 1, self.values.len());
        self.texts.push(condition.replace("?a", &format!("?{a}")).replace("?b", &format!("?{b}")));
    }

    /// A place in the statement for a value outside the conditions, such as a limit.
    pub fn value(&mut self, value: impl ToSql + Send + 'static) -> String {
        self.values.push(Box::new(value));
        format!("?{}", self.values.len())
    }

    pub fn sql(&self) -> String {
        if self.texts.is_empty() { "TRUE".to_owned() } else { self.texts.join(" AND ") }
    }

    pub fn values(&self) -> Vec<&dyn ToSql> {
        self.values.iter().map(|value| &**value as &dyn ToSql).collect()
    }
}

/// The end of the range of texts that begin with a prefix: the prefix with its last character raised, or nothing when
/// there is no such end.
pub fn end_of_prefix(prefix: &str) -> Option<String> {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            characters.push(next);
            return Some(characters.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_number_their_values() {
        let mut conditions = Conditions::default();
        assert_eq!(conditions.sql(), "TRUE");
        conditions.add("a = ?", 1);
        conditions.add_some("b = ?", None::<i64>);
        conditions.add("(c = ? OR d = ?)", 2);
        conditions.add_pair("e BETWEEN ?a AND ?b", 3, 4);
        assert_eq!(conditions.sql(), "a = ?1 AND (c = ?2 OR d = ?2) AND e BETWEEN ?3 AND ?4");
        assert_eq!(conditions.value(5), "?5");
        assert_eq!(conditions.values().len(), 5);
    }

    #[test]
    fn prefixes_end_where_the_next_text_begins() {
        assert_eq!(end_of_prefix("etl/"), Some("etl0".to_owned()));
        assert_eq!(end_of_prefix("a\u{10ffff}"), Some("b".to_owned()));
        assert_eq!(end_of_prefix("\u{d7ff}"), Some("\u{e000}".to_owned()));
        assert_eq!(end_of_prefix(""), None);
    }
}
