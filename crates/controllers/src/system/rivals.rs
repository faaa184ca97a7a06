//! A component runs once in an environment: its pods are selected by its name, so that those of a second binding would
//! answer for the first.

use quadrille_types::{
    ScheduledTaskBinding, ServiceBinding, WebApplicationBinding, conditions::Reason,
    release_state::ReleaseState,
};

use super::{
    claims::{Age, age},
    hierarchy::Problem,
    kinds::Bound,
    shelves::Belongs,
};
use crate::{
    chain::shelves::{is_going, name, namespace, of_component},
    platform::step::{Kind, names},
    releases::Inner,
};

/// What is wrong where something else of the component was in the environment first.
pub(super) fn check<B: Bound>(world: &Inner, binding: &B) -> Result<(), Problem> {
    let own = age(B::KIND, binding);
    let mut found = of::<ServiceBinding>(world, binding, &own);
    found.extend(of::<WebApplicationBinding>(world, binding, &own));
    found.extend(of::<ScheduledTaskBinding>(world, binding, &own));
    found.extend(deployments(world, binding, &own));
    if found.is_empty() {
        return Ok(());
    }
    let words = format!(
        "component {} is in {} already, by {}: delete one of them, or have it undeployed",
        binding.owner().component_name,
        binding.environment(),
        names(found.iter().map(String::as_str))
    );
    Err((Reason::InvalidConfiguration, words))
}

fn group(binding: &impl Bound) -> String {
    let owner = binding.owner();
    of_component(owner.project_name.as_str(), owner.component_name.as_str())
}

fn of<O: Bound>(world: &Inner, binding: &impl Bound, than: &Age) -> Vec<String> {
    let all = O::shelf(&world.system).of_group(namespace(binding), &group(binding));
    let rivals = all.filter(|one| {
        one.environment() == binding.environment()
            && one.state() != ReleaseState::Undeploy
            && !is_going(&***one)
            && age(O::KIND, &***one) < *than
    });
    rivals
        .map(|one| format!("{} {}", O::KIND.word(), name(&**one)))
        .collect()
}

fn deployments(world: &Inner, binding: &impl Bound, than: &Age) -> Vec<String> {
    let all = world
        .system
        .deployments
        .of_group(namespace(binding), &group(binding));
    let rivals = all.filter(|one| {
        Belongs::of(&***one).environment == binding.environment().as_str()
            && !is_going(&***one)
            && age(Kind::Deployment, &***one) < *than
    });
    rivals
        .map(|one| format!("Deployment {}", name(&**one)))
        .collect()
}
