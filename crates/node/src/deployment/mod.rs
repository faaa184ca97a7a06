//! Deployments: a ReplicaSet per template, and the way from one to the next.

mod rollout;
mod sets;
mod status;

use std::{borrow::Cow, sync::Arc};

use quadrille_machinery::patch::merge;
use quadrille_planes::Trouble;
use serde_json::{Value, json};

use self::{
    rollout::{DESIRED, MOST, Scale, Set, Wanted},
    sets::Sets,
};
use crate::{
    hands::{Ending, Hands, Outcome},
    kinds::Kind,
    queue::{Key, Task},
    read::{self, Place, int, is_true},
};

/// Looks at a deployment: one step of its rollout, and what is said about it.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let Some(deployment) = hands.seen.get(Kind::Deployment, place) else {
        return Ok(());
    };
    let mut deployment = Cow::Borrowed(&*deployment);
    let owned = sets::claim(hands, &deployment).await?;
    if read::is_deleting(&deployment) {
        return tell_numbers(hands, &deployment, &Sets::split(&deployment, owned)).await;
    }
    if let Some(status) = status::paused(&deployment, hands.now()) {
        deployment = Cow::Owned(write_status(hands, &deployment, &status).await?);
    }
    let wanted = Wanted::of(&deployment);
    let mut sets = Sets::split(&deployment, owned);
    let is_paused = is_true(&deployment["spec"]["paused"]);
    let numbers: Vec<Set> = sets.all().map(Set::of).collect();
    if is_paused || rollout::is_scaling(wanted, &numbers) {
        let deployment = sync_revision(hands, deployment, &mut sets).await?;
        return scale(hands, &deployment, wanted, sets).await;
    }
    if wanted.is_rolling {
        roll(hands, deployment, wanted, sets).await
    } else {
        recreate(hands, deployment, sets).await
    }
}

/// Brings the new set's annotations and the deployment's revision up to date, if there is a new set.
async fn sync_revision<'a>(
    hands: &Hands,
    deployment: Cow<'a, Value>,
    sets: &mut Sets,
) -> Result<Cow<'a, Value>, Trouble> {
    let Some(new) = &sets.new else {
        return Ok(deployment);
    };
    let (new, revision) = sets::annotated(hands, &deployment, new, &sets.old).await?;
    let name = read::name(&new).to_owned();
    sets.new = Some(new);
    remember(hands, deployment, &name, &revision, false).await
}

/// Makes the new set, or finds it.
async fn with_new<'a>(
    hands: &Hands,
    deployment: Cow<'a, Value>,
    sets: &mut Sets,
) -> Result<Cow<'a, Value>, Trouble> {
    if sets.new.is_some() {
        return sync_revision(hands, deployment, sets).await;
    }
    match sets::create(hands, &deployment, &sets.old).await {
        Ok((new, revision)) => {
            let name = read::name(&new).to_owned();
            let replicas = read::replicas(&new);
            sets.new = Some(new);
            if replicas > 0 {
                scaled(hands, &deployment, &name, 0, replicas).await;
            }
            remember(hands, deployment, &name, &revision, true).await
        }
        Err(trouble) => {
            if status::deadline(&deployment).is_some()
                && !matches!(trouble, Trouble::AlreadyExists(_))
                && !crate::pods::is_terminating(&trouble)
            {
                let message = format!("Failed to create new replica set: {trouble}");
                let mut failed = deployment["status"].clone();
                let reason = "ReplicaSetCreateError";
                status::set_progress(&mut failed, "False", reason, &message, hands.now());
                write_status(hands, &deployment, &failed).await?;
            }
            Err(trouble)
        }
    }
}

