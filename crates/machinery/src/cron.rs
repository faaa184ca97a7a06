//! Schedules of cron jobs: what they say, and when they are next due.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp, ToSpan as _, Unit, Zoned, tz::TimeZone};

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// At times that match five fields.
    Fields(Fields),
    /// Again and again after so long (`@every 5m`).
    Every(Duration),
}

/// The values that each field allows, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether days of the month, and of the week, are left open.
    any_day: bool,
    any_weekday: bool,
}

/// Lowest and highest value of a field, and names for values.
type Bounds = (u32, u32, &'static [&'static str]);

const MINUTE: Bounds = (0, 59, &[]);
const HOUR: Bounds = (0, 23, &[]);
const DAY: Bounds = (1, 31, &[]);
const MONTH: Bounds = (
    1,
    12,
    &[
        "", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ],
);
const WEEKDAY: Bounds = (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]);

/// A date such as the 31st of February is looked for no longer than this.
const YEARS: i16 = 5;

impl Schedule {
    /// Reads a schedule, or says what is wrong with it in the words of real servers.
    pub fn parse(schedule: &str) -> Result<Self, String> {
        let Some(descriptor) = schedule.strip_prefix('@') else {
            return fields(schedule).map(Self::Fields);
        };
        let plain = match descriptor {
            "yearly" | "annually" => "0 0 1 1 *",
            "monthly" => "0 0 1 * *",
            "weekly" => "0 0 * * 0",
            "daily" | "midnight" => "0 0 * * *",
            "hourly" => "0 * * * *",
            _ => {
                let Some(every) = descriptor.strip_prefix("every ") else {
                    return Err(format!("unrecognized descriptor: {schedule}"));
                };
                return go_duration(every).map(Self::Every).ok_or_else(|| {
                    format!("failed to parse duration {schedule}: time: invalid duration {every:?}")
                });
            }
        };
        fields(plain).map(Self::Fields)
    }

    /// The first time after `time` at which it is due, in a time zone; nothing if there is none within five years.
    pub fn next(&self, time: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Self::Every(period) => {
                let seconds = i64::try_from(period.as_secs().max(1)).ok()?;
                Timestamp::from_second(time.as_second() + seconds).ok()
            }
            Self::Fields(fields) => fields.next(&time.to_zoned(zone.clone())),
        }
    }
}

impl Fields {
    fn next(&self, after: &Zoned) -> Option<Timestamp> {
        let mut time = whole(after, Unit::Minute)?.checked_add(1.minute()).ok()?;
        let last = time.year() + YEARS;
        while time.year() <= last {
            time = if !has(self.months, time.month()) {
                let first = time.first_of_month().ok()?.start_of_day().ok()?;
                first.checked_add(1.month()).ok()?
            } else if !self.has_day(&time) {
                time.tomorrow().ok()?.start_of_day().ok()?
            } else if !has(self.hours, time.hour()) {
                whole(&time, Unit::Hour)?
                    .checked_add(SignedDuration::from_hours(1))
                    .ok()?
            } else if !has(self.minutes, time.minute()) {
                time.checked_add(SignedDuration::from_mins(1)).ok()?
            } else {
                return Some(time.timestamp());
            };
        }
        None
    }

    /// Both kinds of days must match, unless both are given: then one is enough.
    fn has_day(&self, time: &Zoned) -> bool {
        let day = has(self.days, time.day());
        let weekday = has(self.weekdays, time.weekday().to_sunday_zero_offset());
        if self.any_day || self.any_weekday {
            day && weekday
        } else {
            day || weekday
        }
    }
}

fn has(set: u64, value: i8) -> bool {
    u32::try_from(value).is_ok_and(|value| set & (1 << value) != 0)
}

/// The time without what is smaller than a unit. Hours and minutes are cut by the clock on the wall, and so as to
/// stay in the same of two hours that have the same name.
fn whole(time: &Zoned, unit: Unit) -> Option<Zoned> {
    let mut past = SignedDuration::new(i64::from(time.second()), time.subsec_nanosecond());
    if unit == Unit::Hour {
        past = past.checked_add(SignedDuration::from_mins(i64::from(time.minute())))?;
    }
    time.checked_sub(past).ok()
}

fn fields(schedule: &str) -> Result<Fields, String> {
    let texts: Vec<&str> = schedule.split_whitespace().collect();
    let &[minutes, hours, days, months, weekdays] = texts.as_slice() else {
        let found = texts.len();
        return Err(format!(
            "expected exactly 5 fields, found {found}: [{}]",
            texts.join(" ")
        ));
    };
    Ok(Fields {
        minutes: field(minutes, MINUTE)?,
        hours: field(hours, HOUR)?,
        days: field(days, DAY)?,
        months: field(months, MONTH)?,
        weekdays: field(weekdays, WEEKDAY)?,
        any_day: is_open(days),
        any_weekday: is_open(weekdays),
    })
}

