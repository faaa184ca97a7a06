//! Reading what components are made of: each object once, documents before what is there.

use quadrille_types::{Environment, names::EnvironmentName, reference::Reference};
use serde_json::{Value, json};

use super::given;
use crate::{
    apply::MANAGER,
    cluster::Cluster,
    documents::Document,
    failure::Failure,
    fields, output,
    plane::{OURS, typed},
    requests::{Apply, OBJECTS},
};

/// Where our kinds of the whole cluster are.
const OF_THE_CLUSTER: &str = "/apis/openchoreo.dev/v1alpha1";

/// The documents as the server would have them: with what it fills in, and what others wrote into the same objects. One
/// that it refuses is told; nothing is written.
pub(crate) async fn rehearsed(
    cluster: &Cluster,
    documents: &[Document],
) -> Result<Vec<Document>, Failure> {
    let how = Apply {
        manager: MANAGER,
        is_rehearsal: true,
    };
    let mut rehearsed = Vec::new();
    for document in documents {
        let place = |failure: Failure| failure.at(&document.place);
        let path = cluster.path_of(document).await.map_err(place)?;
        let object = match cluster.apply(&path, &document.object, how).await {
            Ok(object) => object,
            // Its namespace may be one of the documents.
            Err(kube::Error::Api(status)) if status.code == 404 => document.object.clone(),
            Err(error) => return Err(place(cluster.failed(&error))),
        };
        rehearsed.push(Document {
            object,
            ..document.clone()
        });
    }
    Ok(rehearsed)
}

/// Reads objects, each once, documents before what is there.
pub(super) struct Reader<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) documents: &'a [Document],
    pub(super) objects: Vec<Value>,
}

impl Reader<'_> {
    /// Takes an object of the namespace.
    pub(super) async fn take(
        &mut self,
        kind: &str,
        plural: &str,
        name: &str,
    ) -> Result<Option<Value>, Failure> {
        let path = self.cluster.path_of_ours(plural, name);
        self.take_at(kind, name, &path).await
    }

    async fn take_at(
        &mut self,
        kind: &str,
        name: &str,
        path: &str,
    ) -> Result<Option<Value>, Failure> {
        let found = match given(self.documents, kind, name) {
            Some(document) => Some(document.object.clone()),
            None => self.cluster.get(path).await?,
        };
        self.objects.extend(found.clone());
        Ok(found)
    }

    /// Takes a type or a trait.
    pub(super) async fn take_reference(
        &mut self,
        wanted: &Reference,
    ) -> Result<Option<Value>, Failure> {
        let Reference { kind, name } = wanted;
        let plural = format!("{}s", kind.to_lowercase());
        let path = if kind.starts_with("Cluster") {
            format!("{OF_THE_CLUSTER}/{plural}/{name}")
        } else {
            self.cluster.path_of_ours(&plural, name)
        };
        self.take_at(kind, name, &path).await
    }

    /// Takes what is there and is not among the documents, and these.
    pub(super) fn take_all(&mut self, kind: &str, live: Vec<Value>) {
        let is_given = |object: &Value| given(self.documents, kind, fields::name(object)).is_some();
        let live = live.into_iter().filter(|object| !is_given(object));
        let live: Vec<Value> = live.map(|object| whole(object, kind)).collect();
        let documents = self.documents.iter().filter(|one| one.kind() == kind);
        let documents = documents.map(|one| one.object.clone());
        self.objects.extend(live.into_iter().chain(documents));
    }

    /// Takes an environment and its plane; whether that may be seen.
    pub(super) async fn take_stage(&mut self, name: &EnvironmentName) -> Result<bool, Failure> {
        let found = self
            .take("Environment", "environments", name.as_str())
            .await?;
        let Some(found) = found else {
            let kind = self.cluster.named_kind("environments").await?;
            return Err(self.cluster.missing(&kind, name.as_str()).await);
        };
        let environment: Environment = typed(found)
            .map_err(|words| Failure::new(format!("{name} cannot be read")).saying(words))?;
        let plane = environment.spec.resolve().ok();
        let plane = plane.and_then(|resolved| resolved.data_plane);
        let usual = ["DataPlane", "ClusterDataPlane"];
        let wanted = match plane {
            Some(plane) => vec![plane],
            None => usual
                .map(|kind| Reference::given(Some(kind), kind, "default"))
                .to_vec(),
        };
        for wanted in wanted {
            match self.take_plane(&wanted).await? {
                Sight::Seen => return Ok(true),
                Sight::Forbidden => return Ok(false),
                Sight::Absent => {}
            }
        }
        Ok(true)
    }

    async fn take_plane(&mut self, wanted: &Reference) -> Result<Sight, Failure> {
        let Reference { kind, name } = wanted;
        if let Some(document) = given(self.documents, kind, name) {
            self.objects.push(document.object.clone());
            return Ok(Sight::Seen);
        }
        let path = if kind == "DataPlane" {
            self.cluster.path_of_ours("dataplanes", name)
        } else {
            format!("{OF_THE_CLUSTER}/clusterdataplanes/{name}")
        };
        match self.cluster.read(&path, OBJECTS).await {
            Ok(object) => {
                self.objects.push(object);
                Ok(Sight::Seen)
            }
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Sight::Absent),
            // Developers see stages, not what is behind them. Something stands in for it, so that what does not depend on
            // it can be judged.
            Err(kube::Error::Api(status)) if status.code == 403 => {
                let plane = json!({ "metadata": { "name": name }, "spec": {} });
                self.objects.push(whole(plane, kind));
                Ok(Sight::Forbidden)
            }
            Err(error) => Err(self.cluster.failed(&error)),
        }
    }
}

