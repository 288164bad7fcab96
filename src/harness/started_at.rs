//! The start instant and its written form.

use std::fmt;
use std::str::FromStr;

const MS_PER_DAY: i64 = 86_400_000;

/// The start instant, in milliseconds since the Unix epoch (spec L60).
///
/// It is written as UTC in the proleptic Gregorian calendar, `YYYY-MM-DDTHH:MM:SS[.f]Z`: no
/// fraction for a whole second, else up to three digits without trailing zeros. A year outside
/// 0000 to 9999 carries its sign and at least four digits, as ISO 8601 expands years.
///
/// It is read from an RFC 3339 date and time of any offset, cut to milliseconds (spec C2). The
/// leap second `23:59:60Z` reads as the second after it, which is how Unix time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StartedAt(pub i64);

/// A text that is no RFC 3339 date and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartedAtError;

impl StartedAt {
    /// The present instant, cut to milliseconds.
    pub(super) fn now() -> Self {
        let millis =
            |span: std::time::Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Self(
            match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
                Ok(after) => millis(after),
                Err(before) => -millis(before.duration()),
            },
        )
    }
}

impl fmt::Display for StartedAtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an RFC 3339 date and time, such as 2026-11-30T08:00:00Z")
    }
}

impl std::error::Error for StartedAtError {}

