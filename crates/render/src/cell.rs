//! A project in an environment: its cell. One namespace, closed to others unless a component opens itself.

use std::collections::BTreeMap;

use quadrille_types::{
    DataPlaneSpec,
    labels::{hierarchy, uids},
    names::generate,
    release::TargetPlane,
};
use serde_json::{Value, json};

use crate::{finish::id_of, inputs::Named, plan::Planned, provider::PolicyProvider};

/// What a cell is made from.
#[derive(Clone, Copy, Debug)]
pub struct CellInputs<'a> {
    /// The organization.
    pub organization: &'a str,
    /// The project.
    pub project: Named<'a>,
    /// The environment.
    pub environment: Named<'a>,
    /// What is asked of its data plane.
    pub plane_spec: &'a DataPlaneSpec,
    /// The annotations of its data plane.
    pub plane_annotations: &'a BTreeMap<String, String>,
}

/// The name of a cell's release.
pub fn release_name(project: &str, environment: &str) -> String {
    generate::name(&[&format!("p_{project}"), environment])
}

/// The objects of a cell: its namespace, and the policy that closes it.
pub fn plan(inputs: &CellInputs<'_>) -> Vec<Planned> {
    let namespace = generate::cell_namespace(
        &inputs.organization.into(),
        &inputs.project.name.into(),
        &inputs.environment.name.into(),
    );
    let labels = json!({
        hierarchy::NAMESPACE: inputs.organization,
        hierarchy::PROJECT: inputs.project.name,
        hierarchy::ENVIRONMENT: inputs.environment.name,
        uids::PROJECT: inputs.project.uid,
        uids::ENVIRONMENT: inputs.environment.uid,
    });
    let place = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": { "name": namespace, "labels": labels },
    });
    let metadata =
        json!({ "name": "openchoreo-default-deny", "namespace": namespace, "labels": labels });
    let policy = match PolicyProvider::of(inputs.plane_spec, inputs.plane_annotations) {
        PolicyProvider::Standard => json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata,
            "spec": { "podSelector": {}, "policyTypes": ["Ingress"] },
        }),
        PolicyProvider::Cilium => json!({
            "apiVersion": "cilium.io/v2",
            "kind": "CiliumNetworkPolicy",
            "metadata": metadata,
            "spec": { "endpointSelector": {}, "ingress": [{}] },
        }),
    };
    [place, policy].into_iter().map(planned).collect()
}

fn planned(object: Value) -> Planned {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Planned {
        id: id_of(&[&kind, name]),
        plane: TargetPlane::Data,
        object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_of_a_cell_has_the_name_that_others_compute_too() {
        assert_eq!(
            release_name("default", "development"),
            "p-default-development-fbb9df91"
        );
    }

    #[test]
    fn a_cell_is_a_namespace_that_is_closed() {
        let plane = DataPlaneSpec::default();
        let annotations = BTreeMap::new();
        let named = |name| Named { name, uid: "u" };
        let objects = plan(&CellInputs {
            organization: "default",
            project: named("default"),
            environment: named("development"),
            plane_spec: &plane,
            plane_annotations: &annotations,
        });
        assert_eq!(
            objects[0].id,
            "namespace-dp-default-default-development-f8e58905"
        );
        assert_eq!(
            objects[1].object["spec"],
            json!({ "podSelector": {}, "policyTypes": ["Ingress"] })
        );
    }
}
