//! PostgreSQL's dates and times as ISO 8601 text. They are counted from the first of January 2000, in days or microseconds.

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// From the first of January 1970 to that of 2000.
const DAYS_TO_EPOCH: i64 = 10_957;

pub fn date(days: i32) -> String {
    match days {
        i32::MAX => "infinity".to_owned(),
        i32::MIN => "-infinity".to_owned(),
        _ => {
            let (text, era) = civil(i64::from(days));
            text + era
        }
    }
}

pub fn timestamp(micros: i64, zone: &str) -> String {
    match micros {
        i64::MAX => "infinity".to_owned(),
        i64::MIN => "-infinity".to_owned(),
        _ => {
            let (day, era) = civil(micros.div_euclid(MICROS_PER_DAY));
            format!("{day}T{}{zone}{era}", time(micros.rem_euclid(MICROS_PER_DAY)))
        }
    }
}

pub fn time(micros: i64) -> String {
    let seconds = micros / MICROS_PER_SECOND;
    let fraction = fraction(micros % MICROS_PER_SECOND);
    format!("{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// The offset from UTC, given in seconds to the east.
pub fn zone(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
}

pub fn interval(months: i32, days: i32, micros: i64) -> String {
    let part = |number: i64, unit: char| if number == 0 { String::new() } else { format!("{number}{unit}") };
    let (years, months) = (months / 12, months % 12);
    let day_part = [part(years.into(), 'Y'), part(months.into(), 'M'), part(days.into(), 'D')].concat();
    let seconds = micros / MICROS_PER_SECOND;
    let mut time_part = [part(seconds / 3600, 'H'), part(seconds / 60 % 60, 'M')].concat();
    let (seconds, rest) = (seconds % 60, micros % MICROS_PER_SECOND);
    if seconds != 0 || rest != 0 {
        let sign = if micros < 0 { "-" } else { "" };
        time_part += &format!("{sign}{}{}S", seconds.abs(), fraction(rest.abs()));
    }
    match (day_part.as_str(), time_part.as_str()) {
        ("", "") => "PT0S".to_owned(),
        (_, "") => format!("P{day_part}"),
        _ => format!("P{day_part}T{time_part}"),
    }
}

fn fraction(micros: i64) -> String {
    match micros {
        0 => String::new(),
        _ => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    }
}

/// Year, month and day in the Gregorian calendar, and the mark of years before our era. The year is taken to begin in March,
/// so that the odd day comes last.
fn civil(days: i64) -> (String, &'static str) {
    const DAYS_PER_ERA: i64 = 146_097;
    let shifted = days + DAYS_TO_EPOCH + 719_468;
    let era = shifted.div_euclid(DAYS_PER_ERA);
    let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    match year {
        1.. => (format!("{year:04}-{month:02}-{day:02}"), ""),
        // There is no year 0: the year before 1 is 1 BC.
        _ => (format!("{:04}-{month:02}-{day:02}", 1 - year), " BC"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "2000-01-01");
        assert_eq!(date(8825), "2024-02-29");
        assert_eq!(date(-1), "1999-12-31");
        assert_eq!(date(-730_119), "0001-01-01");
        assert_eq!(date(-730_120), "0001-12-31 BC");
        assert_eq!(date(i32::MAX), "infinity");
    }

    #[test]
    fn microseconds_become_timestamps() {
        assert_eq!(timestamp(0, "+00:00"), "2000-01-01T00:00:00+00:00");
        assert_eq!(timestamp(-1, ""), "1999-12-31T23:59:59.999999");
        assert_eq!(timestamp(1_500_000, ""), "2000-01-01T00:00:01.5");
        assert_eq!(zone(-5 * 3600 - 1800), "-05:30");
    }

    #[test]
    fn intervals_keep_months_days_and_seconds_apart() {
        assert_eq!(interval(14, 3, 3_723_500_000), "P1Y2M3DT1H2M3.5S");
        assert_eq!(interval(0, 0, 0), "PT0S");
        assert_eq!(interval(0, -1, -500_000), "P-1DT-0.5S");
    }
}
