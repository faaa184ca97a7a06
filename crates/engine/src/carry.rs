//! Carries out a plan: applies in order of stages, removes in reverse.

use futures::{StreamExt as _, future::BoxFuture, stream};
use quadrille_objects::{
    Desired, Identity, Live, Record, Sight, Stage,
    desired::autoscaled,
    owned,
    plan::{Apply, Leave, Removal},
};
use quadrille_planes::{Served, Trouble};

use crate::{
    failure::Failure,
    namespaces,
    requests::Propagation,
    send::{Applied, Owner, send},
    site::{Deleted, Site},
};

/// How many objects of one owner are under way at once; the plane has a limit of its own.
const AT_ONCE: usize = 16;

/// Why a namespace is not deleted: somebody else has something in it.
pub const HOLDS_OTHERS: &str = "HoldsOthers";

/// What came of an object of a plan, by its index.
pub type Results<T> = Vec<(usize, Result<T, Failure>)>;

/// Applies what a plan says. One bad object does not stop the others of its stage, but nothing runs before what
/// isolates it is there: `standing` are objects that failed before and are not tried now.
pub async fn apply(
    site: &Site,
    owner: &Owner<'_>,
    desired: &[Desired],
    records: &[Record],
    applies: &[Apply],
    standing: &[&Identity],
) -> Results<Applied> {
    let autoscaled = autoscaled(desired);
    let mut results = Results::new();
    let mut is_isolated = !desired
        .iter()
        .any(|object| object.stage.isolates() && standing.contains(&&object.identity));
    for stage in Stage::ALL {
        let mut sending: Vec<Under<'_, Applied>> = Vec::new();
        for apply in applies {
            let object = &desired[apply.index];
            if object.stage != stage {
                continue;
            }
            if stage.needs_isolation() && !is_isolated {
                results.push((apply.index, Err(not_isolated())));
                continue;
            }
            let record = records
                .iter()
                .find(|record| record.identity == object.identity);
            let has_autoscaler = autoscaled.contains(&object.identity);
            sending.push(Box::pin(async move {
                let sent = send(site, owner, object, apply, record, has_autoscaler).await;
                (apply.index, sent)
            }));
        }
        let sent = all(sending).await;
        is_isolated &= !stage.isolates() || sent.iter().all(|(_, result)| result.is_ok());
        results.extend(sent);
    }
    results
}

/// Work on one object.
type Under<'a, T> = BoxFuture<'a, (usize, Result<T, Failure>)>;

async fn all<T>(work: Vec<Under<'_, T>>) -> Results<T> {
    stream::iter(work).buffer_unordered(AT_ONCE).collect().await
}

fn not_isolated() -> Failure {
    Failure::new(
        "WaitingForIsolation",
        "what isolates it is not in place yet, and nothing runs before",
    )
}

/// Removes what a plan says. An object that others need in order to go (a definition, what isolates, a namespace)
/// waits until they are gone.
pub async fn remove(
    site: &Site,
    owner: &str,
    records: &[Record],
    removals: &[Removal],
) -> Results<Deleted> {
    // What runs must be gone before what isolates it, so then its pods go first.
    let propagation = if removals.iter().any(|removal| removal.stage.isolates()) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    let mut results = Results::new();
    for stage in Stage::ALL.into_iter().rev() {
        let is_all_gone = results
            .iter()
            .all(|(_, result)| matches!(result, Ok(Deleted::Gone)));
        if stage <= Stage::Definitions && !is_all_gone {
            break;
        }
        let mut removing: Vec<Under<'_, Deleted>> = Vec::new();
        for removal in removals {
            if removal.stage == stage {
                let record = &records[removal.index];
                removing.push(Box::pin(async move {
                    let removed = remove_one(site, owner, record, removal.how, propagation).await;
                    (removal.index, removed)
                }));
            }
        }
        results.extend(all(removing).await);
    }
    results
}

async fn remove_one(
    site: &Site,
    owner: &str,
    record: &Record,
    how: Leave,
    propagation: Propagation,
) -> Result<Deleted, Failure> {
    let identity = &record.identity;
    match how {
        Leave::LetGo => return Ok(Deleted::Gone),
        Leave::Await => {
            let held_by = site.sights().with(identity, |sight| match sight {
                Sight::Present(live) => live.held_by.to_vec(),
                Sight::Absent | Sight::Unknown => Vec::new(),
            });
            return Ok(Deleted::Going(held_by));
        }
        Leave::Delete => {}
    }
    let ask = |served| remove_served(site, owner, record, propagation, served);
    let removed = site.in_any_version(&identity.kind, &record.version, ask);
    match removed.await {
        Ok(removed) => removed,
        // With its kind went the object.
        Err(Trouble::NotServed(_)) => Ok(Deleted::Gone),
        Err(trouble) => Err(Failure::of(identity, &trouble)),
    }
}

/// Removes an object of a kind that is served like this, unless it must stay.
async fn remove_served(
    site: &Site,
    owner: &str,
    record: &Record,
    propagation: Propagation,
    served: Served,
) -> Result<Result<Deleted, Failure>, Trouble> {
    let identity = &record.identity;
    // Nothing was ever made of it, and what its name leads to is another object.
    if served.namespaced == identity.namespace.is_empty() {
        return Ok(Ok(Deleted::Gone));
    }
    // Another one than was written down may be ours all the same: made anew, and nobody came to write that down.
    let is_seen = site.sights().with(
        identity,
        |sight| matches!(sight, Sight::Present(live) if Some(&live.uid) == record.uid.as_ref()),
    );
    let uid = match &record.uid {
        Some(uid) if is_seen => uid.clone(),
        // Nobody knows whether it was made, or whose it is now: look.
        known => match site.get(&served, identity).await? {
            None => return Ok(Ok(Deleted::Gone)),
            Some(found) => {
                let live = Live::read(&found, site.sights().lens());
                let is_recorded = known.as_ref() == Some(&live.uid);
                let is_labelled = live.owner.as_deref() == Some(owner);
                let is_ours = match live.owner.as_deref() {
                    Some(_) if !is_labelled => false,
                    _ => {
                        is_recorded
                            || (is_labelled && owned::was_applied_by(&found, site.manager()))
                    }
                };
                if !is_ours {
                    return Ok(Ok(Deleted::Gone));
                }
                live.uid
            }
        },
    };
    if identity.kind.is("", "Namespace") {
        let tenant = namespaces::tenant(site, &identity.name, Some(owner));
        if let Some(tenant) = tenant.await? {
            let words = format!(
                "it holds objects of others: {} of {}: delete that first",
                tenant.object, tenant.called
            );
            return Ok(Err(Failure::new(HOLDS_OTHERS, words)));
        }
    }
    let deleted = site.delete(&served, identity, &uid, propagation);
    deleted.await.map(Ok)
}

/// Reads an object and takes in what is there, or that nothing is. What was read is handed back, too: where a watch has
/// told of a later end (of an object that lost its label), it is not taken in.
pub async fn look(site: &Site, record: &Record) -> Result<Option<Live>, Failure> {
    let identity = &record.identity;
    let ask = async |served| site.get(&served, identity).await;
    let found = site.in_any_version(&identity.kind, &record.version, ask);
    let found = match found.await {
        Ok(found) => found,
        // With its kind went the object.
        Err(Trouble::NotServed(_)) => None,
        Err(trouble) => return Err(Failure::of(identity, &trouble)),
    };
    if let (None, Some(uid)) = (&found, &record.uid) {
        site.sights().note_gone(identity, uid);
    }
    Ok(found.map(|found| site.sights().note(identity, &found)))
}
