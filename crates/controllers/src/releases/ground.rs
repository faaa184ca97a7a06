//! Where a release stands: the plane that it goes to, or what is in its way.

use quadrille_engine::Site;
use quadrille_planes::PlaneName;
use quadrille_types::{conditions::Reason, names::Uid, release::PlaneRef};

use super::{
    facts::Facts,
    world::{Footing, Inner, name_of},
};
use crate::{key::Key, platform::shelves::NoContext};

/// The plane that a release goes to.
pub(super) struct Ground {
    pub(super) plane: PlaneName,
    pub(super) reference: PlaneRef,
    pub(super) site: Site,
}

/// Why there is no ground.
pub(super) enum Not {
    /// Not everything was read yet.
    Yet,
    /// Something is in the way: a word for machines, and one for people.
    Held(&'static str, String),
}

/// Finds the plane of a release that is to live.
pub(super) fn find(world: &Inner, facts: &Facts) -> Result<Ground, Not> {
    let shelves = &world.shelves;
    if !(shelves.environments.is_complete() && shelves.planes.is_complete() && world.has_releases) {
        return Err(Not::Yet);
    }
    let held = |reason: Reason, message: String| Err(Not::Held(reason.as_str(), message));
    if let Err(problems) = &facts.desired {
        return held(
            Reason::InvalidConfiguration,
            format!("{problems}; what was applied before stays"),
        );
    }
    let (name, used) = match shelves.environment(&facts.key.namespace, &facts.environment) {
        Ok(context) => (context.plane_name, context.used),
        Err(NoContext::Missing) => {
            return held(
                Reason::EnvironmentNotFound,
                format!(
                    "spec.environmentName: there is no Environment {:?} in namespace {:?}: create it, or name another",
                    &*facts.environment, &*facts.key.namespace
                ),
            );
        }
        Err(NoContext::Invalid(problem)) => {
            return held(
                Reason::InvalidConfiguration,
                format!("Environment {:?}: {problem}", &*facts.environment),
            );
        }
    };
    if let Some(before) = &facts.said.plane
        && !facts.records.is_empty()
        && name_of(before) != name
    {
        return held(
            Reason::PlaneChanged,
            format!(
                "the environment is on DataPlane {} now, but objects of this release are on {}: delete the \
                 release and create it again, or put the environment back",
                name,
                name_of(before)
            ),
        );
    }
    // What goes with the environment later is on one plane, not on two.
    if let Some(used) = used.filter(|used| *used != name) {
        return held(
            Reason::PlaneChanged,
            format!(
                "Environment {:?} is on DataPlane {name} now, but its releases were put onto {used}: put it back, or \
                 make another environment",
                &*facts.environment
            ),
        );
    }
    let Some(plane) = world.planes.get(&name) else {
        if shelves.planes.find(&name.namespace, &name.name).is_some() {
            return Err(Not::Yet);
        }
        return held(
            Reason::DataPlaneNotFound,
            format!(
                "Environment {:?}: there is no DataPlane {:?} in namespace {:?}: create it, or set spec.dataPlaneRef",
                &*facts.environment, name.name, name.namespace
            ),
        );
    };
    if plane.is_going && plane.is_abandoned {
        return held(
            Reason::Abandoned,
            format!(
                "DataPlane {name} is on its way out, and what is on it is left there, as asked"
            ),
        );
    }
    waits_for(world, facts)?;
    if let Some((_, message)) = &plane.problem {
        return held(
            Reason::PlaneUnreachable,
            format!("DataPlane {name}: {message}"),
        );
    }
    match plane.way(&name) {
        Some(Err(why)) => held(Reason::PlaneUnreachable, why.words),
        Some(Ok(site)) => Ok(Ground {
            reference: PlaneRef {
                kind: "DataPlane".to_owned(),
                name: name.name.clone(),
                namespace: Some(name.namespace.clone()),
                uid: Some(Uid::new(&*plane.uid)),
                abandoned: None,
            },
            plane: name,
            site,
        }),
        None => Err(Not::Yet),
    }
}

/// Whether another release must be in place first.
fn waits_for(world: &Inner, facts: &Facts) -> Result<(), Not> {
    if facts.depends_on.is_empty() {
        return Ok(());
    }
    let held = |message| Err(Not::Held(Reason::DependencyNotReady.as_str(), message));
    if let Some(cycle) = world.cycle(facts) {
        let path: Vec<&str> = cycle.iter().map(|name| &**name).collect();
        return held(format!(
            "spec.dependsOn: releases wait for each other: {}: take one of these out",
            path.join(" → ")
        ));
    }
    for name in &facts.depends_on {
        let key = Key {
            namespace: facts.key.namespace.clone(),
            name: name.clone(),
        };
        let is_on_it = !facts.records.is_empty();
        let why = match world.footing(&key) {
            Some(Footing::Firm) => continue,
            // It stays until ours are gone.
            Some(Footing::ForThoseOnIt) if is_on_it => continue,
            Some(Footing::NotYet) => "its objects are not all in place yet",
            Some(Footing::ForThoseOnIt | Footing::Going) => {
                "it is on its way out, and must be made anew first"
            }
            None => {
                return held(format!(
                    "spec.dependsOn: there is no Release {:?} in namespace {:?} yet",
                    &**name, &*facts.key.namespace
                ));
            }
        };
        return held(format!("waits for Release {:?}: {why}", &**name));
    }
    Ok(())
}
