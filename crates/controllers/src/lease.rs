//! Who leads: one of several controllers, by a Lease, fenced by a monotonic clock.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
};
use kube::{Api, Client, api::PostParams};
use quadrille_engine::Fence;
use tokio::time::sleep;

use crate::retry::pause;

/// How a lease is held.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The namespace of the lease.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Who we are.
    pub identity: String,
    /// For how long it is held without being renewed.
    pub duration: Duration,
    /// How often it is renewed.
    pub renewal: Duration,
}

impl Terms {
    /// The usual terms.
    pub fn new(namespace: &str, identity: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: "quadrille-controller".to_owned(),
            identity: identity.to_owned(),
            duration: Duration::from_secs(30),
            renewal: Duration::from_secs(8),
        }
    }
}

/// What we know of somebody else's lease: a holder is gone when what it wrote has not changed for as long as it
/// promised to renew it, by our own clock. Its clock may be wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    holder: String,
    renewed: Option<Timestamp>,
    transitions: Option<i32>,
    since: Option<Instant>,
}

/// What to do about a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// Write it: it is free, ours, or its holder is gone.
    Take,
    /// Wait: it is held.
    Wait,
}

/// Judges a lease. `observed` is kept between calls.
pub fn judge(spec: &LeaseSpec, me: &str, observed: &mut Observed, now: Instant) -> Move {
    let holder = spec.holder_identity.as_deref().unwrap_or_default();
    if holder.is_empty() || holder == me {
        return Move::Take;
    }
    let renewed = spec.renew_time.as_ref().map(|time| time.0);
    let is_same = observed.holder == holder
        && observed.renewed == renewed
        && observed.transitions == spec.lease_transitions;
    if !is_same {
        *observed = Observed {
            holder: holder.to_owned(),
            renewed,
            transitions: spec.lease_transitions,
            since: Some(now),
        };
    }
    let promised = spec.lease_duration_seconds.unwrap_or(15).max(1);
    let promised = Duration::from_secs(u64::from(promised.unsigned_abs()));
    let silent = observed
        .since
        .map_or(Duration::ZERO, |since| now.duration_since(since));
    if silent >= promised {
        Move::Take
    } else {
        Move::Wait
    }
}

/// Waits until we lead.
pub async fn acquire(client: &Client, terms: &Terms, fence: &Fence) {
    let mut observed = Observed::default();
    let mut was_told = false;
    let longest = (terms.renewal / 4).min(Duration::from_secs(2));
    for tries in 1.. {
        match attempt(client, terms, fence, &mut observed).await {
            Ok(true) => return,
            Ok(false) => {
                if !was_told {
                    tracing::info!(lease = %terms.name, "another controller leads; waiting");
                    was_told = true;
                }
            }
            Err(error) => tracing::debug!(%error, "the lease cannot be taken yet"),
        }
        sleep(pause(tries, rand::random()).min(longest)).await;
    }
}

/// Renews until the lease is lost.
pub async fn keep(client: &Client, terms: &Terms, fence: &Fence) {
    let mut observed = Observed::default();
    let mut renewed = Instant::now();
    loop {
        let failing = renewed.elapsed() > terms.renewal * 2;
        sleep(if failing {
            Duration::from_secs(1)
        } else {
            terms.renewal
        })
        .await;
        match attempt(client, terms, fence, &mut observed).await {
            Ok(true) => renewed = Instant::now(),
            Ok(false) => {
                fence.close();
                return;
            }
            Err(error) if renewed.elapsed() < terms.duration => {
                tracing::warn!(%error, "the lease could not be renewed; trying again");
            }
            Err(error) => {
                tracing::warn!(%error, "the lease is lost");
                fence.close();
                return;
            }
        }
    }
}

/// Gives the lease back, so that the next one need not wait.
pub async fn release(client: &Client, terms: &Terms, fence: &Fence) {
    fence.close();
    let api: Api<Lease> = Api::namespaced(client.clone(), &terms.namespace);
    let Ok(Some(mut lease)) = api.get_opt(&terms.name).await else {
        return;
    };
    let spec = lease.spec.get_or_insert_default();
    if spec.holder_identity.as_deref() == Some(&terms.identity) {
        spec.holder_identity = None;
        // Whoever comes next waits a little longer if this fails.
        let _ = api
            .replace(&terms.name, &PostParams::default(), &lease)
            .await;
    }
}

