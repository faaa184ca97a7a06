//! Services: which pods stand behind them, as EndpointSlices and as Endpoints.

mod slices;

use std::sync::Arc;

use serde_json::{Value, json};

use self::slices::{Groups, has_endpoints, is_behind, is_headless};
use crate::{
    hands::{Ending, Hands, Outcome},
    kinds::Kind,
    read::{self, Place, list, owner_reference},
};

const SERVICE: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
const OLD_MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const OLD_MANAGER: &str = "endpoint-controller";

/// Looks at a service.
pub(crate) async fn look(hands: &Hands, place: &Place) -> Outcome {
    let Some(service) = hands.seen.get(Kind::Service, place) else {
        // Slices go with their owner; Endpoints have none.
        return end_old(hands, place).await;
    };
    if !has_endpoints(&service) {
        return Ok(());
    }
    let pods = hands
        .seen
        .pods_within(&place.namespace, |pod| is_behind(&service, pod));
    let groups = slices::groups(&service, &pods);
    write_old(hands, place, &service, &groups).await?;
    let known: Vec<Arc<Value>> = hands
        .seen
        .within(Kind::EndpointSlice, &place.namespace)
        .into_iter()
        .filter(|slice| {
            let labels = &slice["metadata"]["labels"];
            labels[SERVICE] == *place.name && labels[MANAGED_BY] == MANAGER
        })
        .collect();
    let changes = slices::spread(groups, &known);
    for (ports, endpoints) in &changes.create {
        let slice = slice(&service, ports, endpoints);
        hands.create(Kind::EndpointSlice, &slice).await?;
    }
    for (slice, endpoints) in &changes.update {
        let patch = json!({
            "metadata": { "resourceVersion": slice["metadata"]["resourceVersion"] },
            "endpoints": endpoints,
        });
        hands
            .merge(Kind::EndpointSlice, &Place::of(slice), "", &patch)
            .await?;
    }
    for slice in &changes.delete {
        let (place, uid) = (Place::of(slice), read::uid(slice));
        hands
            .delete(Kind::EndpointSlice, &place, uid, Ending::default())
            .await?;
    }
    Ok(())
}

fn slice(service: &Value, ports: &Value, endpoints: &[Value]) -> Value {
    let mut labels = service["metadata"]["labels"].clone();
    labels[SERVICE] = service["metadata"]["name"].clone();
    labels[MANAGED_BY] = json!(MANAGER);
    if is_headless(service) {
        labels["service.kubernetes.io/headless"] = json!("");
    }
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": format!("{}-", read::name(service)),
            "namespace": read::namespace(service),
            "labels": labels,
            "ownerReferences": [owner_reference(Kind::Service, service)],
        },
        "addressType": "IPv4",
        "ports": ports,
        "endpoints": endpoints,
    })
}

async fn write_old(hands: &Hands, place: &Place, service: &Value, groups: &Groups) -> Outcome {
    let subsets = slices::subsets(groups);
    let mut labels = service["metadata"]["labels"].clone();
    labels[OLD_MANAGED_BY] = json!(OLD_MANAGER);
    if is_headless(service) {
        labels["service.kubernetes.io/headless"] = json!("");
    }
    let Some(known) = hands.seen.get(Kind::Endpoints, place) else {
        let mut endpoints = json!({
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": { "name": &*place.name, "namespace": &*place.namespace, "labels": labels },
        });
        if !list(&subsets).is_empty() {
            endpoints["subsets"] = subsets;
        }
        return hands.create(Kind::Endpoints, &endpoints).await.map(drop);
    };
    if list(&known["subsets"]) == list(&subsets) && known["metadata"]["labels"] == labels {
        return Ok(());
    }
    let patch = json!({
        "metadata": {
            "resourceVersion": known["metadata"]["resourceVersion"],
            "labels": labels,
        },
        "subsets": subsets,
    });
    hands
        .merge(Kind::Endpoints, place, "", &patch)
        .await
        .map(drop)
}

/// Ends the Endpoints of a service that is gone, if they were made here.
async fn end_old(hands: &Hands, place: &Place) -> Outcome {
    let Some(known) = hands.seen.get(Kind::Endpoints, place) else {
        return Ok(());
    };
    if known["metadata"]["labels"][OLD_MANAGED_BY] != OLD_MANAGER {
        return Ok(());
    }
    hands
        .delete(Kind::Endpoints, place, read::uid(&known), Ending::default())
        .await
}
