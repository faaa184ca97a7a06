//! What workloads made: replica sets, jobs and pods, by the uid of who made them.

use std::collections::{BTreeSet, HashMap};

use quadrille_controllers::preview::PlaneName;
use quadrille_objects::health;
use serde_json::Value;

use super::branch::Branch;
use crate::{
    cluster::Cluster,
    failure::Failure,
    fields::{self, text},
    output, plane,
    requests::OBJECTS,
};

/// What workloads are made of, and where that is.
const MADE: [(&str, &str, &str, &str); 3] = [
    ("/apis/apps/v1", "replicasets", "apps/v1", "ReplicaSet"),
    ("/apis/batch/v1", "jobs", "batch/v1", "Job"),
    ("/api/v1", "pods", "v1", "Pod"),
];

/// Kinds that make others.
const MAKERS: [&str; 7] = [
    "CronJob",
    "DaemonSet",
    "Deployment",
    "Job",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
];

/// Objects by the uid of who made them.
#[derive(Default)]
pub(super) struct Made(HashMap<String, Vec<Value>>);

impl Made {
    /// What the objects of releases made, on whatever planes they are.
    pub(super) async fn by(
        cluster: &Cluster,
        releases: impl Iterator<Item = &Value>,
    ) -> Result<Self, Failure> {
        let mut places: BTreeSet<(PlaneOf, String)> = BTreeSet::new();
        for release in releases {
            let plane = &release["status"]["plane"];
            let plane = (
                text(plane, "namespace").to_owned(),
                text(plane, "name").to_owned(),
            );
            let entries = fields::items(&release["status"]["resources"]).iter();
            let makers = entries.filter(|entry| MAKERS.contains(&text(entry, "kind")));
            places.extend(makers.map(|entry| (plane.clone(), text(entry, "namespace").to_owned())));
        }
        let mut ways: HashMap<PlaneOf, Option<Cluster>> = HashMap::new();
        let mut found = Vec::new();
        for (plane, namespace) in places {
            if !ways.contains_key(&plane) {
                ways.insert(plane.clone(), opened(cluster, &plane).await);
            }
            if let Some(Some(plane)) = ways.get(&plane) {
                found.extend(listed(plane, &namespace).await?);
            }
        }
        Ok(Self::of(found))
    }

    /// These objects.
    pub(super) fn of(objects: Vec<Value>) -> Self {
        let mut made: HashMap<String, Vec<Value>> = HashMap::new();
        for object in objects {
            let owners = fields::items(&object["metadata"]["ownerReferences"]).iter();
            let mut owners = owners.filter(|owner| owner["controller"] == true);
            if let Some(owner) = owners.next().map(|owner| text(owner, "uid").to_owned()) {
                made.entry(owner).or_default().push(object);
            }
        }
        Self(made)
    }

    /// What somebody made, and what that made.
    pub(super) fn below(&self, uid: &str) -> Vec<Branch> {
        let made = self.0.get(uid).into_iter().flatten();
        // A replica set of an older revision is kept for going back, and says nothing any more.
        let made = made.filter(|object| {
            object["kind"] != "ReplicaSet" || object["spec"]["replicas"].as_i64() != Some(0)
        });
        made.map(|object| branch(object, "", self.below(fields::uid(object))))
            .collect()
    }
}

/// Namespace and name of a plane.
type PlaneOf = (String, String);

/// The way to a plane; one that cannot be looked at is named, and what is there is left out.
async fn opened(cluster: &Cluster, (namespace, name): &PlaneOf) -> Option<Cluster> {
    let plane = PlaneName {
        namespace: namespace.clone(),
        name: name.clone(),
    };
    match plane::open(cluster, &plane).await {
        Ok(plane) => Some(plane),
        Err(_) => {
            output::aside(&format!(
                "(what runs on DataPlane {namespace}/{name} cannot be seen from here)"
            ));
            None
        }
    }
}

async fn listed(plane: &Cluster, namespace: &str) -> Result<Vec<Value>, Failure> {
    let mut found = Vec::new();
    for (root, plural, api_version, kind) in MADE {
        let path = format!("{root}/namespaces/{namespace}/{plural}");
        let list = match plane.read(&path, OBJECTS).await {
            Ok(list) => list,
            Err(kube::Error::Api(status)) if status.code == 403 => {
                output::aside(&format!(
                    "(you may not see {plural} in namespace {namespace})"
                ));
                continue;
            }
            Err(error) => return Err(plane.failed(&error)),
        };
        found.extend(fields::items(&list["items"]).iter().map(|object| {
            let mut object = object.clone();
            object["apiVersion"] = api_version.into();
            object["kind"] = kind.into();
            object
        }));
    }
    Ok(found)
}

/// An object of a plane, judged as releases judge theirs.
fn branch(object: &Value, namespace: &str, below: Vec<Branch>) -> Branch {
    let verdict = health::of(object);
    Branch {
        kind: text(object, "kind").to_owned(),
        namespace: namespace.to_owned(),
        name: fields::name(object).to_owned(),
        health: verdict.health.as_str(),
        words: verdict.message.unwrap_or_default(),
        below,
    }
}

/// Any object of the cluster, with what it made.
pub(super) async fn below(cluster: &Cluster, object: &Value) -> Result<Branch, Failure> {
    let namespace = fields::namespace(object);
    let made = if MAKERS.contains(&text(object, "kind")) {
        Made::of(listed(cluster, namespace).await?)
    } else {
        Made::default()
    };
    Ok(branch(object, namespace, made.below(fields::uid(object))))
}
