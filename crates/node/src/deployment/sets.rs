//! A Deployment's ReplicaSets: which are its own, which is the new one, and what a new one looks like.

use std::sync::Arc;

use quadrille_planes::Trouble;
use serde_json::{Map, Value, json};

use super::rollout::{self, DESIRED, MOST, REVISION, Set, Wanted};
use crate::{
    hands::Hands,
    kinds::Kind,
    pods,
    read::{self, Place, is_selected, owner_reference, text},
    revisions::short_hash,
};

const HASH: &str = "pod-template-hash";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// What a set does not take over from its deployment.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
    "deprecated.deployment.rollback.to",
];
/// How long the list of former revisions may get.
const LONGEST_HISTORY: usize = 2000;

/// The sets of a deployment.
pub(super) struct Sets {
    /// The one with the deployment's template.
    pub(super) new: Option<Arc<Value>>,
    /// All others, oldest first.
    pub(super) old: Vec<Arc<Value>>,
}

impl Sets {
    /// Finds the new one.
    pub(super) fn split(deployment: &Value, mut owned: Vec<Arc<Value>>) -> Self {
        owned.sort_by_key(|set| (read::created(set), read::name(set).to_owned()));
        let template = without_hash(&deployment["spec"]["template"]);
        let at = owned
            .iter()
            .position(|set| without_hash(&set["spec"]["template"]) == template);
        Self {
            new: at.map(|at| owned.remove(at)),
            old: owned,
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        self.old.iter().chain(&self.new).map(|set| &**set)
    }

    /// Takes in a set as it is after a write.
    pub(super) fn replace(&mut self, written: &Arc<Value>) {
        let known = self.old.iter_mut().chain(&mut self.new);
        for set in known.filter(|set| read::name(set) == read::name(written)) {
            *set = written.clone();
        }
    }
}

fn without_hash(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove(HASH);
    }
    // A field that says nothing may stand there or not.
    if let Some(metadata) = template["metadata"].as_object_mut() {
        metadata.retain(|_, value| !value.is_null());
    }
    template
}

/// The sets that are the deployment's, those included that nobody controls.
pub(super) async fn claim(hands: &Hands, deployment: &Value) -> Result<Vec<Arc<Value>>, Trouble> {
    let uid = read::uid(deployment);
    let selector = read::selector(Kind::Deployment, deployment);
    let mut owned = hands.seen.of(Kind::ReplicaSet, uid);
    owned.retain(|set| is_selected(&selector, set));
    if read::is_deleting(deployment) {
        return Ok(owned);
    }
    for set in hands
        .seen
        .within(Kind::ReplicaSet, read::namespace(deployment))
    {
        if !read::is_controlled(&set) && !read::is_deleting(&set) && is_selected(&selector, &set) {
            let place = Place::of(&set);
            let uid = read::uid(&set);
            pods::adopt(
                hands,
                Kind::ReplicaSet,
                &place,
                uid,
                Kind::Deployment,
                deployment,
            )
            .await?;
            owned.extend(hands.seen.get(Kind::ReplicaSet, &place));
        }
    }
    Ok(owned)
}

fn next_revision(old: &[Arc<Value>]) -> i64 {
    old.iter()
        .map(|set| Set::of(set).revision)
        .max()
        .unwrap_or(0)
        + 1
}

/// Makes the set for the deployment's template.
pub(super) async fn create(
    hands: &Hands,
    deployment: &Value,
    old: &[Arc<Value>],
) -> Result<(Arc<Value>, String), Trouble> {
    let collisions = &deployment["status"]["collisionCount"];
    let template = &deployment["spec"]["template"];
    let hash = short_hash(&format!("{template}{collisions}"));
    let wanted = Wanted::of(deployment);
    let total: i64 = old.iter().map(|set| read::replicas(set)).sum();
    let revision = next_revision(old).to_string();

    let mut template = template.clone();
    template["metadata"]["labels"][HASH] = json!(hash);
    let mut selector = deployment["spec"]["selector"].clone();
    selector["matchLabels"][HASH] = json!(hash);
    let mut annotations = copied(deployment);
    annotations.insert(REVISION.to_owned(), json!(revision));
    annotations.insert(DESIRED.to_owned(), json!(wanted.replicas.to_string()));
    annotations.insert(MOST.to_owned(), json!(wanted.most().to_string()));
    let mut spec = json!({
        "replicas": rollout::new_replicas(wanted, 0, total),
        "selector": selector,
        "template": template,
    });
    if !deployment["spec"]["minReadySeconds"].is_null() {
        spec["minReadySeconds"] = deployment["spec"]["minReadySeconds"].clone();
    }
    let name = format!("{}-{hash}", read::name(deployment));
    let set = json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": read::namespace(deployment),
            "labels": template["metadata"]["labels"],
            "annotations": annotations,
            "ownerReferences": [owner_reference(Kind::Deployment, deployment)],
        },
        "spec": spec,
    });
    match hands.create(Kind::ReplicaSet, &set).await {
        Ok(created) => Ok((Arc::new(created), revision)),
        Err(Trouble::AlreadyExists(status)) => {
            collide(hands, deployment, &name).await?;
            Err(Trouble::AlreadyExists(status))
        }
        Err(trouble) => Err(trouble),
    }
}

