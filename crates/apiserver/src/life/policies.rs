//! The status of admission policies: doubts about their expressions that only the types of the objects raise.

use std::sync::Arc;

use quadrille_machinery::{
    policy::{Checked, warnings},
    schema::SchemaRef,
    status::Status,
};
use quadrille_store::Change;
use serde_json::{Value, json};

use super::{apply, steady};
use crate::{catalog::Catalog, resource::Resource, server::Shared, stored};

/// Who owns the status.
const MANAGER: &str = "validatingadmissionpolicy-status";
/// How many kinds one rule of a policy is checked for.
const MAX_KINDS: usize = 10;

/// Checks policies as they come, until the server stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    steady::keep_following(&shared, "policies are checked", || follow(&shared)).await;
}

async fn follow(shared: &Arc<Shared>) -> Result<(), Status> {
    let resource = shared.resource(
        "admissionregistration.k8s.io",
        "v1",
        "validatingadmissionpolicies",
    )?;
    let prefix = stored::prefix(&resource, None);
    let mut watch = shared
        .store
        .watch(&prefix, shared.store.revision())
        .map_err(Status::internal)?;
    for record in stored::scan(&shared.store, prefix) {
        let policy = stored::decode_record(&resource, &record?);
        check(shared, &resource, policy).await;
    }
    while let Some(event) = steady::next(shared, &mut watch).await {
        if event.change != Change::Deleted {
            let policy = stored::decode(&resource, &event.value, event.revision);
            check(shared, &resource, policy).await;
        }
    }
    Ok(())
}

/// Checks one policy, unless that was done, and writes what is doubtful into its status.
async fn check(shared: &Arc<Shared>, resource: &Arc<Resource>, policy: Result<Value, Status>) {
    let policy = match policy {
        Ok(policy) => policy,
        Err(status) => {
            tracing::warn!(%status, "an admission policy can't be read");
            return;
        }
    };
    let generation = policy["metadata"]["generation"].as_i64().unwrap_or(0);
    let observed = policy["status"]["observedGeneration"].as_i64();
    if observed.is_some_and(|observed| observed >= generation) {
        return;
    }
    let name = policy["metadata"]["name"].as_str().unwrap_or_default();
    let doubts = doubts(&shared.catalog.snapshot(), &policy["spec"]);
    let doubts: Vec<Value> = doubts
        .into_iter()
        .map(|(place, warning)| json!({"fieldRef": place, "warning": warning}))
        .collect();
    let mut checking = json!({});
    if !doubts.is_empty() {
        checking["expressionWarnings"] = json!(doubts);
    }
    let status = json!({
        "apiVersion": resource.api_version(),
        "kind": resource.kind,
        "metadata": {"name": name},
        "status": {"observedGeneration": generation, "typeChecking": checking},
    });
    let code = apply(shared, resource, Some("status"), MANAGER, &status).await;
    // One that went in the meantime needs no status.
    if !code.is_success() && code != http::StatusCode::NOT_FOUND {
        tracing::warn!(policy = name, %code, "the status of an admission policy can't be written");
    }
}

fn doubts(catalog: &Catalog, spec: &Value) -> Vec<(String, String)> {
    let Some(plain) = catalog.of_kind("v1", "ConfigMap") else {
        return Vec::new();
    };
    let metadata = plain.schema.root().property("metadata");
    let kinds = kinds(catalog, spec);
    let kinds: Vec<Checked<'_>> = kinds
        .into_iter()
        .map(|kind| checked(kind, metadata))
        .collect();
    let wanted = &spec["paramKind"];
    let text = |field: &str| wanted[field].as_str().unwrap_or_default();
    let params = catalog.of_kind(text("apiVersion"), text("kind"));
    let params = params.map(|kind| checked(kind, metadata));
    warnings(spec, &kinds, params)
}

fn checked<'c>(resource: &'c Resource, metadata: Option<SchemaRef<'c>>) -> Checked<'c> {
    Checked {
        group: &resource.group,
        version: &resource.version,
        kind: &resource.kind,
        schema: resource.schema.root(),
        metadata,
    }
}

/// The kinds that a policy names, those by a wildcard left out.
fn kinds<'c>(catalog: &'c Catalog, spec: &Value) -> Vec<&'c Arc<Resource>> {
    let texts = |value: &Value, forbidden: &[char]| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        let list = list.filter_map(Value::as_str);
        let mut texts: Vec<String> = list
            .filter(|text| !text.contains(forbidden))
            .map(str::to_owned)
            .collect();
        texts.sort();
        texts
    };
    let mut found: Vec<&Arc<Resource>> = Vec::new();
    let rules = spec["matchConstraints"]["resourceRules"].as_array();
    for rule in rules.into_iter().flatten() {
        let open = |field: &str| {
            let list = rule[field].as_array().into_iter().flatten();
            list.filter_map(Value::as_str)
                .any(|text| text.contains('*'))
        };
        if open("apiGroups") || open("apiVersions") {
            continue;
        }
        let resources = texts(&rule["resources"], &['*', '/']);
        let mut count = 0;
        for group in texts(&rule["apiGroups"], &[]) {
            for version in texts(&rule["apiVersions"], &[]) {
                let served = resources
                    .iter()
                    .filter_map(|resource| catalog.find(&group, &version, resource));
                for resource in served {
                    count += 1;
                    if !found.iter().any(|known| Arc::ptr_eq(known, resource)) {
                        found.push(resource);
                    }
                    if count == MAX_KINDS {
                        return sorted(found);
                    }
                }
            }
        }
    }
    sorted(found)
}

fn sorted(mut kinds: Vec<&Arc<Resource>>) -> Vec<&Arc<Resource>> {
    kinds.sort_by_key(|kind| (&kind.group, &kind.version, &kind.kind));
    kinds
}
