//! What OpenChoreo 0.4 gets wrong, by the numbers that `docs/faults.md` lists it under: each shown not to happen here. What
//! shows in rendered objects alone is shown by the render crate.

use std::collections::BTreeMap;

use quadrille_testkit::{
    eventually,
    wire::{Fault, Gate, Matcher, Verb},
};
use quadrille_types::{
    ApiBinding, Component, ConfigurationGroup, DeployableArtifact, Deployment, DeploymentTrack,
    Endpoint, Environment, Project, PublishedApi, Release, ScheduledTask, ScheduledTaskBinding,
    Service, ServiceBinding, ServiceClass, WebApplication, WebApplicationBinding,
    conditions::ConditionType,
};
use serde_json::{Value, json};

use crate::{
    instances::{api, workload},
    orchard::{
        Orchard, Ours, endpoint_of, endpoint_release, image, of_track, offering, on_plane,
        template, track_of, with,
    },
};

/// One of each family, with several of whatever comes in a map.
async fn many() -> Orchard {
    let orchard = Orchard::open().await;
    orchard.open_class().await;
    let group = json!({ "configurations": [
        { "key": "b", "values": [{ "environment": "dev", "value": "2" }] },
        { "key": "a", "values": [{ "environment": "dev", "value": "1" }] },
    ]});
    for name in ["zeta", "alpha"] {
        orchard
            .put::<ConfigurationGroup>(name, &[], group.clone())
            .await;
    }
    let templates = ["three", "one", "two"].map(|name| {
        let port = 8080 + u16::try_from(name.len()).unwrap();
        template(name, port, &format!("/{name}"))
    });
    let from = ["zeta", "alpha"].map(|name| json!({ "configurationGroupRef": { "name": name } }));
    let configuration =
        json!({ "endpointTemplates": templates, "application": { "envFrom": from } });
    orchard.service_with("cart", "shop", configuration).await;
    let apis = json!({ "apis": {
        "x": api("default", "/x", &["Public", "Organization"]),
        "a": api("default", "/a", &["Organization"]), "m": api("default", "/m", &["Public"]) } });
    orchard.instance::<Service>("mail", "shop", apis).await;
    let mut ports = workload("registry.test/page:1");
    ports["endpoints"] = json!({
        "z": { "type": "HTTP", "port": 80 }, "a": { "type": "HTTP", "port": 81 },
        "m": { "type": "HTTP", "port": 82 },
    });
    orchard
        .instance::<WebApplication>("page", "shop", json!({}))
        .await;
    orchard.workload("page", "shop", ports).await;
    orchard
        .instance::<ScheduledTask>("report", "shop", json!({}))
        .await;
    rested(&orchard).await;
    orchard
}

async fn rested(orchard: &Orchard) {
    orchard.until_ready::<Deployment>("cart-dev").await;
    for name in ["one", "two", "three"] {
        let name = endpoint_of("cart-dev", name);
        orchard.until_ready::<Endpoint>(&name).await;
    }
    orchard.until_ready::<ServiceBinding>("mail").await;
    eventually("the page has all its endpoints", async || {
        let page = orchard.get::<WebApplicationBinding>("page").await;
        let page = page.unwrap_or_default();
        let told = page["status"]["endpoints"].as_array().map(Vec::len);
        (told == Some(3)).then_some(()).ok_or(page.to_string())
    })
    .await;
    orchard.until_ready::<WebApplicationBinding>("page").await;
    orchard.until_ready::<ScheduledTaskBinding>("report").await;
    orchard.until_releases_are_ready().await;
}

async fn revisions<K: Ours>(orchard: &Orchard, into: &mut BTreeMap<String, Value>) {
    for name in orchard.names::<K>().await {
        let found = orchard.get::<K>(&name).await.unwrap_or_default();
        let key = format!("{} {name}", K::kind(&()));
        into.insert(key, found["metadata"]["resourceVersion"].clone());
    }
}

