//! How a kind presents itself: the table of its fields. The same table drives how settings are read, so that the checker
//! and the documentation cannot disagree with the tool.

use serde::Serialize;

/// A kind of step as checkers and documentation see it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KindDescription {
    pub kind: &'static str,
    /// What the kind does, in one sentence.
    pub summary: &'static str,
    pub fields: &'static [Field],
    /// What the result looks like.
    pub result: &'static str,
    /// Whether the kind runs source text given as `code`.
    pub takes_code: bool,
}

impl KindDescription {
    /// The field that goes by this name or alias.
    pub fn find_field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name || field.aliases.contains(&name))
    }
}

/// A setting of a kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Field {
    pub name: &'static str,
    /// Older and shorter names that mean the same.
    pub aliases: &'static [&'static str],
    pub required: bool,
    pub shape: Shape,
    pub doc: &'static str,
}

impl Field {
    pub const fn new(name: &'static str, shape: Shape, doc: &'static str) -> Field {
        Field { name, aliases: &[], required: false, shape, doc }
    }

    pub const fn or(mut self, aliases: &'static [&'static str]) -> Field {
        self.aliases = aliases;
        self
    }

    pub const fn required(mut self) -> Field {
        self.required = true;
        self
    }
}

/// What a rendered value has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    Any,
    Text,
    /// A whole number, or text that reads as one.
    Integer,
    Flag,
    /// A number of seconds, or text that reads as one.
    Seconds,
    Map,
    List,
    TextOrList,
    TextOrMap,
    MapOrList,
}
