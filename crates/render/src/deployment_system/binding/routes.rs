//! What leads to a binding from beyond its cell: the APIs of a service, the pages of a web application.

use std::collections::BTreeMap;

use quadrille_types::{ApiClassSpec, Problem, ServiceBindingSpec};

use super::{Base, Inputs, Instance};
use crate::{
    deployment_system::{
        api::{self, ApiInputs},
        endpoint::Claim,
        web::{self, WebInputs},
    },
    error::RenderError,
    routes::{Exposure, Place},
};

/// The routes to a binding, for [`super::plan`]. `classes` are the `APIClass`es of the organization by name, at least those
/// that are used; `taken` is what others have claimed before.
pub fn routes(
    inputs: &Inputs<'_>,
    base: &Base<'_>,
    classes: &BTreeMap<String, ApiClassSpec>,
    taken: &[Claim],
) -> Result<Exposure, Vec<RenderError>> {
    let place = base
        .ground
        .place(inputs.whose(), inputs.environment, inputs.plane);
    match inputs.instance {
        Instance::Service(binding, _) => of_apis(binding, base, place, classes, taken),
        Instance::WebApplication(..) => web::plan(&WebInputs {
            binding: base.name,
            endpoints: base.endpoints,
            place,
        })
        .map_err(|error| vec![error]),
        Instance::ScheduledTask(..) => Ok(Exposure::default()),
    }
}

fn of_apis(
    binding: &ServiceBindingSpec,
    base: &Base<'_>,
    place: Place<'_>,
    classes: &BTreeMap<String, ApiClassSpec>,
    taken: &[Claim],
) -> Result<Exposure, Vec<RenderError>> {
    let whose = format!("ServiceBinding {}", base.name);
    let mut all = Exposure::default();
    let mut taken = taken.to_vec();
    let mut wrong = Vec::new();
    for (name, spec) in &binding.apis {
        let field = format!("spec.apis.{name}");
        let Some(class_spec) = classes.get(&spec.class_name) else {
            let words = format!(
                "is {:?}, but there is no APIClass of that name",
                spec.class_name
            );
            let problem = Problem::new(format!("{field}.className"), words);
            wrong.push(RenderError::field(whose.as_str(), problem));
            continue;
        };
        let inputs = ApiInputs {
            whose: &whose,
            field: &field,
            binding: base.name,
            api: name,
            spec,
            class: &spec.class_name,
            class_spec,
            place,
            taken: &taken,
        };
        match api::plan(&inputs).and_then(|exposure| Ok((exposure, api::claims(&inputs)?))) {
            Ok((exposure, claims)) => {
                all.objects.extend(exposure.objects);
                all.addresses.extend(exposure.addresses);
                all.notes.extend(exposure.notes);
                taken.extend(claims);
            }
            Err(error) => wrong.push(error),
        }
    }
    if wrong.is_empty() {
        Ok(all)
    } else {
        Err(wrong)
    }
}