/// Tries once to take or renew the lease.
async fn attempt(
    client: &Client,
    terms: &Terms,
    fence: &Fence,
    observed: &mut Observed,
) -> Result<bool, kube::Error> {
    let api: Api<Lease> = Api::namespaced(client.clone(), &terms.namespace);
    let found = api.get_opt(&terms.name).await?;
    // Counted from before the write: the server's clock starts later, never earlier.
    let begun = Instant::now();
    let now = MicroTime(Timestamp::now());
    let written = match found {
        None => {
            let lease = Lease {
                metadata: ObjectMeta {
                    name: Some(terms.name.clone()),
                    namespace: Some(terms.namespace.clone()),
                    ..ObjectMeta::default()
                },
                spec: Some(ours(terms, None, now)),
            };
            api.create(&PostParams::default(), &lease).await
        }
        Some(mut lease) => {
            let spec = lease.spec.clone().unwrap_or_default();
            if judge(&spec, &terms.identity, observed, begun) == Move::Wait {
                return Ok(false);
            }
            lease.spec = Some(ours(terms, Some(&spec), now));
            // With its revision: of two who try, one succeeds.
            api.replace(&terms.name, &PostParams::default(), &lease)
                .await
        }
    };
    match written {
        Ok(_) => {
            fence.extend(begun + terms.duration);
            Ok(true)
        }
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

fn ours(terms: &Terms, before: Option<&LeaseSpec>, now: MicroTime) -> LeaseSpec {
    let was_ours =
        before.is_some_and(|spec| spec.holder_identity.as_deref() == Some(&terms.identity));
    let transitions = before
        .and_then(|spec| spec.lease_transitions)
        .unwrap_or_default();
    let acquired = before.and_then(|spec| spec.acquire_time.clone());
    let seconds =
        SignedDuration::try_from(terms.duration).map_or(30, |duration| duration.as_secs());
    LeaseSpec {
        holder_identity: Some(terms.identity.clone()),
        lease_duration_seconds: i32::try_from(seconds).ok(),
        acquire_time: if was_ours {
            acquired
        } else {
            Some(now.clone())
        },
        renew_time: Some(now),
        lease_transitions: Some(if was_ours {
            transitions
        } else {
            transitions.saturating_add(1)
        }),
        ..LeaseSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(by: &str, renewed: i64) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(by.to_owned()),
            lease_duration_seconds: Some(30),
            renew_time: Some(MicroTime(Timestamp::from_second(renewed).unwrap())),
            ..LeaseSpec::default()
        }
    }

    #[test]
    fn a_free_lease_and_our_own_are_taken() {
        let mut observed = Observed::default();
        let now = Instant::now();
        assert_eq!(
            judge(&LeaseSpec::default(), "me", &mut observed, now),
            Move::Take
        );
        assert_eq!(judge(&held("me", 0), "me", &mut observed, now), Move::Take);
    }

    #[test]
    fn a_holder_is_gone_when_it_was_silent_by_our_clock_whatever_its_own_says() {
        let mut observed = Observed::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        // Its clock is a year behind: that says nothing.
        assert_eq!(
            judge(&held("you", 0), "me", &mut observed, at(0)),
            Move::Wait
        );
        assert_eq!(
            judge(&held("you", 0), "me", &mut observed, at(29)),
            Move::Wait
        );
        assert_eq!(
            judge(&held("you", 1), "me", &mut observed, at(31)),
            Move::Wait,
            "it renewed"
        );
        assert_eq!(
            judge(&held("you", 1), "me", &mut observed, at(62)),
            Move::Take
        );
        assert_eq!(
            judge(&held("them", 1), "me", &mut observed, at(63)),
            Move::Wait,
            "another holder"
        );
    }
}