/// The revision of everything that the controllers write.
async fn written(orchard: &Orchard) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    revisions::<Release>(orchard, &mut all).await;
    revisions::<Deployment>(orchard, &mut all).await;
    revisions::<Endpoint>(orchard, &mut all).await;
    revisions::<ServiceBinding>(orchard, &mut all).await;
    revisions::<WebApplicationBinding>(orchard, &mut all).await;
    revisions::<ScheduledTaskBinding>(orchard, &mut all).await;
    revisions::<Service>(orchard, &mut all).await;
    revisions::<DeployableArtifact>(orchard, &mut all).await;
    revisions::<DeploymentTrack>(orchard, &mut all).await;
    all
}

#[tokio::test]
async fn b2_b5_d2_d3_e11_what_is_looked_at_again_is_not_written_again() {
    let mut orchard = many().await;
    let before = written(&orchard).await;
    // Everything is looked at anew by controllers that remember nothing.
    orchard.stage.kill();
    orchard.stage.wire.forget();
    let org = orchard.org.clone();
    orchard.stage.run(&[&org]);
    orchard.service("late", "office").await;
    orchard.until_ready::<Deployment>("late-dev").await;
    rested(&orchard).await;
    let after = written(&orchard).await;
    for (name, revision) in before {
        assert_eq!(after.get(&name), Some(&revision), "{name}");
    }
    let calls = orchard.stage.wire.calls();
    let cell = orchard.cell("shop", "dev");
    let again = calls
        .iter()
        .filter(|call| call.verb.writes() && call.namespace.as_deref() == Some(cell.as_str()));
    assert_eq!(again.count(), 0, "nothing is applied again");
}

#[tokio::test]
async fn b9_pages_have_hosts_of_their_own_in_every_project() {
    let orchard = many().await;
    orchard
        .instance::<WebApplication>("other", "office", json!({}))
        .await;
    orchard.until_ready::<WebApplicationBinding>("other").await;
    let mut hosts = Vec::new();
    for release in ["page", "other"] {
        for object in orchard.objects(release).await.into_values() {
            if object["kind"] == "HTTPRoute" {
                hosts.push(object["spec"]["hostnames"][0].to_string());
            }
        }
    }
    hosts.sort();
    let all = hosts.len();
    hosts.dedup();
    assert_eq!((all, hosts.len()), (4, 4), "{hosts:?}");
}

#[tokio::test]
async fn b19_nothing_is_ready_before_it_was_applied() {
    let orchard = Orchard::open().await;
    let gate = Gate::closed();
    let cell = orchard.cell("shop", "dev");
    let applied = Matcher::verb(Verb::Patch)
        .resource("deployments")
        .namespace(&cell);
    orchard
        .stage
        .wire
        .inject(applied, Fault::Hold(gate.clone()));
    orchard.instance::<Service>("mail", "shop", json!({})).await;
    gate.reached_by(1).await;
    orchard
        .until::<ServiceBinding>("mail", "False", "ResourceHealthProgressing")
        .await;
    let said = orchard
        .said::<ServiceBinding>("mail", ConditionType::Ready)
        .await;
    assert_eq!(said["status"], "False", "{said}");
    gate.open();
    orchard.until_ready::<ServiceBinding>("mail").await;
}

#[tokio::test]
async fn b20_what_its_class_keeps_at_rest_is_not_in_trouble() {
    let orchard = Orchard::open().await;
    let none = json!({ "deploymentTemplate": { "replicas": 0 } });
    orchard.put::<ServiceClass>("default", &[], none).await;
    orchard.instance::<Service>("mail", "shop", json!({})).await;
    let applied = ConditionType::ResourcesApplied;
    orchard
        .until_of::<Release>("mail", applied, "True", "")
        .await;
    eventually("it says that it rests", async || {
        let ready = ConditionType::Ready;
        let said = orchard.said::<ServiceBinding>("mail", ready).await;
        let reason = said["reason"].as_str().unwrap_or_default().to_owned();
        let rests = ["ResourcesSuspended", "ResourcesActive"].contains(&reason.as_str());
        rests.then_some(()).ok_or(said.to_string())
    })
    .await;
}