/// The deployment remembers which revision it is at, and that a set was made or found.
async fn remember<'a>(
    hands: &Hands,
    deployment: Cow<'a, Value>,
    set: &str,
    revision: &str,
    is_made: bool,
) -> Result<Cow<'a, Value>, Trouble> {
    let told = status::with_set(&deployment, set, is_made, hands.now());
    let is_at = deployment["metadata"]["annotations"][rollout::REVISION] == revision;
    if is_at && told.is_none() {
        return Ok(deployment);
    }
    // Both in one write, and that of the status: an annotation written otherwise would count as a new generation.
    let mut patch = json!({ "metadata": {
        "resourceVersion": deployment["metadata"]["resourceVersion"],
        "annotations": { rollout::REVISION: revision },
    }});
    if let Some(change) = told.and_then(|told| merge::between(&deployment["status"], &told)) {
        patch["status"] = change;
    }
    let place = Place::of(&deployment);
    let written = hands.merge(Kind::Deployment, &place, "status", &patch);
    Ok(Cow::Owned(written.await?))
}

async fn roll(
    hands: &Hands,
    deployment: Cow<'_, Value>,
    wanted: Wanted,
    mut sets: Sets,
) -> Outcome {
    let deployment = with_new(hands, deployment, &mut sets).await?;
    let Some(new) = sets.new.as_deref().map(Set::of) else {
        return Ok(());
    };
    let old: Vec<Set> = sets.old.iter().map(|set| Set::of(set)).collect();
    let scales = rollout::roll(wanted, &new, &old);
    if !scales.is_empty() {
        apply(hands, &deployment, wanted, &mut sets, &scales, false).await?;
        return tell_rollout(hands, &deployment, &sets).await;
    }
    if status::is_complete(&deployment, &deployment["status"]) {
        clean_up(hands, &deployment, &sets.old).await?;
    }
    tell_rollout(hands, &deployment, &sets).await
}

async fn recreate(hands: &Hands, deployment: Cow<'_, Value>, mut sets: Sets) -> Outcome {
    let wanted = Wanted::of(&deployment);
    let deployment = sync_revision(hands, deployment, &mut sets).await?;
    let active = sets.old.iter().filter(|set| read::replicas(set) > 0);
    let downs: Vec<Scale> = active.map(|set| (read::name(set).to_owned(), 0)).collect();
    if !downs.is_empty() {
        apply(hands, &deployment, wanted, &mut sets, &downs, false).await?;
        return tell_rollout(hands, &deployment, &sets).await;
    }
    let has_old_pods = sets.old.iter().any(|set| {
        int(&set["status"]["replicas"]) > 0
            || hands
                .seen
                .pods_of(read::uid(set))
                .iter()
                .any(|pod| !pod.is_over())
    });
    if has_old_pods {
        return tell_rollout(hands, &deployment, &sets).await;
    }
    let deployment = with_new(hands, deployment, &mut sets).await?;
    if let Some(new) = sets.new.as_deref()
        && read::replicas(new) != wanted.replicas
    {
        let scales = [(read::name(new).to_owned(), wanted.replicas)];
        apply(hands, &deployment, wanted, &mut sets, &scales, false).await?;
    }
    if status::is_complete(&deployment, &deployment["status"]) {
        clean_up(hands, &deployment, &sets.old).await?;
    }
    tell_rollout(hands, &deployment, &sets).await
}

async fn scale(hands: &Hands, deployment: &Value, wanted: Wanted, mut sets: Sets) -> Outcome {
    let old: Vec<Set> = sets.old.iter().map(|set| Set::of(set)).collect();
    let new = sets.new.as_deref().map(Set::of);
    let current = int(&deployment["status"]["replicas"]);
    let (scales, always) = rollout::scale(wanted, current, new.as_ref(), &old);
    apply(hands, deployment, wanted, &mut sets, &scales, always).await?;
    if is_true(&deployment["spec"]["paused"]) {
        clean_up(hands, deployment, &sets.old).await?;
    }
    tell_numbers(hands, deployment, &sets).await
}

