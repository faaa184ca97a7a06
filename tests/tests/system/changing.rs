//! Each input is changed: what is rendered from it is released anew, and nothing else is touched.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_testkit::eventually;
use quadrille_types::{
    ApiBinding, ApiClass, ConfigurationGroup, DataPlane, Deployment, Endpoint, Environment,
    Project, PublishedApi, Release, ScheduledTask, ScheduledTaskBinding, ScheduledTaskClass,
    Service, ServiceBinding, ServiceClass, WebApplication, WebApplicationBinding,
    WebApplicationClass, annotations::CELL_EGRESS,
};
use serde_json::{Value, json};

use crate::{
    instances::{api, workload},
    orchard::{Orchard, endpoint_of, endpoint_release, image, offering, template, with},
};

/// What each Release was written as: generation and revision by name.
type Written = BTreeMap<String, (i64, String)>;

/// Two Deployments (one of a group and a build, one of neither), one instance of each class, and an API.
async fn planted() -> Orchard {
    let orchard = Orchard::open().await;
    for name in ["redis", "unused"] {
        orchard
            .put::<ConfigurationGroup>(name, &[], group("redis.dev", "redis.live"))
            .await;
    }
    orchard.component("cart", "shop", "Service").await;
    orchard
        .build("cart-build", "cart", "shop", Some("shop-cart:1"))
        .await;
    orchard
        .artifact("cart-1", "cart", "shop", built("info"))
        .await;
    for environment in ["dev", "staging"] {
        orchard.deploy("cart", "shop", environment, "cart-1").await;
        // In order, so that the second may run.
        let name = format!("cart-{environment}");
        orchard.until_ready::<Deployment>(&name).await;
    }
    orchard.service("stock", "shop").await;
    orchard.open_class().await;
    orchard.put::<ApiClass>("other", &[], json!({})).await;
    let apis = json!({ "apis": { "api": api("default", "/v1", &["Public"]) } });
    orchard.instance::<Service>("mail", "office", apis).await;
    orchard
        .instance::<WebApplication>("page", "office", json!({}))
        .await;
    orchard
        .instance::<ScheduledTask>("report", "office", json!({}))
        .await;
    let offered = with(
        api("other", "/v2", &["Organization"]),
        &json!({
            "owner": { "projectName": "office", "componentName": "mail" }, "environmentName": "dev",
        }),
    );
    orchard.put::<PublishedApi>("mail-api", &[], offered).await;
    let binding = json!({
        "apiClassName": "other", "apiName": "mail-api", "environmentName": "dev",
    });
    orchard.put::<ApiBinding>("mail-api", &[], binding).await;
    at_rest(&orchard).await;
    orchard
}

/// Waits until everything is ready.
async fn at_rest(orchard: &Orchard) {
    for name in ["cart-dev", "cart-staging", "stock-dev"] {
        orchard.until_ready::<Deployment>(name).await;
        let endpoint = endpoint_of(name, "api");
        orchard.until_ready::<Endpoint>(&endpoint).await;
    }
    orchard.until_ready::<ServiceBinding>("mail").await;
    orchard.until_ready::<WebApplicationBinding>("page").await;
    orchard.until_ready::<ScheduledTaskBinding>("report").await;
    orchard.until_ready::<ApiBinding>("mail-api").await;
    for release in orchard.releases().await.into_keys() {
        orchard.until_ready::<Release>(&release).await;
    }
}

fn group(dev: &str, live: &str) -> Value {
    json!({
        "environmentGroups": [{ "name": "live", "environments": ["staging", "prod"] }],
        "configurations": [{ "key": "host", "values": [
            { "environment": "dev", "value": dev }, { "environmentGroupRef": "live", "value": live },
        ]}],
    })
}

/// An artifact of a build that uses a group.
fn built(level: &str) -> Value {
    json!({
        "targetArtifact": { "fromBuildRef": { "name": "cart-build" } },
        "configuration": with(offering(), &json!({ "application": {
            "env": [{ "key": "LEVEL", "value": level }],
            "fileMountsFrom": [{ "configurationGroupRef": { "name": "redis", "mountPath": "/etc/redis" } }],
        }})),
    })
}

