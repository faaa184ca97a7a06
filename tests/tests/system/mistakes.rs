//! What cannot be meant: the field is named, nothing of it is applied, what ran goes on, and nobody else notices.

use std::collections::BTreeMap;

use quadrille_types::{
    ApiClass, ConfigurationGroup, DeployableArtifact, Deployment, Endpoint, Service,
    ServiceBinding, ServiceClass,
};
use serde_json::{Value, json};

use crate::{
    instances::{api, workload},
    orchard::{Orchard, endpoint_of, image, of_track, offering, template, with},
};

/// Two deployed services, of which one is about to be told nonsense.
async fn two() -> Orchard {
    let orchard = Orchard::open().await;
    for component in ["cart", "stock"] {
        orchard.service(component, "shop").await;
        let name = format!("{component}-dev");
        orchard.until_ready::<Deployment>(&name).await;
        let endpoint = endpoint_of(&name, "api");
        orchard.until_ready::<Endpoint>(&endpoint).await;
    }
    for release in orchard.releases().await.into_keys() {
        orchard
            .until_ready::<quadrille_types::Release>(&release)
            .await;
    }
    orchard
}

/// What ran goes on, and nobody else was touched. Releases of the one that is told nonsense may note its version.
async fn untouched(orchard: &Orchard, before: &BTreeMap<String, (i64, String)>, words: &str) {
    let now = orchard.releases().await;
    assert_eq!(now.len(), before.len(), "{words}");
    for (name, written) in &now {
        if name.contains("cart-dev") {
            assert_eq!(written.0, before[name].0, "{words}: {name}");
        } else {
            assert_eq!(*written, before[name], "{words}: {name}");
        }
    }
}

/// Artifacts that a server takes and nobody can mean, with the field and what is said about it.
fn artifacts() -> Vec<(Value, &'static str)> {
    let application = |application: Value| {
        let more = json!({ "application": application });
        image("registry.test/cart:1", with(offering(), &more))
    };
    let of_group = |name: &str, key: &str| {
        let of = json!({ "configurationGroupRef": { "name": name, "key": key } });
        application(json!({ "env": [{ "key": "HOST", "valueFrom": of }] }))
    };
    let twice = json!({ "endpointTemplates": [
        template("api", 8080, "/api"), template("api", 8081, "/more")] });
    vec![
        (
            json!({ "targetArtifact": { "fromImageRef": {} }, "configuration": offering() }),
            "spec.targetArtifact.fromImageRef.tag: is missing",
        ),
        (
            json!({ "targetArtifact": {}, "configuration": offering() }),
            "spec.targetArtifact: is empty",
        ),
        (
            json!({ "targetArtifact": { "fromBuildRef": {} }, "configuration": offering() }),
            "spec.targetArtifact.fromBuildRef: is empty",
        ),
        (
            application(json!({ "resourceLimits": { "cpu": "much" } })),
            "spec.configuration.application.resourceLimits.cpu: is \"much\"",
        ),
        (
            application(
                json!({ "probes": { "readinessProbe": { "httpGet": { "port": 99999 } } } }),
            ),
            "spec.configuration.application.probes.readinessProbe.httpGet.port",
        ),
        (
            application(json!({ "scaling": { "hpa": { "minReplicas": 0, "maxReplicas": 2 } } })),
            "spec.configuration.application.scaling.hpa.minReplicas: is 0",
        ),
        (
            application(json!({ "fileMounts": [{ "mountPath": "relative", "value": "x" }] })),
            "spec.configuration.application.fileMounts[0].mountPath: is \"relative\"",
        ),
        (
            of_group("nobody", "host"),
            "spec.configuration.application.env[0]",
        ),
        (of_group("nobody", "host"), "nobody"),
        (of_group("redis", "port"), "asks for key \"port\""),
        (
            image("registry.test/cart:1", twice),
            "spec.configuration.endpointTemplates[1].metadata.name",
        ),
    ]
}

