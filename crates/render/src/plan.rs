//! What comes out: the objects of a release, and what is to be told about them.

use quadrille_types::{
    RawObject,
    names::ResourceId,
    release::{ReleaseObject, TargetPlane},
    release_binding::{EndpointStatus, PendingConnection, PendingResourceDependency},
};
use serde_json::Value;

/// What a component in an environment becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The objects, always in the same order.
    pub objects: Vec<Planned>,
    /// The cell: the namespace that they are in.
    pub namespace: String,
    /// Where the component can be reached once they exist.
    pub endpoints: Vec<EndpointStatus>,
    /// The `SecretReferences` that were used, by name.
    pub secret_references: Vec<String>,
    /// Endpoints of others that are needed and were not among the inputs. Until they are, pods would start without
    /// knowing them: whoever applies should wait.
    pub pending_connections: Vec<PendingConnection>,
    /// Resources that are needed and were not among the inputs.
    pub pending_resources: Vec<PendingResourceDependency>,
    /// What is not wrong, but probably not meant either.
    pub notes: Vec<String>,
}

/// One object of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Which object of its release it is.
    pub id: String,
    /// The plane that it is for.
    pub plane: TargetPlane,
    /// The object.
    pub object: Value,
}

impl Plan {
    /// The objects for one plane, as a Release has them.
    pub fn resources(&self, plane: TargetPlane) -> Vec<ReleaseObject> {
        let wanted = self.objects.iter().filter(|planned| planned.plane == plane);
        let entry = |planned: &Planned| ReleaseObject {
            id: ResourceId::new(planned.id.as_str()),
            object: RawObject::new(&planned.object),
        };
        wanted.map(entry).collect()
    }

    /// Whether everything that is needed was there.
    pub fn is_complete(&self) -> bool {
        self.pending_connections.is_empty() && self.pending_resources.is_empty()
    }
}
