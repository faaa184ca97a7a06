//! What a cell is made of.

use super::*;

/// What a cell becomes with these annotations of its project, environment and plane.
fn cell(annotations: [&[(&str, &str)]; 3]) -> Result<Vec<Value>, String> {
    let [project, environment, plane] = annotations.map(|annotations| {
        let owned = annotations.iter();
        let owned = owned.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        owned.collect::<BTreeMap<String, String>>()
    });
    let asked = Asked::read(&project, &environment, &plane).map_err(|error| error.to_string())?;
    let named = |name| Named { name, uid: "u" };
    let planned = plan(&CellInputs {
        organization: "default",
        project: named("default"),
        environment: named("development"),
        asked: &asked,
        plane_spec: &DataPlaneSpec::default(),
        plane_annotations: &plane,
        runs_older: false,
    });
    Ok(planned.into_iter().map(|planned| planned.object).collect())
}

const ENFORCED: &[(&str, &str)] = &[(CELL_EGRESS, "enforce")];

#[test]
fn the_release_of_a_cell_has_the_name_that_others_compute_too() {
    assert_eq!(
        release_name("default", "development"),
        "p-default-development-fbb9df91"
    );
}

#[test]
fn a_cell_is_a_namespace_that_is_closed() {
    let objects = cell([&[], &[], &[]]).unwrap();
    assert_eq!(objects.len(), 2);
    assert_eq!(
        planned(objects[0].clone()).id,
        "namespace-dp-default-default-development-f8e58905"
    );
    assert_eq!(
        objects[1]["spec"],
        json!({ "podSelector": {}, "policyTypes": ["Ingress"] })
    );
}

#[test]
fn cilium_is_given_a_rule_that_names_nobody_since_no_rule_would_close_nothing() {
    let plane = [("openchoreo.dev/networkpolicyprovider", "cilium")];
    let objects = cell([&[], &[], &plane]).unwrap();
    assert_eq!(
        objects[1]["spec"],
        json!({ "endpointSelector": {}, "ingress": [{}] })
    );
}

#[test]
fn any_of_the_three_can_close_what_leaves_and_none_opens_it_again() {
    let open: &[(&str, &str)] = &[(CELL_EGRESS, "open")];
    for annotations in [
        [ENFORCED, open, open],
        [open, ENFORCED, open],
        [open, open, ENFORCED],
    ] {
        let objects = cell(annotations).unwrap();
        assert_eq!(
            objects[1]["spec"]["policyTypes"],
            json!(["Ingress", "Egress"])
        );
    }
    let objects = cell([open, &[], &[]]).unwrap();
    assert_eq!(objects[1]["spec"]["policyTypes"], json!(["Ingress"]));
}

#[test]
fn a_misspelt_word_does_not_leave_a_cell_open() {
    assert_eq!(
        cell([ENFORCED, &[], &[(CELL_EGRESS, "enforced")]]).unwrap_err(),
        "data plane: metadata.annotations[openchoreo.dev/cell-egress]: is \"enforced\", must be enforce or open"
    );
}

#[test]
fn each_quota_that_is_asked_for_is_one_so_that_the_tighter_counts() {
    let objects = cell([
        &[(CELL_QUOTA, "cpu=4,pods=20")],
        &[(CELL_QUOTA, "cpu=2")],
        &[],
    ])
    .unwrap();
    let quotas: Vec<(&Value, &Value)> = objects[2..]
        .iter()
        .map(|object| (&object["metadata"]["name"], &object["spec"]["hard"]))
        .collect();
    assert_eq!(
        quotas,
        [
            (
                &json!("openchoreo-project"),
                &json!({ "cpu": "4", "pods": "20" })
            ),
            (&json!("openchoreo-environment"), &json!({ "cpu": "2" })),
        ]
    );
    assert_eq!(
        cell([&[], &[(CELL_QUOTA, "cpu=lots")], &[]]).unwrap_err(),
        "environment: metadata.annotations[openchoreo.dev/cell-quota]: limits cpu to \"lots\", must be an amount such as 4, 500m or 8Gi"
    );
}

#[test]
fn a_cell_that_the_deployment_system_uses_has_the_labels_of_both_generations_and_its_policy() {
    let none = BTreeMap::new();
    let plane = BTreeMap::from([(
        "openchoreo.dev/networkpolicyprovider".to_owned(),
        "cilium".to_owned(),
    )]);
    let planned = plan(&CellInputs {
        organization: "acme",
        project: Named {
            name: "shop",
            uid: "p",
        },
        environment: Named {
            name: "development",
            uid: "e",
        },
        asked: &Asked::read(&none, &none, &none).unwrap(),
        plane_spec: &DataPlaneSpec::default(),
        plane_annotations: &plane,
        runs_older: true,
    });
    assert_eq!(
        planned[0].object["metadata"],
        json!({ "name": "dp-acme-shop-development-12d45ec4", "labels": {
            "organization-name": "acme", "project-name": "shop", "environment-name": "development",
            "managed-by": "choreo-deployment-controller", "belong-to": "user-workloads",
            "openchoreo.dev/created-by": "release-controller",
            "openchoreo.dev/namespace": "acme", "openchoreo.dev/project": "shop",
            "openchoreo.dev/environment": "development",
            "openchoreo.dev/project-uid": "p", "openchoreo.dev/environment-uid": "e",
        }})
    );
    let policy = &planned[2];
    assert_eq!(policy.id, "ciliumnetworkpolicy-default-policy");
    assert_eq!(
        policy.object["spec"],
        json!({
            "endpointSelector": { "matchLabels": { "belong-to": "user-workloads" } },
            "ingress": [{ "fromEndpoints": [{}] }],
        })
    );
}