/// What can be seen of something.
enum Sight {
    Seen,
    Absent,
    Forbidden,
}

/// The components that documents are about.
pub(crate) fn touched(documents: &[Document]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for document in documents {
        let owner = &document.object["spec"]["owner"]["componentName"];
        let name = match document.kind() {
            "Component" => document.name(),
            "Workload" | "ReleaseBinding" => owner.as_str().unwrap_or_default(),
            _ => continue,
        };
        if !name.is_empty() && names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Everything of a namespace that components are rendered from, with documents over it. Components that the documents
/// are about are taken as they would be, others as they were released.
pub(crate) async fn everything(
    cluster: &Cluster,
    documents: &[Document],
) -> Result<Vec<Value>, Failure> {
    let mut reader = Reader {
        cluster,
        documents,
        objects: Vec::new(),
    };
    let kinds = [
        "Component",
        "Workload",
        "ComponentType",
        "Trait",
        "ReleaseBinding",
        "ComponentRelease",
        "Environment",
        "DataPlane",
        "Project",
        "SecretReference",
    ];
    for kind in kinds {
        let plural = format!("{}s", kind.to_lowercase());
        let path = format!("{OURS}/{}/{plural}", cluster.namespace);
        reader.take_all(kind, seen(cluster, kind, &path).await?);
    }
    for kind in ["ClusterComponentType", "ClusterTrait", "ClusterDataPlane"] {
        let path = format!("{OF_THE_CLUSTER}/{}s", kind.to_lowercase());
        reader.take_all(kind, seen(cluster, kind, &path).await?);
    }
    let touched = touched(documents);
    reader.objects.retain(|object| {
        let owner = fields::text(&object["spec"]["owner"], "componentName");
        object["kind"] != "ComponentRelease" || !touched.iter().any(|name| name == owner)
    });
    Ok(reader.objects)
}

/// The objects of a kind. Developers do not see planes: what depends on them is rendered as if there were none.
async fn seen(cluster: &Cluster, kind: &str, path: &str) -> Result<Vec<Value>, Failure> {
    match cluster.read(path, OBJECTS).await {
        Ok(list) => Ok(fields::items(&list["items"]).to_vec()),
        Err(kube::Error::Api(status)) if status.code == 403 && kind.ends_with("DataPlane") => {
            output::aside(&format!(
                "(you may not see {}s: what depends on them may look different)",
                kind.to_lowercase()
            ));
            Ok(Vec::new())
        }
        Err(error) => Err(cluster.failed(&error)),
    }
}

/// The items of a list.
pub(super) async fn listed(cluster: &Cluster, path: &str) -> Result<Vec<Value>, Failure> {
    let list = cluster.read(path, OBJECTS).await;
    let list = list.map_err(|error| cluster.failed(&error))?;
    Ok(fields::items(&list["items"]).to_vec())
}

/// An item of a list, which need not say what it is.
pub(crate) fn whole(mut object: Value, kind: &str) -> Value {
    object["apiVersion"] =
        format!("{}/{}", quadrille_types::GROUP, quadrille_types::VERSION).into();
    object["kind"] = kind.into();
    object
}
