//! HTTP, gRPC, and what else is spoken over them: a route for all requests, and one for each operation that callers need
//! something for.

use quadrille_types::workload::EndpointType;
use serde_json::Value;

use super::{
    Opening,
    policies::{Asked, Listed, Operation},
};
use crate::routes::{Match, Route, RouteKind, Rule, extended, paths, pattern_filter, rewritten};

pub(super) fn objects(opening: &Opening<'_>, asked: &Asked) -> Vec<Value> {
    let kind = match opening.inputs.spec.protocol {
        EndpointType::Grpc => RouteKind::Grpc,
        _ => RouteKind::Http,
    };
    let name = opening.name(&[]);
    let metadata = opening.metadata(&name);
    let mut routes = vec![route(opening, kind, &name, everything(opening, kind))];
    let mut filters = Vec::new();
    let mut policies = Vec::from_iter(asked.security.policy(&metadata, (kind, &name)));
    let mut names = vec![name];
    for operation in &asked.operations {
        let name = name_of(opening, operation);
        let own = opening.metadata(&name);
        let (rule, filter) = listed(opening, operation, &name, &own);
        filters.extend(filter);
        routes.push(route(opening, kind, &name, rule));
        policies.extend(operation.security.policy(&own, (kind, &name)));
        names.push(name);
    }
    let targets: Vec<(RouteKind, &str)> = names.iter().map(|name| (kind, name.as_str())).collect();
    let traffic = asked.traffic.policy(&metadata, &targets);
    let parts = routes.into_iter().chain(filters).chain(policies);
    parts.chain(traffic).collect()
}

/// What becomes of whatever comes to the endpoint and is not listed.
fn everything<'a>(opening: &'a Opening<'_>, kind: RouteKind) -> Rule<'a> {
    let (matched, filters) = if kind == RouteKind::Grpc {
        (Match::Anything, Vec::new())
    } else {
        let path = opening.path();
        let own = paths::joined(&[opening.backend.path(), &opening.base]);
        let changes = path != own || opening.backend.host().is_some();
        let filter = changes.then(|| rewritten(&own, opening.backend));
        (Match::Prefix(path), Vec::from_iter(filter))
    };
    Rule {
        matched,
        filters,
        backend: opening.backend,
    }
}

fn name_of(opening: &Opening<'_>, operation: &Operation) -> String {
    match &operation.listed {
        Listed::Rest { method, target, .. } => opening.name(&[method.as_str(), target]),
        Listed::Call { service, method } => opening.name(&[service, method]),
    }
}

/// What becomes of a listed operation, and the filter that this takes.
fn listed<'a>(
    opening: &'a Opening<'_>,
    operation: &Operation,
    name: &str,
    metadata: &Value,
) -> (Rule<'a>, Option<Value>) {
    let backend = opening.backend;
    let (matched, filters, filter) = match &operation.listed {
        Listed::Rest {
            method, pattern, ..
        } => {
            let matched = Match::Operation {
                regex: pattern.regex.clone(),
                method: method.as_str().to_owned(),
            };
            let filter = pattern_filter(metadata, pattern, backend);
            (matched, vec![extended(name)], Some(filter))
        }
        Listed::Call { service, method } => {
            let matched = Match::Call {
                service: service.clone(),
                method: method.clone(),
            };
            (matched, Vec::new(), None)
        }
    };
    let rule = Rule {
        matched,
        filters,
        backend,
    };
    (rule, filter)
}

fn route(opening: &Opening<'_>, kind: RouteKind, name: &str, rule: Rule<'_>) -> Value {
    let route = Route {
        kind,
        metadata: opening.metadata(name),
        parent: opening.way.parent(None),
        host: Some(&opening.host),
        rule,
    };
    route.object()
}
