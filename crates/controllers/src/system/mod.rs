//! The deployment system: the kinds that OpenChoreo 0.4 deploys by. Everything becomes Releases, so the engine's guarantees
//! hold for it too.
//!
//! ```text
//!   DeploymentTrack ◄─labels─ DeployableArtifact ◄─ Deployment ──► Release `deployment-…`, Endpoints
//!   Endpoint, its deployment ──► Release `endpoint-…`: routes, policies
//!   Service, WebApplication, ScheduledTask + Workload ──► binding of the first environment ──► Release of its name
//!   APIBinding + API + class ──► Release of its name
//!   ConfigurationGroup ──► whether it is right, and who uses it
//! ```
//! What may run where is judged as in the component chain, and the cell is the same one. The whole family can be left out.

mod api;
mod binding;
mod child;
mod claims;
mod deployment;
mod destination;
mod endpoint;
mod group;
pub(crate) mod hierarchy;
mod instance;
pub(crate) mod kinds;
#[cfg(test)]
mod known;
pub(crate) mod promotion;
mod release;
mod rivals;
pub(crate) mod shelves;
mod track;
pub(crate) mod wake;

use std::{sync::Arc, time::Duration};

use quadrille_planes::feed;
use quadrille_types::{
    ApiBinding, ApiClass, Build, ConfigurationGroup, DeployableArtifact, Deployment,
    DeploymentTrack, Endpoint, PublishedApi, ScheduledTask, ScheduledTaskBinding,
    ScheduledTaskClass, Service, ServiceBinding, ServiceClass, WebApplication,
    WebApplicationBinding, WebApplicationClass,
};
use tokio::task::JoinSet;

use crate::{
    chain::hear,
    platform::step::{Kind, Thing},
    releases::Context,
};

/// Works for ever; at nothing where the family is left out.
pub(crate) async fn work(context: Arc<Context>) {
    if !context.world.look().system.is_on {
        return std::future::pending().await;
    }
    let mut tasks = JoinSet::new();
    macro_rules! follow {
        ($($kind:ty: $shelf:ident, $concerned:path;)*) => {
            $({
                let context_of = Arc::clone(&context);
                tasks.spawn(feed::follow(context.source::<$kind>(), move |news| {
                    hear(
                        &context_of,
                        |world| &mut world.system.$shelf,
                        news,
                        $concerned,
                    );
                }));
            })*
        };
    }
    follow! {
        DeploymentTrack: tracks, wake::track;
        DeployableArtifact: artifacts, wake::artifact;
        Build: builds, wake::build;
        ConfigurationGroup: groups, wake::group;
        Deployment: deployments, wake::deployment;
        Endpoint: endpoints, wake::endpoint;
        Service: services, wake::instance;
        WebApplication: web_applications, wake::instance;
        ScheduledTask: scheduled_tasks, wake::instance;
        ServiceBinding: service_bindings, wake::bound;
        WebApplicationBinding: web_application_bindings, wake::bound;
        ScheduledTaskBinding: scheduled_task_bindings, wake::bound;
        ServiceClass: service_classes, wake::class::<ServiceBinding>;
        WebApplicationClass: web_application_classes, wake::class::<WebApplicationBinding>;
        ScheduledTaskClass: scheduled_task_classes, wake::class::<ScheduledTaskBinding>;
        PublishedApi: apis, wake::api;
        ApiBinding: api_bindings, wake::api_binding;
        ApiClass: api_classes, wake::api_class;
    }
    // They end only with this future.
    while tasks.join_next().await.is_some() {}
}

/// Looks at a thing of the deployment system once. Tells when to look again without an event.
pub(crate) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    if !context.world.look().is_known() {
        // The last list brings everything to be looked at.
        return None;
    }
    match thing.kind {
        Kind::DeploymentTrack | Kind::DeployableArtifact => track::run(context, thing).await,
        Kind::ConfigurationGroup => group::run(context, thing).await,
        Kind::Deployment => deployment::run(context, thing).await,
        Kind::Endpoint => endpoint::run(context, thing).await,
        Kind::Service => instance::run::<Service>(context, thing).await,
        Kind::WebApplication => instance::run::<WebApplication>(context, thing).await,
        Kind::ScheduledTask => instance::run::<ScheduledTask>(context, thing).await,
        Kind::ServiceBinding => binding::run::<ServiceBinding>(context, thing).await,
        Kind::WebApplicationBinding => binding::run::<WebApplicationBinding>(context, thing).await,
        Kind::ScheduledTaskBinding => binding::run::<ScheduledTaskBinding>(context, thing).await,
        Kind::Api => api::run(context, thing).await,
        Kind::ApiBinding => api::run_binding(context, thing).await,
        _ => None,
    }
}
