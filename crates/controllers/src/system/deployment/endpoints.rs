//! The Endpoints of a Deployment: one for each template of its artifact; those that lost theirs go.

use std::sync::Arc;

use quadrille_planes::Trouble;
use quadrille_render::deployment_system::endpoint_templates;
use quadrille_types::{DeployableArtifact, Deployment, Endpoint};

use crate::{
    chain::shelves::{is_going, name, namespace, uid},
    platform::step::Kind,
    releases::Context,
    system::child,
};

/// Makes the Endpoints of a Deployment be those of its artifact.
pub(super) async fn see_to(
    context: &Context,
    deployment: &Deployment,
    artifact: &DeployableArtifact,
    there: &[Arc<Endpoint>],
) -> Result<(), Trouble> {
    // What is wrong with templates was told before anything was rendered.
    let wanted = endpoint_templates::of(deployment, artifact).unwrap_or_default();
    let collection = Kind::Endpoint.path(namespace(deployment));
    for surplus in there.iter().filter(|one| {
        let is_wanted = wanted.iter().any(|wanted| name(wanted) == name(&***one));
        !is_wanted && !is_going(&***one)
    }) {
        let path = format!("{collection}/{}", name(&**surplus));
        context.control.delete(path, uid(&**surplus)).await?;
    }
    for endpoint in &wanted {
        let known = there.iter().find(|one| name(&***one) == name(endpoint));
        match known {
            None => child::make(context, &collection, endpoint).await?,
            Some(known) if is_going(&**known) => {}
            Some(known) => {
                let wanted = (&endpoint.metadata, &endpoint.spec);
                let Some(patch) = child::difference((&known.metadata, &known.spec), wanted) else {
                    continue;
                };
                let url = format!("{collection}/{}", name(endpoint));
                context.control.patch_at(url, &patch).await?;
            }
        }
    }
    Ok(())
}
