//! What policies decide, matched and judged.

use serde_json::{Value, json};

use super::*;

struct NobodyMay;

impl Host for NobodyMay {
    fn authorize(&self, question: &Question) -> Answer {
        Answer {
            allowed: false,
            reason: format!("no {}", question.verb),
            error: None,
        }
    }
}

fn judge(spec: &Value, object: &Value, params: &Value) -> Judgement {
    let request = json!({"operation": "CREATE", "userInfo": {"username": "anna"}});
    Policy::compile(spec).judge(&Review {
        object,
        old: &Value::Null,
        request: &request,
        request_as_sent: &request,
        namespace: &Value::Null,
        params,
        resource: &Question::default(),
        host: &NobodyMay,
    })
}

fn deny(message: &str, reason: Option<&str>) -> Decision {
    Decision::Deny {
        message: message.to_owned(),
        reason: reason.map(str::to_owned),
    }
}

#[test]
fn a_demand_that_is_not_met_says_why() {
    let spec = json!({"validations": [
        {"expression": "object.size < 3"},
        {"expression": "object.size < 3", "message": " too large ", "reason": "Forbidden"},
        {"expression": "object.size < 3", "messageExpression": "'size ' + string(object.size)", "message": "unused"},
        {"expression": "object.size < 3", "messageExpression": "string(object.none)", "message": "kept"},
        {"expression": "object.size < 9"},
    ]});
    let judgement = judge(&spec, &json!({"size": 5}), &Value::Null);
    let invalid = Some("Invalid");
    assert_eq!(
        judgement.decisions,
        [
            deny("failed expression: object.size < 3", invalid),
            deny("too large", Some("Forbidden")),
            deny("size 5", invalid),
            deny("kept", invalid),
            Decision::Admit,
        ]
    );
}

#[test]
fn variables_see_those_before_them_and_fail_only_where_they_are_used() {
    let spec = json!({
        "variables": [
            {"name": "number", "expression": "int(object.number)"},
            {"name": "double", "expression": "variables.number * 2"},
            {"name": "broken", "expression": "object.none"},
        ],
        "validations": [
            {"expression": "variables.double == 8 || variables.broken == 1"},
            {"expression": "variables.broken == 1"},
        ],
    });
    let judgement = judge(&spec, &json!({"number": "4"}), &Value::Null);
    assert_eq!(judgement.decisions[0], Decision::Admit);
    assert_eq!(
        judgement.decisions[1],
        deny(
            "expression 'variables.broken == 1' resulted in error: composited variable \"broken\" \
             fails to evaluate: no such key: none",
            None
        )
    );
}

#[test]
fn a_policy_that_ignores_failures_admits_what_it_cannot_judge() {
    let demands = json!([{"expression": "object.none == 1"}, {"expression": "false"}]);
    let closed = json!({"validations": demands});
    let open = json!({"failurePolicy": "Ignore", "validations": demands});
    let decisions = judge(&open, &json!({}), &Value::Null).decisions;
    assert_eq!(decisions[0], Decision::Admit);
    assert_eq!(
        decisions[1],
        deny("failed expression: false", Some("Invalid"))
    );
    assert_ne!(
        judge(&closed, &json!({}), &Value::Null).decisions[0],
        Decision::Admit
    );
}

#[test]
fn one_condition_that_does_not_hold_decides_even_if_others_fail() {
    let spec = |conditions: Value| json!({"matchConditions": conditions, "validations": [{"expression": "false"}]});
    let fails = json!({"expression": "object.none == 1"});
    let no = json!({"expression": "false"});
    let silent = judge(&spec(json!([fails, no])), &json!({}), &Value::Null);
    assert_eq!(silent, Judgement::default());
    let loud = judge(&spec(json!([fails])), &json!({}), &Value::Null);
    let why = "expression 'object.none == 1' resulted in error: no such key: none";
    assert_eq!(loud.decisions, [deny(why, None)]);
}

#[test]
fn the_budget_ends_even_where_each_demand_is_cheap_enough() {
    let costly = json!({"expression": "object.list.all(a, object.list.all(b, a + b > 0))"});
    let spec = json!({"validations": vec![costly; 40]});
    let object = json!({"list": vec![1; 330]});
    let judgement = judge(&spec, &object, &Value::Null);
    let why = "validation failed due to running out of cost budget, no further validation rules will be run";
    assert_eq!(judgement.decisions, [deny(why, None)]);
}

#[test]
fn variables_that_depend_on_one_another_without_end_are_stopped() {
    let mut variables = vec![json!({"name": "v0", "expression": "1"})];
    for number in 1..200 {
        let expression = format!("variables.v{} + 1", number - 1);
        variables.push(json!({"name": format!("v{number}"), "expression": expression}));
    }
    let spec =
        json!({"variables": variables, "validations": [{"expression": "variables.v199 == 200"}]});
    let judgement = judge(&spec, &json!({}), &Value::Null);
    assert!(
        matches!(&judgement.decisions[0], Decision::Deny { message, .. } if message.contains("too many variables"))
    );
}

