//! The way to a plane, with what the user may read: as the controllers find it.

use std::collections::HashMap;

use k8s_openapi::api::core::v1::Secret;
use quadrille_controllers::preview::PlaneName;
use quadrille_planes::{Way, access, needed_secrets};
use quadrille_types::DataPlane;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{cluster::Cluster, failure::Failure};

/// Where our namespaced kinds are.
pub(crate) const OURS: &str = "/apis/openchoreo.dev/v1alpha1/namespaces";

/// Opens the way to a plane. Nothing is sent to it yet.
pub(crate) async fn open(control: &Cluster, name: &PlaneName) -> Result<Cluster, Failure> {
    let PlaneName { namespace, name } = name;
    let path = format!("{OURS}/{namespace}/dataplanes/{name}");
    let Some(plane) = control.get(&path).await? else {
        return Err(
            Failure::new(format!("there is no DataPlane {namespace}/{name}")).next(format!(
                "See which there are: quad get dataplanes -n {namespace}"
            )),
        );
    };
    let unclear = |words: String| {
        Failure::new(format!("no way to DataPlane {namespace}/{name}")).saying(words)
    };
    let plane: DataPlane = typed(plane).map_err(unclear)?;
    let resolved = plane.spec.resolve(name);
    let connection = resolved
        .map_err(|problem| unclear(problem.to_string()))?
        .connection;
    let mut secrets = HashMap::new();
    for needed in needed_secrets(&connection, namespace) {
        let path = format!(
            "/api/v1/namespaces/{}/secrets/{}",
            needed.namespace, needed.name
        );
        if let Some(secret) = control.get(&path).await? {
            let secret: Secret = typed(secret).map_err(unclear)?;
            secrets.insert(needed, secret.data.unwrap_or_default());
        }
    }
    let way = access(&connection, namespace, |needed| secrets.get(needed));
    match way.map_err(|problem| unclear(problem.to_string()))? {
        Way::Local => Ok(control.clone()),
        Way::Remote(access) => {
            let client = quadrille_planes::connect(&access)
                .map_err(|error| unclear(String::new()).because(&error))?;
            Ok(Cluster {
                client,
                namespace: control.namespace.clone(),
                url: format!("DataPlane {namespace}/{name}"),
            })
        }
    }
}

/// An object of a kind that we know, as far as it was asked for: what was seen of it is nobody's business here.
pub(crate) fn typed<T: DeserializeOwned>(mut object: Value) -> Result<T, String> {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    serde_json::from_value(object).map_err(|error| error.to_string())
}
