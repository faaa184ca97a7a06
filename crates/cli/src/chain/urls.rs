//! Where a component can be reached, the widest way first.

use quadrille_render::address;
use quadrille_types::{
    ReleaseBinding,
    release_binding::{EndpointStatus, EndpointUrl, EndpointUrls},
};

/// The addresses of a binding's endpoints: of each the one to tell people.
pub(crate) fn of(binding: &ReleaseBinding) -> Vec<String> {
    let endpoints = binding.status.iter().flat_map(|status| &status.endpoints);
    endpoints.filter_map(of_endpoint).collect()
}

fn of_endpoint(endpoint: &EndpointStatus) -> Option<String> {
    if let Some(url) = &endpoint.invoke_url {
        return Some(url.clone());
    }
    let by_gateway = |urls: &Option<EndpointUrls>| urls.as_ref().and_then(first);
    let url = by_gateway(&endpoint.external_urls)
        .or_else(|| by_gateway(&endpoint.internal_urls))
        .or_else(|| endpoint.service_url.clone())?;
    Some(address(&url))
}

fn first(urls: &EndpointUrls) -> Option<EndpointUrl> {
    let listeners = [&urls.https, &urls.http, &urls.tls];
    listeners.into_iter().flatten().next().cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_world_comes_before_the_organization_and_that_before_the_cluster() {
        let url =
            |host: &str| json!({ "scheme": "http", "host": host, "port": 8080, "path": "/x" });
        let binding: ReleaseBinding = serde_json::from_value(json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding", "metadata": { "name": "b" },
            "spec": { "owner": { "projectName": "p", "componentName": "c" }, "environment": "e" },
            "status": { "endpoints": [
                { "name": "a", "serviceURL": url("svc"), "internalURLs": { "http": url("in") },
                  "externalURLs": { "http": url("out") } },
                { "name": "b", "serviceURL": url("svc"), "internalURLs": { "http": url("in") } },
                { "name": "c", "serviceURL": url("svc") },
                { "name": "d" },
            ] },
        }))
        .unwrap();
        assert_eq!(
            of(&binding),
            ["http://out:8080/x", "http://in:8080/x", "http://svc:8080/x"]
        );
    }
}
