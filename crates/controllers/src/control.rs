//! The control plane's own API: where Releases and planes are read from and their status is written to.

use std::time::Duration;

use http::{Request, header};
use kube::{Client, Resource};
use quadrille_engine::Fence;
use quadrille_planes::{Call, Connected, Plane, PlaneName, Settings, Trouble, feed::url_path};
use serde_json::Value;
use std::sync::Arc;

/// The control plane's API; clones are the same.
#[derive(Clone)]
pub struct Control {
    plane: Plane,
    fence: Fence,
}

/// How long one request may take.
const DEADLINE: Duration = Duration::from_secs(15);

impl Control {
    /// Over a client.
    pub fn new(client: Client, fence: Fence) -> Self {
        let name = PlaneName {
            namespace: String::new(),
            name: "control-plane".to_owned(),
        };
        let connected = Arc::new(Connected::over(client));
        Self {
            plane: Plane::new(name, connected, Settings::default()),
            fence,
        }
    }

    /// The client, for watches.
    pub fn client(&self) -> Client {
        self.plane.client()
    }

    /// Reads an object.
    pub async fn get<K>(&self, namespace: &str, name: &str) -> Result<Option<Value>, Trouble>
    where
        K: Resource<DynamicType = ()>,
    {
        let request = built(Request::get(path::<K>(namespace, name, "")).body(Vec::new()))?;
        let client = self.plane.client();
        let read = self
            .plane
            .call(Call::Read, DEADLINE, client.request(request));
        match read.await {
            Ok(object) => Ok(Some(object)),
            Err(Trouble::NotFound(_)) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Merges a patch into an object, or into its status. The patch names the revision that it is for: what was
    /// written in between is never overwritten.
    pub async fn patch<K>(
        &self,
        namespace: &str,
        name: &str,
        subresource: &str,
        patch: &Value,
    ) -> Result<Value, Trouble>
    where
        K: Resource<DynamicType = ()>,
    {
        let request = Request::patch(path::<K>(namespace, name, subresource))
            .header(header::CONTENT_TYPE, "application/merge-patch+json")
            .body(patch.to_string().into_bytes());
        self.write(built(request)?).await
    }

    /// Creates an object.
    pub async fn create(&self, path: String, object: &Value) -> Result<Value, Trouble> {
        let request = Request::post(path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(object.to_string().into_bytes());
        self.write(built(request)?).await
    }

    async fn write(&self, request: Request<Vec<u8>>) -> Result<Value, Trouble> {
        let (client, fence) = (self.plane.client(), &self.fence);
        let work = async {
            if !fence.allows(DEADLINE) {
                return Err(Trouble::Unsendable(
                    "another controller leads now".to_owned(),
                ));
            }
            client
                .request::<Value>(request)
                .await
                .map_err(Trouble::from)
        };
        self.plane.call(Call::Write, DEADLINE, work).await
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

fn built(request: http::Result<Request<Vec<u8>>>) -> Result<Request<Vec<u8>>, Trouble> {
    request.map_err(|error| Trouble::Unsendable(error.to_string()))
}
