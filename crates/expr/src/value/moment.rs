//! Moments: an instant and the offset it was written with.

use std::{fmt, sync::Arc};

use jiff::{Timestamp, tz};

/// First second of the year 1, the earliest moment there is.
const FIRST: i64 = -62_135_596_800;
/// Last second of the year 9999.
const LAST: i64 = 253_402_300_799;

/// An instant between the years 1 and 9999. Two moments are equal when the instants are.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    at: Timestamp,
    /// Seconds east of UTC that the moment was written with.
    offset: i32,
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
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
        self.at.cmp(&other.at)
    }
}

impl Moment {
    /// A moment in UTC; `None` outside the years 1 to 9999.
    pub fn new(seconds: i64, nanos: i32) -> Option<Self> {
        let at = Timestamp::new(seconds, nanos).ok()?;
        (FIRST..=LAST).contains(&seconds).then_some(Self { at, offset: 0 })
    }

    /// Whether this is the first moment of the year 1.
    pub(crate) fn is_zero(self) -> bool {
        self.at.as_second() == FIRST && self.at.subsec_nanosecond() == 0
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.at.as_nanosecond().div_euclid(1_000_000_000).try_into().unwrap_or(0)
    }

    pub(crate) fn nanos(self) -> i128 {
        self.at.as_nanosecond()
    }

    /// The moment so many nanoseconds later.
    pub(crate) fn plus(self, nanos: i64) -> Option<Self> {
        let total = self.nanos() + i128::from(nanos);
        let seconds = i64::try_from(total.div_euclid(1_000_000_000)).ok()?;
        let rest = i32::try_from(total.rem_euclid(1_000_000_000)).ok()?;
        Some(Self { offset: self.offset, ..Self::new(seconds, rest)? })
    }

    /// Reads RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
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
                let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
                let shown = &fraction[..end.min(9)];
                let scale = 10_i32.pow(9 - u32::try_from(shown.len()).ok()?);
                (i32::try_from(digits(shown)?).ok()? * scale, &fraction[end..])
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
        let at = Timestamp::new(seconds, nanos).ok()?;
        Some(Self { at, offset })
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
        let day = days(digits(&text[..4])?, digits(&text[5..7])?, digits(&text[8..])?)?;
        Self::new(day * 86400, 0)
    }

    /// The date and time on a clock in a zone: a name, or an offset like `-02:00`.
    pub(crate) fn clock(self, zone: Option<&str>) -> Result<jiff::Zoned, String> {
        let zone = match zone {
            None | Some("" | "UTC") => tz::TimeZone::UTC,
            Some("Local") => tz::TimeZone::system(),
            Some(name) => match name.split_once(':') {
                None => tz::TimeZone::get(name).map_err(|_| format!("unknown time zone {name}"))?,
                Some((hours, minutes)) => fixed(name, hours, minutes)?,
            },
        };
        Ok(self.at.to_zoned(zone))
    }
}

fn fixed(name: &str, hours: &str, minutes: &str) -> Result<tz::TimeZone, String> {
    let number = |text: &str| {
        text.parse::<i32>()
            .map_err(|_| format!("strconv.Atoi: parsing {}: invalid syntax", super::number::quote(text)))
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let minutes = if name.starts_with('-') { -minutes } else { minutes };
    let seconds = hours.saturating_mul(60).saturating_add(minutes).saturating_mul(60);
    let offset = tz::Offset::from_seconds(seconds).map_err(|error| error.to_string())?;
    Ok(tz::TimeZone::fixed(offset))
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
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = tz::Offset::from_seconds(self.offset).unwrap_or(tz::Offset::UTC);
        let clock = offset.to_datetime(self.at);
        write!(f, "{:04}-{:02}-{:02}T", clock.year(), clock.month(), clock.day())?;
        write!(f, "{:02}:{:02}:{:02}", clock.hour(), clock.minute(), clock.second())?;
        let nanos = clock.subsec_nanosecond();
        if nanos != 0 {
            let fraction = format!("{nanos:09}");
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

impl From<Moment> for Arc<str> {
    fn from(moment: Moment) -> Self {
        moment.to_string().into()
    }
}
