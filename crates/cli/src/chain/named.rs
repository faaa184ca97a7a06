//! A component, as people name it: `cart`, or with its project `shop/cart`.

use quadrille_types::Component;

use crate::{
    cluster::{Cluster, Which},
    failure::Failure,
    object::is_name,
};

/// Which component.
#[derive(Debug, clap::Args)]
pub(crate) struct Named {
    /// The component: `cart`, or with its project `shop/cart`.
    component: String,
    #[command(flatten)]
    cluster: Which,
}

/// A component's name, and its project if that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) project: Option<String>,
    pub(crate) component: String,
}

impl Named {
    /// The cluster, and what was typed.
    pub(crate) async fn find(&self) -> Result<(Cluster, Name), Failure> {
        let name = Name::read(&self.component)?;
        Ok((self.cluster.find().await?, name))
    }
}

impl Name {
    /// Takes what was typed apart.
    pub(crate) fn read(typed: &str) -> Result<Self, Failure> {
        let (project, component) = match typed.split_once('/') {
            None => (None, typed),
            Some((project, component)) => (Some(project), component),
        };
        if !is_name(component) || project.is_some_and(|project| !is_name(project)) {
            return Err(Failure::usage(format!("{typed:?} is no component"))
                .next("Name it, or its project and it: shop/cart"));
        }
        Ok(Self {
            project: project.map(str::to_owned),
            component: component.to_owned(),
        })
    }

    /// A project that was said must be the component's.
    pub(crate) fn agrees(&self, component: &Component) -> Result<(), Failure> {
        let project = component.spec.owner.project_name.as_str();
        match &self.project {
            Some(said) if said != project => Err(Failure::new(format!(
                "there is no component {} in project {said}",
                self.component
            ))
            .next(format!("Did you mean {project}/{}?", self.component))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_component_may_be_named_with_its_project() {
        let name = Name::read("cart").unwrap();
        assert_eq!(
            (name.project.as_deref(), name.component.as_str()),
            (None, "cart")
        );
        let name = Name::read("shop/cart").unwrap();
        assert_eq!(name.project.as_deref(), Some("shop"));
        for typed in ["", "/cart", "shop/", "a/b/c", "a b"] {
            assert!(Name::read(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn the_wrong_project_names_the_right_one() {
        let component: Component = serde_json::from_value(json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Component", "metadata": { "name": "cart" },
            "spec": { "owner": { "projectName": "shop" }, "componentType": { "name": "deployment/service" } },
        }))
        .unwrap();
        assert!(Name::read("cart").unwrap().agrees(&component).is_ok());
        assert!(Name::read("shop/cart").unwrap().agrees(&component).is_ok());
        let said = Name::read("web/cart").unwrap().agrees(&component);
        let said = said.unwrap_err().to_string();
        assert!(said.contains("Did you mean shop/cart?"), "{said}");
    }
}
