//! What rules allow.

use serde_json::{Value, json};

use super::{Asker, Policy, Rule, aggregated, full_authority, missing, missing_words};

fn rule(value: &Value) -> Rule {
    Rule::read(value)
}

fn reader() -> Rule {
    rule(&json!({ "verbs": ["get"], "apiGroups": [""], "resources": ["pods", "*/status"] }))
}

#[test]
fn a_rule_allows_its_verbs_on_its_resources_and_nothing_else() {
    let reader = reader();
    assert!(reader.allows("get", "", "pods", "", "web"));
    assert!(reader.allows("get", "", "services", "status", "web"));
    assert!(!reader.allows("get", "", "pods", "log", "web"));
    assert!(!reader.allows("list", "", "pods", "", ""));
    assert!(!reader.allows("get", "apps", "pods", "", "web"));
    assert!(!reader.allows_path("get", "/pods"));
}

#[test]
fn a_rule_for_names_allows_no_request_without_a_name() {
    let named = rule(&json!({
        "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "resourceNames": ["web"],
    }));
    assert!(named.allows("delete", "apps", "deployments", "scale", "web"));
    assert!(!named.allows("list", "apps", "deployments", "", ""));
    assert!(!named.allows("get", "apps", "deployments", "", "cart"));
}

#[test]
fn a_path_may_end_in_anything() {
    let paths = rule(&json!({ "verbs": ["get"], "nonResourceURLs": ["/healthz", "/openapi/*"] }));
    assert!(paths.allows_path("get", "/healthz"));
    assert!(paths.allows_path("get", "/openapi/v3/api"));
    assert!(!paths.allows_path("get", "/healthz/ping"));
    assert!(!paths.allows_path("post", "/healthz"));
}

fn policy() -> Policy {
    let mut policy = Policy::default();
    policy.put(
        "clusterroles",
        "",
        "reader",
        &json!({ "rules": [{ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] }] }),
    );
    let bound = |kind: &str, role: &str, subject: Value| json!({ "roleRef": { "kind": kind, "name": role }, "subjects": [subject] });
    policy.put(
        "clusterrolebindings",
        "",
        "staff",
        &bound(
            "ClusterRole",
            "reader",
            json!({ "kind": "Group", "name": "staff" }),
        ),
    );
    policy.put(
        "rolebindings",
        "shop",
        "builder",
        &bound(
            "ClusterRole",
            "reader",
            json!({ "kind": "ServiceAccount", "name": "builder" }),
        ),
    );
    policy.put(
        "rolebindings",
        "shop",
        "lost",
        &bound("Role", "gone", json!({ "kind": "User", "name": "anna" })),
    );
    policy
}

fn decide(policy: &Policy, name: &str, groups: &[&str], namespace: &str) -> Result<String, String> {
    let groups: Vec<String> = groups.iter().map(|&group| group.to_owned()).collect();
    let asker = Asker {
        name,
        groups: &groups,
    };
    policy.decide(asker, namespace, |rule| {
        rule.allows("get", "", "pods", "", "web")
    })
}

