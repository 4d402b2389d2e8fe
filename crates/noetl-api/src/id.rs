//! Ids on the wire. They exceed what a browser's numbers can hold, so people's clients get them as text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{OneOfBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{KnownFormat, ObjectBuilder, RefOr, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

/// An id that is sent as text and accepted as text or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub i64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
        deserializer.deserialize_any(Lenient).map(Id)
    }
}

impl PartialSchema for Id {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .pattern(Some("^[0-9]{1,19}$"))
            .build();
        RefOr::T(Schema::OneOf(OneOfBuilder::new().item(text).item(number()).build()))
    }
}

impl ToSchema for Id {
    fn name() -> Cow<'static, str> {
        "Id".into()
    }
}

/// An id that is sent as a number, for workers, and accepted as number or text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NumericId(pub i64);

impl Serialize for NumericId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for NumericId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NumericId, D::Error> {
        deserializer.deserialize_any(Lenient).map(NumericId)
    }
}

impl PartialSchema for NumericId {
    fn schema() -> RefOr<Schema> {
        Id::schema()
    }
}

impl ToSchema for NumericId {
    fn name() -> Cow<'static, str> {
        "NumericId".into()
    }
}

fn number() -> utoipa::openapi::Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::Integer))
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(0))
        .build()
}

/// Takes a whole number that is not negative, or the text of one.
struct Lenient;

impl Visitor<'_> for Lenient {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id: a number or its text")
    }

    fn visit_i64<E: Error>(self, id: i64) -> Result<i64, E> {
        if id < 0 { Err(E::custom("an id is not negative")) } else { Ok(id) }
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<i64, E> {
        i64::try_from(id).map_err(|_| E::custom("an id has at most 63 bits"))
    }

    // Some clients keep numbers as floating point; what they can hold exactly is taken.
    fn visit_f64<E: Error>(self, id: f64) -> Result<i64, E> {
        if id.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&id) {
            Ok(id as i64)
        } else {
            Err(E::custom("an id is a whole number"))
        }
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<i64, E> {
        match id.parse() {
            Ok(id) => self.visit_i64(id),
            Err(_) => Err(E::custom(format_args!("'{id}' is not an id"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_as_numbers_or_text_and_leave_as_each_client_needs() {
        for text in ["350000000000000001", "\"350000000000000001\""] {
            let id: Id = serde_json::from_str(text).expect("an id");
            assert_eq!(serde_json::to_string(&id).expect("json"), "\"350000000000000001\"");
            let id: NumericId = serde_json::from_str(text).expect("an id");
            assert_eq!(serde_json::to_string(&id).expect("json"), "350000000000000001");
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in ["-1", "1.5", "\"x\"", "\"\"", "\"-3\"", "null", "[1]", "18446744073709551615", "1e300"] {
            assert!(serde_json::from_str::<Id>(text).is_err(), "{text}");
        }
    }
}
