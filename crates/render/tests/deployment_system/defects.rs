//! What the older generation gets wrong, each shown not to happen here.

use std::fs;

use serde_json::{Value, json};

use crate::{folder, merged, world::World, yaml};

/// What a case's text becomes, over the base.
fn render(text: &str) -> Value {
    let base = yaml(&fs::read_to_string(folder().join("base.yaml")).unwrap());
    let mut own = yaml(text);
    let task = serde_json::from_value(own.remove(0)).unwrap();
    World::read(merged(base, own)).rendered(&task)
}

/// The artifact of the deployment, with this `spec.configuration`.
fn artifact(configuration: &Value) -> String {
    let document = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "DeployableArtifact",
        "metadata": { "name": "cart", "namespace": "acme" },
        "spec": { "targetArtifact": { "fromBuildRef": { "name": "cart-build-01" } }, "configuration": configuration },
    });
    document.to_string()
}

/// A binding of a kind, with these further fields of its spec.
fn binding(kind: &str, fields: &Value) -> String {
    let mut spec = json!({
        "owner": { "projectName": "shop", "componentName": "cart" }, "environment": "development",
        "className": "default", "releaseState": "Active",
        "workloadSpec": {
            "containers": { "main": { "image": "registry.test/cart:3" } },
            "endpoints": { "cart-api": { "type": "REST", "port": 9090 } },
        },
    });
    for (name, value) in fields.as_object().unwrap() {
        spec[name] = value.clone();
    }
    json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": format!("{kind}Binding"),
        "metadata": { "name": "cart-service", "namespace": "acme" }, "spec": spec,
    })
    .to_string()
}

fn ids(outcome: &Value) -> Vec<&str> {
    let ids = outcome["ids"]
        .as_array()
        .unwrap_or_else(|| panic!("{outcome}"));
    ids.iter().map(|id| id.as_str().unwrap()).collect()
}

fn mistakes(outcome: &Value) -> String {
    let mistakes = outcome["mistakes"].as_array();
    let mistakes = mistakes.unwrap_or_else(|| panic!("{outcome}")).iter();
    mistakes
        .map(|words| words.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

fn container<'a>(outcome: &'a Value, object: &str) -> &'a Value {
    &outcome["objects"][object]["spec"]["template"]["spec"]["containers"][0]
}

const DEPLOYMENT: &str = "deployment-cart-main-eaccd2de";

#[test]
fn d1_the_policy_of_a_cell_is_in_no_deployment_so_that_deleting_one_takes_it_from_nobody() {
    let outcome = render("deployment: cart-dev\ncell: true\n");
    let shared = |id: &&str| id.contains("policy") || id.starts_with("namespace");
    assert_eq!(ids(&outcome).into_iter().filter(shared).count(), 0);
    assert!(outcome["cell"]["ciliumnetworkpolicy-default-policy"].is_object());
}

#[test]
fn d2_whole_groups_come_in_the_order_written() {
    let groups: Vec<String> = ["zeta", "alpha", "mid"].map(str::to_owned).to_vec();
    let document = |name: &String| {
        let keys = ["k9", "k1", "k5"].map(|key| {
            json!({ "key": format!("{name}-{key}"), "values": [{ "environment": "development", "value": "v" }] })
        });
        json!({ "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ConfigurationGroup",
            "metadata": { "name": name }, "spec": { "configurations": keys } })
        .to_string()
    };
    let env_from: Vec<Value> = groups
        .iter()
        .map(|name| json!({ "configurationGroupRef": { "name": name } }))
        .collect();
    let documents: Vec<String> = groups.iter().map(document).collect();
    let outcome = render(&format!(
        "deployment: cart-dev\n---\n{}\n---\n{}\n",
        artifact(&json!({ "application": { "envFrom": env_from } })),
        documents.join("\n---\n")
    ));
    let env = container(&outcome, DEPLOYMENT)["env"].as_array().unwrap();
    let names: Vec<&str> = env
        .iter()
        .map(|env| env["name"].as_str().unwrap())
        .collect();
    let expected = [
        "ZETA_K9", "ZETA_K1", "ZETA_K5", "ALPHA_K9", "ALPHA_K1", "ALPHA_K5", "MID_K9", "MID_K1",
        "MID_K5",
    ];
    assert_eq!(names, expected);
}

