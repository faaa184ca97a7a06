//! Moments: an instant and the offset it was written with.

use std::fmt;

use jiff::{Timestamp, tz};

/// First second of the year 1, the earliest moment there is.
const FIRST: i64 = -62_135_596_800;
/// Last second of the year 9999.
const LAST: i64 = 253_402_300_799;

/// An instant between the years 1 and 9999. Two moments are equal when the instants are.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Seconds since 1970.
    seconds: i64,
    nanos: u32,
    /// Seconds east of UTC that the moment was written with.
    offset: i32,
}

/// A date and time of day.
pub(crate) struct Clock {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) nanos: u32,
    /// From Sunday.
    pub(crate) weekday: i64,
    /// From the first of January, which is 0.
    pub(crate) day_of_year: i64,
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

impl Moment {
    /// A moment in UTC; `None` outside the years 1 to 9999.
    pub fn new(seconds: i64, nanos: u32) -> Option<Self> {
        let fits = (FIRST..=LAST).contains(&seconds) && nanos < 1_000_000_000;
        fits.then_some(Self {
            seconds,
            nanos,
            offset: 0,
        })
    }

    /// Whether this is the first moment of the year 1.
    pub(crate) fn is_zero(self) -> bool {
        self.seconds == FIRST && self.nanos == 0
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds since 1970.
    pub(crate) fn nanos(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)
    }

    /// The moment so many nanoseconds later.
    pub(crate) fn plus(self, nanos: i64) -> Option<Self> {
        let total = self.nanos() + i128::from(nanos);
        let seconds = i64::try_from(total.div_euclid(1_000_000_000)).ok()?;
        let rest = u32::try_from(total.rem_euclid(1_000_000_000)).ok()?;
        Some(Self {
            offset: self.offset,
            ..Self::new(seconds, rest)?
        })
    }

    /// Reads RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
        // The reference reads hours of one digit as well.
        if text.is_ascii() && text.get(12..13) == Some(":") {
            return Self::parse(&format!("{}0{}", &text[..11], &text[11..]));
        }
        let bytes = text.as_bytes();
        let shaped = bytes.len() >= 20
            && bytes[4] == b'-'
            && bytes[7] == b'-'
            && bytes[10] == b'T'
            && bytes[13] == b':'
            && bytes[16] == b':';
        if !shaped || !text.is_ascii() {
            return None;
        }
        let number = |from: usize, to: usize| digits(&text[from..to]);
        let rest = &text[19..];
        let (nanos, zone) = match rest.strip_prefix(['.', ',']) {
            Some(fraction) => {
                let end = fraction
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(fraction.len());
                let shown = &fraction[..end.min(9)];
                let scale = 10_u32.pow(9 - u32::try_from(shown.len()).ok()?);
                (
                    u32::try_from(digits(shown)?).ok()? * scale,
                    &fraction[end..],
                )
            }
            None => (0, rest),
        };
        let offset = offset(zone)?;
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let day = days(number(0, 4)?, number(5, 7)?, number(8, 10)?)?;
        let seconds = day * 86400 + hour * 3600 + minute * 60 + second - i64::from(offset);
        Some(Self {
            seconds,
            nanos,
            offset,
        })
    }

    /// The same moment, written in UTC.
    #[must_use]
    pub fn utc(self) -> Self {
        Self { offset: 0, ..self }
    }

    /// Whether the moment lies in the years that the language knows.
    pub(crate) fn in_range(self) -> bool {
        (FIRST..=LAST).contains(&self.seconds())
    }

    /// Reads a date without a time of day.
    pub(crate) fn parse_date(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' || !text.is_ascii() {
            return None;
        }
        let day = days(
            digits(&text[..4])?,
            digits(&text[5..7])?,
            digits(&text[8..])?,
        )?;
        Self::new(day * 86400, 0)
    }

    /// The date and time on a clock in a zone: a name, or an offset like `-02:00`.
    pub(crate) fn clock(self, zone: Option<&str>) -> Result<Clock, String> {
        Ok(self.clock_at(match zone {
            None | Some("" | "UTC") => 0,
            Some(name) => match name.split_once(':') {
                Some((hours, minutes)) => fixed(name, hours, minutes)?,
                None => {
                    let zone = match name {
                        "Local" => Ok(tz::TimeZone::system()),
                        name => tz::TimeZone::get(name),
                    };
                    let exact = zone.ok().filter(|zone| {
                        name == "Local" || zone.iana_name().is_none_or(|known| known == name)
                    });
                    let zone = exact.ok_or_else(|| format!("unknown time zone {name}"))?;
                    // The first and last hours of time are too far out for the zone's table.
                    let first = Timestamp::MIN.as_second();
                    let near = self.seconds.clamp(first, Timestamp::MAX.as_second());
                    let at = Timestamp::from_second(near).unwrap_or_default();
                    zone.to_offset(at).seconds()
                }
            },
        }))
    }

    fn clock_at(self, offset: i32) -> Clock {
        let local = self.seconds + i64::from(offset);
        let (days, rest) = (local.div_euclid(86400), local.rem_euclid(86400));
        let (year, month, day) = date(days);
        let start = self::days(year, 1, 1).unwrap_or(days);
        Clock {
            year,
            month,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            nanos: self.nanos,
            weekday: (days + 4).rem_euclid(7),
            day_of_year: days - start,
        }
    }
}

