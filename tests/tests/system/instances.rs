//! Instances of classes: fixtures, and from a workload to what runs of it.

use quadrille_testkit::eventually;
use quadrille_types::{
    ApiBinding, ApiClass, Component, PublishedApi, Release, ScheduledTask, ScheduledTaskBinding,
    Service, ServiceBinding, WebApplication, WebApplicationBinding, Workload,
};
use serde_json::{Value, json};

use crate::orchard::{Orchard, Ours, with};

/// A workload with one container and one endpoint.
pub(crate) fn workload(image: &str) -> Value {
    json!({
        "containers": { "main": { "image": image } },
        "endpoints": { "api": { "type": "REST", "port": 8080 } },
    })
}

/// An API of the workload's endpoint, exposed to these.
pub(crate) fn api(class: &str, base_path: &str, levels: &[&str]) -> Value {
    json!({
        "className": class, "type": "REST",
        "rest": { "backend": { "port": 8080, "basePath": base_path }, "exposeLevels": levels },
    })
}

impl Orchard {
    /// The workload of a component, of the same name.
    pub(crate) async fn workload(&self, component: &str, project: &str, template: Value) {
        let owner = json!({ "projectName": project, "componentName": component });
        let spec = with(template, &json!({ "owner": owner }));
        self.put::<Workload>(component, &[], spec).await;
    }

    /// A component, its workload, and the instance of a class, all of one name.
    pub(crate) async fn instance<K: Ours>(&self, name: &str, project: &str, more: Value) {
        let kind = K::kind(&()).into_owned();
        let spec = json!({ "owner": { "projectName": project }, "type": kind });
        self.put::<Component>(name, &[("project", project)], spec)
            .await;
        let image = format!("registry.test/{name}:1");
        self.workload(name, project, workload(&image)).await;
        let spec = json!({
            "owner": { "projectName": project, "componentName": name }, "workloadName": name,
        });
        self.put::<K>(name, &[], with(spec, &more)).await;
    }

    /// Empty rules for APIs.
    pub(crate) async fn open_class(&self) {
        self.put::<ApiClass>("default", &[], json!({})).await;
    }
}

/// The binding of an instance says the same as the instance, and is its own.
async fn is_bound<I: Ours, B: Ours>(orchard: &Orchard, name: &str) -> Value {
    let kind = I::kind(&()).into_owned();
    orchard.until_ready::<B>(name).await;
    orchard.until_ready::<I>(name).await;
    orchard.until::<B>(name, "True", "ResourcesActive").await;
    let binding = orchard.get::<B>(name).await.unwrap();
    assert_eq!(binding["spec"]["environment"], "dev");
    assert_eq!(binding["spec"]["releaseState"], "Active");
    let owner = &binding["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["name"]),
        (&json!(kind), &json!(name))
    );
    let release = orchard.get::<Release>(name).await.unwrap();
    let owner = &release["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["name"]),
        (&json!(format!("{kind}Binding")), &json!(name))
    );
    let cell = quadrille_render::cell::release_name("shop", "dev");
    assert_eq!(release["spec"]["dependsOn"][0]["name"], cell.as_str());
    let labels = &binding["metadata"]["labels"];
    for (key, value) in [
        ("project", "shop"),
        ("component", name),
        ("environment", "dev"),
    ] {
        assert_eq!(labels[format!("openchoreo.dev/{key}")], value);
    }
    binding
}

#[tokio::test]
async fn a_service_is_bound_to_the_first_environment_and_reached_by_all_levels() {
    let orchard = Orchard::open().await;
    orchard
        .environment("dev", json!({ "gateway": { "dnsPrefix": "d" } }))
        .await;
    orchard.open_class().await;
    let apis = json!({ "apis": { "api": api("default", "/v1", &["Public", "Organization"]) } });
    orchard.instance::<Service>("cart", "shop", apis).await;
    let binding = is_bound::<Service, ServiceBinding>(&orchard, "cart").await;
    let endpoints = binding["status"]["endpoints"].as_array().unwrap();
    assert_eq!(endpoints.len(), 1);
    let told = &endpoints[0];
    assert_eq!(
        (&told["name"], &told["type"]),
        (&json!("api"), &json!("REST"))
    );
    assert_eq!(told["project"]["port"], 8080);
    assert_eq!(
        told["public"]["uri"],
        "http://d.apps.test:8080/shop/cart/v1"
    );
    assert_eq!(
        told["organization"]["uri"],
        "http://d.inside.test:8081/shop/cart/v1"
    );
    let objects = orchard.objects("cart").await;
    let ids: Vec<&str> = objects.keys().map(String::as_str).collect();
    assert!(ids.contains(&"cart-deployment"), "{ids:?}");
    assert!(ids.contains(&"cart-service"), "{ids:?}");
    let routes = objects
        .values()
        .filter(|object| object["kind"] == "HTTPRoute");
    assert_eq!(routes.count(), 2);
    orchard.everything_is_taken_strictly().await;
}

