//! A release that may not go yet, because others stand on it, still keeps what they stand on: what somebody takes away or
//! changes is put back. Nothing new is made any more.

use std::sync::Arc;

use quadrille_engine::{self as engine, Site};
use quadrille_objects::Record;
use quadrille_planes::Trouble;
use tokio::time::Instant;

use super::{
    run::{Again, Run, put},
    writes,
};

impl Run<'_> {
    /// Puts back what was in place. Hands out the inventory as it is then, and when to look again.
    pub(super) async fn mend(&self, site: &Site) -> Result<(Vec<Record>, Option<Again>), Trouble> {
        let facts = Arc::clone(&self.facts);
        let mut records = facts.records.clone();
        let Ok(wanted) = &facts.desired else {
            return Ok((records, None));
        };
        let mut plan = self.plan(site, wanted, &records);
        plan.applies.retain(|apply| apply.why.heals());
        let now = Instant::now();
        let (applies, standing) = self.memory.lock().due(&plan, wanted, now);
        if !applies.is_empty() {
            if !writes::is_confirmed(self.context, &facts).await? {
                return Ok((records, Some(Again::at_once())));
            }
            let results = self.apply(site, wanted, &records, &applies, &standing);
            let results = results.await;
            self.remember(wanted, &applies, &results);
            for (index, result) in &results {
                if let Ok(applied) = result {
                    put(&mut records, engine::recorded(&wanted[*index], applied));
                }
            }
        }
        let now = Instant::now();
        let next = self.memory.lock().next_try(now);
        let again = next.map(|at| Again::after(at.saturating_duration_since(now)));
        Ok((records, again))
    }
}