/// After a change, exactly these Releases ask for something else, and no other was written at all.
async fn only(orchard: &Orchard, what: &str, before: &Written, changed: &[&str]) {
    only_with(orchard, what, before, changed, &[]).await;
}

/// The same where some others note of which version they are, and ask for nothing else.
async fn only_with(
    orchard: &Orchard,
    what: &str,
    before: &Written,
    changed: &[&str],
    noted: &[&str],
) {
    let changed: BTreeSet<&str> = changed.iter().copied().collect();
    eventually(&format!("{what}: {changed:?} are written"), async || {
        let now = orchard.releases().await;
        let is_written =
            |name: &&str| now.get(*name).map(|one| one.0) > before.get(*name).map(|one| one.0);
        let missing: Vec<&str> = changed
            .iter()
            .filter(|name| !is_written(name))
            .copied()
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(format!("{missing:?} of {now:?}"))
        }
    })
    .await;
    at_rest(orchard).await;
    let after = orchard.releases().await;
    for (name, (generation, revision)) in &after {
        let Some((old, old_revision)) = before.get(name) else {
            panic!("{what}: {name} is new");
        };
        if changed.contains(name.as_str()) {
            assert_eq!(*generation, old + 1, "{what}: {name} is written once");
        } else if noted.contains(&name.as_str()) {
            assert_eq!(generation, old, "{what}: {name} is as it was");
        } else {
            assert_eq!(revision, old_revision, "{what}: {name} is not touched");
        }
    }
    assert_eq!(after.len(), before.len(), "{what}");
}

#[tokio::test]
async fn an_artifact_that_changes_reaches_the_deployments_of_it_and_nobody_else() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    orchard
        .artifact("cart-1", "cart", "shop", built("debug"))
        .await;
    only(
        &orchard,
        "the artifact",
        &before,
        &["deployment-cart-dev", "deployment-cart-staging"],
    )
    .await;
}

#[tokio::test]
async fn an_endpoint_template_that_changes_reaches_its_endpoints_and_what_listens() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    let path = json!({ "endpointTemplates": [template("api", 8080, "/other")] });
    let spec = image("registry.test/stock:1", path);
    orchard.artifact("stock-1", "stock", "shop", spec).await;
    let endpoint = endpoint_release("stock-dev", "api");
    let noted = ["deployment-stock-dev"];
    only_with(&orchard, "a path", &before, &[&endpoint], &noted).await;
    let before = orchard.releases().await;
    let port = json!({ "endpointTemplates": [template("api", 9090, "/other")] });
    let spec = image("registry.test/stock:1", port);
    orchard.artifact("stock-1", "stock", "shop", spec).await;
    only(
        &orchard,
        "a port",
        &before,
        &[&endpoint, "deployment-stock-dev"],
    )
    .await;
}

#[tokio::test]
async fn another_artifact_reaches_the_deployment_that_names_it() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    let spec = image("registry.test/stock:2", offering());
    orchard.artifact("stock-2", "stock", "shop", spec).await;
    orchard.deploy("stock", "shop", "dev", "stock-2").await;
    only(
        &orchard,
        "another artifact",
        &before,
        &["deployment-stock-dev"],
    )
    .await;
}

#[tokio::test]
async fn a_value_of_a_group_reaches_who_uses_it_where_it_is_meant() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    orchard
        .put::<ConfigurationGroup>("redis", &[], group("redis.dev", "redis.newer"))
        .await;
    only(&orchard, "a group", &before, &["deployment-cart-staging"]).await;
    let before = orchard.releases().await;
    orchard
        .put::<ConfigurationGroup>("unused", &[], group("another", "another"))
        .await;
    orchard.until_ready::<ConfigurationGroup>("unused").await;
    only(&orchard, "a group that nobody uses", &before, &[]).await;
}

