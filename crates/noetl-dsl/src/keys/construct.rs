//! What a table says about a construct of the language and its keys.

use crate::codes::Code;
use crate::types::Types;

/// A map with a meaning: a step, an arc, a rule.
#[derive(Debug)]
pub struct Construct {
    /// Its name in the schema.
    pub name: &'static str,
    /// As it is called in a sentence, with its article.
    pub title: &'static str,
    pub doc: &'static str,
    pub unknown: Unknown,
    pub keys: &'static [Key],
}

impl Construct {
    pub fn find_key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names that should be used today.
    pub fn current_names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().filter(|key| matches!(key.status, Status::Current)).map(|key| key.name)
    }
}

/// What happens to a key that the table does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It is the author's own.
    Allow,
    /// It is ignored, with a warning.
    Warn,
    /// The document is refused, with this finding.
    Refuse(&'static Code),
}

#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub status: Status,
    pub required: bool,
    pub doc: &'static str,
}

#[derive(Debug)]
pub enum Status {
    Current,
    /// An older spelling of the key named here; means the same.
    OldFor(&'static str),
    /// Understood and without effect; the sentence says what to do instead.
    Ignored(&'static str),
    /// Refused, because ignoring it would change what the playbook does; the sentence says what to do instead.
    Removed(&'static str),
}

/// What a key takes.
#[derive(Debug)]
pub enum Shape {
    Is(Types),
    /// A number that is not below this. Templates are judged when they are rendered.
    AtLeast(Types, f64),
    /// Exactly one of these words.
    Words(&'static [&'static str]),
    /// One of these words or a template; others are only warned about.
    Hints(&'static [&'static str]),
    Of(&'static Construct),
    ListOf(&'static Construct),
    /// A list of things with a `name`, or a map from the name to the thing.
    NamedOf(&'static Construct),
    /// A map from names of the author's choosing to this construct, or to a list of it.
    EachOf(&'static Construct),
    /// The first of these that takes the YAML type of the value.
    Either(&'static [Shape]),
    /// A boolean, a template or a bare expression.
    Condition,
    /// A map whose keys say where a value is kept.
    Assignments,
    /// One tool, or a list of them.
    Tool,
    /// A list of tools.
    Tasks,
}

/// A key that may be left out.
pub const fn key(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, status: Status::Current, required: false, doc }
}

/// A key that must be there.
pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, status: Status::Current, required: true, doc }
}

pub(super) const fn old(name: &'static str, shape: Shape, current: &'static str) -> Key {
    Key {
        name,
        shape,
        status: Status::OldFor(current),
        required: false,
        doc: "An older spelling that still works.",
    }
}

pub(super) const fn ignored(name: &'static str, instead: &'static str) -> Key {
    Key {
        name,
        shape: Shape::Is(Types::ANY),
        status: Status::Ignored(instead),
        required: false,
        doc: "Understood, without effect.",
    }
}

pub(super) const fn removed(name: &'static str, instead: &'static str) -> Key {
    Key {
        name,
        shape: Shape::Is(Types::ANY),
        status: Status::Removed(instead),
        required: false,
        doc: "No longer part of the language.",
    }
}

pub(super) const ANY: Shape = Shape::Is(Types::ANY);
pub(super) const TEXT: Shape = Shape::Is(Types::TEXT);
pub(super) const SCALAR: Shape = Shape::Is(Types::SCALAR);
pub(super) const BOOL: Shape = Shape::Is(Types::BOOL);
pub(super) const MAP: Shape = Shape::Is(Types::MAP);
pub(super) const LIST: Shape = Shape::Is(Types::LIST);
pub(super) const COUNT: Shape = Shape::AtLeast(Types::INTEGER.or(Types::TEMPLATE), 1.0);
pub(super) const SECONDS: Shape = Shape::AtLeast(Types::NUMBER.or(Types::TEMPLATE), 0.0);
