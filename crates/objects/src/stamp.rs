//! What is put onto every object that is applied: whose it is, and a digest of what was applied.

use serde_json::{Map, Value};

use crate::{digest::Digest, secret};

/// Labels that say whose an object is, the same for all objects of one owner, and where the digest goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Labels with their values.
    pub labels: Vec<(&'static str, String)>,
    /// The label that carries the object's id within its owner.
    pub id_label: &'static str,
    /// The annotation that carries the digest.
    pub digest_annotation: &'static str,
}

/// Fields of metadata that only a server writes; an object that was copied from one may carry them.
const OF_THE_SERVER: [&str; 7] = [
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

impl Stamp {
    /// The digest of an object's text under this stamp. It changes when the object or its owner does.
    pub fn digest(&self, id: &str, text: &str) -> Digest {
        let labels = self.labels.iter().flat_map(|(key, value)| [*key, value]);
        Digest::of(labels.chain([id, text]))
    }

    /// The object as it is sent: stamped, without fields that only a server writes, and with values where the
    /// server keeps them.
    pub fn put_on(&self, object: &mut Value, id: &str, digest: Digest) {
        secret::spell_out(object);
        let Some(metadata) = part(object, "metadata") else {
            return;
        };
        for field in OF_THE_SERVER {
            metadata.remove(field);
        }
        if let Some(labels) = part_of(metadata, "labels") {
            for (key, value) in &self.labels {
                labels.insert((*key).to_owned(), Value::String(value.clone()));
            }
            labels.insert(self.id_label.to_owned(), Value::String(label_value(id)));
        }
        if let Some(annotations) = part_of(metadata, "annotations") {
            let digest = Value::String(digest.to_string());
            annotations.insert(self.digest_annotation.to_owned(), digest);
        }
    }
}

/// An id as the value of a label: as it is if it can be one, else as much of it as fits with a digest, so that
/// two ids stay two.
pub fn label_value(id: &str) -> String {
    let is_edge = |c: char| c.is_ascii_alphanumeric();
    let fits = id.len() <= 63
        && id.starts_with(is_edge)
        && id.ends_with(is_edge)
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if fits {
        return id.to_owned();
    }
    let readable: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(50)
        .collect();
    let digest = Digest::of([id]).to_string();
    let joined = format!("{}-{}", readable.trim_matches('-'), &digest[..12]);
    joined.trim_start_matches('-').to_owned()
}

fn part<'a>(object: &'a mut Value, key: &str) -> Option<&'a mut Map<String, Value>> {
    part_of(object.as_object_mut()?, key)
}

/// The object under a key, made where it is missing or null.
fn part_of<'a>(
    object: &'a mut Map<String, Value>,
    key: &str,
) -> Option<&'a mut Map<String, Value>> {
    let part = object.entry(key).or_insert(Value::Null);
    if part.is_null() {
        *part = Value::Object(Map::new());
    }
    part.as_object_mut()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stamp() -> Stamp {
        Stamp {
            labels: vec![("owner", "a".to_owned())],
            id_label: "id",
            digest_annotation: "digest",
        }
    }

    #[test]
    fn an_object_is_sent_with_its_owner_and_without_what_only_a_server_writes() {
        let mut object = json!({
            "kind": "ConfigMap",
            "metadata": {"name": "x", "uid": "1", "managedFields": [], "labels": null},
        });
        let digest = stamp().digest("id-1", "{}");
        stamp().put_on(&mut object, "id-1", digest);
        assert_eq!(
            object["metadata"],
            json!({
                "name": "x",
                "labels": {"owner": "a", "id": "id-1"},
                "annotations": {"digest": digest.to_string()},
            })
        );
    }

    #[test]
    fn the_digest_tells_owners_ids_and_texts_apart() {
        let other = Stamp {
            labels: vec![("owner", "b".to_owned())],
            ..stamp()
        };
        let digests = [
            stamp().digest("i", "{}"),
            other.digest("i", "{}"),
            stamp().digest("j", "{}"),
            stamp().digest("i", "[]"),
        ];
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest));
        }
    }

    #[test]
    fn an_id_that_cannot_be_a_label_becomes_one_and_stays_different() {
        assert_eq!(label_value("deployment-cart"), "deployment-cart");
        let long = "x".repeat(100);
        let longer = "x".repeat(101);
        for id in [&long, &longer, "a/b", "-a", "ü"] {
            let value = label_value(id);
            assert!(value.len() <= 63 && !value.starts_with('-'), "{value}");
        }
        assert_ne!(label_value(&long), label_value(&longer));
    }
}