#[tokio::test]
async fn another_image_of_a_build_reaches_the_deployments_of_its_artifacts() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    orchard
        .build("cart-build", "cart", "shop", Some("shop-cart:2"))
        .await;
    only(
        &orchard,
        "a build",
        &before,
        &["deployment-cart-dev", "deployment-cart-staging"],
    )
    .await;
}

#[tokio::test]
async fn each_class_reaches_its_own_instances() {
    let orchard = planted().await;
    let two = json!({ "deploymentTemplate": { "replicas": 2 } });
    let before = orchard.releases().await;
    orchard
        .put::<ServiceClass>("default", &[], two.clone())
        .await;
    only(&orchard, "a class of services", &before, &["mail"]).await;
    let before = orchard.releases().await;
    orchard
        .put::<WebApplicationClass>("default", &[], two)
        .await;
    only(&orchard, "a class of web applications", &before, &["page"]).await;
    let before = orchard.releases().await;
    let later = json!({ "cronJobTemplate": { "schedule": "0 7 * * 1" } });
    orchard
        .put::<ScheduledTaskClass>("default", &[], later)
        .await;
    only(&orchard, "a class of tasks", &before, &["report"]).await;
}

#[tokio::test]
async fn a_class_of_apis_reaches_the_apis_under_its_rules() {
    let orchard = planted().await;
    let limited = json!({ "restPolicy": { "defaults": {
        "rateLimit": { "requests": 10, "window": "1m" } } } });
    let before = orchard.releases().await;
    orchard
        .put::<ApiClass>("default", &[], limited.clone())
        .await;
    only(&orchard, "the class of a service's API", &before, &["mail"]).await;
    let before = orchard.releases().await;
    orchard.put::<ApiClass>("other", &[], limited).await;
    only(&orchard, "the class of an API", &before, &["mail-api"]).await;
}

#[tokio::test]
async fn another_workload_reaches_the_instance_of_it() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    let next = workload("registry.test/mail:2");
    orchard.workload("mail", "office", next).await;
    only(&orchard, "a workload", &before, &["mail"]).await;
}

#[tokio::test]
async fn an_api_that_changes_reaches_its_binding() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    let path = json!({ "spec": { "rest": { "backend": { "basePath": "/v3" } } } });
    orchard.patch::<PublishedApi>("mail-api", path).await;
    only(&orchard, "an API", &before, &["mail-api"]).await;
}

#[tokio::test]
async fn the_gateway_of_an_environment_reaches_what_is_exposed_there() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    orchard
        .environment("dev", json!({ "gateway": { "dnsPrefix": "d" } }))
        .await;
    let (cart, stock) = (
        endpoint_release("cart-dev", "api"),
        endpoint_release("stock-dev", "api"),
    );
    // The page has a host of its own, without the environment's prefix.
    only(
        &orchard,
        "the environment's prefix",
        &before,
        &[&cart, &stock, "mail", "mail-api"],
    )
    .await;
}

#[tokio::test]
async fn the_gateway_of_a_plane_reaches_what_is_exposed_by_it() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    let host = json!({ "http": { "host": "world.test" } });
    orchard
        .plane(json!({ "gateway": { "ingress": { "external": host } } }))
        .await;
    let exposed =
        ["cart-dev", "cart-staging", "stock-dev"].map(|name| endpoint_release(name, "api"));
    let mut all: Vec<&str> = exposed.iter().map(String::as_str).collect();
    // What is for the organization comes by the other gateway.
    all.extend(["mail", "page"]);
    only(&orchard, "the plane's host", &before, &all).await;
}

/// Waits until the policy that closes a cell is for these ways.
async fn until_closed(orchard: &Orchard, what: &str, ways: &[&str]) {
    eventually(
        &format!("{what}: the cell is closed for {ways:?}"),
        async || {
            let policy = orchard.placed("NetworkPolicy", "openchoreo-default-deny");
            let policy = policy.await.unwrap_or_default();
            let found = &policy["spec"]["policyTypes"];
            (*found == json!(ways)).then_some(()).ok_or(found.clone())
        },
    )
    .await;
}

