//! Reading objects by themselves: for somebody who waits, and now and then in case a watch lost something.

use std::time::Duration;

use futures::future::join_all;
use quadrille_engine::{self as engine, Site};
use quadrille_objects::{Record, Sight};
use quadrille_types::{conditions::ConditionType, release::Audit};
use tokio::time::Instant;

use super::{
    run::{Again, Run},
    said::Remark,
};

/// How often objects are read without an event, where nothing else is asked for.
const AUDIT: Duration = Duration::from_hours(8);
/// How often at most.
const SHORTEST_AUDIT: Duration = Duration::from_secs(10);
/// How seldom at most: a time that nobody lives to see is none that a clock can name.
const LONGEST_AUDIT: Duration = Duration::from_hours(30 * 24);

impl Run<'_> {
    /// Somebody waits for this release while the watches have not listed its objects yet, as after a restart: they are
    /// read by themselves.
    pub(super) async fn look_ahead(&self, site: &Site) {
        if self.facts.said.observed_generation == Some(self.facts.generation) {
            return;
        }
        let unknown: Vec<&Record> = {
            let seen = site.sights().at_once();
            let is_unknown =
                |record: &&Record| matches!(seen.look(&record.identity), Sight::Unknown);
            self.facts.records.iter().filter(is_unknown).collect()
        };
        self.look_at(site, unknown).await;
    }

    /// Reads objects. One that cannot be read is left to its watch.
    async fn look_at(&self, site: &Site, records: impl IntoIterator<Item = &Record>) {
        let looks = records.into_iter().map(|record| engine::look(site, record));
        for failure in join_all(looks).await.into_iter().filter_map(Result::err) {
            tracing::debug!(release = %self.facts.key, reason = failure.reason, "an object cannot be read");
        }
    }

    /// Reads all objects now and then, although no event came: a watch may have lost one. Tells when to do so again.
    pub(super) async fn audit(&self, site: &Site) -> Option<Again> {
        let ready = self.facts.said.find(ConditionType::Ready);
        let is_settled = ready.is_some_and(Remark::is_true);
        let intervals = self.facts.intervals?;
        let chosen = if is_settled {
            intervals.settled
        } else {
            intervals.progressing
        };
        let interval = match chosen {
            Audit::Never => return None,
            Audit::Usual => AUDIT,
            Audit::Every(interval) => interval.clamp(SHORTEST_AUDIT, LONGEST_AUDIT),
        };
        let now = Instant::now();
        // The first one is somewhere within the interval, so that not all come at once.
        let first = || {
            now.checked_sub(interval.mul_f64(rand::random_range(0.0..0.5)))
                .unwrap_or(now)
        };
        let due = *self.memory.lock().audited.get_or_insert_with(first) + interval;
        if due > now {
            return Some(Again::after(due - now));
        }
        self.memory.lock().audited = Some(now);
        self.look_at(site, &self.facts.records).await;
        Some(Again::after(interval))
    }
}