#[tokio::test]
async fn a_web_application_is_bound_and_has_a_host_of_its_own() {
    let orchard = Orchard::open().await;
    orchard
        .instance::<WebApplication>("page", "shop", json!({}))
        .await;
    let mut page = workload("registry.test/page:1");
    page["endpoints"] = json!({ "web": { "type": "HTTP", "port": 80 } });
    orchard.workload("page", "shop", page).await;
    eventually("its address is told", async || {
        let binding = orchard.get::<WebApplicationBinding>("page").await;
        let binding = binding.unwrap_or_default();
        let uri = binding["status"]["endpoints"][0]["public"]["uri"].clone();
        let uri = uri.as_str().unwrap_or_default();
        let is_own = uri.starts_with("http://web-page-dev-");
        is_own.then_some(()).ok_or(binding["status"].to_string())
    })
    .await;
    is_bound::<WebApplication, WebApplicationBinding>(&orchard, "page").await;
    orchard.everything_is_taken_strictly().await;
}

#[tokio::test]
async fn a_scheduled_task_is_bound_and_runs_when_its_class_says() {
    let orchard = Orchard::open().await;
    orchard
        .instance::<ScheduledTask>("report", "shop", json!({}))
        .await;
    is_bound::<ScheduledTask, ScheduledTaskBinding>(&orchard, "report").await;
    let task = orchard.object("report", "CronJob").await.unwrap();
    assert_eq!(task["spec"]["schedule"], "0 6 * * 1");
    orchard.everything_is_taken_strictly().await;
}

#[tokio::test]
async fn an_api_is_offered_under_the_rules_of_a_class_by_its_binding() {
    let orchard = Orchard::open().await;
    orchard.instance::<Service>("cart", "shop", json!({})).await;
    orchard.until_ready::<ServiceBinding>("cart").await;
    let limited = json!({ "restPolicy": { "defaults": {
        "rateLimit": { "requests": 10, "window": "1m" },
        "authentication": { "type": "jwt", "jwt": {
            "jwks": "http://idp.test/jwks", "issuer": "https://idp.test" } },
    }}});
    orchard.put::<ApiClass>("limited", &[], limited).await;
    let spec = with(
        api("limited", "/v1", &["Public"]),
        &json!({
            "owner": { "projectName": "shop", "componentName": "cart" }, "environmentName": "dev",
        }),
    );
    orchard.put::<PublishedApi>("cart-api", &[], spec).await;
    let binding = json!({
        "apiClassName": "limited", "apiName": "cart-api", "environmentName": "dev",
    });
    orchard
        .put::<ApiBinding>("cart-api-dev", &[], binding)
        .await;
    orchard.until_ready::<ApiBinding>("cart-api-dev").await;
    for kind in ["HTTPRoute", "SecurityPolicy", "BackendTrafficPolicy"] {
        let found = orchard.object("cart-api-dev", kind).await;
        assert!(found.is_some(), "{kind}");
    }
    let route = orchard.object("cart-api-dev", "HTTPRoute").await.unwrap();
    let service = orchard.object("cart", "Service").await.unwrap();
    assert_eq!(
        route["spec"]["rules"][0]["backendRefs"][0]["name"],
        service["metadata"]["name"]
    );
    eventually("the API tells where it is reached", async || {
        let api = orchard.get::<PublishedApi>("cart-api").await.unwrap();
        let address = api["status"]["address"].as_str().unwrap_or_default();
        let is_told = address.ends_with("/shop/cart/v1");
        is_told.then_some(()).ok_or(api["status"].to_string())
    })
    .await;
    orchard.everything_is_taken_strictly().await;
}

#[tokio::test]
async fn a_connection_waits_for_who_offers_it_and_follows() {
    let orchard = Orchard::open().await;
    orchard.instance::<Service>("cart", "shop", json!({})).await;
    let mut needs = workload("registry.test/cart:1");
    needs["connections"] = json!({ "stock": {
        "type": "api", "params": { "componentName": "stock", "endpoint": "api" },
        "inject": { "env": [{ "name": "STOCK", "value": "{{ .url }}" }] },
    }});
    orchard.workload("cart", "shop", needs).await;
    orchard
        .until::<ServiceBinding>("cart", "False", "ConnectionsPending")
        .await;
    orchard
        .instance::<Service>("stock", "shop", json!({}))
        .await;
    orchard.until_ready::<ServiceBinding>("cart").await;
    let env = async || {
        let runs = orchard.object("cart", "Deployment").await.unwrap();
        let container = &runs["spec"]["template"]["spec"]["containers"][0];
        container["env"][0]["value"].as_str().map(str::to_owned)
    };
    let before = env().await.unwrap();
    assert!(before.ends_with(":8080"), "{before}");
    let mut moved = workload("registry.test/stock:1");
    moved["endpoints"]["api"]["port"] = json!(9090);
    orchard.workload("stock", "shop", moved).await;
    eventually("it has followed", async || {
        let now = env().await.unwrap_or_default();
        now.ends_with(":9090").then_some(()).ok_or(now)
    })
    .await;
    orchard.until_ready::<ServiceBinding>("cart").await;
}
