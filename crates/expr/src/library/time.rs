//! Parts of moments and spans of time.

use super::{Table, declare_operators};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    value::{Value, moment::Clock},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const TIME: Table = &[
    (
        "getDate",
        date,
        &[
            "timestamp_to_day_of_month_1_based: timestamp.() -> int",
            "timestamp_to_day_of_month_1_based_with_tz: timestamp.(string) -> int",
        ],
    ),
    (
        "getDayOfMonth",
        day_of_month,
        &[
            "timestamp_to_day_of_month: timestamp.() -> int",
            "timestamp_to_day_of_month_with_tz: timestamp.(string) -> int",
        ],
    ),
    (
        "getDayOfWeek",
        day_of_week,
        &[
            "timestamp_to_day_of_week: timestamp.() -> int",
            "timestamp_to_day_of_week_with_tz: timestamp.(string) -> int",
        ],
    ),
    (
        "getDayOfYear",
        day_of_year,
        &[
            "timestamp_to_day_of_year: timestamp.() -> int",
            "timestamp_to_day_of_year_with_tz: timestamp.(string) -> int",
        ],
    ),
    (
        "getFullYear",
        year,
        &[
            "timestamp_to_year: timestamp.() -> int",
            "timestamp_to_year_with_tz: timestamp.(string) -> int",
        ],
    ),
    (
        "getHours",
        hours,
        &[
            "timestamp_to_hours: timestamp.() -> int",
            "timestamp_to_hours_with_tz: timestamp.(string) -> int",
            "duration_to_hours: duration.() -> int",
        ],
    ),
    (
        "getMilliseconds",
        milliseconds,
        &[
            "timestamp_to_milliseconds: timestamp.() -> int",
            "timestamp_to_milliseconds_with_tz: timestamp.(string) -> int",
            "duration_to_milliseconds: duration.() -> int",
        ],
    ),
    (
        "getMinutes",
        minutes,
        &[
            "timestamp_to_minutes: timestamp.() -> int",
            "timestamp_to_minutes_with_tz: timestamp.(string) -> int",
            "duration_to_minutes: duration.() -> int",
        ],
    ),
    (
        "getMonth",
        month,
        &[
            "timestamp_to_month: timestamp.() -> int",
            "timestamp_to_month_with_tz: timestamp.(string) -> int",
        ],
    ),
    (
        "getSeconds",
        seconds,
        &[
            "timestamp_to_seconds: timestamp.() -> int",
            "timestamp_to_seconds_tz: timestamp.(string) -> int",
            "duration_to_seconds: duration.() -> int",
        ],
    ),
];

pub(super) fn install(env: &mut Env) {
    declare_operators(env, TIME);
}

/// A part of a moment on the clock of a zone.
fn part<'a>(call: &Call<'_>, args: &[Value<'a>], read: fn(&Clock) -> i64) -> Outcome<'a> {
    let (moment, zone) = match args {
        [Value::Timestamp(moment)] => (moment, None),
        [Value::Timestamp(moment), Value::String(zone)] => (moment, Some(&**zone)),
        // Only a call that could have meant several functions says what it was given.
        _ if call.overload().is_empty() => return call.refuse(args),
        _ => return Err(EvalError::no_overload()),
    };
    Ok(Value::Int(read(
        &moment.clock(zone).map_err(EvalError::new)?,
    )))
}

/// A part of a moment, or a span counted in a unit.
fn part_or_span<'a>(
    call: &Call<'_>,
    args: &[Value<'a>],
    unit: i64,
    read: fn(&Clock) -> i64,
) -> Outcome<'a> {
    match args {
        [Value::Duration(nanos)] => Ok(Value::Int(nanos / unit)),
        _ => part(call, args, read),
    }
}

fn date<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |clock| clock.day)
}

fn day_of_month<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |clock| clock.day - 1)
}

fn day_of_week<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |clock| clock.weekday)
}

fn day_of_year<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |clock| clock.day_of_year)
}

fn year<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |clock| clock.year)
}

fn month<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(call, args, |clock| clock.month - 1)
}

fn hours<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part_or_span(call, args, 3_600_000_000_000, |clock| clock.hour)
}

fn minutes<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part_or_span(call, args, 60_000_000_000, |clock| clock.minute)
}

fn seconds<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part_or_span(call, args, 1_000_000_000, |clock| clock.second)
}

fn milliseconds<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part_or_span(call, args, 1_000_000, |clock| {
        i64::from(clock.nanos / 1_000_000)
    })
}