impl fmt::Display for StartedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0.div_euclid(MS_PER_DAY));
        match year {
            0..=9999 => write!(f, "{year:04}")?,
            _ => write!(f, "{year:+05}")?,
        }
        let ms = self.0.rem_euclid(MS_PER_DAY);
        let (seconds, ms) = (ms / 1000, ms % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if ms != 0 {
            let fraction = format!("{ms:03}");
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

impl FromStr for StartedAt {
    type Err = StartedAtError;

    fn from_str(text: &str) -> Result<Self, StartedAtError> {
        let mut rest = Reader(text.as_bytes());
        rest.instant()
            .filter(|_| rest.0.is_empty())
            .map(Self)
            .ok_or(StartedAtError)
    }
}

/// What is left of a date and time.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn instant(&mut self) -> Option<i64> {
        let year = self.digits(4)?;
        self.one_of(b"-")?;
        let month = self.digits(2).filter(|month| (1..=12).contains(month))?;
        self.one_of(b"-")?;
        let day = self
            .digits(2)
            .filter(|&day| 1 <= day && day <= month_days(year, month))?;
        self.one_of(b"Tt ")?;
        let hour = self.digits(2).filter(|&hour| hour < 24)?;
        self.one_of(b":")?;
        let minute = self.digits(2).filter(|&minute| minute < 60)?;
        self.one_of(b":")?;
        let second = self.digits(2).filter(|&second| second <= 60)?;
        let fraction = self.fraction()?;
        let offset = self.offset()?;
        let minutes = days(year, month, day) * 1440 + hour * 60 + minute - offset;
        if second == 60 {
            let last_of_a_day = minutes.rem_euclid(1440) == 1439;
            return last_of_a_day.then_some((minutes + 1) * 60_000 + fraction);
        }
        Some((minutes * 60 + second) * 1000 + fraction)
    }

    /// A number of exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0, |number, digit| {
            digit
                .is_ascii_digit()
                .then(|| number * 10 + i64::from(digit - b'0'))
        })
    }

    /// One byte out of a set.
    fn one_of(&mut self, set: &[u8]) -> Option<u8> {
        let (&byte, rest) = self
            .0
            .split_first()
            .filter(|(byte, _)| set.contains(byte))?;
        self.0 = rest;
        Some(byte)
    }

    /// The milliseconds of an optional fraction; the digits after the third are cut.
    fn fraction(&mut self) -> Option<i64> {
        if self.one_of(b".").is_none() {
            return Some(0);
        }
        let length = self
            .0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let kept = length.min(3);
        let ms = self.digits(kept).filter(|_| kept > 0)?;
        self.0 = self.0.get(length - kept..)?;
        Some(match kept {
            1 => ms * 100,
            2 => ms * 10,
            _ => ms,
        })
    }

    /// The offset from UTC, in minutes.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hours = self.digits(2).filter(|&hours| hours < 24)?;
        self.one_of(b":")?;
        let minutes = self.digits(2).filter(|&minutes| minutes < 60)?;
        Some(sign * (hours * 60 + minutes))
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date. Years begin in March here, so that the leap day comes last and
/// the length of a month is one linear formula over its number.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date that lies so many days after 1970-01-01: the inverse of [`days`].
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn instants_are_shown_as_the_language_shows_them() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-500, "1969-12-31T23:59:59.5Z"),
            (1_700_000_000_000, "2023-11-14T22:13:20Z"),
            (1_700_000_000_010, "2023-11-14T22:13:20.01Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
            (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "+10000-01-01T00:00:00Z"),
        ] {
            assert_eq!(StartedAt(ms).to_string(), text);
        }
        assert!(StartedAt(i64::MIN).to_string().starts_with("-2922"));
        assert!(StartedAt(i64::MAX).to_string().starts_with("+2922"));
    }

    #[test]
    fn rfc_3339_is_read_with_offset_and_fraction() {
        for (text, shown) in [
            ("2026-11-30T08:00:00Z", "2026-11-30T08:00:00Z"),
            ("2026-11-30t08:00:00z", "2026-11-30T08:00:00Z"),
            ("2026-11-30 08:00:00Z", "2026-11-30T08:00:00Z"),
            ("2026-11-30T08:00:00+09:30", "2026-11-29T22:30:00Z"),
            ("2026-12-31T20:00:00-08:00", "2027-01-01T04:00:00Z"),
            ("2026-11-30T08:00:00.5Z", "2026-11-30T08:00:00.5Z"),
            ("2026-11-30T08:00:00.0129999Z", "2026-11-30T08:00:00.012Z"),
            ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
            ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"),
            ("1998-12-31T23:59:60Z", "1999-01-01T00:00:00Z"),
            ("1998-12-31T15:59:60.25-08:00", "1999-01-01T00:00:00.25Z"),
        ] {
            let instant = text.parse::<StartedAt>().unwrap();
            assert_eq!(instant.to_string(), shown, "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in [
            "",
            "now",
            "2026-11-30",
            "2026-11-30T08:00:00",
            "2026-11-30T08:00Z",
            "2026-11-30T24:00:00Z",
            "2026-11-30T08:60:00Z",
            "2026-11-30T08:00:60Z",
            "2026-11-30T08:00:61Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-11-00T00:00:00Z",
            "2026-11-30T08:00:00.Z",
            "2026-11-30T08:00:00,5Z",
            "2026-11-30T08:00:00+24:00",
            "2026-11-30T08:00:00+0100",
            "2026-11-30T08:00:00Z ",
            "+2026-11-30T08:00:00Z",
            "２026-11-30T08:00:00Z",
        ] {
            assert_eq!(text.parse::<StartedAt>(), Err(StartedAtError), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(ms in -62_167_219_200_000_i64..253_402_300_800_000) {
            let instant = StartedAt(ms);
            prop_assert_eq!(instant.to_string().parse::<StartedAt>(), Ok(instant));
        }

        #[test]
        fn every_instant_can_be_shown(ms: i64) {
            let text = StartedAt(ms).to_string();
            prop_assert!(text.ends_with('Z'));
        }

        #[test]
        fn dates_and_day_numbers_are_inverses(number in -200_000_000_i64..200_000_000) {
            let (year, month, day) = civil(number);
            prop_assert!((1..=12).contains(&month));
            prop_assert!(1 <= day && day <= month_days(year, month));
            prop_assert_eq!(days(year, month, day), number);
        }

        #[test]
        fn later_is_shown_later(a in 0_i64..253_402_300_800, b in 0_i64..253_402_300_800) {
            let (a, b) = (a * 1000, b * 1000);
            let (x, y) = (StartedAt(a).to_string(), StartedAt(b).to_string());
            prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = text.parse::<StartedAt>();
        }
    }
}
