//! Roles that gather the rules of others: kept up to date.

use std::sync::Arc;

use http::StatusCode;
use quadrille_machinery::{rbac, status::Status};
use serde_json::{Value, json};

use super::{apply, steady};
use crate::{resource::Resource, server::Shared, stored};

/// Who owns gathered rules.
const MANAGER: &str = "clusterrole-aggregation-controller";

/// Gathers rules as roles come and go, until the server stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    steady::keep_following(&shared, "rules are gathered", || follow(&shared)).await;
}

async fn follow(shared: &Arc<Shared>) -> Result<(), Status> {
    let resource = shared.resource(rbac::GROUP, "v1", "clusterroles")?;
    let prefix = stored::prefix(&resource, None);
    let mut watch = shared
        .store
        .watch(&prefix, shared.store.revision())
        .map_err(Status::internal)?;
    gather(shared, &resource).await?;
    while steady::next(shared, &mut watch).await.is_some() {
        // What came together is looked at together.
        while let Ok(Some(_)) = watch.try_next() {}
        gather(shared, &resource).await?;
    }
    Ok(())
}

/// Gives every role that gathers the rules that it should have now.
async fn gather(shared: &Arc<Shared>, resource: &Arc<Resource>) -> Result<(), Status> {
    // Records come in the order of their names.
    let roles: Vec<Value> = stored::scan(&shared.store, stored::prefix(resource, None))
        .map(|record| stored::decode_record(resource, &record?))
        .collect::<Result<_, _>>()?;
    let by_name: Vec<&Value> = roles.iter().collect();
    for role in &roles {
        let Some(gathered) = rbac::aggregated(role, &by_name) else {
            continue;
        };
        let current = role["rules"].as_array().into_iter().flatten();
        if !current.eq(gathered.iter().copied()) {
            write(shared, resource, &role["metadata"], &gathered).await;
        }
    }
    Ok(())
}

async fn write(shared: &Arc<Shared>, resource: &Arc<Resource>, metadata: &Value, rules: &[&Value]) {
    let name = &metadata["name"];
    let applied = json!({
        "apiVersion": resource.api_version(),
        "kind": resource.kind,
        // With its uid: one that went in the meantime does not come back.
        "metadata": { "name": name, "uid": metadata["uid"] },
        "rules": rules,
    });
    let code = apply(shared, resource, None, MANAGER, &applied).await;
    if !code.is_success() && code != StatusCode::CONFLICT {
        tracing::warn!(%name, %code, "the gathered rules of a cluster role can't be written");
    }
}
