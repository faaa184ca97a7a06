//! However it is deleted, nothing is left, and nothing hangs.

use std::collections::HashSet;

use futures::{StreamExt as _, stream};
use quadrille_testkit::eventually;
use quadrille_types::{
    ApiBinding, Build, Component, DataPlane, DeployableArtifact, Deployment, DeploymentTrack,
    Endpoint, Environment, Organization, Project, PublishedApi, Release, ScheduledTask,
    ScheduledTaskBinding, Service, ServiceBinding, WebApplication, WebApplicationBinding, Workload,
    conditions::ConditionType,
};
use serde_json::json;

use crate::{
    every::is_for_the_embedded_alone,
    instances::api,
    orchard::{
        Orchard, Ours, endpoint_of, endpoint_release, image, of_track, offering, template,
        track_of, with,
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Track,
    Artifact,
    Deployment,
    Endpoint,
    Component,
    Project,
    Environment,
}

impl What {
    async fn delete(self, orchard: &Orchard) {
        match self {
            Self::Track => orchard.delete::<DeploymentTrack>(&track_of("cart")).await,
            Self::Artifact => orchard.delete::<DeployableArtifact>("cart-1").await,
            Self::Deployment => orchard.delete::<Deployment>("cart-dev").await,
            Self::Endpoint => {
                let name = endpoint_of("cart-dev", "api");
                orchard.delete::<Endpoint>(&name).await;
            }
            Self::Component => orchard.delete::<Component>("cart").await,
            Self::Project => orchard.delete::<Project>("shop").await,
            Self::Environment => orchard.delete::<Environment>("dev").await,
        }
    }
}

/// A service by a build, deployed to the first environment; its objects are on the plane.
async fn deployed() -> Orchard {
    let orchard = Orchard::open().await;
    orchard.component("cart", "shop", "Service").await;
    orchard
        .build("cart-build", "cart", "shop", Some("cart:1"))
        .await;
    let built = json!({
        "targetArtifact": { "fromBuildRef": { "name": "cart-build" } }, "configuration": offering(),
    });
    orchard.artifact("cart-1", "cart", "shop", built).await;
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    for release in ["deployment-cart-dev", &endpoint_release("cart-dev", "api")] {
        let applied = ConditionType::ResourcesApplied;
        orchard
            .until_of::<Release>(release, applied, "True", "")
            .await;
    }
    orchard
}

/// Waits until there is nothing of a kind.
async fn none<K: Ours>(orchard: &Orchard) {
    eventually(&format!("there is no {}", K::kind(&())), async || {
        let left = orchard.names::<K>().await;
        let left = match left.first() {
            Some(name) => orchard.get::<K>(name).await.unwrap_or_default(),
            None => return Ok(()),
        };
        Err(format!("{left:#}"))
    })
    .await;
}

/// Nothing of the component is left, in the organization or on the plane.
async fn nothing_left(orchard: &Orchard) {
    none::<Deployment>(orchard).await;
    none::<Endpoint>(orchard).await;
    none::<DeployableArtifact>(orchard).await;
    none::<Build>(orchard).await;
    none::<DeploymentTrack>(orchard).await;
    none::<Release>(orchard).await;
    orchard.nothing_placed().await;
}

async fn ends(order: &[What]) {
    let orchard = deployed().await;
    for what in order {
        what.delete(&orchard).await;
    }
    nothing_left(&orchard).await;
    orchard.gone::<Component>("cart").await;
    orchard.gone::<Project>("shop").await;
    orchard.gone::<Environment>("dev").await;
}

const ALL: [What; 7] = [
    What::Track,
    What::Artifact,
    What::Deployment,
    What::Endpoint,
    What::Component,
    What::Project,
    What::Environment,
];

/// All orders of some things.
fn orders(of: &[What]) -> Vec<Vec<What>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, first) in of.iter().enumerate() {
        let mut rest = of.to_vec();
        rest.remove(index);
        for mut order in orders(&rest) {
            order.insert(0, *first);
            all.push(order);
        }
    }
    all
}

/// All ways to pick some of these, in the order in which they come.
fn picks(from: &[What], count: usize) -> Vec<Vec<What>> {
    let Some((first, rest)) = from.split_first() else {
        return if count == 0 {
            vec![Vec::new()]
        } else {
            Vec::new()
        };
    };
    let mut all = picks(rest, count);
    if let Some(more) = count.checked_sub(1) {
        all.extend(picks(rest, more).into_iter().map(|mut pick| {
            pick.insert(0, *first);
            pick
        }));
    }
    all
}

