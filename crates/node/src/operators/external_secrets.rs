//! What the External Secrets Operator does: a Secret for each `ExternalSecret`, and the word that it is in step.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    Step,
    kinds::{Kind, World},
    secret::{Asked, Claims},
};
use crate::{
    read::{Place, is_deleting, list, text},
    revisions::short_hash,
};

/// Secrets that are not as they are asked for, and statuses that do not say so.
pub(super) fn decide(world: &World, claims: &mut Claims, now: &str) -> Vec<Step> {
    let all = world.all(Kind::ExternalSecret);
    let living = all.filter(|(_, object)| !is_deleting(object));
    living
        .filter_map(|(place, object)| {
            let asked = asked(place, object);
            asked
                .and_then(|asked| claims.claim(world, &asked))
                .or_else(|| report(place, object, Ok(()), now))
        })
        .collect()
}

/// What is said when the API does not take the Secret that is asked for.
pub(super) fn refused(
    world: &World,
    (kind, place): &(Kind, Place),
    why: &str,
    now: &str,
) -> Option<Step> {
    if *kind != Kind::ExternalSecret {
        return None;
    }
    let object = world.get(*kind, &place.namespace, &place.name)?;
    report(place, object, Err(why), now)
}

/// The Secret that is asked for. Policies that only add to what others made make none here, and targets that are no
/// Secrets are none of ours.
fn asked<'a>(place: &'a Place, object: &'a Value) -> Option<Asked<'a>> {
    let target = &object["spec"]["target"];
    let policy = target["creationPolicy"].as_str().unwrap_or("Owner");
    if matches!(policy, "Merge" | "None") || target["manifest"].is_object() {
        return None;
    }
    let template = &target["template"];
    let metadata = if template.is_object() {
        &template["metadata"]
    } else {
        &object["metadata"]
    };
    Some(Asked {
        asker: (Kind::ExternalSecret, place),
        name: secret_name(object),
        kind: template["type"].as_str().unwrap_or("Opaque"),
        keys: keys(object),
        labels: &metadata["labels"],
        annotations: &metadata["annotations"],
        owner: (policy != "Orphan").then_some(object),
    })
}

fn secret_name(object: &Value) -> &str {
    let own = text(&object["metadata"]["name"]);
    object["spec"]["target"]["name"].as_str().unwrap_or(own)
}

/// The keys that are named. What `dataFrom` would find elsewhere nobody knows here.
fn keys(object: &Value) -> BTreeSet<&str> {
    let template = &object["spec"]["target"]["template"];
    let fetched = list(&object["spec"]["data"]).iter();
    let fetched = fetched.map(|entry| text(&entry["secretKey"]));
    let Some(made) = template["data"].as_object().filter(|made| !made.is_empty()) else {
        return fetched.collect();
    };
    let made = made.keys().map(String::as_str);
    if template["mergePolicy"] == "Merge" {
        fetched.chain(made).collect()
    } else {
        made.collect()
    }
}

/// The status, unless it is there already. It has no time of the last look, which would change with every one.
fn report(place: &Place, object: &Value, synced: Result<(), &str>, now: &str) -> Option<Step> {
    let (status, reason, message) = match synced {
        Ok(()) => (
            "True",
            "SecretSynced",
            "secret synced, simulated".to_owned(),
        ),
        Err(why) => (
            "False",
            "SecretSyncedError",
            format!("could not update secret: {why}"),
        ),
    };
    let before = &object["status"];
    let old = list(&before["conditions"]).iter();
    let since = old
        .filter(|old| old["type"] == "Ready" && old["status"] == status)
        .find_map(|old| old["lastTransitionTime"].as_str());
    let mut wanted = json!({
        "conditions": [{
            "type": "Ready",
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": since.unwrap_or(now),
        }],
    });
    if synced.is_ok() {
        let metadata = &object["metadata"];
        let seen = short_hash(&metadata["labels"].to_string());
        wanted["syncedResourceVersion"] = json!(format!("{}-{seen}", metadata["generation"]));
        wanted["binding"] = json!({ "name": secret_name(object) });
    }
    let is_said = wanted
        .as_object()
        .is_some_and(|fields| fields.iter().all(|(field, value)| before[field] == *value));
    (!is_said).then(|| Step::Report {
        kind: Kind::ExternalSecret,
        place: place.clone(),
        status: wanted,
    })
}
