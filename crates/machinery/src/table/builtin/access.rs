//! Role bindings, certificates, admission policies, flow control and API services.

use serde_json::{Value, json};

use super::cells::{NONE, count, list, number, requirements, text, text_or};
use crate::table::human;

pub(super) fn role_binding(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let role = &object["roleRef"];
    let role = format!(
        "{}/{}",
        text_or(&role["kind"], ""),
        text_or(&role["name"], "")
    );
    let subjects = |kind: &str| {
        let names: Vec<String> = list(&object["subjects"])
            .iter()
            .filter(|subject| subject["kind"] == kind)
            .map(|subject| {
                let name = text_or(&subject["name"], "");
                match text_or(&subject["namespace"], "") {
                    namespace if kind == "ServiceAccount" => format!("{namespace}/{name}"),
                    _ => name,
                }
            })
            .collect();
        json!(names.join(", "))
    };
    vec![
        name,
        json!(role),
        age,
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}

pub(super) fn certificate_request(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let has = |ty: &str| {
        let conditions = list(&status["conditions"]);
        conditions.iter().any(|condition| condition["type"] == ty)
    };
    let mut condition = if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    }
    .to_owned();
    if has("Failed") {
        condition += ",Failed";
    }
    if !text_or(&status["certificate"], "").is_empty() {
        condition += ",Issued";
    }
    let duration = spec["expirationSeconds"].as_i64();
    vec![
        name,
        age,
        json!(text_or(&spec["signerName"], NONE)),
        text(&spec["username"]),
        json!(duration.map_or(NONE.to_owned(), human::duration)),
        json!(condition),
    ]
}

pub(super) fn policy(object: &Value, name: Value, age: Value, rules: &str) -> Vec<Value> {
    let spec = &object["spec"];
    let kind = &spec["paramKind"];
    let kind = if kind.is_object() {
        format!(
            "{}/{}",
            text_or(&kind["apiVersion"], ""),
            text_or(&kind["kind"], "")
        )
    } else {
        "<unset>".to_owned()
    };
    vec![name, count(&spec[rules]), json!(kind), age]
}

pub(super) fn policy_binding(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    let parameters = &spec["paramRef"];
    let shown = match text_or(&parameters["name"], "") {
        named if !named.is_empty() => {
            format!("{}/{named}", text_or(&parameters["namespace"], "*"))
        }
        _ if parameters["selector"].is_object() => requirements(&parameters["selector"]),
        _ => "<unset>".to_owned(),
    };
    vec![name, text(&spec["policyName"]), json!(shown), age]
}

pub(super) fn priority_class(object: &Value, name: Value, age: Value) -> Vec<Value> {
    vec![
        name,
        json!(number(&object["value"])),
        json!(object["globalDefault"].as_bool().unwrap_or(false)),
        age,
        text(&object["preemptionPolicy"]),
    ]
}

pub(super) fn flow_schema(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    let conditions = list(&object["status"]["conditions"]);
    let dangling = conditions
        .iter()
        .find(|condition| condition["type"] == "Dangling");
    vec![
        name,
        text(&spec["priorityLevelConfiguration"]["name"]),
        json!(number(&spec["matchingPrecedence"])),
        json!(spec["distinguisherMethod"]["type"].as_str().unwrap_or(NONE)),
        age,
        json!(dangling.map_or("?".to_owned(), |condition| text_or(
            &condition["status"],
            ""
        ))),
    ]
}

pub(super) fn priority_level(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    let limited = &spec["limited"];
    let queuing = &limited["limitResponse"]["queuing"];
    let shown = |value: &Value| match value {
        Value::Null => json!(NONE),
        value => value.clone(),
    };
    vec![
        name,
        text(&spec["type"]),
        shown(&limited["nominalConcurrencyShares"]),
        shown(&queuing["queues"]),
        shown(&queuing["handSize"]),
        shown(&queuing["queueLengthLimit"]),
        age,
    ]
}

pub(super) fn api_service(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let service = &object["spec"]["service"];
    let service = if service.is_object() {
        let part = |field: &str| text_or(&service[field], "");
        format!("{}/{}", part("namespace"), part("name"))
    } else {
        "Local".to_owned()
    };
    let conditions = list(&object["status"]["conditions"]);
    let available = conditions
        .iter()
        .find(|condition| condition["type"] == "Available");
    let available = available.map_or("Unknown".to_owned(), |condition| {
        let status = text_or(&condition["status"], "");
        match (status.as_str(), text_or(&condition["reason"], "")) {
            ("True", _) => status,
            (_, reason) => format!("{status} ({reason})"),
        }
    });
    vec![name, json!(service), json!(available), age]
}