/// Orders of all seven in which any so many of them come in each of their orders: a trouble that four of them
/// make by the order in which they go comes to light as it would with all 5040.
fn covering(together: usize) -> Vec<Vec<What>> {
    let all: Vec<(Vec<What>, HashSet<Vec<What>>)> = orders(&ALL)
        .into_iter()
        .map(|order| {
            let picked = picks(&order, together).into_iter().collect();
            (order, picked)
        })
        .collect();
    let mut covered = HashSet::new();
    let mut chosen = Vec::new();
    while let Some((order, picked)) = all
        .iter()
        .map(|(order, picked)| (order, picked, picked.difference(&covered).count()))
        .filter(|(_, _, gain)| *gain > 0)
        .max_by_key(|(_, _, gain)| *gain)
        .map(|(order, picked, _)| (order, picked))
    {
        covered.extend(picked.iter().cloned());
        chosen.push(order.clone());
    }
    chosen
}

/// On clusters of their own any four in every order, on a shared one any two.
#[tokio::test]
async fn everything_ends_whatever_is_deleted_before_what() {
    let together = if is_for_the_embedded_alone() { 2 } else { 4 };
    let mut runs = stream::iter(covering(together))
        .map(|order| async move {
            println!("{order:?}");
            ends(&order).await;
        })
        .buffer_unordered(6);
    while runs.next().await.is_some() {}
}

#[test]
fn a_few_orders_show_what_all_would() {
    assert_eq!(covering(2).len(), 2);
    let of_four: HashSet<Vec<What>> = covering(4)
        .iter()
        .flat_map(|order| picks(order, 4))
        .collect();
    assert_eq!(of_four.len(), 7 * 6 * 5 * 4);
}

#[tokio::test]
async fn a_track_takes_its_deployments_artifacts_and_builds_along_and_leaves_its_component() {
    let orchard = deployed().await;
    orchard.service("stock", "shop").await;
    orchard.until_ready::<Deployment>("stock-dev").await;
    let before = orchard.releases().await;
    What::Track.delete(&orchard).await;
    orchard.gone::<DeploymentTrack>(&track_of("cart")).await;
    for (left, kind) in [
        (orchard.names::<Deployment>().await, "Deployment"),
        (orchard.names::<DeployableArtifact>().await, "artifact"),
    ] {
        let foreign = left.iter().all(|name| name.starts_with("stock"));
        assert!(foreign && left.len() == 1, "{kind}: {left:?}");
    }
    assert_eq!(orchard.names::<Build>().await, Vec::<String>::new());
    assert!(orchard.get::<Component>("cart").await.is_some());
    let own = "deployment-stock-dev";
    assert_eq!(orchard.releases().await.get(own), before.get(own));
}

#[tokio::test]
async fn an_artifact_takes_the_deployments_of_it_along_and_no_others() {
    let orchard = deployed().await;
    let other = image("registry.test/cart:2", offering());
    orchard.artifact("cart-2", "cart", "shop", other).await;
    orchard.deploy("cart", "shop", "staging", "cart-2").await;
    orchard.until_ready::<Deployment>("cart-staging").await;
    What::Artifact.delete(&orchard).await;
    orchard.gone::<DeployableArtifact>("cart-1").await;
    assert_eq!(orchard.names::<Deployment>().await, ["cart-staging"]);
    let gone = orchard.cell("shop", "dev");
    eventually("its cell is gone", async || {
        let found = orchard.placed("Namespace", &gone).await;
        found.is_none().then_some(()).ok_or("not yet")
    })
    .await;
    orchard.until_ready::<Deployment>("cart-staging").await;
}

#[tokio::test]
async fn a_deployment_takes_its_endpoints_along_and_leaves_its_artifact() {
    let orchard = deployed().await;
    What::Deployment.delete(&orchard).await;
    orchard.gone::<Deployment>("cart-dev").await;
    none::<Endpoint>(&orchard).await;
    none::<Release>(&orchard).await;
    orchard.nothing_placed().await;
    assert_eq!(orchard.names::<DeployableArtifact>().await, ["cart-1"]);
    assert_eq!(orchard.names::<DeploymentTrack>().await, [track_of("cart")]);
}