fn fixed(name: &str, hours: &str, minutes: &str) -> Result<i32, String> {
    let number = |text: &str| {
        text.parse::<i32>().map_err(|_| {
            format!(
                "strconv.Atoi: parsing {}: invalid syntax",
                super::number::quote(text)
            )
        })
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let minutes = if name.starts_with('-') {
        -minutes
    } else {
        minutes
    };
    Ok(hours
        .saturating_mul(60)
        .saturating_add(minutes)
        .saturating_mul(60))
}

fn digits(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn offset(zone: &str) -> Option<i32> {
    if zone == "Z" {
        return Some(0);
    }
    let bytes = zone.as_bytes();
    if bytes.len() != 6 || bytes[3] != b':' {
        return None;
    }
    let sign = match bytes[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = (digits(&zone[1..3])?, digits(&zone[4..])?);
    if hours > 24 || minutes > 60 {
        return None;
    }
    i32::try_from(sign * (hours * 3600 + minutes * 60)).ok()
}

/// Days since 1970 of a date that exists.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    // Counted from 1 March of year 0, so that the leap day comes last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year, month and day of a day since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = self.clock_at(self.offset);
        write!(f, "{:04}-{:02}-{:02}T", clock.year, clock.month, clock.day)?;
        write!(
            f,
            "{:02}:{:02}:{:02}",
            clock.hour, clock.minute, clock.second
        )?;
        if clock.nanos != 0 {
            let fraction = format!("{:09}", clock.nanos);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let minutes = self.offset.abs() / 60;
        let sign = if self.offset < 0 { '-' } else { '+' };
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_back() {
        for text in [
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999999999Z",
            "1969-12-31T23:59:59.5Z",
            "2024-02-29T12:00:00+05:30",
            "2023-01-01T00:00:00-08:00",
        ] {
            assert_eq!(Moment::parse(text).unwrap().to_string(), text);
        }
        assert!(Moment::parse("2023-02-29T00:00:00Z").is_none());
    }

    #[test]
    fn zones_move_the_clock() {
        let moment = Moment::parse("2023-07-01T23:30:00Z").unwrap();
        assert_eq!(moment.clock(Some("Asia/Tokyo")).unwrap().day, 2);
        assert_eq!(moment.clock(Some("-02:30")).unwrap().hour, 21);
        assert!(moment.clock(Some("No/Where")).is_err());
    }
}
