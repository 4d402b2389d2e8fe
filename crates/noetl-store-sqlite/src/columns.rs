//! How values lie in columns: instants, JSON, keys and names of states.

use noetl_store::{
    CommandStatus, KeychainScope, LogStream, SubscriptionState, VariableType, WorkerKind, parse_command_key,
    parse_timer_key,
};
use noetl_types::{CommandKey, RunStatus, TimerKey, Timestamp, Value};
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::de::DeserializeOwned;

/// An instant as microseconds since 1970, in the tables that every commit writes.
#[derive(Clone, Copy)]
pub struct Micros(pub Timestamp);

impl ToSql for Micros {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.0.into())
    }
}

impl FromSql for Micros {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Micros> {
        Ok(Micros(Timestamp(value.as_i64()?)))
    }
}

/// An instant as RFC 3339 text with microseconds, which people can read and which sorts in time order.
#[derive(Clone, Copy)]
pub struct Iso(pub Timestamp);

/// The first and the last instant whose year has four digits. What lies beyond is stored as these.
const FIRST: i64 = -62_167_219_200_000_000;
const LAST: i64 = 253_402_300_799_999_999;

impl ToSql for Iso {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(Timestamp(self.0.0.clamp(FIRST, LAST)).to_string().into())
    }
}

impl FromSql for Iso {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Iso> {
        parse_iso(value.as_str()?).map(Iso).ok_or_else(|| unreadable("an instant"))
    }
}

/// Reads `2026-01-31T23:59:59.123456Z`.
fn parse_iso(text: &str) -> Option<Timestamp> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (26, b'Z')];
    if text.len() != 27 || marks.iter().any(|(place, mark)| text.as_bytes()[*place] != *mark) {
        return None;
    }
    let days = days_from_civil(number(0..4)?, number(5..7)?, number(8..10)?);
    let seconds = days * 86_400 + number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?;
    Some(Timestamp(seconds * 1_000_000 + number(20..26)?))
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar, by counting 400-year eras from March 1st of year 0.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// A value as JSON text.
pub struct Json(pub Value);

/// A reference to a value, to be written as JSON text; null stays NULL.
pub struct JsonRef<'a>(pub &'a Value);

impl ToSql for JsonRef<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Null => rusqlite::types::Null.into(),
            value => value.to_string().into(),
        })
    }
}

impl FromSql for Json {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Json> {
        match value {
            ValueRef::Null => Ok(Json(Value::Null)),
            value => serde_json::from_slice(value.as_bytes()?)
                .map(Json)
                .map_err(|error| FromSqlError::Other(Box::new(error))),
        }
    }
}

/// Bytes that are stored as text when they are text, so that SQL can look into them.
pub struct Content<'a>(pub &'a [u8]);

impl ToSql for Content<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match std::str::from_utf8(self.0) {
            // Text ends at a zero byte for SQL functions, so bytes with one stay bytes.
            Ok(text) if !self.0.contains(&0) => ValueRef::Text(text.as_bytes()),
            _ => ValueRef::Blob(self.0),
        }))
    }
}

/// Bytes from a column of text, bytes or nothing.
pub struct Bytes(pub std::sync::Arc<[u8]>);

impl FromSql for Bytes {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Bytes> {
        Ok(Bytes(value.as_bytes_or_null()?.unwrap_or_default().into()))
    }
}

fn unreadable(what: &str) -> FromSqlError {
    FromSqlError::Other(format!("the column does not hold {what}").into())
}

/// A column type that is read from text.
macro_rules! read_from_text {
    ($($name:ident($inner:ty), $what:literal, $parse:expr;)+) => {
        $(
            #[derive(Clone, Copy)]
            pub struct $name(pub $inner);

            impl FromSql for $name {
                fn column_result(value: ValueRef<'_>) -> FromSqlResult<$name> {
                    let parse: fn(&str) -> Option<$inner> = $parse;
                    parse(value.as_str()?).map($name).ok_or_else(|| unreadable($what))
                }
            }
        )+
    };
}

read_from_text! {
    Command(CommandKey), "the key of a command", parse_command_key;
    Timer(TimerKey), "the key of a timer", parse_timer_key;
    Run(RunStatus), "the status of an execution", |text| {
        RunStatus::ALL.into_iter().find(|status| status.as_str() == text)
    };
    CommandState(CommandStatus), "the status of a command", |text| {
        use CommandStatus::*;
        [Pending, Claimed, Completed, Failed, Suspended, Lost, Cancelled]
            .into_iter()
            .find(|status| status.as_str() == text)
    };
    Scope(KeychainScope), "a scope", |text| {
        use KeychainScope::*;
        [Local, Shared, Global].into_iter().find(|scope| scope.as_str() == text)
    };
    Stream(LogStream), "a stream", |text| {
        [LogStream::Stdout, LogStream::Stderr].into_iter().find(|stream| stream.as_str() == text)
    };
    VariableKind(VariableType), "a type of variable", |text| {
        use VariableType::*;
        [UserDefined, StepResult, Computed, IteratorState].into_iter().find(|kind| kind.as_str() == text)
    };
    Subscribed(SubscriptionState), "the state of a subscription", |text| {
        SubscriptionState::ALL.into_iter().find(|state| state.as_str() == text)
    };
    Part(WorkerKind), "a kind of running part", |text| {
        use WorkerKind::*;
        [WorkerPool, ServerApi, Broker].into_iter().find(|kind| kind.as_str() == text)
    };
}

/// Reads JSON that the store has written, however deep it is: depth is limited where values come in.
pub fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let mut reader = serde_json::Deserializer::from_slice(row.get_ref(column)?.as_bytes()?);
    reader.disable_recursion_limit();
    T::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value)).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// A count or seq for SQLite, whose integers are signed. What does not fit is as good as endless.
pub fn int(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_survive_as_text() {
        for micros in [0, 1, -1, 951_782_400_000_000, 1_709_164_800_123_456, FIRST, LAST] {
            assert_eq!(parse_iso(&Timestamp(micros).to_string()), Some(Timestamp(micros)));
        }
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in [
            "",
            "2026-01-31",
            "2026-01-31 23:59:59.123456Z",
            "2026-01-31T23:59:59.123456+",
            "é026-01-31T23:59:59.12345Z",
        ] {
            assert_eq!(parse_iso(text), None, "{text}");
        }
    }
}