/// Somebody else holds an object, so that it stays until they let go.
async fn hold<K: Ours>(orchard: &Orchard, name: &str) {
    let found = orchard.get::<K>(name).await.unwrap();
    let mut names = found["metadata"]["finalizers"].clone();
    names
        .as_array_mut()
        .unwrap()
        .push(json!("example.com/held"));
    let held = json!({ "metadata": { "finalizers": names } });
    orchard.patch::<K>(name, held).await;
}

/// They let go, once nobody else holds it.
async fn let_go<K: Ours>(orchard: &Orchard, name: &str) {
    eventually("only the foreign finalizer is left", async || {
        let found = orchard.get::<K>(name).await.unwrap();
        let left = &found["metadata"]["finalizers"];
        (*left == json!(["example.com/held"]))
            .then_some(())
            .ok_or(left.to_string())
    })
    .await;
    let free = json!({ "metadata": { "finalizers": [] } });
    orchard.patch::<K>(name, free).await;
}

#[tokio::test]
async fn a_deployment_that_goes_says_so() {
    let orchard = deployed().await;
    hold::<Deployment>(&orchard, "cart-dev").await;
    What::Deployment.delete(&orchard).await;
    orchard.gone::<Release>("deployment-cart-dev").await;
    eventually("it says that it goes", async || {
        let ready = ConditionType::Ready;
        let said = orchard.said::<Deployment>("cart-dev", ready).await;
        let is_told = said["status"] == "False" && said["reason"] == "DeploymentFinalizing";
        is_told.then_some(()).ok_or(said.to_string())
    })
    .await;
    let_go::<Deployment>(&orchard, "cart-dev").await;
    orchard.gone::<Deployment>("cart-dev").await;
}

#[tokio::test]
async fn a_deployment_goes_after_an_endpoint_that_only_labels_call_its_own() {
    let orchard = deployed().await;
    let mut parents = of_track("shop", "cart").to_vec();
    parents.extend([("environment", "dev"), ("deployment", "cart-dev")]);
    let spec = template("more", 8080, "/more")["spec"].clone();
    orchard.put::<Endpoint>("by-hand", &parents, spec).await;
    orchard.until_ready::<Endpoint>("by-hand").await;
    hold::<Endpoint>(&orchard, "by-hand").await;
    What::Deployment.delete(&orchard).await;
    let own = endpoint_of("cart-dev", "api");
    orchard.gone::<Endpoint>(&own).await;
    // It waits for nothing else by now, so nothing but that end tells it to look again.
    orchard
        .until::<Deployment>("cart-dev", "False", "waits for the end of Endpoint by-hand")
        .await;
    let_go::<Endpoint>(&orchard, "by-hand").await;
    orchard.gone::<Deployment>("cart-dev").await;
    none::<Release>(&orchard).await;
}

#[tokio::test]
async fn a_component_goes_after_what_only_its_label_names() {
    let orchard = Orchard::open().await;
    let labels = orchard.labels("cart", &[("project", "shop")]);
    let spec = json!({ "owner": { "projectName": "shop" }, "type": "Service" });
    orchard
        .put_as::<Component>("cart-of-shop", labels, spec)
        .await;
    orchard.track("cart", "shop").await;
    let track = track_of("cart");
    orchard.until_ready::<DeploymentTrack>(&track).await;
    hold::<DeploymentTrack>(&orchard, &track).await;
    orchard.delete::<Component>("cart-of-shop").await;
    let words = format!("waits for the end of DeploymentTrack {track}");
    orchard
        .until::<Component>("cart-of-shop", "False", &words)
        .await;
    let_go::<DeploymentTrack>(&orchard, &track).await;
    orchard.gone::<Component>("cart-of-shop").await;
}

#[tokio::test]
async fn an_environment_takes_deployments_and_bindings_along_and_leaves_the_others() {
    let orchard = deployed().await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    orchard.deploy("cart", "shop", "staging", "cart-1").await;
    orchard.until_ready::<Deployment>("cart-staging").await;
    orchard
        .instance::<Service>("mail", "office", json!({}))
        .await;
    orchard.until_ready::<ServiceBinding>("mail").await;
    orchard.delete::<Environment>("staging").await;
    orchard.gone::<Environment>("staging").await;
    assert_eq!(orchard.names::<Deployment>().await, ["cart-dev"]);
    orchard.until_ready::<Deployment>("cart-dev").await;
    orchard.until_ready::<ServiceBinding>("mail").await;
    What::Environment.delete(&orchard).await;
    orchard.gone::<Environment>("dev").await;
    none::<Deployment>(&orchard).await;
    none::<Release>(&orchard).await;
    orchard.nothing_placed().await;
}

