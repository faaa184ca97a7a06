//! Which addresses are taken: of two APIs of a component that want the same, the one that was there first has it.

use jiff::Timestamp;
use kube::Resource;
use quadrille_render::deployment_system::{
    Ground,
    api::{ApiInputs, claims},
    endpoint::Claim,
};
use quadrille_types::{
    ApiBinding, ApiClassSpec, ServiceBinding, release_state::ReleaseState, workload::WorkloadOwner,
};

use super::{
    api::Offered,
    destination::{Destination, whose},
    shelves::of_api,
};
use crate::{
    chain::shelves::{is_going, name, namespace, of_component},
    platform::step::Kind,
    releases::Inner,
};

/// Who was there first: of the same moment, services before APIs by themselves, then by name.
pub(super) type Age = (Option<Timestamp>, Kind, String);

/// How old an object is.
pub(super) fn age(kind: Kind, object: &impl Resource) -> Age {
    let made = object.meta().creation_timestamp.as_ref().map(|at| at.0);
    (made, kind, name(object).to_owned())
}

/// What those have claimed in an environment who are older.
pub(super) fn taken(
    world: &Inner,
    here: &str,
    owner: &WorkloadOwner,
    environment: &str,
    than: &Age,
) -> Vec<Claim> {
    let system = &world.system;
    let group = of_component(owner.project_name.as_str(), owner.component_name.as_str());
    let services = system.service_bindings.of_group(here, &group);
    let services = services.filter(|one| {
        one.spec.environment.as_str() == environment
            && one.spec.release_state != ReleaseState::Undeploy
            && !is_going(&***one)
            && age(Kind::ServiceBinding, &***one) < *than
    });
    let mut taken: Vec<Claim> = services
        .flat_map(|one| of_service(world, one).unwrap_or_default())
        .collect();
    let apis = system.apis.of_group(here, &group);
    let bindings = apis.flat_map(|api| system.api_bindings.of_group(here, &of_api(name(&**api))));
    // One that is suspended keeps its place: it would find it taken when it comes back.
    let bindings = bindings.filter(|one| {
        one.spec.environment_name.as_str() == environment
            && one.spec.release_state != ReleaseState::Undeploy
            && !is_going(&***one)
            && age(Kind::ApiBinding, &***one) < *than
    });
    taken.extend(bindings.flat_map(|one| of_api_binding(world, one).unwrap_or_default()));
    taken.sort();
    taken.dedup();
    taken
}

fn of_service(world: &Inner, binding: &ServiceBinding) -> Option<Vec<Claim>> {
    let (here, spec) = (namespace(binding), &binding.spec);
    let environment = spec.environment.as_str();
    let destination = Destination::of(world, here, environment, "spec.environment").ok()?;
    let who = whose(here, &spec.owner);
    let ground = Ground::of_binding(&who, environment, name(binding));
    let called = format!("ServiceBinding {}", name(binding));
    let all = spec.apis.iter().map(|(api, offered)| ApiInputs {
        whose: &called,
        field: "",
        binding: name(binding),
        api,
        spec: offered,
        class: &offered.class_name,
        // No class changes where an API is.
        class_spec: &NO_RULES,
        place: ground.place(who, destination.stage(), destination.plane()),
        taken: &[],
    });
    let claimed = all.filter_map(|inputs| claims(&inputs).ok());
    Some(claimed.flatten().collect())
}

fn of_api_binding(world: &Inner, binding: &ApiBinding) -> Option<Vec<Claim>> {
    let offered = Offered::of(world, binding).ok()?;
    claims(&offered.inputs(binding, &NO_RULES, &[])).ok()
}

static NO_RULES: ApiClassSpec = ApiClassSpec {
    rest_policy: None,
    grpc_policy: None,
};
