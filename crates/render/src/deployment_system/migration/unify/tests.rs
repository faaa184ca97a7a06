//! What several environments have in common, and what each has for itself.

use super::*;

fn of(values: &[Value]) -> (Value, Differences) {
    let names = ["development", "production"];
    let cells = names.iter().take(values.len());
    let cells = cells.map(|name| ((*name).to_owned(), format!("cell-{name}")));
    let mut differences = Differences::new(cells.collect());
    let each: Each = values.iter().cloned().map(Some).collect();
    let template = differences.unify(&["deployment"], &each);
    (template, differences)
}

#[test]
fn what_is_the_same_stands_in_the_template_and_expressions_in_it_are_quoted() {
    let value = json!({ "a": [1, "x"], "b": { "${c}": "${d}" } });
    let (template, differences) = of(&[value.clone(), value]);
    assert_eq!(
        template,
        json!({ "a": [1, "x"], "b": { "${\"${c}\"}": "${\"${d}\"}" } })
    );
    assert!(differences.properties.is_empty());
}

#[test]
fn what_differs_is_told_once_under_one_name() {
    let object = |name: &str, replicas: u64| {
        json!({
            "metadata": { "name": name },
            "spec": { "replicas": replicas, "ref": { "name": name } },
        })
    };
    let (template, differences) = of(&[object("a", 1), object("b", 2)]);
    assert_eq!(
        template,
        json!({
            "metadata": { "name": "${environmentConfigs.deploymentName}" },
            "spec": {
                "replicas": "${environmentConfigs.replicas}",
                "ref": { "name": "${environmentConfigs.deploymentName}" },
            },
        })
    );
    assert_eq!(
        Value::from(differences.configs[1].clone()),
        json!({ "deploymentName": "b", "replicas": 2 })
    );
    assert_eq!(
        differences.properties["replicas"],
        json!({ "type": "integer" })
    );
    assert_eq!(differences.required.len(), 2);
}

#[test]
fn what_only_one_has_is_left_out_by_the_other() {
    let (template, differences) = of(&[json!({ "a": 1 }), json!({ "a": 1, "probe": { "x": 1 } })]);
    assert_eq!(template["probe"], "${environmentConfigs.?probe}");
    assert!(differences.configs[0].is_empty());
    assert_eq!(differences.configs[1]["probe"], json!({ "x": 1 }));
    assert!(differences.required.is_empty());
}

#[test]
fn cells_and_environments_are_what_templates_see() {
    let object = |environment: &str| {
        json!({ "metadata": {
            "namespace": format!("cell-{environment}"),
            "labels": { "environment-name": environment, "stage": environment },
        }})
    };
    let (template, _) = of(&[object("development"), object("production")]);
    let metadata = &template["metadata"];
    assert_eq!(metadata["namespace"], "${metadata.namespace}");
    assert_eq!(
        metadata["labels"]["environment-name"],
        "${metadata.environmentName}"
    );
    assert_eq!(metadata["labels"]["stage"], "${environmentConfigs.stage}");
}

#[test]
fn lists_are_looked_into_where_their_elements_are_the_same_ones() {
    let list = |names: &[&str], value: u64| {
        let entries = names
            .iter()
            .map(|name| json!({ "name": name, "value": value }));
        json!({ "ports": entries.collect::<Vec<_>>() })
    };
    let (template, _) = of(&[list(&["a", "b"], 1), list(&["a", "b"], 2)]);
    assert_eq!(template["ports"][1]["name"], "b");
    assert_eq!(
        template["ports"][1]["value"],
        "${environmentConfigs.aValue}"
    );
    let (template, _) = of(&[list(&["a"], 1), list(&["a", "b"], 1)]);
    assert_eq!(template["ports"], "${environmentConfigs.ports}");
}
