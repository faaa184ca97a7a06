//! `pods/eviction`: a delete that disruption budgets may refuse.

use axum::response::Response;
use quadrille_machinery::{selector::LabelSelector, status::Status};
use serde_json::{Value, json};

use super::{
    super::{
        Request,
        delete::{self, DeleteOptions},
        get,
    },
    spoken,
};
use crate::{
    options::WriteOptions,
    policies::{self, Operation},
    reply,
};

/// How many records are read at a time.
const CHUNK: usize = 500;

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
    let pod = get::current(request)?.object(&request.resource)?;
    if may_be_disrupted(&pod) {
        check_budgets(request, &pod)?;
    }
    let mut options = DeleteOptions::from_value(&eviction["deleteOptions"])?;
    options.dry_run |= asked.dry_run;
    delete::remove(request, &options).await?;
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

/// Only pods that run, and aren't leaving already, count for a budget.
fn may_be_disrupted(pod: &Value) -> bool {
    pod["metadata"]["deletionTimestamp"].is_null()
        && !matches!(
            pod["status"]["phase"].as_str(),
            Some("Succeeded" | "Failed" | "Pending")
        )
}

fn check_budgets(request: &Request, pod: &Value) -> Result<(), Status> {
    let namespace = request.namespace().unwrap_or_default();
    let prefix = format!("poddisruptionbudgets.policy/{namespace}/");
    let labels = pod["metadata"]["labels"].as_object();
    let page = request
        .shared
        .store
        .list(prefix.as_bytes(), None, CHUNK, None)
        .map_err(Status::internal)?;
    for record in page.records {
        let budget: Value = serde_json::from_slice(&record.value).map_err(Status::internal)?;
        let Ok(selector) = LabelSelector::from_value(&budget["spec"]["selector"]) else {
            continue;
        };
        if !selector.matches(labels) {
            continue;
        }
        if budget["status"]["disruptionsAllowed"].as_i64().unwrap_or(0) <= 0 {
            return Err(refused(&budget));
        }
    }
    Ok(())
}

fn refused(budget: &Value) -> Status {
    let name = budget["metadata"]["name"].as_str().unwrap_or_default();
    let status = &budget["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    Status {
        code: 429,
        reason: "TooManyRequests",
        message: "Cannot evict pod as it would violate the pod's disruption budget.".to_owned(),
        details: json!({
            "causes": [{
                "reason": "DisruptionBudget",
                "message": format!(
                    "The disruption budget {name} needs {} healthy pods and has {} currently",
                    number("desiredHealthy"),
                    number("currentHealthy")
                ),
            }],
        }),
        list_continue: None,
    }
}
