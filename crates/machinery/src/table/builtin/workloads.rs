//! Controllers, jobs, disruption budgets and scales.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cells::{
    NONE, containers, labels, len, list, number, requirements, selector, since, text, text_or,
};
use crate::table::human;

pub(super) fn deployment(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let (names, images) = containers(&spec["template"]["spec"]);
    vec![
        name,
        ready_of(&status["readyReplicas"], &spec["replicas"]),
        json!(number(&status["updatedReplicas"])),
        json!(number(&status["availableReplicas"])),
        age,
        names,
        images,
        json!(requirements(&spec["selector"])),
    ]
}

fn ready_of(ready: &Value, wanted: &Value) -> Value {
    json!(format!("{}/{}", number(ready), number(wanted)))
}

pub(super) fn replica_set(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let selector = selector(&object["spec"]["selector"]);
    replicas(object, name, age, &selector)
}

pub(super) fn replication_controller(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let selector = labels(&object["spec"]["selector"]);
    replicas(object, name, age, &selector)
}

fn replicas(object: &Value, name: Value, age: Value, selector: &str) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let (names, images) = containers(&spec["template"]["spec"]);
    vec![
        name,
        json!(number(&spec["replicas"])),
        json!(number(&status["replicas"])),
        json!(number(&status["readyReplicas"])),
        age,
        names,
        images,
        json!(selector),
    ]
}

pub(super) fn stateful_set(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let (names, images) = containers(&spec["template"]["spec"]);
    let ready = ready_of(&status["readyReplicas"], &spec["replicas"]);
    vec![name, ready, age, names, images]
}

pub(super) fn daemon_set(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let (names, images) = containers(&spec["template"]["spec"]);
    vec![
        name,
        json!(number(&status["desiredNumberScheduled"])),
        json!(number(&status["currentNumberScheduled"])),
        json!(number(&status["numberReady"])),
        json!(number(&status["updatedNumberScheduled"])),
        json!(number(&status["numberAvailable"])),
        json!(labels(&spec["template"]["spec"]["nodeSelector"])),
        age,
        names,
        images,
        json!(selector(&spec["selector"])),
    ]
}

pub(super) fn job(object: &Value, name: Value, age: Value, now: Timestamp) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let succeeded = number(&status["succeeded"]);
    let completions = match (spec["completions"].as_i64(), number(&spec["parallelism"])) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, 2..) => format!("{succeeded}/1 of {}", number(&spec["parallelism"])),
        (None, _) => format!("{succeeded}/1"),
    };
    let time = |field: &str| status[field].as_str()?.parse::<Timestamp>().ok();
    let duration = match (time("startTime"), time("completionTime")) {
        (None, _) => String::new(),
        (Some(start), end) => human::duration(end.unwrap_or(now).as_second() - start.as_second()),
    };
    let (names, images) = containers(&spec["template"]["spec"]);
    vec![
        name,
        json!(job_status(object)),
        json!(completions),
        json!(duration),
        age,
        names,
        images,
        json!(selector(&spec["selector"])),
    ]
}

fn job_status(job: &Value) -> &'static str {
    let has = |ty: &str| {
        list(&job["status"]["conditions"])
            .iter()
            .any(|condition| condition["type"] == ty && condition["status"] == "True")
    };
    if has("Complete") {
        "Complete"
    } else if has("Failed") {
        "Failed"
    } else if job["metadata"]["deletionTimestamp"].is_string() {
        "Terminating"
    } else if has("Suspended") {
        "Suspended"
    } else if has("FailureTarget") {
        "FailureTarget"
    } else if has("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

pub(super) fn cron_job(object: &Value, name: Value, age: Value, now: Timestamp) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let last = match &status["lastScheduleTime"] {
        Value::Null => json!(NONE),
        time => since(time, now),
    };
    let suspended = match spec["suspend"].as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    let job = &spec["jobTemplate"]["spec"];
    let (names, images) = containers(&job["template"]["spec"]);
    vec![
        name,
        text(&spec["schedule"]),
        json!(spec["timeZone"].as_str().unwrap_or(NONE)),
        json!(suspended),
        json!(len(&status["active"])),
        last,
        age,
        names,
        images,
        json!(selector(&job["selector"])),
    ]
}

pub(super) fn pod_template(object: &Value, name: Value) -> Vec<Value> {
    let template = &object["template"];
    let (names, images) = containers(&template["spec"]);
    vec![
        name,
        names,
        images,
        json!(labels(&template["metadata"]["labels"])),
    ]
}

pub(super) fn disruption_budget(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let bound = |value: &Value| match value {
        Value::Null => json!("N/A"),
        Value::String(text) => json!(text),
        number => json!(number.to_string()),
    };
    let spec = &object["spec"];
    vec![
        name,
        bound(&spec["minAvailable"]),
        bound(&spec["maxUnavailable"]),
        json!(number(&object["status"]["disruptionsAllowed"])),
        age,
    ]
}

pub(super) fn revision(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let owners = list(&object["metadata"]["ownerReferences"]);
    let controller = owners
        .iter()
        .find(|owner| owner["controller"] == json!(true));
    let controller = controller.map_or(NONE.to_owned(), |owner| {
        let api_version = text_or(&owner["apiVersion"], "");
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let kind = text_or(&owner["kind"], "").to_lowercase();
        let kind = if group.is_empty() {
            kind
        } else {
            format!("{kind}.{group}")
        };
        format!("{kind}/{}", text_or(&owner["name"], ""))
    });
    vec![
        name,
        json!(controller),
        json!(number(&object["revision"])),
        age,
    ]
}

pub(super) fn scale(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let desired = json!(number(&object["spec"]["replicas"]));
    vec![
        name,
        desired,
        json!(number(&object["status"]["replicas"])),
        age,
    ]
}
