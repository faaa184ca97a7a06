//! `pods/eviction`: a delete that disruption budgets may refuse.

use axum::response::Response;
use quadrille_machinery::{conditions, selector::LabelSelector, status::Status};
use serde_json::{Value, json};

use super::{
    super::{
        Request,
        delete::{self, DeleteOptions},
        get,
        write::{self, Ownership, VersionRule},
    },
    spoken,
};
use crate::{
    clock,
    life::edit,
    options::WriteOptions,
    policies::{self, Operation},
    reply, stored,
};

/// How often a pod that counts for nothing is tried again when it changed meanwhile.
const TRIES: usize = 5;
/// How many evictions a budget lets through before somebody has seen to them.
const DISRUPTED_MAX: usize = 2000;
/// Who takes from a budget.
const MANAGER: &str = "kube-apiserver";
/// The condition of a budget that says whether any pod may go.
const ALLOWED: &str = "DisruptionAllowed";

/// Evicts the named pod.
pub(crate) async fn create(request: &Request) -> Result<Response, Status> {
    let asked = WriteOptions::read(&request.query, "CreateOptions")?;
    let eviction = spoken::read(request, &asked, "policy", "Eviction")?;
    let named = eviction["metadata"]["name"].as_str().unwrap_or("");
    if !named.is_empty() && named != request.name()? {
        return Err(Status::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    policies::admit(
        request,
        &asked.change(Operation::Create, &eviction, &Value::Null),
    )?;
    let mut options = DeleteOptions::from_value(&eviction["deleteOptions"])?;
    options.dry_run |= asked.dry_run;
    evict(request, &options).await?;
    Ok(reply::value(
        201,
        &json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "code": 201,
        }),
    ))
}

/// Deletes the pod, if its budget has nothing against that. A pod that may go because it does not run yet, or is not
/// ready, goes as it was seen: it may have become ready in the meantime.
async fn evict(request: &Request, asked: &DeleteOptions) -> Result<(), Status> {
    let mut tries = TRIES;
    loop {
        tries -= 1;
        let pod = get::current(request)?.object(&request.resource)?;
        let mut options = asked.clone();
        let standing = Standing::of(&pod);
        let budget = match standing {
            Standing::Over | Standing::Pending => None,
            Standing::Runs => take_from_budget(request, &pod, options.dry_run).await?,
        };
        if (standing == Standing::Pending || budget.is_some()) && asked.resource_version.is_none() {
            let seen = pod["metadata"]["resourceVersion"].as_str();
            options.resource_version = seen.map(str::to_owned);
        }
        if !options.dry_run {
            say_why(request, &mut options).await?;
        }
        let ended = delete::remove(request, &options).await;
        match ended {
            Err(conflict) if conflict.code == 409 && asked.resource_version.is_none() => {
                match budget {
                    Some(name) => return Err(not_yet(&name)),
                    // From a budget is taken once.
                    None if standing != Standing::Runs && tries > 0 => {}
                    None => return Err(conflict),
                }
            }
            ended => return ended.map(|_| ()),
        }
    }
}

/// Says on the pod why it goes: a job may not count it as failed. What the deletion was to meet, it still meets then.
async fn say_why(request: &Request, options: &mut DeleteOptions) -> Result<(), Status> {
    let shared = &request.shared;
    let now = clock::seconds(shared.clock.now());
    let mut is_met = true;
    let pod = edit(
        shared,
        &request.resource,
        request.namespace(),
        request.name()?,
        |pod| {
            is_met = delete::check_preconditions(request, options, pod).is_ok();
            let condition = json!({
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting",
                "lastProbeTime": null,
            });
            is_met && conditions::set(&mut pod["status"], condition, &now)
        },
    );
    let pod = pod.await?;
    if let (Some(pod), Some(version), true) = (pod, &mut options.resource_version, is_met) {
        pod["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default()
            .clone_into(version);
    }
    Ok(())
}

/// What a pod is to budgets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It has ended or is going already: nothing is lost.
    Over,
    /// It does not count yet.
    Pending,
    /// It counts.
    Runs,
}

impl Standing {
    fn of(pod: &Value) -> Self {
        let is_going = !pod["metadata"]["deletionTimestamp"].is_null();
        match pod["status"]["phase"].as_str() {
            Some("Succeeded" | "Failed") => Self::Over,
            _ if is_going => Self::Over,
            Some("Pending") => Self::Pending,
            _ => Self::Runs,
        }
    }
}

/// Takes the pod out of what its budget allows, before it goes: of many evictions at once no more are let through. From
/// a pod that is not ready nothing may need to be taken: then the name of its budget is given.
async fn take_from_budget(
    request: &Request,
    pod: &Value,
    dry_run: bool,
) -> Result<Option<String>, Status> {
    let budgets = budgets_of(request, pod)?;
    let budget = match budgets.as_slice() {
        [] => return Ok(None),
        [budget] => budget,
        _ => return Err(several()),
    };
    let name = budget["metadata"]["name"].as_str().unwrap_or_default();
    if !is_ready(pod) && is_nothing_lost_without(budget) {
        return Ok(Some(name.to_owned()));
    }
    let shared = &request.shared;
    let resource = shared.resource("policy", "v1", "poddisruptionbudgets")?;
    let now = clock::seconds(shared.clock.now());
    let mut own = shared.request(&resource, request.namespace(), name);
    own.target.subresource = Some("status".to_owned());
    let options = WriteOptions {
        field_manager: Some(MANAGER.to_owned()),
        dry_run,
        ..WriteOptions::default()
    };
    let (ownership, rule) = (Ownership::Track, VersionRule::Retry);
    write::update(&own, &options, ownership, rule, |current| {
        let mut budget = current.object.clone();
        disrupt(&mut budget, pod, &now).map(|()| budget)
    })
    .await?;
    Ok(None)
}

