//! PostgreSQL's `numeric`: decimal numbers of any size, in groups of four digits.

use noetl_types::Value;

use super::decode::{Fault, Reader};

/// A number where JSON can say it well, else text. Digits behind the point are rounded to what a double holds; a whole part
/// that a double cannot hold exactly is kept as text.
pub fn decode(reader: &mut Reader<'_>) -> Result<Value, Fault> {
    const NEGATIVE: u16 = 0x4000;
    const SPECIAL: u16 = 0xC000;
    let (groups, weight, sign, scale) = (reader.u16()?, reader.i16()?, reader.u16()?, reader.u16()?);
    if sign & SPECIAL == SPECIAL {
        // NaN and the infinities have no place in JSON.
        return Ok(Value::Null);
    }
    let mut digits = Vec::new();
    for _ in 0..groups {
        digits.push(reader.u16()?);
    }
    let text = decimal_text(&digits, weight, sign == NEGATIVE, scale.into());
    Ok(as_number(&text).unwrap_or_else(|| text.into()))
}

/// The weight is the power of 10,000 of the first group.
fn decimal_text(groups: &[u16], weight: i16, is_negative: bool, scale: usize) -> String {
    let group = |power: i32| {
        let index = i32::from(weight) - power;
        usize::try_from(index).ok().and_then(|index| groups.get(index)).copied().unwrap_or(0)
    };
    let whole: String = (0..=i32::from(weight)).rev().map(|power| format!("{:04}", group(power))).collect();
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let count = scale.div_ceil(4);
    let fraction: String = (1..=count as i32).map(|place| format!("{:04}", group(-place))).collect();
    let sign = if is_negative { "-" } else { "" };
    match scale {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{}", &fraction[..scale]),
    }
}

fn as_number(text: &str) -> Option<Value> {
    const EXACT_IN_A_DOUBLE: usize = 15;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.bytes().all(|digit| digit == b'0') {
        return whole.parse().ok().map(Value::Int);
    }
    let digits = whole.trim_start_matches('-').len();
    (digits <= EXACT_IN_A_DOUBLE).then(|| text.parse().ok().map(Value::Float))?
}

#[cfg(test)]
mod tests {
    use noetl_types::value;

    use super::*;

    #[test]
    fn groups_become_decimal_text() {
        assert_eq!(decimal_text(&[12, 5000], 0, false, 2), "12.50");
        assert_eq!(decimal_text(&[1, 2345, 6000], 1, true, 3), "-12345.600");
        assert_eq!(decimal_text(&[5], -2, false, 8), "0.00000005");
        assert_eq!(decimal_text(&[3], 2, false, 0), "300000000");
        assert_eq!(decimal_text(&[], 0, false, 2), "0.00");
    }

    #[test]
    fn numbers_stay_numbers_unless_their_whole_part_would_suffer() {
        assert_eq!(as_number("12.50"), Some(value!(12.5)));
        assert_eq!(as_number("5.00"), Some(value!(5)));
        assert_eq!(as_number("0.33333333333333333333"), Some(value!(0.3333333333333333)));
        assert_eq!(as_number("9223372036854775807"), Some(value!(9223372036854775807_i64)));
        assert_eq!(as_number("12345678901234567890.5"), None);
        assert_eq!(as_number("9223372036854775808"), None);
    }
}
