//! What is written to a Release: its finalizer and its status. Each write is for exactly the revision that was
//! read, so that a stale view can't undo what somebody else wrote.

use std::sync::Arc;

use quadrille_planes::Trouble;
use quadrille_types::{Release, ReleaseStatus, finalizers};
use serde_json::{Value, json};

use super::{Context, facts::Facts};

/// Adds our finalizer.
pub(super) async fn hold(context: &Context, facts: &Facts) -> Result<Arc<Facts>, Trouble> {
    let mut names = facts.finalizers.clone();
    names.push(finalizers::RELEASE.to_owned());
    set_finalizers(context, facts, &names).await
}

/// Takes our finalizer away: the release may go.
pub(super) async fn let_go(context: &Context, facts: &Facts) -> Result<(), Trouble> {
    let names: Vec<String> = facts
        .finalizers
        .iter()
        .filter(|name| *name != finalizers::RELEASE)
        .cloned()
        .collect();
    match set_finalizers(context, facts, &names).await {
        Ok(_) | Err(Trouble::NotFound(_)) => {
            if names.is_empty() {
                // It is gone; the watch will say so later.
                context.world.look().remove(&facts.key, &facts.uid);
                context.tell_owners(facts, true);
            }
            Ok(())
        }
        Err(trouble) => Err(trouble),
    }
}

async fn set_finalizers(
    context: &Context,
    facts: &Facts,
    names: &[String],
) -> Result<Arc<Facts>, Trouble> {
    let patch = json!({ "metadata": {
        "resourceVersion": facts.resource_version,
        "finalizers": names,
    }});
    write(context, facts, "", &patch, None).await
}

/// Writes the status.
pub(super) async fn status(
    context: &Context,
    facts: &Facts,
    status: ReleaseStatus,
) -> Result<Arc<Facts>, Trouble> {
    let mut said =
        serde_json::to_value(&status).map_err(|error| Trouble::Unsendable(error.to_string()))?;
    // A merge keeps what it does not mention.
    for field in ["conditions", "plane", "healthy", "resources"] {
        if said[field].is_null() {
            said[field] = Value::Null;
        }
    }
    if let Some(plane) = said["plane"].as_object_mut() {
        plane.entry("abandoned").or_insert(Value::Null);
    }
    let mut patch = json!({ "metadata": { "resourceVersion": facts.resource_version } });
    patch["status"] = said;
    write(context, facts, "status", &patch, Some(status)).await
}

async fn write(
    context: &Context,
    facts: &Facts,
    subresource: &str,
    patch: &Value,
    status: Option<ReleaseStatus>,
) -> Result<Arc<Facts>, Trouble> {
    let (namespace, name) = (&facts.key.namespace, &facts.key.name);
    let metadata = context
        .control
        .patch::<Release>(namespace, name, subresource, patch)
        .await?;
    let written = Arc::new(facts.written(metadata, status));
    context.renew(&written);
    Ok(written)
}

/// Whether what we know of a release is still so, by asking.
pub(super) async fn is_current(context: &Context, facts: &Facts) -> Result<bool, Trouble> {
    let fresh = ask(context, facts).await?;
    Ok(fresh.is_some_and(|fresh| {
        fresh.uid == facts.uid
            && fresh.generation == facts.generation
            && fresh.deleting_since.is_none()
    }))
}

/// Whether what we know was told by the server on our own asking; if not, asks. A list may be older than what
/// another controller wrote before us, and then its inventory lacks what is there, or has what is not.
pub(super) async fn is_confirmed(context: &Context, facts: &Facts) -> Result<bool, Trouble> {
    let is_confirmed = |held: &super::world::Held| held.is_confirmed;
    let known = {
        let world = context.world.look();
        world.releases.get(&facts.key).is_some_and(is_confirmed)
    };
    if known {
        return Ok(true);
    }
    let fresh = ask(context, facts).await?;
    Ok(fresh.is_some_and(|fresh| fresh.resource_version == facts.resource_version))
}

/// Reads a release. One that is gone is forgotten, also if there is a new one of its name: the watch will tell it.
async fn ask(context: &Context, facts: &Facts) -> Result<Option<Arc<Facts>>, Trouble> {
    let (namespace, name) = (&facts.key.namespace, &facts.key.name);
    if let Some(found) = context.control.get::<Release>(namespace, name).await? {
        let fresh = context.take_in(found)?;
        if fresh.uid == facts.uid {
            return Ok(Some(fresh));
        }
    }
    context.world.look().remove(&facts.key, &facts.uid);
    context.tell_owners(facts, true);
    Ok(None)
}