/// A set of that name with another template: the next hash will be another one.
async fn collide(hands: &Hands, deployment: &Value, name: &str) -> Result<(), Trouble> {
    let place = Place::new(read::namespace(deployment), name);
    let Some(known) = hands.get(Kind::ReplicaSet, &place).await? else {
        return Ok(());
    };
    let is_ours =
        read::controller(&known).is_some_and(|owner| &*owner.uid == read::uid(deployment));
    let template = without_hash(&deployment["spec"]["template"]);
    if is_ours && without_hash(&known["spec"]["template"]) == template {
        // Made earlier, and not told yet.
        return Ok(());
    }
    let mut status = deployment["status"].clone();
    status["collisionCount"] = json!(read::int(&status["collisionCount"]) + 1);
    hands
        .set_status(Kind::Deployment, deployment, &status)
        .await
}

fn copied(deployment: &Value) -> Map<String, Value> {
    deployment["metadata"]["annotations"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !NOT_COPIED.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Brings a set's annotations and readiness up to date; its revision.
pub(super) async fn annotated(
    hands: &Hands,
    deployment: &Value,
    set: &Arc<Value>,
    old: &[Arc<Value>],
) -> Result<(Arc<Value>, String), Trouble> {
    let known = &set["metadata"]["annotations"];
    let mut changes = copied(deployment);
    changes.retain(|name, value| known[name.as_str()] != *value);
    let next = next_revision(old);
    let current = Set::of(set).revision;
    if current < next {
        changes.insert(REVISION.to_owned(), json!(next.to_string()));
        if let Some(former) = known[REVISION].as_str() {
            changes.insert(
                HISTORY.to_owned(),
                json!(history(text(&known[HISTORY]), former)),
            );
        }
    }
    let revision = current.max(next).to_string();
    let ready = &deployment["spec"]["minReadySeconds"];
    let is_slower = read::int(&set["spec"]["minReadySeconds"]) != read::int(ready);
    if changes.is_empty() && !is_slower {
        return Ok((set.clone(), revision));
    }
    let mut patch = json!({ "metadata": {
        "resourceVersion": set["metadata"]["resourceVersion"],
        "annotations": changes,
    }});
    if is_slower {
        patch["spec"] = json!({ "minReadySeconds": read::int(ready) });
    }
    let written = hands
        .merge(Kind::ReplicaSet, &Place::of(set), "", &patch)
        .await?;
    Ok((Arc::new(written), revision))
}

/// The list of a set's former revisions with one more; the oldest go when it gets long.
fn history(known: &str, former: &str) -> String {
    let mut revisions: Vec<&str> = known.split(',').filter(|text| !text.is_empty()).collect();
    revisions.push(former);
    while revisions.len() > 1 && revisions.join(",").len() > LONGEST_HISTORY {
        revisions.remove(0);
    }
    revisions.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_set_is_the_one_with_the_deployments_template() {
        let template = |image: &str, hash: Option<&str>| {
            let mut template = json!({
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "image": image }] },
            });
            if let Some(hash) = hash {
                template["metadata"]["labels"][HASH] = json!(hash);
            }
            template
        };
        let set = |name: &str, image: &str, created: &str| {
            Arc::new(json!({
                "metadata": { "name": name, "creationTimestamp": created },
                "spec": { "template": template(image, Some(name)) },
            }))
        };
        let deployment = json!({ "spec": { "template": template("two", None) } });
        let sets = Sets::split(
            &deployment,
            vec![
                set("c", "three", "2030-01-03T00:00:00Z"),
                set("b", "two", "2030-01-02T00:00:00Z"),
                set("a", "one", "2030-01-01T00:00:00Z"),
            ],
        );
        assert_eq!(sets.new.as_deref().map(read::name), Some("b"));
        let old: Vec<_> = sets.old.iter().map(|set| read::name(set)).collect();
        assert_eq!(old, ["a", "c"]);
    }

    #[test]
    fn going_back_keeps_a_list_of_former_revisions() {
        assert_eq!(history("", "1"), "1");
        assert_eq!(history("1,3", "5"), "1,3,5");
    }
}
