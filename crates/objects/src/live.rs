//! An object as it was seen in a cluster, as small as what must be known of it.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    digest::Digest,
    health::{self, Verdict},
    identity::{Identity, split_api_version},
    owned::{self, ReplicasOwner},
    scaled,
    word::word,
};

/// What is known of an object in a cluster.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// The uid that the server gave it.
    pub uid: Arc<str>,
    /// How new this sight is.
    pub resource_version: u64,
    /// Whose it is, by its label.
    pub owner: Option<Arc<str>>,
    /// The digest of what was applied, by its annotation.
    pub applied: Option<Digest>,
    /// The digest of the fields that are ours.
    pub owned: Option<Digest>,
    /// Who has `spec.replicas`, where that is a question.
    pub replicas_owner: Option<ReplicasOwner>,
    /// `spec.replicas`, where that is a question.
    pub replicas: Option<i64>,
    /// Whether it is on its way out.
    pub deleting: bool,
    /// The finalizers that hold it, if it is on its way out.
    pub held_by: Box<[String]>,
    /// How it is doing.
    pub verdict: Verdict,
    /// Its own status as JSON text, if it is short.
    pub excerpt: Option<Arc<str>>,
}

/// How to read what was seen: whose label, whose fields.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    /// The label that says whose an object is.
    pub owner_label: &'static str,
    /// The annotation with the digest of what was applied.
    pub digest_annotation: &'static str,
    /// The field manager that is us.
    pub manager: &'static str,
}

/// What can be said of an identity in a cluster.
#[derive(Clone, Copy, Debug)]
pub enum Sight<'a> {
    /// Nobody has looked yet.
    Unknown,
    /// Nothing of ours is there under that identity.
    Absent,
    /// This is there.
    Present(&'a Live),
}

/// The longest status that is kept; a longer one is told by the object itself.
const LONGEST_EXCERPT: usize = 2048;

impl Live {
    /// Reads an object; of a kind whose health needs no status, metadata is enough.
    pub fn read(object: &Value, lens: Lens) -> Self {
        let metadata = &object["metadata"];
        let ownership = owned::read(object, lens.manager);
        let text = |part: &str, key: &str| metadata[part][key].as_str();
        let excerpt = object.get("status").map(Value::to_string);
        let deleting = metadata["deletionTimestamp"].is_string();
        Self {
            uid: metadata["uid"].as_str().unwrap_or_default().into(),
            resource_version: revision(object),
            owner: text("labels", lens.owner_label).map(word),
            applied: text("annotations", lens.digest_annotation)
                .and_then(|digest| digest.parse().ok()),
            owned: ownership.digest,
            replicas_owner: ownership.replicas,
            replicas: identity(object)
                .filter(|identity| scaled::is_scalable(&identity.kind))
                .and_then(|_| object["spec"]["replicas"].as_i64()),
            deleting,
            held_by: if deleting {
                finalizers(object)
            } else {
                Box::default()
            },
            verdict: health::of(object),
            excerpt: excerpt
                .filter(|text| text.len() <= LONGEST_EXCERPT && text != "{}" && text != "null")
                .map(Arc::from),
        }
    }

    /// Whether a newer sight differs in what anybody acts upon.
    pub fn differs(&self, other: &Self) -> bool {
        self.uid != other.uid
            || self.owner != other.owner
            || self.applied != other.applied
            || self.owned != other.owned
            || self.replicas_owner != other.replicas_owner
            || self.deleting != other.deleting
            || self.held_by != other.held_by
            || self.verdict != other.verdict
    }
}

/// The resource version as a number. Servers count up; one that doesn't is taken for the newest.
pub fn revision(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"]
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::MAX)
}

/// The finalizers of an object.
pub fn finalizers(object: &Value) -> Box<[String]> {
    let named = object["metadata"]["finalizers"].as_array();
    let named = named.into_iter().flatten().filter_map(Value::as_str);
    named.map(ToOwned::to_owned).collect()
}

/// Which object this is; nothing for what is none.
pub fn identity(object: &Value) -> Option<Identity> {
    let (group, _) = split_api_version(object["apiVersion"].as_str()?);
    let metadata = &object["metadata"];
    Some(Identity::new(
        group,
        object["kind"].as_str()?,
        metadata["namespace"].as_str().unwrap_or_default(),
        metadata["name"].as_str()?,
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LENS: Lens = Lens {
        owner_label: "owner",
        digest_annotation: "digest",
        manager: "us",
    };

    #[test]
    fn what_matters_of_an_object_is_kept() {
        let digest = Digest::of(["x"]);
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "a", "namespace": "n", "uid": "u", "resourceVersion": "12",
                "labels": {"owner": "r"}, "annotations": {"digest": digest.to_string()},
                "managedFields": [{"manager": "us", "operation": "Apply", "fieldsV1": {"f:data": {}}}],
            },
        });
        let live = Live::read(&object, LENS);
        assert_eq!((&*live.uid, live.resource_version), ("u", 12));
        assert_eq!(live.owner.as_deref(), Some("r"));
        assert_eq!(live.applied, Some(digest));
        assert!(live.owned.is_some() && !live.deleting);
        assert_eq!(
            identity(&object),
            Some(Identity::new("", "ConfigMap", "n", "a"))
        );
        assert!(!live.differs(&live.clone()));
        let mut newer = object;
        newer["metadata"]["resourceVersion"] = json!("13");
        assert!(
            !live.differs(&Live::read(&newer, LENS)),
            "only a number changed"
        );
        newer["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        newer["metadata"]["finalizers"] = json!(["example.com/hold"]);
        let held = Live::read(&newer, LENS);
        assert!(live.differs(&held));
        assert_eq!(*held.held_by, ["example.com/hold".to_owned()]);
        newer["metadata"]["finalizers"] = json!([]);
        assert!(held.differs(&Live::read(&newer, LENS)), "one let it go");
    }

    #[test]
    fn a_long_status_is_left_out() {
        let long = json!({"status": {"words": "x".repeat(LONGEST_EXCERPT)}});
        assert_eq!(Live::read(&long, LENS).excerpt, None);
        let short = json!({"status": {"phase": "Bound"}});
        assert_eq!(
            Live::read(&short, LENS).excerpt.as_deref(),
            Some(r#"{"phase":"Bound"}"#)
        );
    }
}
