//! Times and sizes with their units, as people write them.

use std::time::Duration;

const TIMES: &[(&str, u64)] = &[("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
const SIZES: &[(&str, u64)] =
    &[("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// `30s`, `200 ms`; a number without a unit counts seconds.
pub fn parse_time(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let unit = if unit.is_empty() { "s" } else { unit };
    let (_, milliseconds) = TIMES.iter().find(|(name, _)| *name == unit)?;
    Some(Duration::from_millis(number.checked_mul(*milliseconds)?))
}

/// `64 MiB`, `10MiB`; a number without a unit counts bytes. `K`, `KB` and `KiB` are all 1024 bytes, and so on.
pub fn parse_size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let unit = unit.to_ascii_lowercase();
    let (_, bytes) = match unit.as_str() {
        "" => &("B", 1),
        unit => SIZES.iter().find(|(name, _)| {
            let name = name.to_ascii_lowercase();
            name == unit || name.replace('i', "") == unit || name[..1] == *unit
        })?,
    };
    number.checked_mul(*bytes)
}

fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim_start()))
}

/// The time in the largest unit that gives a whole number.
pub fn show_time(time: Duration) -> String {
    let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    if milliseconds == 0 {
        return "0s".to_owned();
    }
    whole(milliseconds, TIMES, "")
}

/// The size in the largest unit that gives a whole number.
pub fn show_size(bytes: u64) -> String {
    if bytes == 0 {
        return "0 B".to_owned();
    }
    whole(bytes, SIZES, " ")
}

fn whole(number: u64, units: &[(&str, u64)], space: &str) -> String {
    let fitting = units.iter().find(|(_, size)| number.is_multiple_of(*size));
    let (name, size) = fitting.expect("the last unit divides every number");
    format!("{}{space}{name}", number / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_count_seconds_without() {
        for (text, milliseconds, shown) in [
            ("30s", 30_000, "30s"),
            ("200 ms", 200, "200ms"),
            ("90", 90_000, "90s"),
            ("120s", 120_000, "2m"),
            ("2h", 7_200_000, "2h"),
            ("1d", 86_400_000, "1d"),
            ("0", 0, "0s"),
        ] {
            let time = parse_time(text).expect("a time");
            assert_eq!((time, show_time(time).as_str()), (Duration::from_millis(milliseconds), shown));
        }
    }

    #[test]
    fn sizes_have_units_and_count_bytes_without() {
        for (text, bytes, shown) in [
            ("64 MiB", 64 << 20, "64 MiB"),
            ("10mb", 10 << 20, "10 MiB"),
            ("1G", 1 << 30, "1 GiB"),
            ("1024", 1024, "1 KiB"),
            ("1000 B", 1000, "1000 B"),
            ("0", 0, "0 B"),
        ] {
            let size = parse_size(text).expect("a size");
            assert_eq!((size, show_size(size).as_str()), (bytes, shown));
        }
    }

    #[test]
    fn other_texts_are_neither() {
        for text in ["", "s", "-1s", "1.5s", "1 week", "99999999999999999999", "18446744073709551615 TiB"] {
            assert!(parse_time(text).is_none() && parse_size(text).is_none(), "{text}");
        }
    }
}