#[test]
fn bindings_hold_where_they_are_for_whom_they_name() {
    let policy = policy();
    assert_eq!(
        decide(&policy, "anna", &["staff"], "").unwrap(),
        r#"ClusterRoleBinding "staff" of ClusterRole "reader" to Group "staff""#
    );
    let builder = "system:serviceaccount:shop:builder";
    assert_eq!(
        decide(&policy, builder, &[], "shop").unwrap(),
        r#"RoleBinding "builder/shop" of ClusterRole "reader" to ServiceAccount "builder/shop""#
    );
    assert_eq!(decide(&policy, builder, &[], "market"), Err(String::new()));
    assert_eq!(decide(&policy, builder, &[], ""), Err(String::new()));
    assert_eq!(
        decide(&policy, "anna", &[], "shop"),
        Err(r#"role.rbac.authorization.k8s.io "gone" not found"#.to_owned())
    );
}

#[test]
fn what_is_taken_away_no_longer_holds() {
    let mut policy = policy();
    policy.remove("clusterrolebindings", "", "staff");
    assert!(decide(&policy, "anna", &["staff"], "").is_err());
    let builder = "system:serviceaccount:shop:builder";
    policy.remove("clusterroles", "", "reader");
    assert!(decide(&policy, builder, &[], "shop").is_err());
}

#[test]
fn who_gives_more_than_they_have_is_told_what() {
    let asker = Asker {
        name: "anna",
        groups: &["staff".to_owned(), "system:authenticated".to_owned()],
    };
    let wanted = rule(&json!({
        "verbs": ["get", "list", "delete"], "apiGroups": [""], "resources": ["pods", "pods/status"],
    }));
    let missing = missing(&[reader()], &[wanted]);
    assert_eq!(
        missing_words(asker, &missing, ""),
        "user \"anna\" (groups=[\"staff\" \"system:authenticated\"]) is attempting to grant RBAC permissions not \
         currently held:\n\
         {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\" \"delete\"]}\n\
         {APIGroups:[\"\"], Resources:[\"pods/status\"], Verbs:[\"list\" \"delete\"]}"
    );
}

#[test]
fn who_has_all_may_give_all() {
    let all = full_authority();
    assert!(missing(&all, &all).is_empty());
    assert!(!missing(&all[..1], &all).is_empty());
    let named = rule(&json!({
        "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "resourceNames": ["web"],
    }));
    assert!(missing(&all, std::slice::from_ref(&named)).is_empty());
    assert!(!missing(&[named], &all).is_empty());
}

#[test]
fn a_role_gathers_the_rules_of_those_it_selects_each_once() {
    let role = |name: &str, label: &str, verb: &str| {
        json!({
            "metadata": { "name": name, "labels": { "to": label } },
            "rules": [{ "verbs": [verb] }, { "verbs": ["get"] }],
        })
    };
    let roles = [
        role("a", "view", "list"),
        role("b", "edit", "patch"),
        role("c", "view", "watch"),
    ];
    let view = json!({
        "metadata": { "name": "view" },
        "aggregationRule": { "clusterRoleSelectors": [{ "matchLabels": { "to": "view" } }] },
    });
    let all: Vec<&Value> = roles.iter().collect();
    let gathered = aggregated(&view, &all).unwrap();
    assert_eq!(
        gathered,
        [
            &json!({ "verbs": ["list"] }),
            &json!({ "verbs": ["get"] }),
            &json!({ "verbs": ["watch"] })
        ]
    );
    assert_eq!(aggregated(&roles[0], &all), None);
}

#[test]
fn a_small_rule_that_stands_for_millions_is_looked_through_in_no_time() {
    let many = |letter: &str| -> Vec<String> {
        (0..300).map(|number| format!("{letter}{number}")).collect()
    };
    let wanted = Rule {
        verbs: many("v"),
        groups: many("g"),
        resources: many("r"),
        names: many("n"),
        urls: Vec::new(),
    };
    assert_eq!(
        missing(&[reader()], std::slice::from_ref(&wanted)).len(),
        1000
    );
    let all_but_one_name = Rule {
        names: wanted.names[1..].to_vec(),
        ..wanted.clone()
    };
    assert_eq!(
        missing(&[all_but_one_name], std::slice::from_ref(&wanted)).len(),
        1000
    );
    assert!(missing(std::slice::from_ref(&wanted), std::slice::from_ref(&wanted)).is_empty());
    // Everything is held, and nothing of it as a whole: only the smallest pieces show it.
    let half = |names: &[String]| Rule {
        names: names.to_vec(),
        ..wanted.clone()
    };
    let halves = [half(&wanted.names[..150]), half(&wanted.names[150..])];
    assert_eq!(
        missing(&halves, std::slice::from_ref(&wanted)).len(),
        1000,
        "what would take too long to compare is not held"
    );
    let small = Rule {
        groups: many("g")[..2].to_vec(),
        resources: many("r")[..2].to_vec(),
        ..wanted.clone()
    };
    assert!(missing(&halves, &[small]).is_empty());
    let idle = Rule {
        verbs: Vec::new(),
        ..wanted.clone()
    };
    assert!(missing(&[], &[idle]).is_empty());
    let long = Rule {
        resources: vec!["r".repeat(300_000)],
        ..wanted
    };
    assert_eq!(missing(&[reader()], &[long]).len(), 4, "each says it all");
    let twice =
        rule(&json!({ "verbs": ["get", "get"], "apiGroups": [""], "resources": ["nodes"] }));
    assert_eq!(missing(&[reader()], &[twice]).len(), 1);
}