#[tokio::test]
async fn d1_who_goes_leaves_the_isolation_of_those_who_stay() {
    let orchard = Orchard::open().await;
    for component in ["cart", "stock"] {
        orchard.service(component, "shop").await;
        let name = format!("{component}-dev");
        orchard.until_ready::<Deployment>(&name).await;
    }
    let policies = async || {
        let mut uids = Vec::new();
        for name in ["default-policy", "openchoreo-default-deny"] {
            let policy = orchard.placed("NetworkPolicy", name).await;
            let policy = policy.unwrap_or_else(|| panic!("{name} is gone"));
            uids.push(policy["metadata"]["resourceVersion"].clone());
        }
        uids
    };
    let before = policies().await;
    orchard.delete::<Deployment>("cart-dev").await;
    orchard.gone::<Deployment>("cart-dev").await;
    assert_eq!(policies().await, before);
    orchard.until_ready::<Deployment>("stock-dev").await;
    // The last one takes the cell along.
    orchard.delete::<Deployment>("stock-dev").await;
    orchard.gone::<Deployment>("stock-dev").await;
    orchard.nothing_placed().await;
}

#[tokio::test]
async fn d10_what_no_longer_runs_is_no_longer_called_ready() {
    let orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    // More than any node has.
    let much = json!({ "application": { "resourceLimits": { "cpu": "100000" } } });
    let much = image("registry.test/cart:1", with(offering(), &much));
    orchard.artifact("cart-1", "cart", "shop", much).await;
    eventually("it is not ready any more", async || {
        let ready = ConditionType::Ready;
        let said = orchard.said::<Deployment>("cart-dev", ready).await;
        (said["reason"] == "DeploymentDegraded")
            .then_some(())
            .ok_or(said.to_string())
    })
    .await;
    let good = image("registry.test/cart:1", offering());
    orchard.artifact("cart-1", "cart", "shop", good).await;
    orchard.until_ready::<Deployment>("cart-dev").await;
}

/// Takes the finalizers off an object and deletes it, as somebody in a hurry does.
async fn force<K: Ours>(orchard: &Orchard, name: &str) {
    let none = json!({ "metadata": { "finalizers": null } });
    orchard.patch::<K>(name, none).await;
    orchard.delete::<K>(name).await;
    orchard.gone::<K>(name).await;
}

#[tokio::test]
async fn d11_e10_what_has_lost_its_parents_can_go() {
    let mut orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let endpoint = endpoint_of("cart-dev", "api");
    orchard.until_ready::<Endpoint>(&endpoint).await;
    let mut parents = of_track("shop", "cart").to_vec();
    parents.extend([("environment", "dev"), ("deployment", "cart-dev")]);
    let spec = template("more", 8080, "/more")["spec"].clone();
    orchard.put::<Endpoint>("by-hand", &parents, spec).await;
    orchard.until_ready::<Endpoint>("by-hand").await;
    orchard.stage.kill();
    force::<DeployableArtifact>(&orchard, "cart-1").await;
    force::<DeploymentTrack>(&orchard, &track_of("cart")).await;
    force::<Component>(&orchard, "cart").await;
    force::<Project>(&orchard, "shop").await;
    force::<Environment>(&orchard, "dev").await;
    orchard.delete::<Deployment>("cart-dev").await;
    orchard.delete::<Endpoint>("by-hand").await;
    let org = orchard.org.clone();
    orchard.stage.run(&[&org]);
    orchard.gone::<Deployment>("cart-dev").await;
    orchard.gone::<Endpoint>(&endpoint).await;
    orchard.gone::<Endpoint>("by-hand").await;
    for release in [
        "deployment-cart-dev",
        "endpoint-by-hand",
        &endpoint_release("cart-dev", "api"),
    ] {
        orchard.gone::<Release>(release).await;
    }
    orchard.nothing_placed().await;
}