fn budgets_of(request: &Request, pod: &Value) -> Result<Vec<Value>, Status> {
    let namespace = request.namespace().unwrap_or_default();
    let prefix = format!("poddisruptionbudgets.policy/{namespace}/");
    let labels = pod["metadata"]["labels"].as_object();
    let mut budgets = Vec::new();
    for record in stored::scan(&request.shared.store, prefix) {
        let budget: Value = serde_json::from_slice(&record?.value).map_err(Status::internal)?;
        let selector = LabelSelector::from_value(&budget["spec"]["selector"]);
        if selector.is_ok_and(|selector| selector.matches(labels)) {
            budgets.push(budget);
        }
    }
    Ok(budgets)
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let mut ready = conditions.filter(|condition| condition["type"] == "Ready");
    ready.any(|condition| condition["status"] == "True")
}

/// Whether a pod that is not ready may go whatever else goes: it does not count for those who are needed.
fn is_nothing_lost_without(budget: &Value) -> bool {
    let (healthy, desired) = (
        count(budget, "currentHealthy"),
        count(budget, "desiredHealthy"),
    );
    budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
        || (desired > 0 && healthy >= desired)
}

/// One pod less may go, and this one is on its way.
fn disrupt(budget: &mut Value, pod: &Value, now: &str) -> Result<(), Status> {
    let name = budget["metadata"]["name"].as_str().unwrap_or_default();
    let observed = count(budget, "observedGeneration");
    if observed < budget["metadata"]["generation"].as_i64().unwrap_or(0) {
        return Err(not_yet(name));
    }
    let forbidden = |why| {
        Err(Status::forbidden(
            "policy",
            "poddisruptionbudget",
            name,
            why,
        ))
    };
    let allowed = count(budget, "disruptionsAllowed");
    if allowed < 0 {
        return forbidden("pdb disruptions allowed is negative");
    }
    let disrupted = budget["status"]["disruptedPods"].as_object();
    if disrupted.is_some_and(|pods| pods.len() > DISRUPTED_MAX) {
        return forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        );
    }
    if allowed == 0 {
        let (healthy, desired) = (
            count(budget, "currentHealthy"),
            count(budget, "desiredHealthy"),
        );
        let told = conditions::find(&budget["status"], ALLOWED)
            .filter(|told| told["status"] == "False")
            .map(|told| (said(told, "reason"), said(told, "message")))
            .filter(|(_, message)| !message.is_empty());
        let why = match told {
            // Nothing that was counted can be trusted then.
            Some(("SyncFailed", message)) => {
                format!("does not allow evicting pods currently because it failed sync: {message}")
            }
            _ if healthy <= desired => {
                format!("needs {desired} healthy pods and has {healthy} currently")
            }
            Some((reason, message)) => {
                format!("does not allow evicting pods currently ({reason}): {message}")
            }
            None => "does not allow evicting pods currently".to_owned(),
        };
        return Err(refused(&format!("The disruption budget {name} {why}"), 0));
    }
    let status = &mut budget["status"];
    status["disruptionsAllowed"] = json!(allowed - 1);
    if allowed == 1 {
        let condition = json!({
            "type": ALLOWED,
            "status": "False",
            "reason": "InsufficientPods",
            "message": "",
            "observedGeneration": observed,
        });
        conditions::set(status, condition, now);
    }
    let pod = pod["metadata"]["name"].as_str().unwrap_or_default();
    if !status["disruptedPods"].is_object() {
        status["disruptedPods"] = json!({});
    }
    status["disruptedPods"][pod] = json!(now);
    Ok(())
}

fn said<'a>(condition: &'a Value, field: &str) -> &'a str {
    condition[field].as_str().unwrap_or_default()
}

fn count(budget: &Value, field: &str) -> i64 {
    budget["status"][field].as_i64().unwrap_or(0)
}

fn several() -> Status {
    Status::failure(
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    )
}

fn not_yet(budget: &str) -> Status {
    let why = format!("The disruption budget {budget} is still being processed by the server.");
    refused(&why, 10)
}

fn refused(why: &str, retry_after: i64) -> Status {
    let mut details = json!({ "causes": [{ "reason": "DisruptionBudget", "message": why }] });
    if retry_after > 0 {
        details["retryAfterSeconds"] = json!(retry_after);
    }
    Status {
        code: 429,
        reason: "TooManyRequests",
        message: "Cannot evict pod as it would violate the pod's disruption budget.".to_owned(),
        details,
        list_continue: None,
    }
}
