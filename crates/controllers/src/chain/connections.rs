//! What a component needs of others in its environment: where it is, or why it is not there.

use std::collections::BTreeSet;

use quadrille_types::{
    ReleaseBinding,
    release_binding::{
        ConnectionTarget, EndpointStatus, EndpointUrl, EndpointUrls, PendingConnection,
        ResolvedConnection,
    },
};

use super::shelves::{Chain, is_going, namespace};

/// What became of the needs of a binding.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) resolved: Vec<ResolvedConnection>,
    pub(super) pending: Vec<PendingConnection>,
}

/// Looks for every target.
pub(super) fn find(chain: &Chain, targets: &[ConnectionTarget]) -> Found {
    let mut found = Found::default();
    for target in targets {
        match place_of(chain, target) {
            Ok((url, target_port)) => found.resolved.push(ResolvedConnection {
                namespace: target.namespace.clone(),
                project: target.project.clone(),
                component: target.component.clone(),
                endpoint: target.endpoint.clone(),
                visibility: target.visibility.clone(),
                url,
                target_port,
            }),
            Err(reason) => found.pending.push(PendingConnection {
                namespace: target.namespace.clone(),
                project: target.project.clone(),
                component: target.component.clone(),
                endpoint: target.endpoint.clone(),
                reason,
            }),
        }
    }
    found
}

/// Where an endpoint is, and on which port its pods listen if that is another one.
fn place_of(
    chain: &Chain,
    target: &ConnectionTarget,
) -> Result<(EndpointUrl, Option<i32>), String> {
    let environment = target.environment.as_deref().unwrap_or_default();
    let who = format!("{}/{}", target.project, target.component);
    let group = format!("{who}/{environment}");
    let mut providers = chain.bindings.of_group(&target.namespace, &group);
    let provider = providers
        .next()
        .ok_or_else(|| format!("{who} is not deployed in {environment}"))?;
    if let Some(other) = providers.next() {
        return Err(format!(
            "{who} has two bindings in {environment}: delete {} or {}",
            super::shelves::name(&**provider),
            super::shelves::name(&**other)
        ));
    }
    if provider.spec.is_undeployed() || is_going(&**provider) {
        return Err(format!("{who} was taken away from {environment}"));
    }
    let endpoints = provider.status.iter().flat_map(|status| &status.endpoints);
    let endpoint = endpoints
        .clone()
        .find(|one| one.name == target.endpoint)
        .ok_or_else(|| {
            let names: Vec<&str> = endpoints.map(|one| one.name.as_str()).collect();
            match names.as_slice() {
                [] => format!("{who} has no endpoints in {environment} yet"),
                names => format!(
                    "{who} has no endpoint {:?} in {environment}: it has {}",
                    target.endpoint,
                    names.join(", ")
                ),
            }
        })?;
    Ok((address(endpoint, target, &who)?, endpoint.target_port))
}

fn address(
    endpoint: &EndpointStatus,
    target: &ConnectionTarget,
    who: &str,
) -> Result<EndpointUrl, String> {
    let wanted = target.visibility.as_str();
    let shown = &endpoint.visibility;
    if !shown.is_empty() && !shown.iter().any(|known| known == wanted) {
        return Err(format!(
            "endpoint {:?} of {who} is visible to {}, not to {wanted}: add {wanted} to its visibility",
            target.endpoint,
            shown.join(", ")
        ));
    }
    let of = |urls: &Option<EndpointUrls>| {
        let urls = urls.as_ref()?;
        urls.https
            .clone()
            .or_else(|| urls.http.clone())
            .or_else(|| urls.tls.clone())
    };
    let url = match wanted {
        "external" => of(&endpoint.external_urls),
        "internal" => of(&endpoint.internal_urls),
        _ => endpoint.service_url.clone(),
    };
    url.ok_or_else(|| {
        format!(
            "endpoint {:?} of {who} has no {wanted} address",
            target.endpoint
        )
    })
}

/// A circle of components that need each other, this one named first and last. What may start without the other
/// is none.
pub(super) fn circle(
    chain: &Chain,
    start: &ReleaseBinding,
    targets: &[ConnectionTarget],
) -> Option<Vec<String>> {
    let own = &start.spec.owner;
    let home = (
        namespace(start).to_owned(),
        format!("{}/{}", own.project_name, own.component_name),
    );
    let mut path = vec![home.1.clone()];
    let mut visited = BTreeSet::new();
    walk(chain, &home, targets, &mut path, &mut visited).then_some(path)
}

fn walk(
    chain: &Chain,
    home: &(String, String),
    targets: &[ConnectionTarget],
    path: &mut Vec<String>,
    visited: &mut BTreeSet<(String, String)>,
) -> bool {
    for target in targets.iter().filter(|one| one.optional != Some(true)) {
        let who = format!("{}/{}", target.project, target.component);
        let place = (target.namespace.clone(), who.clone());
        path.push(who.clone());
        if place == *home {
            return true;
        }
        if visited.insert(place) {
            let environment = target.environment.as_deref().unwrap_or_default();
            let group = format!("{who}/{environment}");
            let providers = chain.bindings.of_group(&target.namespace, &group);
            for provider in providers {
                let needed = provider.status.iter().flat_map(|it| &it.connection_targets);
                let needed: Vec<ConnectionTarget> = needed.cloned().collect();
                if walk(chain, home, &needed, path, visited) {
                    return true;
                }
            }
        }
        path.pop();
    }
    false
}
