//! ControllerRevisions: the templates that a StatefulSet or DaemonSet had, so that it can go back.

use std::sync::Arc;

use quadrille_planes::Trouble;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    hands::{Ending, Hands, Outcome},
    kinds::Kind,
    read::{self, Place, int, owner_reference},
};

/// Letters that make no words.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// A short name for a text, of letters that may stand in a label.
pub(crate) fn short_hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let number = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    let digits = number.to_string();
    digits
        .bytes()
        .map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()]))
        .collect()
}

/// What a revision keeps of an object: its pod template.
fn data(owner: &Value) -> Value {
    let mut template = owner["spec"]["template"].clone();
    template["$patch"] = json!("replace");
    json!({ "spec": { "template": template } })
}

/// The template that a revision keeps.
pub(crate) fn template(revision: &Value) -> Value {
    let mut template = revision["data"]["spec"]["template"].clone();
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    template
}

/// The hash in a revision's name.
pub(crate) fn hash(revision: &Value) -> &str {
    read::text(&revision["metadata"]["labels"]["controller.kubernetes.io/hash"])
}

/// All revisions of an object, oldest first, and the one of its present template, made if there is none.
pub(crate) async fn of(
    hands: &Hands,
    kind: Kind,
    owner: &Value,
) -> Result<(Vec<Arc<Value>>, Arc<Value>), Trouble> {
    let mut known = hands.seen.of(Kind::ControllerRevision, read::uid(owner));
    known.sort_by_key(|revision| int(&revision["revision"]));
    let next = known
        .last()
        .map_or(1, |newest| int(&newest["revision"]) + 1);
    let data = data(owner);
    if let Some(at) = known.iter().rposition(|revision| revision["data"] == data) {
        let found = known[at].clone();
        if at + 1 == known.len() {
            return Ok((known, found));
        }
        // Going back makes an old revision the newest.
        let patch = json!({ "revision": next });
        let place = Place::of(&found);
        let renewed = hands
            .merge(Kind::ControllerRevision, &place, "", &patch)
            .await?;
        let renewed = Arc::new(renewed);
        known.remove(at);
        known.push(renewed.clone());
        return Ok((known, renewed));
    }
    let hash = short_hash(&format!("{data}{}", owner["status"]["collisionCount"]));
    let mut labels = owner["spec"]["template"]["metadata"]["labels"].clone();
    labels["controller.kubernetes.io/hash"] = json!(hash);
    let revision = json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": format!("{}-{hash}", read::name(owner)),
            "namespace": read::namespace(owner),
            "labels": labels,
            "ownerReferences": [owner_reference(kind, owner)],
        },
        "data": data,
        "revision": next,
    });
    let made = Arc::new(hands.create(Kind::ControllerRevision, &revision).await?);
    known.push(made.clone());
    Ok((known, made))
}

/// Ends revisions that are not in use, beyond the number that is kept.
pub(crate) async fn clean_up(
    hands: &Hands,
    owner: &Value,
    known: &[Arc<Value>],
    is_used: impl Fn(&Value) -> bool,
) -> Outcome {
    let kept = owner["spec"]["revisionHistoryLimit"].as_u64().unwrap_or(10);
    let unused: Vec<_> = known.iter().filter(|revision| !is_used(revision)).collect();
    let surplus = unused
        .len()
        .saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX));
    for revision in unused.into_iter().take(surplus) {
        let (place, uid) = (Place::of(revision), read::uid(revision));
        hands
            .delete(Kind::ControllerRevision, &place, uid, Ending::default())
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_can_stand_in_a_name_and_tells_texts_apart() {
        let hash = short_hash("a");
        assert!(hash.bytes().all(|letter| ALPHABET.contains(&letter)));
        assert_eq!(hash, short_hash("a"));
        assert_ne!(hash, short_hash("b"));
    }
}
