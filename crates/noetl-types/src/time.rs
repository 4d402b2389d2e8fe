//! Instants, given to the pure parts of the system from outside.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Microseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Timestamp {
        Timestamp(millis * 1000)
    }

    pub fn as_millis(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Saturates at the far end of time.
    pub fn after(self, delay: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(i64::try_from(delay.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Saturates at the beginning of time.
    pub fn before(self, delay: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(i64::try_from(delay.as_micros()).unwrap_or(i64::MAX)))
    }

    /// How long from `earlier` to here; nothing when `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Timestamp {
    /// Reads RFC 3339: `2026-01-31T23:59:59.5+01:00`, with a blank in place of the `T` too, or a date alone. Without a zone it
    /// is UTC. Digits beyond microseconds are dropped.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let (date, time) = match text.find(['T', 't', ' ']) {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, "00:00:00"),
        };
        let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
        let zone_at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
        let (clock, zone) = time.split_at(zone_at);
        let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
        let offset_minutes = match zone {
            "" | "Z" | "z" => 0,
            zone => {
                let [hours, minutes] = numbers(&zone[1..], ':', [2, 2])?;
                (hours * 60 + minutes) * if zone.starts_with('-') { -1 } else { 1 }
            }
        };
        let valid = (1..=12).contains(&month) && day >= 1 && day <= days_of_month(year, month);
        if !valid || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
            - offset_minutes * 60;
        Some(Timestamp(seconds * 1_000_000 + micros(fraction)?))
    }
}

/// Numbers of so many digits each, with a mark between them.
fn numbers<const N: usize>(text: &str, mark: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut found = [0; N];
    let mut parts = text.split(mark);
    for (number, digits) in found.iter_mut().zip(digits) {
        let part =
            parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

fn micros(fraction: &str) -> Option<i64> {
    if fraction.is_empty() || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<6}")[..6].parse().ok()
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_from_civil(next_year, next, 1) - days_from_civil(year, month, 1)
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar, by counting 400-year eras from March 1st of year 0.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Prints RFC 3339 in UTC with microseconds.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(1_000_000);
        let micros = self.0.rem_euclid(1_000_000);
        let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

/// The proleptic Gregorian date of a day counted from 1970-01-01, by counting 400-year eras from March 1st of year 0.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_print_as_rfc_3339() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(Timestamp::from_millis(1_709_164_800_123).to_string(), "2024-02-29T00:00:00.123000Z");
        assert_eq!(Timestamp(-1).to_string(), "1969-12-31T23:59:59.999999Z");
    }

    #[test]
    fn instants_are_read_as_people_and_programs_write_them() {
        let at = |text: &str| Timestamp::parse(text).map(|instant| instant.to_string());
        for (text, utc) in [
            ("2024-02-29T00:00:00.123Z", "2024-02-29T00:00:00.123000Z"),
            ("2024-02-29 01:30:00+01:30", "2024-02-29T00:00:00.000000Z"),
            ("2023-12-31T23:00:00.1234567-02:00", "2024-01-01T01:00:00.123456Z"),
            ("2026-08-20", "2026-08-20T00:00:00.000000Z"),
            ("1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(at(text).as_deref(), Some(utc), "{text}");
        }
        for text in [
            "",
            "now",
            "2024-13-01",
            "2023-02-29",
            "2024-1-1",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+1",
            "2024-01-01Tä",
        ] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
