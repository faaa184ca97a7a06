//! What a binding says in confidence.

use quadrille_render::passwords::places;
use quadrille_types::{
    Component, ComponentTypeSpec, TraitSpec,
    component::{DeployedBy, TraitInstance},
};
use serde_json::Value;

use super::reader::Reader;
use crate::{cluster::Cluster, documents::Document, failure::Failure, plane::typed};

/// What differs per environment by type and by trait.
const OF_TYPE: &str = "spec.componentTypeEnvironmentConfigs";
const OF_TRAITS: &str = "spec.traitEnvironmentConfigs";

/// The fields of a binding that its component's type or a trait calls passwords. Where nobody can tell, it is all that
/// they may be told.
pub(crate) async fn passwords(
    cluster: &Cluster,
    documents: &[Document],
    binding: &Value,
) -> Result<Vec<String>, Failure> {
    let spec = &binding["spec"];
    let mut reader = Reader {
        cluster,
        documents,
        objects: Vec::new(),
    };
    let name = spec["owner"]["componentName"].as_str().unwrap_or_default();
    let found = reader.take("Component", "components", name).await?;
    let component: Option<Component> = found.and_then(|found| typed(found).ok());
    let resolved = component.and_then(|component| component.spec.resolve().ok());
    let Some(resolved) = resolved else {
        return Ok(vec![OF_TYPE.to_owned(), OF_TRAITS.to_owned()]);
    };
    let mut fields = Vec::new();
    if let DeployedBy::ComponentType { reference, .. } = &resolved.deployed_by {
        let found = reader.take_reference(reference).await?;
        match found.and_then(|found| typed::<ComponentTypeSpec>(found["spec"].clone()).ok()) {
            Some(known) => {
                let given = spec.get("componentTypeEnvironmentConfigs");
                fields.extend(places(OF_TYPE, known.environment_configs.as_ref(), given));
            }
            None => fields.push(OF_TYPE.to_owned()),
        }
    }
    for used in &resolved.traits {
        fields.extend(of_trait(&mut reader, used, spec).await?);
    }
    // Nobody can tell what is said to a trait that the component does not have itself.
    let told = spec["traitEnvironmentConfigs"].as_object();
    let is_its_own = |name: &str| {
        resolved
            .traits
            .iter()
            .any(|used| used.instance_name == name)
    };
    let others = told.into_iter().flat_map(|told| told.keys());
    let others = others.filter(|name| !is_its_own(name));
    fields.extend(others.map(|name| format!("{OF_TRAITS}.{name}")));
    Ok(fields)
}

async fn of_trait(
    reader: &mut Reader<'_>,
    used: &TraitInstance,
    spec: &Value,
) -> Result<Vec<String>, Failure> {
    let instance = &used.instance_name;
    let field = format!("{OF_TRAITS}.{instance}");
    let found = reader.take_reference(&used.reference()).await?;
    let known = found.and_then(|found| typed::<TraitSpec>(found["spec"].clone()).ok());
    let Some(known) = known else {
        return Ok(vec![field]);
    };
    let given = spec["traitEnvironmentConfigs"].get(instance);
    Ok(places(&field, known.environment_configs.as_ref(), given))
}