/// One of everything that the deployment system has.
async fn planted() -> Orchard {
    let orchard = deployed().await;
    orchard.open_class().await;
    let apis = json!({ "apis": { "api": api("default", "/v1", &["Public"]) } });
    orchard.instance::<Service>("mail", "shop", apis).await;
    orchard
        .instance::<WebApplication>("page", "shop", json!({}))
        .await;
    orchard
        .instance::<ScheduledTask>("report", "shop", json!({}))
        .await;
    let offered = with(
        api("default", "/v2", &["Organization"]),
        &json!({
            "owner": { "projectName": "shop", "componentName": "mail" }, "environmentName": "dev",
        }),
    );
    orchard.put::<PublishedApi>("mail-api", &[], offered).await;
    let binding = json!({
        "apiClassName": "default", "apiName": "mail-api", "environmentName": "dev",
    });
    orchard.put::<ApiBinding>("offered", &[], binding).await;
    for release in ["mail", "page", "report", "offered"] {
        let applied = ConditionType::ResourcesApplied;
        orchard
            .until_of::<Release>(release, applied, "True", "")
            .await;
    }
    orchard
}

/// Nothing of any family is left.
async fn nothing_of_anybody(orchard: &Orchard) {
    nothing_left(orchard).await;
    none::<Service>(orchard).await;
    none::<ServiceBinding>(orchard).await;
    none::<WebApplication>(orchard).await;
    none::<WebApplicationBinding>(orchard).await;
    none::<ScheduledTask>(orchard).await;
    none::<ScheduledTaskBinding>(orchard).await;
    none::<PublishedApi>(orchard).await;
    none::<ApiBinding>(orchard).await;
    none::<Workload>(orchard).await;
    none::<Component>(orchard).await;
}

#[tokio::test]
async fn a_project_takes_everything_of_all_its_components_along() {
    let orchard = planted().await;
    What::Project.delete(&orchard).await;
    orchard.gone::<Project>("shop").await;
    nothing_of_anybody(&orchard).await;
}

#[tokio::test]
async fn components_take_everything_of_them_along_one_by_one() {
    let orchard = planted().await;
    for component in ["cart", "mail", "page", "report"] {
        orchard.delete::<Component>(component).await;
        orchard.gone::<Component>(component).await;
    }
    nothing_of_anybody(&orchard).await;
}

#[tokio::test]
async fn an_instance_takes_its_binding_and_release_along_and_a_binding_comes_back() {
    let orchard = planted().await;
    orchard.until_ready::<ServiceBinding>("mail").await;
    let uid = orchard.get::<ServiceBinding>("mail").await.unwrap()["metadata"]["uid"].clone();
    orchard.delete::<ServiceBinding>("mail").await;
    eventually("the instance makes another one", async || {
        let found = orchard.get::<ServiceBinding>("mail").await;
        let found = found.unwrap_or_default()["metadata"]["uid"].clone();
        let is_new = found.is_string() && found != uid;
        is_new.then_some(()).ok_or("not yet")
    })
    .await;
    orchard.until_ready::<ServiceBinding>("mail").await;
    orchard.delete::<Service>("mail").await;
    orchard.gone::<ServiceBinding>("mail").await;
    orchard.gone::<Release>("mail").await;
    assert!(orchard.get::<Workload>("mail").await.is_some());
}

#[tokio::test]
async fn a_data_plane_ends_with_everything_on_it() {
    let orchard = planted().await;
    let planes = orchard.api::<DataPlane>();
    let along = quadrille_types::annotations::CASCADE;
    orchard.stage.annotate(&planes, "local", along).await;
    orchard.delete::<DataPlane>("local").await;
    orchard.gone::<DataPlane>("local").await;
    none::<Environment>(&orchard).await;
    none::<Deployment>(&orchard).await;
    none::<ServiceBinding>(&orchard).await;
    none::<Release>(&orchard).await;
    orchard.nothing_placed().await;
}

#[tokio::test]
async fn an_organization_ends_with_everything_in_it() {
    let orchard = planted().await;
    let organizations = orchard.stage.cluster.all::<Organization>();
    orchard.stage.delete(&organizations, &orchard.org).await;
    crate::stage::gone(&organizations, &orchard.org).await;
    orchard.nothing_placed().await;
}