#[test]
fn d4_an_image_is_never_empty_and_never_has_two_registries() {
    let image = |target: &str, build: &str| {
        let outcome = render(&format!(
            "deployment: cart-dev\n---\n\
             {{apiVersion: openchoreo.dev/v1alpha1, kind: DeployableArtifact, metadata: {{name: cart}}, \
             spec: {{targetArtifact: {target}}}}}\n---\n\
             {{apiVersion: openchoreo.dev/v1alpha1, kind: Build, metadata: {{name: b}}, spec: {{owner: {{projectName: shop, \
             componentName: cart}}, repository: {{url: u, appPath: /, revision: {{}}}}, templateRef: {{name: t}}}}, \
             status: {{imageStatus: {{image: \"{build}\"}}}}}}\n"
        ));
        container(&outcome, DEPLOYMENT)["image"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        image("{fromImageRef: {tag: v1}}", ""),
        "localhost:30003/shop-cart:v1"
    );
    assert_eq!(image("{fromImageRef: {tag: 'x/y:1'}}", ""), "x/y:1");
    assert_eq!(
        image("{fromBuildRef: {name: b}}", "shop-cart:1"),
        "localhost:30003/shop-cart:1"
    );
    assert_eq!(
        image("{fromBuildRef: {name: b}}", "r.test/shop-cart:1"),
        "r.test/shop-cart:1"
    );
}

#[test]
fn d5_an_artifact_may_have_no_configuration_and_an_endpoint_may_lead_elsewhere() {
    let bare = render(&format!(
        "deployment: cart-dev\n---\n{}\n",
        artifact(&json!({}))
    ));
    assert_eq!(ids(&bare), [DEPLOYMENT]);
    let elsewhere = json!({ "endpointTemplates": [{ "metadata": { "name": "a" }, "spec": {
        "type": "REST", "backendRef": { "type": "target", "target": { "url": "https://x.test" } },
    }}]});
    let outcome = render(&format!(
        "deployment: cart-dev\n---\n{}\n",
        artifact(&elsewhere)
    ));
    assert_eq!(ids(&outcome), [DEPLOYMENT]);
}

#[test]
fn d6_a_file_that_is_given_has_its_config_map_also_where_there_is_no_group() {
    let files = json!({ "application": { "fileMounts": [{ "mountPath": "/a", "value": "x" }] } });
    let outcome = render(&format!(
        "deployment: cart-dev\n---\n{}\n",
        artifact(&files)
    ));
    let mounted = &outcome["objects"][DEPLOYMENT]["spec"]["template"]["spec"]["volumes"][0]["configMap"]
        ["name"];
    let id = format!("configmap-{}", mounted.as_str().unwrap());
    assert_eq!(outcome["objects"][&id]["data"], json!({ "content": "x" }));
}

#[test]
fn d7_everything_that_an_artifact_says_is_rendered() {
    let all = json!({ "application": {
        "args": ["a"], "resourceLimits": { "cpu": "1" },
        "env": [{ "key": "T", "valueFrom": { "secretRef": { "name": "tokens", "key": "github" } } }],
        "probes": { "readinessProbe": { "tcpSocket": { "port": 1 } }, "livenessProbe": { "tcpSocket": { "port": 2 } } },
        "scaling": { "hpa": { "maxReplicas": 2 } },
    }});
    let outcome = render(&format!("deployment: cart-dev\n---\n{}\n", artifact(&all)));
    let container = container(&outcome, DEPLOYMENT);
    assert_eq!(container["args"], json!(["a"]));
    assert_eq!(container["resources"], json!({ "limits": { "cpu": "1" } }));
    assert_eq!(
        container["env"][0]["valueFrom"]["secretKeyRef"]["name"],
        "github-pat"
    );
    assert_eq!(container["readinessProbe"]["tcpSocket"]["port"], 1);
    assert_eq!(container["livenessProbe"]["tcpSocket"]["port"], 2);
    assert!(ids(&outcome).contains(&"horizontalpodautoscaler-cart-main-eaccd2de"));
}

#[test]
fn d8_another_configuration_restarts_pods_and_the_same_one_does_not() {
    let digest = |value: &str, other: &str| {
        let env = json!({ "application": { "env": [
            { "key": "H", "valueFrom": { "configurationGroupRef": { "name": "g", "key": "h" } } },
        ]}});
        let group = |name: &str, value: &str| {
            json!({ "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ConfigurationGroup", "metadata": { "name": name },
                "spec": { "configurations": [{ "key": "h", "values": [{ "environment": "development", "value": value }] }] } })
        };
        let outcome = render(&format!(
            "deployment: cart-dev\n---\n{}\n---\n{}\n---\n{}\n",
            artifact(&env),
            group("g", value),
            group("unused", other)
        ));
        let template = &outcome["objects"][DEPLOYMENT]["spec"]["template"];
        template["metadata"]["annotations"]["openchoreo.dev/dp-resource-hash"].clone()
    };
    assert!(digest("one", "x").is_string());
    assert_eq!(
        digest("one", "x"),
        digest("one", "y"),
        "a group that it does not use"
    );
    assert_ne!(digest("one", "x"), digest("two", "x"));
}

#[test]
fn d13_two_deployments_of_one_track_in_one_environment_do_not_overwrite_each_other() {
    let outcome = render("deployment: cart-dev\nrivals: [cart-first]\n");
    assert!(mistakes(&outcome).contains("is what Deployment cart-first has, too"));
}

#[test]
fn d14_the_vault_is_where_the_plane_says_or_where_its_chart_puts_it() {
    let env = json!({ "application": { "envFrom": [{ "configurationGroupRef": { "name": "redis-config" } }] } });
    let class = "secretproviderclass-cart-main-redis-config-fe8e9e85";
    let parameters = |annotations: &str| {
        let outcome = render(&format!(
            "deployment: cart-dev\n---\n{}\n---\n{{apiVersion: openchoreo.dev/v1alpha1, kind: DataPlane, metadata: {{name: \
             default, annotations: {annotations}}}, spec: {{registry: {{prefix: r}}}}}}\n",
            artifact(&env)
        ));
        outcome["objects"][class]["spec"]["parameters"].clone()
    };
    let usual = parameters("{}");
    assert_eq!(
        usual["vaultAddress"],
        "http://hashicorp-vault.openchoreo-data-plane:8200"
    );
    assert_eq!(usual["roleName"], "openchoreo-secret-reader-role");
    let said =
        parameters("{openchoreo.dev/vault-address: 'http://v', openchoreo.dev/vault-role: r}");
    assert_eq!(
        (&said["vaultAddress"], &said["roleName"]),
        (&json!("http://v"), &json!("r"))
    );
}

#[test]
fn d15_scaling_makes_something_that_scales_and_leaves_the_number_to_it() {
    let scaling =
        json!({ "application": { "scaling": { "hpa": { "minReplicas": 2, "maxReplicas": 4 } } } });
    let outcome = render(&format!(
        "deployment: cart-dev\n---\n{}\n",
        artifact(&scaling)
    ));
    let scaler = &outcome["objects"]["horizontalpodautoscaler-cart-main-eaccd2de"]["spec"];
    assert_eq!(
        (&scaler["minReplicas"], &scaler["maxReplicas"]),
        (&json!(2), &json!(4))
    );
    assert_eq!(outcome["objects"][DEPLOYMENT]["spec"].get("replicas"), None);
}

#[test]
fn b1_what_cannot_be_rendered_is_told_and_nothing_of_it_is_released() {
    let broken = binding(
        "Service",
        &json!({ "workloadSpec": { "containers": { "main": {
            "image": "i", "env": [{ "key": "A", "valueFrom": { "configurationGroupRef": { "name": "no", "key": "k" } } }],
        }}}}),
    );
    let outcome = render(&format!(
        "binding: ServiceBinding/cart-service\n---\n{broken}\n"
    ));
    assert!(mistakes(&outcome).contains("ConfigurationGroup \"no\""));
    assert_eq!(outcome.get("ids"), None);
}

#[test]
fn b3_a_workload_with_two_containers_is_refused_instead_of_mixed() {
    let two = json!({ "workloadSpec": { "containers": { "a": { "image": "i" }, "b": { "image": "j" } } } });
    let outcome = render(&format!(
        "binding: ServiceBinding/cart-service\n---\n{}\n",
        binding("Service", &two)
    ));
    assert!(mistakes(&outcome).contains("has a, b: a workload has one container"));
}

#[test]
fn b6_suspend_and_undeploy_are_honoured_by_all_three() {
    for kind in ["Service", "WebApplication", "ScheduledTask"] {
        let of = |state: &str| {
            let document = binding(kind, &json!({ "releaseState": state }));
            render(&format!(
                "binding: {kind}Binding/cart-service\n---\n{document}\n"
            ))
        };
        assert_eq!(ids(&of("Undeploy")), [""; 0], "{kind}");
        let stopped = of("Suspend");
        let running = of("Active");
        assert_eq!(ids(&stopped), ids(&running), "{kind}");
        let first = ids(&stopped)[0].to_owned();
        let spec = &stopped["objects"][&first]["spec"];
        let is_stopped = spec["replicas"] == 0 || spec["suspend"] == true;
        assert!(is_stopped, "{kind}: {spec}");
    }
}

#[test]
fn b8_names_fit_whatever_the_binding_is_called() {
    for (kind, longest) in [("Service", 63), ("ScheduledTask", 52)] {
        let long = "x".repeat(200);
        let document = binding(kind, &json!({})).replace("cart-service", &long);
        let outcome = render(&format!("binding: {kind}Binding/{long}\n---\n{document}\n"));
        for (id, object) in outcome["objects"].as_object().unwrap() {
            assert!(id.len() <= 63, "{id}");
            let name = object["metadata"]["name"].as_str().unwrap();
            let is_short = object["kind"] == "Deployment" || name.len() <= longest;
            assert!(is_short, "{} {name}", object["kind"]);
        }
    }
}

#[test]
fn b11_a_connection_looks_for_its_project_and_crosses_cells_by_a_gateway_only() {
    let foreign = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ServiceBinding", "metadata": { "name": "a-first" },
        "spec": { "owner": { "projectName": "other", "componentName": "stock" }, "environment": "development",
            "className": "default", "releaseState": "Active", "workloadSpec": {
                "containers": { "main": { "image": "i" } }, "endpoints": { "stock-api": { "type": "REST", "port": 1 } } } },
    });
    let of = |params: Value| {
        let fields = json!({ "workloadSpec": {
            "containers": { "main": { "image": "i" } },
            "connections": { "stock": { "type": "api", "params": params,
                "inject": { "env": [{ "name": "STOCK", "value": "{{ .host }}" }] } } },
        }});
        let document = binding("Service", &fields);
        render(&format!(
            "binding: ServiceBinding/cart-service\n---\n{foreign}\n---\n{document}\n"
        ))
    };
    let near = of(json!({ "componentName": "stock", "endpoint": "stock-api" }));
    let env = &container(&near, "cart-service-deployment")["env"];
    assert_eq!(
        env[0]["value"], "stock-08c4242b",
        "its own project's, though another's comes first"
    );
    let far =
        of(json!({ "projectName": "other", "componentName": "stock", "endpoint": "stock-api" }));
    assert_eq!(container(&far, "cart-service-deployment").get("env"), None);
    assert_eq!(far["pendingConnections"][0]["project"], "other");
}