#[tokio::test]
async fn what_is_asked_of_cells_reaches_one_in_which_only_a_deployment_runs() {
    let orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let closed = |word: Value| json!({ "metadata": { "annotations": { CELL_EGRESS: word } } });
    let (enforce, open) = (closed("enforce".into()), closed(Value::Null));
    let (inward, both) = (&["Ingress"][..], &["Ingress", "Egress"][..]);
    until_closed(&orchard, "at first", inward).await;
    orchard.patch::<Project>("shop", enforce.clone()).await;
    until_closed(&orchard, "the project asks", both).await;
    orchard.patch::<Project>("shop", open.clone()).await;
    until_closed(&orchard, "it does not any more", inward).await;
    orchard.patch::<Environment>("dev", enforce.clone()).await;
    until_closed(&orchard, "the environment asks", both).await;
    orchard.patch::<Environment>("dev", open).await;
    until_closed(&orchard, "nor does that", inward).await;
    orchard.patch::<DataPlane>("local", enforce).await;
    until_closed(&orchard, "the plane asks", both).await;
}

#[tokio::test]
async fn what_concerns_nobody_writes_nothing() {
    let orchard = planted().await;
    let before = orchard.releases().await;
    let seen = json!({ "metadata": { "labels": { "seen": "yes" } } });
    orchard.patch::<Deployment>("cart-dev", seen.clone()).await;
    orchard.patch::<Service>("mail", seen.clone()).await;
    orchard.patch::<ServiceClass>("default", seen.clone()).await;
    orchard
        .patch::<ConfigurationGroup>("redis", seen.clone())
        .await;
    orchard.patch::<Environment>("dev", seen).await;
    // Whoever comes later is through, so the others were looked at.
    orchard.service("late", "office").await;
    orchard.until_ready::<Deployment>("late-dev").await;
    let after = orchard.releases().await;
    let cell = quadrille_render::cell::release_name("office", "dev");
    for (name, written) in before {
        if name != cell {
            assert_eq!(after.get(&name), Some(&written), "{name}");
        }
    }
}

#[tokio::test]
async fn an_endpoint_may_lose_most_of_its_operations_at_once() {
    let orchard = Orchard::open().await;
    let jwks =
        json!({ "gateway": { "security": { "remoteJwks": { "uri": "http://idp.test/jwks" } } } });
    orchard.environment("dev", jwks).await;
    let guarded = |count: usize| {
        let operation = |number: usize| json!({ "target": format!("/items/{number}"), "method": "GET", "scopes": ["x"] });
        let operations: Vec<Value> = (0..count).map(operation).collect();
        let policy = json!({ "name": "tokens", "type": "oauth2", "policySpec": { "oauth2": {
            "jwt": { "authorization": { "apiType": "REST", "rest": {
                "claimsToHeaders": [], "operations": operations } } } } } });
        let template = with(
            template("api", 8080, "/api"),
            &json!({ "spec": { "networkVisibilities": { "public": { "policies": [policy] } } } }),
        );
        image(
            "registry.test/cart:1",
            json!({ "endpointTemplates": [template] }),
        )
    };
    orchard.component("cart", "shop", "Service").await;
    orchard.artifact("cart-1", "cart", "shop", guarded(6)).await;
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    let endpoint = endpoint_of("cart-dev", "api");
    orchard.until_ready::<Endpoint>(&endpoint).await;
    let routes = async || {
        let objects = orchard.plane_objects().await.into_keys();
        objects.filter(|(kind, _)| kind == "HTTPRoute").count()
    };
    assert_eq!(routes().await, 7);
    orchard.artifact("cart-1", "cart", "shop", guarded(1)).await;
    eventually("the routes of the others are gone", async || {
        let left = routes().await;
        (left == 2).then_some(()).ok_or(left)
    })
    .await;
    orchard.until_ready::<Endpoint>(&endpoint).await;
    orchard.everything_is_taken_strictly().await;
}
