//! TCP and UDP: bytes by the number of a port. A gateway that listens there knows nothing of callers, so that nothing can be
//! asked of them.

use quadrille_types::{endpoint::EndpointPolicy, workload::EndpointType};
use serde_json::Value;

use super::Opening;
use crate::{
    error::RenderError,
    routes::{Match, Route, RouteKind, Rule},
};

pub(super) fn objects(
    opening: &Opening<'_>,
    policies: &[EndpointPolicy],
) -> Result<Vec<Value>, RenderError> {
    let protocol = opening.inputs.spec.protocol;
    if let Some(policy) = policies.first() {
        let field = format!(
            "spec.networkVisibilities.{}.policies[0]",
            opening.way.audience.as_str()
        );
        let words = format!(
            "asks for {} of callers, which gateways cannot check over {}: take it away, or speak HTTP or gRPC",
            policy.kind,
            protocol.as_str()
        );
        return Err(opening.inputs.wrong(field, words));
    }
    let kind = match protocol {
        EndpointType::Udp => RouteKind::Udp,
        _ => RouteKind::Tcp,
    };
    let route = Route {
        kind,
        metadata: opening.metadata(&opening.name(&[])),
        parent: opening.way.parent(Some(opening.port())),
        host: None,
        rule: Rule {
            matched: Match::Anything,
            filters: Vec::new(),
            backend: opening.backend,
        },
    };
    Ok(vec![route.object()])
}