#[test]
fn notes_are_trimmed_and_empty_ones_left_out() {
    let spec = json!({
        "validations": [{"expression": "authorizer.requestResource.check('get').allowed()"}],
        "auditAnnotations": [
            {"key": "who", "valueExpression": "' ' + request.userInfo.username"},
            {"key": "nothing", "valueExpression": "''"},
            {"key": "null", "valueExpression": "null"},
        ],
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    });
    let judgement = judge(&spec, &json!({}), &Value::Null);
    let who = Annotation::Publish {
        key: "who".to_owned(),
        value: "anna".to_owned(),
    };
    assert_eq!(judgement.annotations, [who]);
    assert_ne!(judgement.decisions, [Decision::Admit]);
}

fn attributes<'a>(object: &'a Value, others: &'a [Place<'a>]) -> Attributes<'a> {
    Attributes {
        place: Place {
            group: "apps",
            version: "v1",
            resource: "deployments",
        },
        equivalents: others,
        subresource: "",
        namespace: "shop",
        name: "web",
        operation: "CREATE",
        object,
        old: &Value::Null,
        namespace_labels: None,
    }
}

#[test]
fn rules_selectors_and_equivalent_versions_decide_what_is_matched() {
    let newer = [Place {
        group: "apps",
        version: "v2",
        resource: "deployments",
    }];
    let labelled = json!({"metadata": {"labels": {"app": "web"}}});
    let about = attributes(&labelled, &newer);
    let rule = |version: &str, resources: Value| json!({"apiGroups": ["apps"], "apiVersions": [version], "operations": ["CREATE"], "resources": resources});
    let matched = |criteria: Value| {
        let mut criteria = criteria;
        for selector in ["namespaceSelector", "objectSelector"] {
            if criteria[selector].is_null() {
                criteria[selector] = json!({});
            }
        }
        let place = Criteria::new(&criteria).matched(&about).unwrap();
        place.map(|place| place.version.to_owned())
    };
    let deployments = json!(["deployments"]);
    let v1 = Some("v1".to_owned());
    assert_eq!(
        matched(json!({"resourceRules": [rule("v1", deployments.clone())]})),
        v1
    );
    assert_eq!(matched(json!({})), v1);
    assert_eq!(
        matched(json!({"resourceRules": [rule("*", json!(["*/*"]))]})),
        v1
    );
    assert_eq!(
        matched(json!({"resourceRules": [rule("v1", json!(["deployments/scale"]))]})),
        None
    );
    let equivalent = json!({"resourceRules": [rule("v2", deployments.clone())]});
    assert_eq!(matched(equivalent.clone()), Some("v2".to_owned()));
    let mut exact = equivalent;
    exact["matchPolicy"] = json!("Exact");
    assert_eq!(matched(exact), None);
    for (selector, labels, expected) in [
        ("objectSelector", json!({"app": "web"}), v1.clone()),
        ("objectSelector", json!({"app": "db"}), None),
        ("namespaceSelector", json!({"app": "web"}), None),
    ] {
        let criteria = json!({selector: {"matchLabels": labels}});
        assert_eq!(matched(criteria), expected, "{selector}");
    }
    let excluded = json!({"excludeResourceRules": [rule("v1", deployments)]});
    assert_eq!(matched(excluded), None);
}

#[test]
fn types_raise_doubts_that_requests_would_raise_later() {
    let schema = crate::structural::schema(Some(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    }})));
    let kind = Checked {
        group: "example.com",
        version: "v1",
        kind: "Thing",
        schema: schema.root(),
        metadata: None,
    };
    let spec = json!({"validations": [
        {"expression": "object.spec.replicas > 1", "messageExpression": "'x' + object.spec.replicas"},
        {"expression": "object.spec.replica > 1"},
    ]});
    let found = warnings(&spec, &[kind], None);
    let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(
        places,
        [
            "spec.validations[0].messageExpression",
            "spec.validations[1].expression"
        ]
    );
    assert!(
        found[1].1.starts_with(
            "example.com/v1, Kind=Thing: ERROR: <input>:1:12: undefined field 'replica'"
        )
    );
}

#[test]
fn a_policy_about_other_resources_is_told_by_its_rules_alone() {
    let criteria = |rules: Value| Criteria::new(&json!({ "resourceRules": rules }));
    let one = criteria(json!([{ "resources": ["approvals/status", "releasebindings"] }]));
    assert!(one.may_concern("approvals"));
    assert!(one.may_concern("releasebindings"));
    assert!(!one.may_concern("configmaps"));
    assert!(criteria(json!([{ "resources": ["*"] }])).may_concern("configmaps"));
    // No rules are about everything.
    assert!(criteria(json!([])).may_concern("configmaps"));
}
