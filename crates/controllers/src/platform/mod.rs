//! The platform's own kinds: organizations, projects, environments and pipelines. (Data planes have a folder of
//! their own: each is a connection to keep.)
//!
//! ```text
//!   watches ──► Shelves ──► queue ──► decide (pure): what to say, what must go first ──► carry: write, delete, sweep
//! ```
//! There are few of these objects and much depends on them, so whenever one changes, all of its namespace are looked
//! at again; a look costs no request.

pub(crate) mod carry;
mod environments;
mod organizations;
mod owned;
mod pipelines;
mod projects;
pub(crate) mod shelves;
pub(crate) mod step;

pub(crate) use carry::namespace_labels;

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::Namespace;
use kube::Resource;
use quadrille_planes::feed::{self, Source};
use quadrille_types::{DeploymentPipeline, Environment, Organization, Project};
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;

use self::{
    shelves::Shelves,
    step::{Kind, Thing},
};
use crate::{
    chain,
    queue::Urgency,
    releases::Context,
    shelf::{Heard, Shelf},
    system,
};

/// How many are worked on at once: of those that may have to wait for an organization's planes, and of all others.
pub(crate) const AT_ONCE: usize = 16;

/// Works for ever.
pub(crate) async fn work(context: Arc<Context>) {
    let mut tasks = JoinSet::new();
    let follow = |tasks: &mut JoinSet<()>, source: Source, hear: Hear| {
        let context = Arc::clone(&context);
        tasks.spawn(feed::follow(source, move |news| hear(&context, news)));
    };
    follow(&mut tasks, context.source::<Project>(), |context, news| {
        let heard = hear(context, |shelves| &mut shelves.projects, news);
        context.projects_changed(&heard);
        chain::platform_changed(context, &heard, chain::wake::project);
    });
    follow(
        &mut tasks,
        context.source::<Environment>(),
        |context, news| {
            let heard = hear(context, |shelves| &mut shelves.environments, news);
            context.environments_changed(&heard);
            chain::platform_changed(context, &heard, chain::wake::environment);
        },
    );
    follow(
        &mut tasks,
        context.source::<DeploymentPipeline>(),
        |context, news| {
            let heard = hear(context, |shelves| &mut shelves.pipelines, news);
            chain::platform_changed(context, &heard, chain::wake::pipeline);
        },
    );
    follow(
        &mut tasks,
        context.source_of_namespace::<Organization>(),
        |context, news| {
            hear(context, |shelves| &mut shelves.organizations, news);
        },
    );
    follow(
        &mut tasks,
        context.source_of_namespace::<Namespace>(),
        |context, news| {
            hear(context, |shelves| &mut shelves.namespaces, news);
        },
    );
    tasks.spawn(dispatch(Arc::clone(&context)));
    // They end only with this future.
    while tasks.join_next().await.is_some() {}
}

type Hear = fn(&Arc<Context>, feed::News);

/// Takes in news of a kind, and looks again at everything around what changed.
pub(crate) fn hear<K: Resource<DynamicType = ()> + DeserializeOwned>(
    context: &Context,
    shelf: impl FnOnce(&mut Shelves) -> &mut Shelf<K>,
    news: feed::News,
) -> Heard {
    let (heard, things) = {
        let mut world = context.world.look();
        let heard = shelf(&mut world.shelves).hear(news);
        let things = concerned(&world.shelves, &heard);
        (heard, things)
    };
    for thing in things {
        context.look_at(thing, Urgency::Person, Duration::ZERO);
    }
    if heard.is_complete_now {
        context.list_is_whole();
    }
    context.platform_changed();
    heard
}

fn concerned(shelves: &Shelves, heard: &Heard) -> Vec<Thing> {
    if heard.is_complete_now {
        return shelves.everything();
    }
    let mut namespaces: Vec<&str> = heard
        .changed
        .iter()
        .chain(&heard.gone)
        .map(|key| {
            // An organization and its namespace have the same name.
            if key.namespace.is_empty() {
                &*key.name
            } else {
                &*key.namespace
            }
        })
        .collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    namespaces
        .into_iter()
        .flat_map(|namespace| shelves.around(namespace))
        .collect()
}

async fn dispatch(context: Arc<Context>) {
    let mut runs = JoinSet::new();
    loop {
        let (lane, thing) = tokio::select! {
            next = context.things.next() => next,
            Some(_) = runs.join_next() => continue,
            due = context.alarms.due() => {
                for thing in due {
                    context.look_at(thing, Urgency::Background, Duration::ZERO);
                }
                continue;
            }
        };
        let context = Arc::clone(&context);
        runs.spawn(async move {
            let again = {
                let _holding = context.things.hold(&lane, &thing);
                run(&context, &thing).await
            };
            if let Some(after) = again {
                context.look_at(thing, Urgency::Background, after);
            }
        });
    }
}

/// Looks at a thing once. Tells when to look again without an event.
async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    match thing.kind {
        Kind::Organization | Kind::Project | Kind::Environment | Kind::DeploymentPipeline => {
            carry::run(context, thing).await
        }
        Kind::DeploymentTrack
        | Kind::DeployableArtifact
        | Kind::Build
        | Kind::ConfigurationGroup
        | Kind::Deployment
        | Kind::Endpoint
        | Kind::Service
        | Kind::WebApplication
        | Kind::ScheduledTask
        | Kind::ServiceBinding
        | Kind::WebApplicationBinding
        | Kind::ScheduledTaskBinding
        | Kind::Api
        | Kind::ApiBinding => system::run(context, thing).await,
        _ => chain::run(context, thing).await,
    }
}

/// The environment and the project of a release: whether they may go may depend on it.
pub(crate) fn owners(namespace: &Arc<str>, environment: &str, project: &str) -> [Thing; 2] {
    let thing = |kind: Kind, name: &str| Thing {
        kind,
        key: crate::key::Key::new(namespace, name),
    };
    [
        thing(Kind::Environment, environment),
        thing(Kind::Project, project),
    ]
}
