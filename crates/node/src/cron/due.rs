//! When a cron job was last due, and is next. Pure.

use jiff::{Timestamp, tz::TimeZone};
use quadrille_machinery::cron::Schedule;
use serde_json::Value;

use crate::read::{self, time};

/// A cron job's schedule in its time zone.
pub(super) struct Due {
    schedule: Schedule,
    zone: TimeZone,
}

impl Due {
    /// Reads the schedule, or says why there is none.
    pub(super) fn of(cron: &Value) -> Result<Self, String> {
        let spec = &cron["spec"];
        let zone = match spec["timeZone"].as_str() {
            Some(name) => TimeZone::get(name)
                .map_err(|error| format!("invalid timeZone: {name:?}: {error}"))?,
            None => TimeZone::UTC,
        };
        let text = read::text(&spec["schedule"]);
        let schedule = Schedule::parse(text)
            .map_err(|why| format!("unparseable schedule: {text:?} : {why}"))?;
        Ok(Self { schedule, zone })
    }

    /// The newest time at which the job was due and is not yet made. Times before the starting deadline don't count.
    pub(super) fn missed(&self, cron: &Value, now: Timestamp) -> Option<Timestamp> {
        let mut earliest = time(&cron["status"]["lastScheduleTime"]).unwrap_or(read::created(cron));
        if let Some(seconds) = cron["spec"]["startingDeadlineSeconds"].as_i64()
            && let Ok(deadline) = Timestamp::from_second(now.as_second() - seconds)
        {
            earliest = earliest.max(deadline);
        }
        let first = self.schedule.next(earliest, &self.zone)?;
        if first > now {
            return None;
        }
        let second = self.schedule.next(first, &self.zone).unwrap_or(first);
        let mut newest = first;
        // Far behind: jump close to now instead of walking there.
        let period = second.as_second() - first.as_second();
        if period > 0 {
            let times = (now.as_second() - first.as_second()) / period;
            if times > 2
                && let Ok(near) = Timestamp::from_second(first.as_second() + (times - 2) * period)
                && let Some(due) = self
                    .schedule
                    .next(near, &self.zone)
                    .filter(|due| *due <= now)
            {
                newest = due;
            }
        }
        while let Some(next) = self
            .schedule
            .next(newest, &self.zone)
            .filter(|next| *next <= now)
        {
            newest = next;
        }
        Some(newest)
    }

    /// The next time that it will be due.
    pub(super) fn next(&self, now: Timestamp) -> Option<Timestamp> {
        self.schedule.next(now, &self.zone)
    }

    /// A time as people in the time zone write it.
    pub(super) fn shown(&self, at: Timestamp) -> String {
        let zoned = at.to_zoned(self.zone.clone());
        if zoned.offset().is_zero() {
            zoned.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
        } else {
            zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cron(schedule: &str, last: Option<&str>, deadline: Option<i64>) -> Value {
        json!({
            "metadata": { "creationTimestamp": "2030-01-01T00:00:30Z" },
            "spec": { "schedule": schedule, "startingDeadlineSeconds": deadline },
            "status": { "lastScheduleTime": last },
        })
    }

    fn missed(cron: &Value, now: &str) -> Option<String> {
        let due = Due::of(cron).unwrap();
        due.missed(cron, now.parse().unwrap())
            .map(|at| at.to_string())
    }

    #[test]
    fn it_is_due_at_the_newest_time_that_has_passed() {
        let hourly = cron("0 * * * *", None, None);
        assert_eq!(missed(&hourly, "2030-01-01T00:59:59Z"), None);
        assert_eq!(
            missed(&hourly, "2030-01-01T01:00:00Z").unwrap(),
            "2030-01-01T01:00:00Z"
        );
        assert_eq!(
            missed(&hourly, "2030-01-09T07:30:00Z").unwrap(),
            "2030-01-09T07:00:00Z"
        );
        let done = cron("0 * * * *", Some("2030-01-01T01:00:00Z"), None);
        assert_eq!(missed(&done, "2030-01-01T01:10:00Z"), None);
    }

    #[test]
    fn what_is_too_late_does_not_count() {
        let strict = cron("0 0 * * *", None, Some(60));
        assert_eq!(
            missed(&strict, "2030-01-02T00:00:30Z").unwrap(),
            "2030-01-02T00:00:00Z"
        );
        assert_eq!(missed(&strict, "2030-01-02T00:05:00Z"), None);
    }

    #[test]
    fn a_time_zone_is_honoured() {
        let mut zoned = cron("0 9 * * *", None, None);
        zoned["spec"]["timeZone"] = json!("America/New_York");
        let due = Due::of(&zoned).unwrap();
        let next = due.next("2030-07-01T00:00:00Z".parse().unwrap()).unwrap();
        assert_eq!(next.to_string(), "2030-07-01T13:00:00Z");
        assert_eq!(due.shown(next), "2030-07-01T09:00:00-04:00");
    }
}
