//! The control plane's own API: where Releases and planes are read from and their status is written to.

use std::{collections::BTreeMap, sync::Arc};

use http::{Request, header};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use kube::{Client, Resource};
use quadrille_engine::{Fence, Guarded, body, built};
use quadrille_planes::{Connected, Plane, PlaneName, Settings, Trouble, feed::url_path};
use serde::Deserialize;
use serde_json::{Value, json};

/// The control plane's API; clones are the same.
#[derive(Clone)]
pub struct Control {
    guarded: Guarded,
}

/// Only the metadata of what was written.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

#[derive(Deserialize)]
struct Written {
    metadata: Kept,
}

/// Metadata as far as it matters after a write: who wrote which field is most of it, and nobody's business here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    generation: Option<i64>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    finalizers: Option<Vec<String>>,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
}

impl From<Written> for ObjectMeta {
    fn from(Written { metadata }: Written) -> Self {
        Self {
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            generation: metadata.generation,
            creation_timestamp: metadata.creation_timestamp,
            deletion_timestamp: metadata.deletion_timestamp,
            finalizers: metadata.finalizers,
            labels: metadata.labels,
            annotations: metadata.annotations,
            owner_references: metadata.owner_references,
            ..Self::default()
        }
    }
}

impl Control {
    /// Over a client.
    pub fn new(client: Client, fence: Fence) -> Self {
        let name = PlaneName {
            namespace: String::new(),
            name: "control-plane".to_owned(),
        };
        let connected = Arc::new(Connected::over(client));
        let plane = Plane::new(name, connected, Settings::default());
        Self {
            guarded: Guarded::new(plane, fence),
        }
    }

    /// The client, for watches.
    pub fn client(&self) -> Client {
        self.guarded.plane().client()
    }

    /// Reads an object.
    pub async fn get<K>(&self, namespace: &str, name: &str) -> Result<Option<Value>, Trouble>
    where
        K: Resource<DynamicType = ()>,
    {
        let request = built(Request::get(path::<K>(namespace, name, "")).body(Vec::new()))?;
        self.guarded.read(request).await
    }

    /// Merges a patch into an object, or into its status. The patch names the revision that it is for: what was
    /// written in between is never overwritten, and the rest of the object is as we knew it, so that only its
    /// metadata is asked for.
    pub async fn patch<K>(
        &self,
        namespace: &str,
        name: &str,
        subresource: &str,
        patch: &Value,
    ) -> Result<ObjectMeta, Trouble>
    where
        K: Resource<DynamicType = ()>,
    {
        self.patch_at(path::<K>(namespace, name, subresource), patch)
            .await
    }

    /// The same for an object of any kind, by its path.
    pub async fn patch_at(&self, url: String, patch: &Value) -> Result<ObjectMeta, Trouble> {
        let request = Request::patch(url)
            .header(header::CONTENT_TYPE, "application/merge-patch+json")
            .header(header::ACCEPT, METADATA)
            .body(body(patch));
        let written: Written = self.guarded.write(built(request)?).await?;
        Ok(written.into())
    }

    /// Deletes exactly this object: another one of the same name stays, and one that is gone is gone.
    pub async fn delete(&self, path: String, uid: &str) -> Result<(), Trouble> {
        let options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions",
            "preconditions": { "uid": uid },
        });
        let request = Request::delete(path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(body(&options));
        match self.guarded.write::<Value>(built(request)?).await {
            Ok(_) | Err(Trouble::NotFound(_) | Trouble::Conflict(_)) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    /// Creates an object.
    pub async fn create(&self, path: String, object: &Value) -> Result<ObjectMeta, Trouble> {
        let request = Request::post(path)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, METADATA)
            .body(body(object));
        let written: Written = self.guarded.write(built(request)?).await?;
        Ok(written.into())
    }
}

fn path<K: Resource<DynamicType = ()>>(namespace: &str, name: &str, subresource: &str) -> String {
    let kind = kube::core::ApiResource::erase::<K>(&());
    let collection = url_path(&kind, Some(namespace));
    if subresource.is_empty() {
        format!("{collection}/{name}")
    } else {
        format!("{collection}/{name}/{subresource}")
    }
}