#[test]
fn b15_pods_of_bindings_are_isolated_like_all_others() {
    let document = binding("Service", &json!({}));
    let outcome = render(&format!(
        "binding: ServiceBinding/cart-service\ncell: true\n---\n{document}\n"
    ));
    let template = &outcome["objects"]["cart-service-deployment"]["spec"]["template"];
    let selected = &outcome["cell"]["ciliumnetworkpolicy-default-policy"]["spec"]["endpointSelector"]
        ["matchLabels"];
    for (key, value) in selected.as_object().unwrap() {
        assert_eq!(&template["metadata"]["labels"][key], value);
    }
    assert!(outcome["cell"]["ciliumnetworkpolicy-openchoreo-default-deny"].is_object());
}

#[test]
fn b16_groups_secrets_and_the_pull_secret_reach_pods_of_bindings() {
    let fields = json!({ "workloadSpec": { "containers": { "main": { "image": "i", "env": [
        { "key": "H", "valueFrom": { "configurationGroupRef": { "name": "redis-config", "key": "host" } } },
        { "key": "T", "valueFrom": { "secretRef": { "name": "tokens", "key": "github" } } },
    ]}}}});
    let outcome = render(&format!(
        "binding: ServiceBinding/cart-service\n---\n{}\n---\n{{apiVersion: openchoreo.dev/v1alpha1, kind: DataPlane, metadata: \
         {{name: default}}, spec: {{registry: {{prefix: r, secretRef: pull}}}}}}\n",
        binding("Service", &fields)
    ));
    let env = &container(&outcome, "cart-service-deployment")["env"];
    assert!(env[0]["valueFrom"]["configMapKeyRef"].is_object());
    assert!(env[1]["valueFrom"]["secretKeyRef"].is_object());
    let pod = &outcome["objects"]["cart-service-deployment"]["spec"]["template"]["spec"];
    assert_eq!(pod["imagePullSecrets"], json!([{ "name": "pull" }]));
}