#[tokio::test]
async fn d12_a_change_asks_for_no_lists() {
    let orchard = many().await;
    orchard.stage.wire.forget();
    let group = json!({ "configurations": [
        { "key": "a", "values": [{ "environment": "dev", "value": "3" }] }] });
    let before = orchard.releases().await["deployment-cart-dev"].0;
    orchard.put::<ConfigurationGroup>("zeta", &[], group).await;
    eventually("it is released anew", async || {
        let now = orchard.releases().await["deployment-cart-dev"].0;
        (now > before).then_some(()).ok_or("not yet")
    })
    .await;
    rested(&orchard).await;
    let calls = orchard.stage.wire.calls();
    let reads = calls
        .iter()
        .filter(|call| matches!(call.verb, Verb::List))
        // A workload on its way is judged by its pods.
        .filter(|call| !["pods", "replicasets", "events"].contains(&call.resource.as_str()));
    let reads: Vec<_> = reads.collect();
    assert!(reads.is_empty(), "{reads:?}");
}

#[tokio::test]
async fn d13_a_second_deployment_of_a_track_in_an_environment_does_not_take_the_first_ones_place() {
    let orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let before = orchard.releases().await;
    let other = image("registry.test/cart:2", offering());
    orchard.artifact("cart-2", "cart", "shop", other).await;
    orchard
        .deploy_as("rival", "cart", "shop", "dev", "cart-2", json!({}))
        .await;
    orchard
        .until::<Deployment>("rival", "False", "is what Deployment cart-dev has, too")
        .await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    assert_eq!(orchard.releases().await, before);
    // Once the first one is gone, the second one runs.
    orchard.delete::<Deployment>("cart-dev").await;
    orchard.gone::<Deployment>("cart-dev").await;
    orchard.until_ready::<Deployment>("rival").await;
    let runs = orchard
        .placed("Deployment", &on_plane("cart"))
        .await
        .unwrap();
    let image = &runs["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "registry.test/cart:2");
}

#[tokio::test]
async fn e1_an_endpoint_that_exposes_nothing_ends() {
    let orchard = Orchard::open().await;
    let mut closed = template("api", 8080, "/api");
    closed["spec"]["networkVisibilities"] = json!({});
    let closed = json!({ "endpointTemplates": [closed] });
    orchard.service_with("cart", "shop", closed).await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let endpoint = endpoint_of("cart-dev", "api");
    orchard.until_ready::<Endpoint>(&endpoint).await;
    let found = orchard.get::<Endpoint>(&endpoint).await.unwrap();
    assert_eq!(found["status"].get("address"), None);
    orchard.delete::<Deployment>("cart-dev").await;
    orchard.gone::<Deployment>("cart-dev").await;
    orchard.gone::<Endpoint>(&endpoint).await;
    orchard.nothing_placed().await;
}

#[tokio::test]
async fn e2_two_endpoints_of_one_deployment_leave_each_other_alone() {
    let orchard = Orchard::open().await;
    let both = |is_open: bool| {
        let mut second = template("second", 8081, "/second");
        second["spec"]["networkVisibilities"]["public"]["enable"] = json!(is_open);
        let first = template("first", 8080, "/first");
        image(
            "registry.test/cart:1",
            json!({ "endpointTemplates": [first, second] }),
        )
    };
    orchard.component("cart", "shop", "Service").await;
    orchard.artifact("cart-1", "cart", "shop", both(true)).await;
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    let names = ["first", "second"].map(|name| endpoint_of("cart-dev", name));
    for name in &names {
        orchard.until_ready::<Endpoint>(name).await;
    }
    let own = endpoint_release("cart-dev", "first");
    let routes = async || {
        let mut routes: Vec<Value> = Vec::new();
        for ((kind, name), object) in orchard.plane_objects().await {
            if kind == "HTTPRoute" {
                routes.push(json!([name, object["metadata"]["uid"]]));
            }
        }
        routes
    };
    let before = routes().await;
    assert_eq!(before.len(), 2);
    let written = orchard.releases().await[&own].clone();
    orchard
        .artifact("cart-1", "cart", "shop", both(false))
        .await;
    eventually("the second one is closed", async || {
        let left = routes().await;
        (left.len() == 1).then_some(()).ok_or(format!("{left:?}"))
    })
    .await;
    orchard.until_ready::<Endpoint>(&names[1]).await;
    let left = routes().await;
    assert!(before.contains(&left[0]), "{left:?} of {before:?}");
    assert_eq!(orchard.releases().await[&own], written);
}

#[tokio::test]
async fn e6_a_route_that_the_gateway_refuses_is_told_and_ends_with_its_cause() {
    let orchard = Orchard::open().await;
    let nowhere = json!({ "gateway": { "ingress": { "external": { "name": "nowhere" } } } });
    orchard.plane(nowhere).await;
    orchard.service("cart", "shop").await;
    let endpoint = endpoint_of("cart-dev", "api");
    orchard
        .until::<Endpoint>(&endpoint, "False", "EndpointNotAccepted")
        .await;
    orchard
        .until::<Endpoint>(&endpoint, "False", "nowhere")
        .await;
    orchard.plane(json!({})).await;
    orchard
        .until::<Endpoint>(&endpoint, "True", "EndpointReady")
        .await;
}

/// Every object of a kind tells which generation of it was seen last.
async fn is_observed<K: Ours>(orchard: &Orchard, name: &str, edit: Value) {
    let kind = K::kind(&());
    if !edit.is_null() {
        orchard.patch::<K>(name, edit).await;
    }
    eventually(&format!("{kind} {name} was seen"), async || {
        let found = orchard.get::<K>(name).await.unwrap_or_default();
        let generation = &found["metadata"]["generation"];
        let is_seen = found["status"]["observedGeneration"] == *generation;
        let conditions = found["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        let is_judged = conditions.all(|one| one["observedGeneration"] == *generation);
        let is_all = is_seen && is_judged;
        is_all.then_some(()).ok_or(found["status"].to_string())
    })
    .await;
}

#[tokio::test]
async fn p4_every_kind_tells_which_generation_was_seen() {
    let orchard = many().await;
    let none = Value::Null;
    is_observed::<DeploymentTrack>(
        &orchard,
        &track_of("cart"),
        json!({ "spec": { "autoDeploy": false } }),
    )
    .await;
    let env = json!({ "spec": { "configuration": { "application": { "args": ["-v"] } } } });
    is_observed::<DeployableArtifact>(&orchard, "cart-1", env).await;
    let limit = json!({ "spec": { "revisionHistoryLimit": 2 } });
    is_observed::<Deployment>(&orchard, "cart-dev", limit).await;
    is_observed::<Endpoint>(&orchard, &endpoint_of("cart-dev", "one"), none.clone()).await;
    let scope = json!({ "spec": { "scope": { "project": "shop" } } });
    is_observed::<ConfigurationGroup>(&orchard, "zeta", scope).await;
    let kept = json!({ "spec": { "overrides": { "replicas": true } } });
    is_observed::<Service>(&orchard, "mail", kept.clone()).await;
    is_observed::<ServiceBinding>(&orchard, "mail", none.clone()).await;
    is_observed::<WebApplication>(&orchard, "page", kept.clone()).await;
    is_observed::<WebApplicationBinding>(&orchard, "page", none.clone()).await;
    is_observed::<ScheduledTask>(&orchard, "report", kept).await;
    is_observed::<ScheduledTaskBinding>(&orchard, "report", none.clone()).await;
    let offered = with(
        api("default", "/v2", &["Public"]),
        &json!({
            "owner": { "projectName": "shop", "componentName": "mail" }, "environmentName": "dev",
        }),
    );
    orchard.put::<PublishedApi>("mail-api", &[], offered).await;
    let binding = json!({
        "apiClassName": "default", "apiName": "mail-api", "environmentName": "dev",
    });
    orchard.put::<ApiBinding>("offered", &[], binding).await;
    is_observed::<ApiBinding>(&orchard, "offered", none.clone()).await;
    is_observed::<PublishedApi>(&orchard, "mail-api", none).await;
}
