//! Configuration groups: what is wrong with one is said before anybody stumbles over it, and who uses it.

use std::{sync::Arc, time::Duration};

use quadrille_render::deployment_system::{binding, deployment};
use quadrille_types::{
    ConfigurationGroup,
    conditions::{ConditionType, Holds, Reason},
};

use super::shelves::{logical, of_artifact};
use crate::{
    chain::shelves::{name, namespace},
    platform::{
        carry::{Object, Work, after, is_heard},
        step::{Step, Thing, names},
    },
    releases::{Context, Inner},
};

/// Looks at a group once.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let decided = {
        let world = context.world.look();
        let group = world.system.groups.get(&thing.key);
        group.map(|group| (Arc::clone(group), decide(&world, group)))
    };
    let Some((group, step)) = decided else {
        context.written.lock().remove(thing);
        return None;
    };
    let object = Object::of(&*group, group.status.as_ref());
    if !is_heard(context, thing, &object.metadata) {
        return None;
    }
    let mut work = Work {
        context,
        thing,
        object,
    };
    let said = work.say(&step, None).await;
    after(thing, said.map(|()| None))
}

fn decide(world: &Inner, group: &ConfigurationGroup) -> Step {
    let here = namespace(group);
    let mut step = Step::default();
    let is_environment = |name: &str| {
        let mut all = world.shelves.environments.within(here);
        all.any(|one| logical(&**one) == name)
    };
    let problems = group.spec.problems(is_environment);
    if !problems.is_empty() {
        let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
        step.say(
            ConditionType::Ready,
            Holds::False,
            Reason::InvalidConfiguration,
            words.join("; "),
        );
        return step;
    }
    let rivals: Vec<&str> = world
        .system
        .groups
        .of_group(here, &super::shelves::named(&[logical(group)]))
        .map(|one| name(&**one))
        .filter(|one| *one != name(group))
        .collect();
    if !rivals.is_empty() {
        let words = format!(
            "ConfigurationGroup {} is called {:?}, too: delete one of them, or give it another label {}",
            names(rivals),
            logical(group),
            quadrille_types::labels::hierarchy::NAME
        );
        step.say(
            ConditionType::Ready,
            Holds::False,
            Reason::AmbiguousParent,
            words,
        );
        return step;
    }
    let users = users(world, here, logical(group));
    let words = if users.is_empty() {
        "nobody uses it".to_owned()
    } else {
        format!("used by {}", names(users.iter().map(String::as_str)))
    };
    step.say(ConditionType::Ready, Holds::True, Reason::Reconciled, words);
    step
}

/// Who uses a group.
fn users(world: &Inner, here: &str, wanted: &str) -> Vec<String> {
    let system = &world.system;
    let has = |used: &[String]| used.iter().any(|one| one == wanted);
    let mut users = Vec::new();
    for artifact in system.artifacts.within(here) {
        let deployments = system
            .deployments
            .of_group(here, &of_artifact(name(&**artifact)));
        for one in deployments {
            if has(&deployment::uses(one, artifact).0) {
                users.push(format!("Deployment {}", name(&**one)));
            }
        }
    }
    macro_rules! bindings {
        ($shelf:ident, $kind:literal) => {
            for one in system.$shelf.within(here) {
                if has(&binding::uses(&one.spec.workload_spec).0) {
                    users.push(format!("{} {}", $kind, name(&**one)));
                }
            }
        };
    }
    bindings!(service_bindings, "ServiceBinding");
    bindings!(web_application_bindings, "WebApplicationBinding");
    bindings!(scheduled_task_bindings, "ScheduledTaskBinding");
    users
}