#[test]
fn b18_an_api_without_its_rest_part_is_a_mistake_and_no_panic() {
    let fields = json!({ "apis": { "cart-api": { "className": "default", "type": "REST" } } });
    let outcome = render(&format!(
        "binding: ServiceBinding/cart-service\n---\n{}\n",
        binding("Service", &fields)
    ));
    assert!(mistakes(&outcome).contains("spec.apis.cart-api.rest"));
}

#[test]
fn b4_without_levels_nothing_is_exposed_and_no_address_is_told() {
    let fields = json!({ "apis": { "cart-api": {
        "className": "default", "type": "REST", "rest": { "backend": { "port": 9090 } },
    }}});
    let outcome = render(&format!(
        "binding: ServiceBinding/cart-service\n---\n{}\n",
        binding("Service", &fields)
    ));
    assert_eq!(
        ids(&outcome),
        ["cart-service-deployment", "cart-service-service"]
    );
    let told = &outcome["status"]["endpoints"][0];
    assert_eq!((told.get("public"), told.get("organization")), (None, None));
}

#[test]
fn b10_hosts_and_ports_are_those_of_the_gateways() {
    let fields = json!({ "apis": { "cart-api": { "className": "default", "type": "REST", "rest": {
        "backend": { "port": 9090, "basePath": "/api/v1" }, "exposeLevels": ["Public", "Organization"],
    }}}});
    let outcome = render(&format!(
        "binding: ServiceBinding/cart-service\n---\n{}\n",
        binding("Service", &fields)
    ));
    let told = &outcome["status"]["endpoints"][0];
    assert_eq!(
        told["public"]["uri"],
        "https://dev.apis.example.com/shop/cart/api/v1"
    );
    assert_eq!(
        told["organization"]["uri"],
        "https://dev.internal.example.com/shop/cart/api/v1"
    );
}

#[test]
fn b22_without_ports_there_is_no_service() {
    let fields = json!({ "workloadSpec": { "containers": { "main": { "image": "i" } } } });
    let outcome = render(&format!(
        "binding: ServiceBinding/cart-service\n---\n{}\n",
        binding("Service", &fields)
    ));
    assert_eq!(ids(&outcome), ["cart-service-deployment"]);
}