/// Whether a field leaves everything open: `*` or `?`, also with a step of one.
fn is_open(field: &str) -> bool {
    field
        .split(',')
        .any(|expression| matches!(expression, "*" | "?" | "*/1" | "?/1"))
}

fn field(text: &str, bounds: Bounds) -> Result<u64, String> {
    let mut set = 0;
    for expression in text.split(',') {
        set |= range(expression, bounds)?;
    }
    Ok(set)
}

fn range(expression: &str, (low, high, words): Bounds) -> Result<u64, String> {
    let mut parts = expression.split('/');
    let span = parts.next().unwrap_or_default();
    let step = parts.next();
    if parts.next().is_some() {
        return Err(format!("too many slashes: {expression}"));
    }
    let mut ends = span.split('-');
    let first = ends.next().unwrap_or_default();
    let last = ends.next();
    if ends.next().is_some() {
        return Err(format!("too many hyphens: {expression}"));
    }
    let value = |text: &str| -> Result<u32, String> {
        let named = words
            .iter()
            .position(|word| !word.is_empty() && text.eq_ignore_ascii_case(word));
        if let Some(at) = named {
            return u32::try_from(at).map_err(|_| text.to_owned());
        }
        text.parse().map_err(|_| {
            format!(
                "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"
            )
        })
    };
    let (start, end) = if matches!(first, "*" | "?") {
        (low, high)
    } else {
        let start = value(first)?;
        let end = match last {
            Some(last) => value(last)?,
            None if step.is_some() => high,
            None => start,
        };
        (start, end)
    };
    let step = step.map(value).transpose()?.unwrap_or(1);
    if step == 0 {
        return Err(format!(
            "step of range should be a positive number: {expression}"
        ));
    }
    if start < low {
        return Err(format!(
            "beginning of range ({start}) below minimum ({low}): {expression}"
        ));
    }
    if end > high {
        return Err(format!(
            "end of range ({end}) above maximum ({high}): {expression}"
        ));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {expression}"
        ));
    }
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    Ok((start..=end)
        .step_by(step)
        .fold(0, |set, value| set | 1 << value))
}

/// `1h30m`, `90s`, as Go reads durations.
fn go_duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest
            .find(|letter: char| letter.is_ascii_digit() || letter == '.')
            .unwrap_or(rest.len());
        total += number
            * match &rest[..end] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" => 1e-6,
                "ns" => 1e-9,
                _ => return None,
            };
        rest = &rest[end..];
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(total).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(schedule: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
        let schedule = Schedule::parse(schedule).unwrap();
        let zone = TimeZone::get(zone).unwrap();
        let mut time: Timestamp = from.parse().unwrap();
        let mut found = Vec::new();
        for _ in 0..count {
            time = schedule.next(time, &zone).unwrap();
            found.push(time.to_string());
        }
        found
    }

    #[test]
    fn fields_ranges_steps_and_names_are_understood() {
        assert_eq!(
            times("*/20 8-9 * * mon-fri", "UTC", "2030-01-04T09:30:30Z", 3),
            [
                "2030-01-04T09:40:00Z",
                "2030-01-07T08:00:00Z",
                "2030-01-07T08:20:00Z"
            ]
        );
        assert_eq!(
            times("@monthly", "UTC", "2030-01-15T00:00:00Z", 1),
            ["2030-02-01T00:00:00Z"]
        );
        assert_eq!(
            times("@every 90s", "UTC", "2030-01-15T00:00:00Z", 1),
            ["2030-01-15T00:01:30Z"]
        );
    }

    #[test]
    fn either_kind_of_day_is_enough_when_both_are_given() {
        assert_eq!(
            times("0 0 13 * 5", "UTC", "2030-01-10T00:00:00Z", 3),
            [
                "2030-01-11T00:00:00Z",
                "2030-01-13T00:00:00Z",
                "2030-01-18T00:00:00Z"
            ]
        );
    }

    #[test]
    fn time_zones_have_hours_that_are_left_out_or_come_twice() {
        assert_eq!(
            times("30 2 * * *", "Europe/Zurich", "2030-03-30T12:00:00Z", 2),
            ["2030-04-01T00:30:00Z", "2030-04-02T00:30:00Z"]
        );
        assert_eq!(
            times("30 2 * * *", "Europe/Zurich", "2030-10-26T12:00:00Z", 2),
            ["2030-10-27T00:30:00Z", "2030-10-27T01:30:00Z"]
        );
    }

    #[test]
    fn a_day_that_never_comes_is_not_looked_for_for_ever() {
        let schedule = Schedule::parse("0 0 31 2 *").unwrap();
        assert_eq!(schedule.next(Timestamp::UNIX_EPOCH, &TimeZone::UTC), None);
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(
            Schedule::parse("* * *").unwrap_err(),
            "expected exactly 5 fields, found 3: [* * *]"
        );
        assert_eq!(
            Schedule::parse("60 * * * *").unwrap_err(),
            "end of range (60) above maximum (59): 60"
        );
        assert!(
            Schedule::parse("@every tomorrow")
                .unwrap_err()
                .contains("invalid duration")
        );
    }
}