/// Gives sets their new sizes, and has them remember what the deployment wanted.
async fn apply(
    hands: &Hands,
    deployment: &Value,
    wanted: Wanted,
    sets: &mut Sets,
    scales: &[Scale],
    always: bool,
) -> Outcome {
    for (name, to) in scales {
        let Some(set) = sets.all().find(|set| read::name(set) == name) else {
            continue;
        };
        let numbers = Set::of(set);
        let remembers =
            numbers.desired == Some(wanted.replicas) && numbers.most == Some(wanted.most());
        if numbers.replicas == *to && (!always || remembers) {
            continue;
        }
        let patch = json!({
            "metadata": {
                "resourceVersion": set["metadata"]["resourceVersion"],
                "annotations": {
                    DESIRED: wanted.replicas.to_string(),
                    MOST: wanted.most().to_string(),
                },
            },
            "spec": { "replicas": to },
        });
        let place = Place::of(set);
        let written = hands.merge(Kind::ReplicaSet, &place, "", &patch).await?;
        sets.replace(&Arc::new(written));
        if numbers.replicas != *to {
            scaled(hands, deployment, name, numbers.replicas, *to).await;
        }
    }
    Ok(())
}

async fn scaled(hands: &Hands, deployment: &Value, set: &str, from: i64, to: i64) {
    let way = if from < to { "up" } else { "down" };
    let message = format!("Scaled {way} replica set {set} from {from} to {to}");
    let words = ("Normal", "ScalingReplicaSet", message.as_str());
    hands.event(Kind::Deployment, deployment, words).await;
}

/// Ends old sets beyond the number that is kept for going back.
async fn clean_up(hands: &Hands, deployment: &Value, old: &[Arc<Value>]) -> Outcome {
    let Some(kept) = deployment["spec"]["revisionHistoryLimit"].as_u64() else {
        return Ok(());
    };
    let mut alive: Vec<_> = old.iter().filter(|set| !read::is_deleting(set)).collect();
    let surplus = alive
        .len()
        .saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX));
    alive.sort_by_key(|set| Set::of(set).revision);
    for set in alive.into_iter().take(surplus) {
        let is_idle = int(&set["status"]["replicas"]) == 0
            && read::replicas(set) == 0
            && int(&set["metadata"]["generation"]) <= int(&set["status"]["observedGeneration"]);
        if is_idle {
            let place = Place::of(set);
            let how = Ending {
                propagation: Some("Background"),
                ..Ending::default()
            };
            hands
                .delete(Kind::ReplicaSet, &place, read::uid(set), how)
                .await?;
        }
    }
    Ok(())
}

async fn tell_numbers(hands: &Hands, deployment: &Value, sets: &Sets) -> Outcome {
    let old: Vec<&Value> = sets.old.iter().map(|set| &**set).collect();
    let status = status::numbers(deployment, sets.new.as_deref(), &old, hands.now());
    hands
        .set_status(Kind::Deployment, deployment, &status)
        .await
}

async fn tell_rollout(hands: &Hands, deployment: &Value, sets: &Sets) -> Outcome {
    let old: Vec<&Value> = sets.old.iter().map(|set| &**set).collect();
    let status = status::rollout(deployment, sets.new.as_deref(), &old, hands.now());
    if status != deployment["status"] {
        return hands
            .set_status(Kind::Deployment, deployment, &status)
            .await;
    }
    if let Some(at) = status::check_at(deployment) {
        let key = Key {
            task: Task::Deployment,
            place: Place::of(deployment),
        };
        hands.queue.add_at(key, at);
    }
    Ok(())
}

/// Writes a status and gives the deployment as it is then.
async fn write_status(hands: &Hands, deployment: &Value, status: &Value) -> Result<Value, Trouble> {
    hands
        .set_status(Kind::Deployment, deployment, status)
        .await?;
    let place = Place::of(deployment);
    let seen = hands.seen.get(Kind::Deployment, &place);
    Ok(seen.map_or_else(|| deployment.clone(), |seen| (*seen).clone()))
}
