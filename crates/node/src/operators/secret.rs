//! Secrets that are asked for: with the right keys, and with nothing in them that is secret.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{
    Step,
    kinds::{Kind, World},
};
use crate::{
    read::{Place, text},
    revisions::short_hash,
    world::Kinds as _,
};

/// What stands for every value.
pub const VALUE: &str = "simulated";

/// Says what a Secret was made for, and as what: only by this annotation is it ours.
pub(super) const MADE_FOR: &str = "node.quadrille.dev/made-for";

/// A Secret that an object asks for.
pub(super) struct Asked<'a> {
    pub(super) asker: (Kind, &'a Place),
    pub(super) name: &'a str,
    pub(super) kind: &'a str,
    pub(super) keys: BTreeSet<&'a str>,
    pub(super) labels: &'a Value,
    pub(super) annotations: &'a Value,
    /// What it ends with.
    pub(super) owner: Option<&'a Value>,
}

/// Who has asked for which Secret already: the first has it.
#[derive(Default)]
pub(super) struct Claims {
    taken: BTreeMap<Place, String>,
}

impl Claims {
    /// What is to be done about a Secret; nothing where it is there, or somebody else's.
    pub(super) fn claim(&mut self, world: &World, asked: &Asked<'_>) -> Option<Step> {
        let place = Place::new(&asked.asker.1.namespace, asked.name);
        let own = asked.asker();
        let first = self
            .taken
            .entry(place.clone())
            .or_insert_with(|| own.clone());
        if *first != own {
            return None;
        }
        let (secret, made_for) = asked.secret();
        let by = (asked.asker.0, asked.asker.1.clone());
        let Some(found) = world.get(Kind::Secret, &place.namespace, &place.name) else {
            return Some(Step::Make { asker: by, secret });
        };
        let said = text(&found["metadata"]["annotations"][MADE_FOR]);
        let is_ours = said.starts_with(&format!("{} ", asked.asker()));
        (is_ours && said != made_for).then_some(Step::Replace { asker: by, secret })
    }
}

impl Asked<'_> {
    fn asker(&self) -> String {
        let (kind, place) = self.asker;
        format!("{}/{}", kind.name(), place.name)
    }

    /// The Secret, and what it says of itself.
    fn secret(&self) -> (Value, String) {
        let place = self.asker.1;
        let entries = self.keys.iter().map(|key| ((*key).to_owned(), value(key)));
        let mut secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "namespace": &*place.namespace,
                "name": self.name,
                "labels": self.labels,
                "annotations": self.annotations,
                "ownerReferences": self.owner.map(|owner| vec![self.owner_reference(owner)]),
            },
            "type": self.kind,
            "stringData": entries.collect::<Map<String, Value>>(),
        });
        let made_for = format!("{} {}", self.asker(), short_hash(&secret.to_string()));
        let mut annotations = self.annotations.as_object().cloned().unwrap_or_default();
        annotations.insert(MADE_FOR.to_owned(), json!(made_for));
        secret["metadata"]["annotations"] = annotations.into();
        (secret, made_for)
    }

    fn owner_reference(&self, owner: &Value) -> Value {
        let kind = self.asker.0;
        json!({
            "apiVersion": kind.api_version(),
            "kind": kind.name(),
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "controller": true,
            "blockOwnerDeletion": true,
        })
    }
}

/// The value of a key. Where the API wants JSON, it is JSON.
fn value(key: &str) -> Value {
    match key {
        ".dockerconfigjson" => json!(r#"{"auths":{}}"#),
        ".dockercfg" => json!("{}"),
        _ => json!(VALUE),
    }
}
