//! The component chain: from a component to what runs of it in each environment.
//!
//! ```text
//!   Component, Workload, type, traits ──component──► ComponentRelease, ReleaseBinding of the first environment
//!   ReleaseBinding, Environment, plane, approvals ──binding──► Release       (engine: planes match it)
//!   Project × Environment with a binding ──cell──► Release of the cell: namespace, policies
//!   Approval ──approval──► whether it counts
//!   ComponentType, Trait ──definition──► checked; its components follow one after another
//! ```
//! Decisions are pure functions over what the watches told; each has a file of its own. What they need is looked up by
//! groups, so that a change looks at exactly those whom it concerns.

pub(crate) mod admission;
mod approval;
mod binding;
mod cell;
mod component;
mod connections;
mod definition;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod inputs;
pub(crate) mod releases;
pub(crate) mod shelves;
pub(crate) mod wake;

use std::{collections::HashMap, slice, sync::Arc, time::Duration};

use kube::{Resource, core::ApiResource};
use quadrille_planes::feed::{self, News, Source};
use quadrille_types::{
    Approval, ClusterComponentType, ClusterTrait, Component, ComponentRelease, ComponentType,
    ReleaseBinding, SecretReference, Trait, Workload,
};
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;

pub(crate) use self::inputs::Kitchen;
use crate::{
    key::Key,
    platform::step::{Kind, Thing},
    queue::Urgency,
    releases::{Context, Inner},
    shelf::{Heard, Shelf},
    system,
};

/// How long what is not urgent waits for more of its kind.
const SOON: Duration = Duration::from_millis(300);

/// Works for ever.
pub(crate) async fn work(context: Arc<Context>) {
    let mut tasks = JoinSet::new();
    let everywhere = |kind: &ApiResource| Source::all(context.control.client(), kind);
    macro_rules! follow {
        ($source:expr, $shelf:ident, $concerned:path) => {{
            let context = Arc::clone(&context);
            tasks.spawn(feed::follow($source, move |news| {
                hear(&context, |world| &mut world.chain.$shelf, news, $concerned);
            }));
        }};
    }
    follow!(context.source::<Component>(), components, wake::component);
    follow!(context.source::<Workload>(), workloads, wake::workload);
    follow!(
        context.source::<ComponentType>(),
        types,
        wake::component_type
    );
    follow!(context.source::<Trait>(), traits, wake::component_trait);
    follow!(
        everywhere(&ApiResource::erase::<ClusterComponentType>(&())),
        cluster_types,
        wake::cluster_component_type
    );
    follow!(
        everywhere(&ApiResource::erase::<ClusterTrait>(&())),
        cluster_traits,
        wake::cluster_trait
    );
    follow!(
        context.source::<ComponentRelease>(),
        snapshots,
        wake::snapshot
    );
    follow!(context.source::<ReleaseBinding>(), bindings, wake::binding);
    follow!(context.source::<SecretReference>(), secrets, wake::secret);
    follow!(context.source::<Approval>(), approvals, wake::approval);
    // They end only with this future.
    while tasks.join_next().await.is_some() {}
}

/// Takes in news of a kind, and looks again at those whom it concerns.
pub(crate) fn hear<K: Resource<DynamicType = ()> + DeserializeOwned>(
    context: &Context,
    shelf: impl Fn(&mut Inner) -> &mut Shelf<K>,
    news: News,
    concerned: fn(&Inner, &K) -> Vec<Thing>,
) {
    let (is_whole_now, things) = {
        let mut world = context.world.look();
        let told = match &news {
            News::Gone(object) | News::Changed(object) => slice::from_ref(object),
            News::Listed(objects) => objects,
            _ => &[],
        };
        let before: HashMap<Key, Arc<K>> = told
            .iter()
            .map(|object| Key::told(object.head()))
            .filter_map(|key| Some((key.clone(), Arc::clone(shelf(&mut world).get(&key)?))))
            .collect();
        // What is gone is looked up before it is.
        let mut things: Vec<Thing> = match &news {
            News::Gone(_) => before
                .values()
                .flat_map(|it| concerned(&world, it))
                .collect(),
            _ => Vec::new(),
        };
        let heard = shelf(&mut world).hear(news);
        let is_relisted = !heard.gone.is_empty() && things.is_empty();
        if is_relisted {
            things = system::wake::everything(&world);
        }
        for key in &heard.changed {
            let Some(object) = shelf(&mut world).get(key).cloned() else {
                continue;
            };
            things.extend(concerned(&world, &object));
            // Whoever had to do with it until now may miss it, or be rid of it.
            let moved = before
                .get(key)
                .filter(|before| has_moved(&***before, &*object));
            things.extend(moved.iter().flat_map(|before| concerned(&world, before)));
        }
        (heard.is_complete_now, things)
    };
    if is_whole_now {
        context.list_is_whole();
    }
    for thing in things {
        // Who uses a group changes often, and is said soon enough.
        let pause = match thing.kind {
            Kind::ConfigurationGroup => SOON,
            _ => Duration::ZERO,
        };
        context.look_at(thing, Urgency::Person, pause);
    }
}

/// Whether an object may have to do with others than before.
fn has_moved(before: &impl Resource, now: &impl Resource) -> bool {
    let (before, now) = (before.meta(), now.meta());
    before.generation != now.generation || before.labels != now.labels
}

/// Something that bindings stand on changed: whoever stands on it looks again.
pub(crate) fn platform_changed(
    context: &Context,
    heard: &Heard,
    concerned: fn(&Inner, &Key) -> Vec<Thing>,
) {
    let things: Vec<Thing> = {
        let world = context.world.look();
        let keys = heard.changed.iter().chain(&heard.gone);
        let keys = keys.chain(&heard.also_called);
        keys.flat_map(|key| concerned(&world, key)).collect()
    };
    for thing in things {
        context.look_at(thing, Urgency::Background, Duration::ZERO);
    }
}

/// Looks at a thing of the chain once. Tells when to look again without an event.
pub(crate) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    if !context.world.look().is_known() {
        // The last list brings everything to be looked at.
        return None;
    }
    match thing.kind {
        Kind::Component => component::run(context, thing).await,
        Kind::ReleaseBinding => binding::run(context, thing).await,
        Kind::Approval => approval::run(context, thing).await,
        Kind::Cell => cell::run(context, thing).await,
        Kind::ComponentType | Kind::ClusterComponentType | Kind::Trait | Kind::ClusterTrait => {
            definition::run(context, thing).await
        }
        _ => None,
    }
}