#[tokio::test]
async fn an_artifact_that_cannot_be_meant_names_the_field_and_what_ran_goes_on() {
    let orchard = two().await;
    let group = json!({ "configurations": [
        { "key": "host", "values": [{ "environment": "dev", "value": "x" }] }] });
    orchard.put::<ConfigurationGroup>("redis", &[], group).await;
    let before = orchard.releases().await;
    for (artifact, words) in artifacts() {
        orchard.artifact("cart-1", "cart", "shop", artifact).await;
        orchard
            .until::<Deployment>("cart-dev", "False", words)
            .await;
        orchard
            .until::<Deployment>("cart-dev", "False", "InvalidConfiguration")
            .await;
        untouched(&orchard, &before, words).await;
        orchard.until_ready::<Deployment>("stock-dev").await;
        let good = image("registry.test/cart:1", offering());
        orchard.artifact("cart-1", "cart", "shop", good).await;
        orchard.until_ready::<Deployment>("cart-dev").await;
    }
    untouched(&orchard, &before, "in the end").await;
}

#[tokio::test]
async fn what_cannot_be_meant_from_the_start_is_not_begun() {
    let orchard = Orchard::open().await;
    orchard.component("cart", "shop", "Service").await;
    for (artifact, words) in artifacts().into_iter().take(5) {
        orchard.artifact("cart-1", "cart", "shop", artifact).await;
        orchard.deploy("cart", "shop", "dev", "cart-1").await;
        orchard
            .until::<Deployment>("cart-dev", "False", words)
            .await;
        assert_eq!(orchard.released().await, Vec::<String>::new(), "{words}");
        assert_eq!(orchard.names::<Endpoint>().await, Vec::<String>::new());
        for (kind, name) in orchard.plane_objects().await.into_keys() {
            let is_of_cell = ["Namespace", "NetworkPolicy"].contains(&kind.as_str());
            assert!(is_of_cell, "{words}: {kind} {name}");
        }
    }
}

#[tokio::test]
async fn a_schedule_that_is_none_names_the_field() {
    let orchard = Orchard::open().await;
    orchard.component("report", "shop", "ScheduledTask").await;
    let task = |schedule: Value| {
        let task = json!({ "application": { "task": { "schedule": schedule } } });
        image("registry.test/report:1", task)
    };
    let good = task(json!({ "cron": "0 6 * * 1" }));
    orchard
        .artifact("report-1", "report", "shop", good.clone())
        .await;
    orchard.deploy("report", "shop", "dev", "report-1").await;
    orchard.until_ready::<Deployment>("report-dev").await;
    let before = orchard.releases().await["deployment-report-dev"].0;
    let field = "spec.configuration.application.task.schedule";
    for (schedule, words) in [
        (
            json!({ "cron": "61 * * * *" }),
            format!("{field}.cron: is \"61 * * * *\""),
        ),
        (
            json!({ "cron": "whenever" }),
            format!("{field}.cron: is \"whenever\""),
        ),
        (
            json!({ "cron": "0 6 * * 1", "timezone": "Mars/Olympus" }),
            format!("{field}.timezone"),
        ),
    ] {
        orchard
            .artifact("report-1", "report", "shop", task(schedule))
            .await;
        orchard
            .until::<Deployment>("report-dev", "False", &words)
            .await;
        let now = orchard.releases().await["deployment-report-dev"].0;
        assert_eq!(now, before, "{words}");
    }
    orchard.artifact("report-1", "report", "shop", good).await;
    orchard.until_ready::<Deployment>("report-dev").await;
}

