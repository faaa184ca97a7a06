//! What is on the plane, seen without asking the controllers.

use std::collections::BTreeMap;

use http::{Request, header};
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api,
    api::{DynamicObject, ListParams},
    client::Body,
    core::{ApiResource, GroupVersionKind},
};
use quadrille_testkit::eventually;
use quadrille_types::{Release, conditions::ConditionType};
use serde_json::{Value, json};

use crate::orchard::Orchard;

/// The kinds that releases of the deployment system are made of, with what their collections are called.
const KINDS: [(&str, &str, &str, &str); 20] = [
    ("", "v1", "ConfigMap", "configmaps"),
    ("", "v1", "Secret", "secrets"),
    ("", "v1", "Service", "services"),
    ("apps", "v1", "Deployment", "deployments"),
    ("batch", "v1", "CronJob", "cronjobs"),
    (
        "autoscaling",
        "v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
    ),
    (
        "networking.k8s.io",
        "v1",
        "NetworkPolicy",
        "networkpolicies",
    ),
    (
        "cilium.io",
        "v2",
        "CiliumNetworkPolicy",
        "ciliumnetworkpolicies",
    ),
    ("gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes"),
    ("gateway.networking.k8s.io", "v1", "GRPCRoute", "grpcroutes"),
    (
        "gateway.networking.k8s.io",
        "v1alpha2",
        "TCPRoute",
        "tcproutes",
    ),
    (
        "gateway.networking.k8s.io",
        "v1alpha2",
        "UDPRoute",
        "udproutes",
    ),
    (
        "gateway.envoyproxy.io",
        "v1alpha1",
        "SecurityPolicy",
        "securitypolicies",
    ),
    (
        "gateway.envoyproxy.io",
        "v1alpha1",
        "BackendTrafficPolicy",
        "backendtrafficpolicies",
    ),
    (
        "gateway.envoyproxy.io",
        "v1alpha1",
        "HTTPRouteFilter",
        "httproutefilters",
    ),
    ("gateway.envoyproxy.io", "v1alpha1", "Backend", "backends"),
    (
        "secrets-store.csi.x-k8s.io",
        "v1",
        "SecretProviderClass",
        "secretproviderclasses",
    ),
    (
        "external-secrets.io",
        "v1",
        "ExternalSecret",
        "externalsecrets",
    ),
    ("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects"),
    ("", "v1", "Namespace", "namespaces"),
];

impl Orchard {
    /// Everything that releases of the organization have put onto the plane, by kind and name.
    pub(crate) async fn plane_objects(&self) -> BTreeMap<(String, String), Value> {
        let mut found = BTreeMap::new();
        let own = format!("openchoreo.dev/release-namespace={}", self.org);
        let own = ListParams::default().labels(&own);
        for (group, version, kind, plural) in KINDS {
            let gvk = GroupVersionKind::gvk(group, version, kind);
            let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
            let api: Api<DynamicObject> = Api::all_with(self.stage.client(), &resource);
            // A server that has just learned a kind may ask for a moment.
            let list = eventually(&format!("{plural} are listed"), async || {
                api.list(&own).await.map_err(|error| error.to_string())
            })
            .await;
            for object in list.items {
                let name = object.metadata.name.clone().unwrap();
                found.insert((kind.to_owned(), name), json!(object));
            }
        }
        found
    }

    /// An object that a release has put onto the plane.
    pub(crate) async fn placed(&self, kind: &str, name: &str) -> Option<Value> {
        let place = (kind.to_owned(), name.to_owned());
        self.plane_objects().await.remove(&place)
    }

    /// Waits until the plane has nothing of the organization.
    pub(crate) async fn nothing_placed(&self) {
        eventually("nothing is left on the plane", async || {
            let left: Vec<_> = self.plane_objects().await.into_keys().collect();
            if left.is_empty() {
                Ok(())
            } else {
                Err(format!("{left:?}"))
            }
        })
        .await;
        let own = format!("organization-name={}", self.org);
        let cells = self.stage.cluster.all::<Namespace>();
        let cells = cells.list(&ListParams::default().labels(&own)).await;
        assert!(cells.unwrap().items.is_empty(), "a cell is left");
    }

    /// Shows everything that the Releases hold to the server, strictly: unknown and doubled fields count.
    pub(crate) async fn everything_is_taken_strictly(&self) {
        let mut shown = 0;
        // The cell of something that does not run may come later than the word that it is well.
        for release in self.releases().await.into_keys() {
            let applied = ConditionType::ResourcesApplied;
            self.until_of::<Release>(&release, applied, "True", "")
                .await;
            for object in self.objects(&release).await.into_values() {
                let path = path(&object);
                let body = serde_json::to_vec(&object).unwrap();
                let how = "dryRun=All&fieldManager=tests&force=true&fieldValidation=Strict";
                let request = Request::patch(format!("{path}?{how}"))
                    .header(header::CONTENT_TYPE, "application/apply-patch+yaml")
                    .body(Body::from(body))
                    .unwrap();
                let response = self.stage.client().send(request).await.unwrap();
                let status = response.status();
                let body = response.into_body().collect_bytes().await.unwrap();
                let words = String::from_utf8_lossy(&body);
                assert!(status.is_success(), "{path}: {status} {words}\n{object:#}");
                shown += 1;
            }
        }
        assert!(shown > 0, "nothing was released");
    }
}

/// The path of an object.
fn path(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let known = KINDS.iter().find(|(group, _, known, _)| {
        *known == kind && version.split_once('/').map_or("", |(group, _)| group) == *group
    });
    let (.., plural) = known.unwrap_or_else(|| panic!("{version} {kind} is no known kind"));
    let root = if version.contains('/') { "apis" } else { "api" };
    let name = text(&object["metadata"]["name"]);
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/{root}/{version}/namespaces/{namespace}/{plural}/{name}"),
        None => format!("/{root}/{version}/{plural}/{name}"),
    }
}
