//! What is known of a tool kind.

use std::borrow::Cow;

use crate::types::Types;

type Text = Cow<'static, str>;

/// A kind of tool and its settings.
#[derive(Clone, Debug)]
pub struct KindSpec {
    pub name: Text,
    /// Other names for the same kind.
    pub aliases: Vec<Text>,
    /// One sentence.
    pub summary: Text,
    pub fields: Vec<FieldSpec>,
    /// What a template finds in the result.
    pub result: Text,
    /// Settings that are not in the table are passed on without a warning.
    pub open: bool,
}

/// One setting of a kind.
#[derive(Clone, Debug)]
pub struct FieldSpec {
    pub name: Text,
    /// Other names that are as good.
    pub aliases: Vec<Text>,
    /// Older names that still work.
    pub older: Vec<Text>,
    pub need: Need,
    /// The types it takes. A template is always fine.
    pub types: Types,
    /// The words it takes, when they are few.
    pub words: Vec<Text>,
    /// Source code in another language: it is rendered only when its templates parse and name known data.
    pub code: bool,
    pub doc: Text,
}

/// Whether a setting has to be there. Settings may also be given as `input`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    Optional,
    Required,
    /// At least one of the fields with this group's name.
    AnyOf(Text),
    /// Exactly one of them.
    OneOf(Text),
    /// One of them at most.
    AtMostOneOf(Text),
}

impl KindSpec {
    pub fn new(name: impl Into<Text>, summary: impl Into<Text>, result: impl Into<Text>) -> KindSpec {
        KindSpec {
            name: name.into(),
            aliases: Vec::new(),
            summary: summary.into(),
            fields: Vec::new(),
            result: result.into(),
            open: false,
        }
    }

    pub fn alias(mut self, name: impl Into<Text>) -> KindSpec {
        self.aliases.push(name.into());
        self
    }

    pub fn field(mut self, field: FieldSpec) -> KindSpec {
        self.fields.push(field);
        self
    }

    pub fn fields(mut self, fields: impl IntoIterator<Item = FieldSpec>) -> KindSpec {
        self.fields.extend(fields);
        self
    }

    /// Lets settings through that are not in the table.
    pub fn open(mut self) -> KindSpec {
        self.open = true;
        self
    }

    /// The field with this name, alias or older name.
    pub fn find_field(&self, name: &str) -> Option<&FieldSpec> {
        self.fields.iter().find(|field| field.is_called(name))
    }
}

impl FieldSpec {
    pub fn new(name: impl Into<Text>, types: Types, doc: impl Into<Text>) -> FieldSpec {
        FieldSpec {
            name: name.into(),
            aliases: Vec::new(),
            older: Vec::new(),
            need: Need::Optional,
            types,
            words: Vec::new(),
            code: false,
            doc: doc.into(),
        }
    }

    pub fn need(mut self, need: Need) -> FieldSpec {
        self.need = need;
        self
    }

    pub fn required(self) -> FieldSpec {
        self.need(Need::Required)
    }

    pub fn any_of(self, group: &'static str) -> FieldSpec {
        self.need(Need::AnyOf(group.into()))
    }

    pub fn one_of(self, group: &'static str) -> FieldSpec {
        self.need(Need::OneOf(group.into()))
    }

    pub fn at_most_one_of(self, group: &'static str) -> FieldSpec {
        self.need(Need::AtMostOneOf(group.into()))
    }

    pub fn alias(mut self, name: impl Into<Text>) -> FieldSpec {
        self.aliases.push(name.into());
        self
    }

    pub fn older(mut self, name: impl Into<Text>) -> FieldSpec {
        self.older.push(name.into());
        self
    }

    pub fn words(mut self, words: &[&'static str]) -> FieldSpec {
        self.words = words.iter().map(|word| Text::Borrowed(*word)).collect();
        self
    }

    pub fn code(mut self) -> FieldSpec {
        self.code = true;
        self
    }

    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().chain(&self.older).any(|other| other == name)
    }
}