#[tokio::test]
async fn the_server_refuses_what_says_two_things_at_once_and_ports_that_are_none() {
    let orchard = two().await;
    let before = orchard.releases().await;
    let env = |env: Value| {
        let application = json!({ "application": { "env": [env] } });
        image("registry.test/cart:1", application)
    };
    let of_group = json!({ "configurationGroupRef": { "name": "redis", "key": "host" } });
    let of_both = with(
        of_group.clone(),
        &json!({ "secretRef": { "name": "s", "key": "k" } }),
    );
    let scaled = json!({ "application": {
        "scaling": { "hpa": { "maxReplicas": 2 } },
        "task": { "schedule": { "cron": "0 6 * * 1" } } } });
    let port = |port: i32| {
        let mut template = template("api", 1, "/api");
        template["spec"]["backendRef"]["componentRef"]["port"] = json!(port);
        image(
            "registry.test/cart:1",
            json!({ "endpointTemplates": [template] }),
        )
    };
    let both = json!({ "targetArtifact": {
        "fromImageRef": { "tag": "v1" }, "fromBuildRef": { "name": "b" } } });
    let cases = [
        (
            env(json!({ "key": "A", "value": "1", "valueFrom": of_group })),
            "spec.configuration.application.env[0]",
        ),
        (
            env(json!({ "key": "A", "valueFrom": of_both })),
            "spec.configuration.application.env[0].valueFrom",
        ),
        (
            image("registry.test/cart:1", scaled),
            "spec.configuration.application",
        ),
        (
            port(70000),
            "spec.configuration.endpointTemplates[0].spec.backendRef.componentRef.port",
        ),
        (
            port(0),
            "spec.configuration.endpointTemplates[0].spec.backendRef.componentRef.port",
        ),
        (both, "spec.targetArtifact"),
    ];
    let parents = of_track("shop", "cart");
    for (spec, field) in cases {
        let refused = orchard
            .try_put::<DeployableArtifact>("cart-1", &parents, spec)
            .await;
        match refused {
            Err(kube::Error::Api(status)) => {
                assert_eq!(status.code, 422, "{field}: {}", status.message);
                assert!(
                    status.message.contains(field),
                    "{field}: {}",
                    status.message
                );
            }
            other => panic!("{field} was taken: {other:?}"),
        }
    }
    let group = json!({ "configurations": [{ "key": "host", "values": [
        { "environment": "dev", "environmentGroupRef": "live", "value": "x" }] }] });
    let refused = orchard
        .try_put::<ConfigurationGroup>("redis", &[], group)
        .await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("spec.configurations[0].values[0]"),
        "{refused}"
    );
    assert_eq!(orchard.releases().await, before);
}

#[tokio::test]
async fn overrides_that_the_server_cannot_look_into_are_looked_into() {
    let orchard = two().await;
    let before = orchard.releases().await;
    let over =
        |template: Value| json!({ "configurationOverrides": { "endpointTemplates": [template] } });
    for (template, words) in [
        (
            json!({ "metadata": { "name": "api" }, "spec": {
                "backendRef": { "componentRef": { "port": 70000 } } } }),
            "port: is 70000",
        ),
        (
            json!({ "metadata": { "name": "other" } }),
            "spec.configurationOverrides.endpointTemplates[0].metadata.name: is \"other\"",
        ),
        (
            json!({ "metadata": { "name": "api" }, "spec": { "type": "Telepathy" } }),
            "spec.configurationOverrides.endpointTemplates[0]",
        ),
    ] {
        orchard
            .deploy_as("cart-dev", "cart", "shop", "dev", "cart-1", over(template))
            .await;
        orchard
            .until::<Deployment>("cart-dev", "False", words)
            .await;
        assert_eq!(orchard.releases().await, before, "{words}");
    }
    orchard.deploy("cart", "shop", "dev", "cart-1").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
}

/// An endpoint with one policy for the world.
fn guarded(policy: &Value) -> Value {
    with(
        template("api", 8080, "/api"),
        &json!({ "spec": { "networkVisibilities": { "public": { "policies": [policy] } } } }),
    )
}

