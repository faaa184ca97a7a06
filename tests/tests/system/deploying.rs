//! From an artifact to what runs of it, by a Deployment.

use quadrille_types::{
    ConfigurationGroup, DeployableArtifact, Deployment, DeploymentTrack, Endpoint, Release,
    SecretReference, conditions::ConditionType, finalizers,
};
use serde_json::{Value, json};

use crate::orchard::{
    Orchard, endpoint_of, endpoint_release, image, offering, on_plane, template, track_of, with,
};

fn finalizers(object: &Value) -> Vec<&str> {
    let finalizers = object["metadata"]["finalizers"].as_array();
    finalizers
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

#[tokio::test]
async fn a_service_is_deployed_with_its_endpoint_and_everything_says_so() {
    let orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    orchard
        .until::<Deployment>("cart-dev", "True", "DeploymentReady")
        .await;
    orchard
        .until_of::<Deployment>(
            "cart-dev",
            ConditionType::ArtifactResolved,
            "True",
            "ArtifactResolvedSuccessfully",
        )
        .await;
    let available = ConditionType::Available;
    let track = track_of("cart");
    orchard
        .until_of::<DeploymentTrack>(&track, available, "True", "DeploymentTrackAvailable")
        .await;
    orchard.until_ready::<DeploymentTrack>(&track).await;
    orchard
        .until_of::<DeployableArtifact>("cart-1", available, "True", "DeployableArtifactAvailable")
        .await;
    let endpoint = endpoint_of("cart-dev", "api");
    orchard
        .until::<Endpoint>(&endpoint, "True", "EndpointReady")
        .await;

    let cell = quadrille_render::cell::release_name("shop", "dev");
    let own = endpoint_release("cart-dev", "api");
    let releases: Vec<String> = orchard.releases().await.into_keys().collect();
    assert_eq!(
        releases,
        ["deployment-cart-dev", own.as_str(), cell.as_str()]
    );
    for name in ["deployment-cart-dev", own.as_str()] {
        let release = orchard.get::<Release>(name).await.unwrap();
        assert_eq!(release["spec"]["dependsOn"][0]["name"], cell.as_str());
        assert_eq!(release["spec"]["owner"]["projectName"], "shop");
        assert_eq!(release["spec"]["owner"]["componentName"], "cart");
        assert_eq!(release["spec"]["environmentName"], "dev");
    }
    let deployment = orchard.get::<Deployment>("cart-dev").await.unwrap();
    assert!(finalizers(&deployment).contains(&finalizers::DEPLOYMENT));
    let runs = orchard.placed("Deployment", &on_plane("cart")).await;
    let pod = &runs.unwrap()["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], "registry.test/cart:1");
    for (kind, name) in [
        ("Service", on_plane("cart")),
        ("NetworkPolicy", "default-policy".to_owned()),
        ("NetworkPolicy", "openchoreo-default-deny".to_owned()),
        ("Namespace", orchard.cell("shop", "dev")),
    ] {
        assert!(orchard.placed(kind, &name).await.is_some(), "{kind} {name}");
    }
    orchard.everything_is_taken_strictly().await;
}

#[tokio::test]
async fn an_endpoint_carries_its_deployments_labels_and_tells_where_it_is_reached() {
    let orchard = Orchard::open().await;
    orchard
        .environment("dev", json!({ "gateway": { "dnsPrefix": "d" } }))
        .await;
    let both = with(
        template("api", 8080, "/api"),
        &json!({ "spec": { "networkVisibilities": { "organization": { "enable": true } } } }),
    );
    let mut inner = template("inner", 8081, "/inner");
    inner["spec"]["networkVisibilities"] = json!({ "organization": { "enable": true } });
    let templates = json!({ "endpointTemplates": [both, inner] });
    orchard.service_with("cart", "shop", templates).await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let name = endpoint_of("cart-dev", "api");
    orchard.until_ready::<Endpoint>(&name).await;
    let endpoint = orchard.get::<Endpoint>(&name).await.unwrap();
    let labels = &endpoint["metadata"]["labels"];
    for (key, value) in [
        ("organization", orchard.org.as_str()),
        ("project", "shop"),
        ("component", "cart"),
        ("deployment-track", "main"),
        ("environment", "dev"),
        ("deployment", "cart-dev"),
        ("name", "api"),
    ] {
        assert_eq!(labels[format!("openchoreo.dev/{key}")], value, "{key}");
    }
    let owner = &endpoint["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["name"], &owner["controller"]),
        (&json!("Deployment"), &json!("cart-dev"), &json!(true))
    );
    assert!(finalizers(&endpoint).contains(&"openchoreo.dev/endpoint-deletion"));
    let outside = "http://d.apps.test:8080/shop/cart/api";
    let inside = "http://d.inside.test:8081/shop/cart/api";
    let status = &endpoint["status"];
    assert_eq!(status["address"], outside);
    assert_eq!(
        status["urls"],
        json!({ "public": outside, "organization": inside })
    );
    let inner = endpoint_of("cart-dev", "inner");
    orchard.until_ready::<Endpoint>(&inner).await;
    let inner = orchard.get::<Endpoint>(&inner).await.unwrap();
    assert_eq!(
        inner["status"]["address"],
        "http://d.inside.test:8081/shop/cart/inner"
    );
}

#[tokio::test]
async fn endpoints_come_and_go_with_the_templates_of_the_artifact() {
    let orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let (api, admin) = (
        endpoint_of("cart-dev", "api"),
        endpoint_of("cart-dev", "admin"),
    );
    let two = json!({ "endpointTemplates": [
        template("api", 8080, "/api"), template("admin", 8081, "/admin")] });
    orchard
        .artifact("cart-1", "cart", "shop", image("registry.test/cart:1", two))
        .await;
    orchard.until_ready::<Endpoint>(&admin).await;
    let uid = orchard.get::<Endpoint>(&api).await.unwrap()["metadata"]["uid"].clone();
    let one = json!({ "endpointTemplates": [template("admin", 8081, "/admin")] });
    orchard
        .artifact("cart-1", "cart", "shop", image("registry.test/cart:1", one))
        .await;
    orchard.gone::<Endpoint>(&api).await;
    orchard
        .gone::<Release>(&endpoint_release("cart-dev", "api"))
        .await;
    orchard.until_ready::<Endpoint>(&admin).await;
    // Somebody deletes one that is still asked for: it is made anew.
    orchard
        .artifact(
            "cart-1",
            "cart",
            "shop",
            image("registry.test/cart:1", offering()),
        )
        .await;
    orchard.gone::<Endpoint>(&admin).await;
    orchard.until_ready::<Endpoint>(&api).await;
    orchard.delete::<Endpoint>(&api).await;
    quadrille_testkit::eventually("it is there anew", async || {
        let found = orchard.get::<Endpoint>(&api).await.unwrap_or_default();
        let found = found["metadata"]["uid"].clone();
        let is_new = found.is_string() && found != uid;
        is_new.then_some(()).ok_or("not yet")
    })
    .await;
    orchard.until_ready::<Endpoint>(&api).await;
}

#[tokio::test]
async fn an_endpoint_that_somebody_changes_is_put_right_by_its_deployment() {
    let orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    let name = endpoint_of("cart-dev", "api");
    orchard.until_ready::<Endpoint>(&name).await;
    let other = json!({ "spec": { "backendRef": { "basePath": "/elsewhere" } } });
    orchard.patch::<Endpoint>(&name, other).await;
    quadrille_testkit::eventually("it is as its template says", async || {
        let found = orchard.get::<Endpoint>(&name).await.unwrap();
        let path = found["spec"]["backendRef"]["basePath"].clone();
        (path == "/api").then_some(()).ok_or(path.to_string())
    })
    .await;
    orchard.until_ready::<Endpoint>(&name).await;
}

#[tokio::test]
async fn an_endpoint_that_somebody_wrote_by_hand_is_exposed_and_left_alone_by_the_deployment() {
    let orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let mut parents = crate::orchard::of_track("shop", "cart").to_vec();
    parents.extend([("environment", "dev"), ("deployment", "cart-dev")]);
    let spec = template("more", 8080, "/more")["spec"].clone();
    orchard.put::<Endpoint>("by-hand", &parents, spec).await;
    orchard.until_ready::<Endpoint>("by-hand").await;
    let found = orchard.get::<Endpoint>("by-hand").await.unwrap();
    assert_eq!(found["metadata"].get("ownerReferences"), None);
    orchard.delete::<Endpoint>("by-hand").await;
    orchard.gone::<Endpoint>("by-hand").await;
    orchard.gone::<Release>("endpoint-by-hand").await;
}

#[tokio::test]
async fn groups_secrets_files_and_limits_reach_the_pod() {
    let orchard = Orchard::open().await;
    orchard
        .put::<ConfigurationGroup>(
            "redis",
            &[],
            json!({
                "environmentGroups": [{ "name": "live", "environments": ["staging", "prod"] }],
                "configurations": [{ "key": "host", "values": [
                    { "environment": "dev", "value": "redis.dev" },
                    { "environmentGroupRef": "live", "value": "redis.live" },
                ]}],
            }),
        )
        .await;
    let reference = json!({
        "template": { "type": "Opaque" },
        "data": [{ "secretKey": "token", "remoteRef": { "key": "shop", "property": "token" } }],
    });
    orchard
        .put::<SecretReference>("tokens", &[], reference)
        .await;
    let application = json!({
        "args": ["--fast"],
        "env": [
            { "key": "LEVEL", "value": "info" },
            { "key": "HOST", "valueFrom": { "configurationGroupRef": { "name": "redis", "key": "host" } } },
            { "key": "TOKEN", "valueFrom": { "secretRef": { "name": "tokens", "key": "token" } } },
        ],
        "fileMounts": [{ "mountPath": "/etc/cart.toml", "value": "greeting = 1" }],
        "resourceLimits": { "cpu": "500m", "memory": "256Mi" },
    });
    let configuration = with(offering(), &json!({ "application": application }));
    orchard.service_with("cart", "shop", configuration).await;
    quadrille_testkit::eventually("the release is there", async || {
        let objects = orchard.objects("deployment-cart-dev").await;
        if objects.is_empty() {
            let said = orchard
                .said::<Deployment>("cart-dev", ConditionType::Ready)
                .await;
            return Err(said.to_string());
        }
        Ok(())
    })
    .await;
    let runs = orchard
        .object("deployment-cart-dev", "Deployment")
        .await
        .unwrap();
    let container = &runs["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["args"], json!(["--fast"]));
    assert_eq!(container["resources"]["limits"]["cpu"], "500m");
    let names: Vec<&str> = container["env"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|env| env["name"].as_str())
        .collect();
    assert_eq!(names, ["LEVEL", "HOST", "TOKEN"]);
    orchard.everything_is_taken_strictly().await;
    // Who uses the group is told by the group.
    orchard
        .until::<ConfigurationGroup>("redis", "True", "cart-dev")
        .await;
}

#[tokio::test]
async fn a_configuration_group_says_who_uses_it_and_when_nobody_does_any_more() {
    let orchard = Orchard::open().await;
    let group = json!({ "configurations": [
        { "key": "host", "values": [{ "environment": "dev", "value": "redis.dev" }] }] });
    orchard.put::<ConfigurationGroup>("redis", &[], group).await;
    orchard.until_ready::<ConfigurationGroup>("redis").await;
    let from = json!({ "application": {
        "envFrom": [{ "configurationGroupRef": { "name": "redis" } }] } });
    orchard.service_with("cart", "shop", from).await;
    orchard
        .until::<ConfigurationGroup>("redis", "True", "cart-dev")
        .await;
    orchard.delete::<Deployment>("cart-dev").await;
    orchard.gone::<Deployment>("cart-dev").await;
    quadrille_testkit::eventually("nobody uses it", async || {
        let ready = ConditionType::Ready;
        let said = orchard.said::<ConfigurationGroup>("redis", ready).await;
        let words = said["message"].as_str().unwrap_or_default().to_owned();
        (!words.contains("cart-dev")).then_some(()).ok_or(words)
    })
    .await;
    orchard.until_ready::<ConfigurationGroup>("redis").await;
}

#[tokio::test]
async fn what_differs_in_an_environment_is_said_by_its_deployment() {
    let orchard = Orchard::open().await;
    orchard.component("cart", "shop", "Service").await;
    let artifact = with(
        image("registry.test/cart:1", offering()),
        &json!({ "configuration": { "application": { "env": [{ "key": "LEVEL", "value": "info" }] } } }),
    );
    orchard.artifact("cart-1", "cart", "shop", artifact).await;
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    let more = json!({
        "revisionHistoryLimit": 3,
        "configurationOverrides": {
            "application": { "env": [{ "key": "LEVEL", "value": "debug" }] },
            "endpointTemplates": [{ "metadata": { "name": "api" }, "spec": {
                "networkVisibilities": { "public": { "enable": false } } } }],
        },
    });
    orchard
        .deploy_as("cart-staging", "cart", "shop", "staging", "cart-1", more)
        .await;
    for (environment, level, limit) in
        [("dev", "info", Value::Null), ("staging", "debug", json!(3))]
    {
        let deployment = format!("cart-{environment}");
        orchard.until_ready::<Deployment>(&deployment).await;
        let release = format!("deployment-{deployment}");
        let runs = orchard.object(&release, "Deployment").await.unwrap();
        let env = &runs["spec"]["template"]["spec"]["containers"][0]["env"];
        assert_eq!(env[0]["value"], level, "{environment}");
        assert_eq!(runs["spec"]["revisionHistoryLimit"], limit, "{environment}");
    }
    let closed = endpoint_release("cart-staging", "api");
    assert_eq!(orchard.object(&closed, "HTTPRoute").await, None);
    let open = endpoint_release("cart-dev", "api");
    assert!(orchard.object(&open, "HTTPRoute").await.is_some());
}

#[tokio::test]
async fn a_web_application_a_scheduled_task_and_what_runs_nothing_are_deployed() {
    let orchard = Orchard::open().await;
    orchard.component("page", "shop", "WebApplication").await;
    let mut page = template("page", 80, "");
    page["spec"]["type"] = json!("HTTP");
    page["spec"]
        .as_object_mut()
        .unwrap()
        .remove("networkVisibilities");
    let page = image(
        "registry.test/page:1",
        json!({ "endpointTemplates": [page] }),
    );
    orchard.artifact("page-1", "page", "shop", page).await;
    orchard.deploy("page", "shop", "dev", "page-1").await;
    orchard.component("report", "shop", "ScheduledTask").await;
    let task = json!({ "application": { "task": { "schedule": { "cron": "0 6 * * 1" } } } });
    let task = image("registry.test/report:1", task);
    orchard.artifact("report-1", "report", "shop", task).await;
    orchard.deploy("report", "shop", "dev", "report-1").await;
    orchard.component("cleaner", "office", "ManualTask").await;
    let cleaner = image("registry.test/cleaner:1", json!({}));
    orchard
        .artifact("cleaner-1", "cleaner", "office", cleaner)
        .await;
    orchard
        .deploy("cleaner", "office", "dev", "cleaner-1")
        .await;
    orchard.until_ready::<Deployment>("page-dev").await;
    let page = endpoint_of("page-dev", "page");
    orchard.until_ready::<Endpoint>(&page).await;
    let page = orchard.get::<Endpoint>(&page).await.unwrap();
    let address = page["status"]["address"].as_str().unwrap();
    assert!(address.starts_with("http://page-page-dev-"), "{address}");
    orchard.until_ready::<Deployment>("report-dev").await;
    let task = orchard.object("deployment-report-dev", "CronJob").await;
    assert_eq!(task.unwrap()["spec"]["schedule"], "0 6 * * 1");
    orchard.until_ready::<Deployment>("cleaner-dev").await;
    orchard.everything_is_taken_strictly().await;
    let cell = orchard.cell("office", "dev");
    assert!(orchard.placed("Namespace", &cell).await.is_some());
}

#[tokio::test]
async fn an_artifact_of_a_build_runs_the_image_that_the_build_has_made() {
    let orchard = Orchard::open().await;
    orchard.component("cart", "shop", "Service").await;
    orchard.build("cart-build", "cart", "shop", None).await;
    let built = json!({ "targetArtifact": { "fromBuildRef": { "name": "cart-build" } } });
    orchard.artifact("cart-1", "cart", "shop", built).await;
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    orchard
        .until::<Deployment>("cart-dev", "False", "cart-build")
        .await;
    assert_eq!(orchard.objects("deployment-cart-dev").await.len(), 0);
    orchard
        .build("cart-build", "cart", "shop", Some("shop-cart:4d1c"))
        .await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let runs = orchard
        .object("deployment-cart-dev", "Deployment")
        .await
        .unwrap();
    assert_eq!(
        runs["spec"]["template"]["spec"]["containers"][0]["image"],
        "registry.test/shop-cart:4d1c"
    );
}

#[tokio::test]
async fn parents_without_labels_are_found_by_their_names() {
    let orchard = Orchard::open().await;
    // As people write them who have never seen the older generation's labels.
    let bare = json!({ "owner": { "projectName": "shop" }, "type": "Service" });
    orchard
        .stage
        .apply::<quadrille_types::Component>(&orchard.org, "cart", bare)
        .await;
    for project in ["shop", "office"] {
        let none = json!({ "metadata": { "labels": null } });
        orchard
            .patch::<quadrille_types::Project>(project, none)
            .await;
    }
    orchard.track("cart", "shop").await;
    let artifact = image("registry.test/cart:1", offering());
    orchard.artifact("cart-1", "cart", "shop", artifact).await;
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
}