fn operations(operations: &Value) -> Value {
    guarded(
        &json!({ "name": "tokens", "type": "oauth2", "policySpec": { "oauth2": { "jwt": {
        "authorization": { "apiType": "REST", "rest": {
            "claimsToHeaders": [], "operations": operations } } } } } }),
    )
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_kept_names_the_field_and_stays_as_it_was() {
    let orchard = two().await;
    let jwks =
        json!({ "gateway": { "security": { "remoteJwks": { "uri": "http://idp.test/jwks" } } } });
    orchard.environment("dev", jwks).await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let endpoint = endpoint_of("cart-dev", "api");
    orchard.until_ready::<Endpoint>(&endpoint).await;
    let before = orchard.releases().await;
    let field = "spec.networkVisibilities.public.policies[0]";
    let rest = format!("{field}.policySpec.oauth2.jwt.authorization.rest.operations[0].target");
    let cases = [
        (
            operations(
                &json!([{ "target": "/items/{id:[0-9}", "method": "GET", "scopes": ["x"] }]),
            ),
            format!("{rest}: has a pattern for id that does not compile"),
        ),
        (
            operations(&json!([{ "target": "/items/{id", "method": "GET", "scopes": ["x"] }])),
            rest,
        ),
        (
            guarded(&json!({ "name": "tokens", "type": "oauth", "policySpec": {} })),
            format!("{field}.type: is \"oauth\""),
        ),
        (
            guarded(
                &json!({ "name": "limit", "type": "rate-limit", "policySpec": { "rateLimit": {
                "apiLevel": { "timeUnit": "Fortnight", "requestLimit": 1 },
                "operationLevel": { "rest": [] } } } }),
            ),
            format!("{field}.policySpec.rateLimit.apiLevel.timeUnit"),
        ),
    ];
    for (template, words) in cases {
        let spec = image(
            "registry.test/cart:1",
            json!({ "endpointTemplates": [template] }),
        );
        orchard.artifact("cart-1", "cart", "shop", spec).await;
        orchard.until::<Endpoint>(&endpoint, "False", &words).await;
        orchard
            .until::<Endpoint>(&endpoint, "False", "InvalidConfiguration")
            .await;
        untouched(&orchard, &before, &words).await;
    }
    let good = image("registry.test/cart:1", offering());
    orchard.artifact("cart-1", "cart", "shop", good).await;
    orchard.until_ready::<Endpoint>(&endpoint).await;
}

#[tokio::test]
async fn of_two_endpoints_that_claim_one_path_the_older_one_has_it() {
    let orchard = two().await;
    let before = orchard.releases().await;
    let mut parents = of_track("shop", "cart").to_vec();
    parents.extend([("environment", "dev"), ("deployment", "cart-dev")]);
    // The same path in other words.
    let spec = template("second", 8080, "api//")["spec"].clone();
    orchard.put::<Endpoint>("second", &parents, spec).await;
    let first = endpoint_of("cart-dev", "api");
    orchard.until::<Endpoint>("second", "False", &first).await;
    orchard
        .until::<Endpoint>("second", "False", "spec.backendRef.basePath")
        .await;
    orchard.until_ready::<Endpoint>(&first).await;
    assert_eq!(orchard.releases().await, before);
    // Once the first one lets go of it, the other one has it.
    let other = json!({ "endpointTemplates": [template("api", 8080, "/elsewhere")] });
    let other = image("registry.test/cart:1", other);
    orchard.artifact("cart-1", "cart", "shop", other).await;
    orchard.until_ready::<Endpoint>("second").await;
    orchard.until_ready::<Endpoint>(&first).await;
}

#[tokio::test]
async fn an_environment_in_a_group_that_nobody_knows_is_named_by_the_group() {
    let orchard = two().await;
    let group = |environments: Value| {
        json!({
            "environmentGroups": [{ "name": "live", "environments": environments }],
            "configurations": [{ "key": "host", "values": [
                { "environment": "dev", "value": "x" },
                { "environmentGroupRef": "live", "value": "y" },
            ]}],
        })
    };
    orchard
        .put::<ConfigurationGroup>("redis", &[], group(json!(["staging"])))
        .await;
    let uses =
        json!({ "application": { "envFrom": [{ "configurationGroupRef": { "name": "redis" } }] } });
    let uses = image("registry.test/cart:1", with(offering(), &uses));
    orchard.artifact("cart-1", "cart", "shop", uses).await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    orchard.until_ready::<ConfigurationGroup>("redis").await;
    let before = orchard.releases().await;
    orchard
        .put::<ConfigurationGroup>("redis", &[], group(json!(["staging", "moon"])))
        .await;
    orchard
        .until::<ConfigurationGroup>("redis", "False", "InvalidConfiguration")
        .await;
    orchard
        .until::<ConfigurationGroup>(
            "redis",
            "False",
            "spec.environmentGroups[0].environments[1]",
        )
        .await;
    orchard.until_ready::<Deployment>("stock-dev").await;
    let generation = |written: &BTreeMap<String, (i64, String)>| written["deployment-cart-dev"].0;
    assert_eq!(generation(&orchard.releases().await), generation(&before));
    // The environment comes: all is well.
    orchard.environment("moon", json!({})).await;
    orchard.until_ready::<ConfigurationGroup>("redis").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
}

#[tokio::test]
async fn classes_and_workloads_that_cannot_be_meant_leave_what_runs() {
    let orchard = two().await;
    orchard.open_class().await;
    let apis = json!({ "apis": { "api": api("default", "/v1", &["Public"]) } });
    orchard.instance::<Service>("mail", "office", apis).await;
    orchard.until_ready::<ServiceBinding>("mail").await;
    let before = orchard.releases().await;
    let until = async |words: &str| {
        orchard
            .until::<ServiceBinding>("mail", "False", words)
            .await;
        assert_eq!(orchard.releases().await, before, "{words}");
    };
    let wrong = json!({ "deploymentTemplate": { "template": { "spec": { "containers": { "name": "main" } } } } });
    orchard.put::<ServiceClass>("default", &[], wrong).await;
    until("ServiceClass default: spec.deploymentTemplate.template.spec.containers").await;
    let refused = json!({ "deploymentTemplate": { "replicas": -1 } });
    orchard.put::<ServiceClass>("default", &[], refused).await;
    until("spec.replicas").await;
    let good = json!({ "deploymentTemplate": { "replicas": 1 } });
    orchard.put::<ServiceClass>("default", &[], good).await;
    orchard.until_ready::<ServiceBinding>("mail").await;
    let odd =
        json!({ "restPolicy": { "public": { "rateLimit": { "requests": 1, "window": "7m" } } } });
    orchard.put::<ApiClass>("default", &[], odd).await;
    until("APIClass default: spec.restPolicy.public.rateLimit.window").await;
    orchard.open_class().await;
    orchard.until_ready::<ServiceBinding>("mail").await;
    let mut two = workload("registry.test/mail:1");
    two["containers"]["side"] = json!({ "image": "registry.test/side:1" });
    orchard.workload("mail", "office", two).await;
    until("a workload has one container").await;
    orchard
        .workload("mail", "office", workload("registry.test/mail:1"))
        .await;
    // The API of a web application's or another service's path is taken once.
    let twice = json!({ "spec": { "apis": { "more": api("default", "/v1", &["Public"]) } } });
    orchard.patch::<Service>("mail", twice).await;
    until("spec.apis.more.rest.backend.basePath").await;
}

#[tokio::test]
async fn a_component_of_the_chain_is_not_deployed_by_a_deployment() {
    let orchard = two().await;
    let of_chain = json!({ "owner": { "projectName": "shop" }, "componentType": { "name": "deployment/service" } });
    orchard
        .put::<quadrille_types::Component>("cart", &[("project", "shop")], of_chain)
        .await;
    orchard
        .until::<Deployment>("cart-dev", "False", "spec.componentType")
        .await;
}
