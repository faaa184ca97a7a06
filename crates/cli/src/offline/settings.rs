//! `--set parameters.replicas=3`: values that are tried without writing them down.

use serde_json::{Map, Value, json};

use crate::{
    documents::{Document, Source},
    failure::Failure,
};

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    /// Whether it is for the environment, not for the component.
    is_for_environment: bool,
    path: Vec<String>,
    value: Value,
}

impl Setting {
    /// Reads `parameters.a.b=1` or `environmentConfigs.a=x`. A value that is JSON is taken as such, others as text.
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let wrong = || {
            Failure::usage(format!("--set {text}: this is no setting"))
                .next("Say what and how: --set parameters.schedule='0 3 * * *'")
                .next("or for the environment: --set environmentConfigs.replicas=3")
        };
        let (path, value) = text.split_once('=').ok_or_else(wrong)?;
        let mut path = path.split('.').map(str::to_owned);
        let is_for_environment = match path.next().as_deref() {
            Some("parameters") => false,
            Some("environmentConfigs") => true,
            _ => return Err(wrong()),
        };
        let path: Vec<String> = path.collect();
        if path.is_empty() || path.iter().any(String::is_empty) {
            return Err(wrong());
        }
        Ok(Self {
            is_for_environment,
            path,
            value: serde_json::from_str(value).unwrap_or_else(|_| json!(value)),
        })
    }

    /// Sets it in a component's documents.
    pub(super) fn apply(
        &self,
        documents: &mut Vec<Document>,
        component: &str,
        environment: &str,
    ) -> Result<(), Failure> {
        if self.is_for_environment {
            let binding = binding(documents, component, environment)?;
            return self.put(&mut binding["spec"]["componentTypeEnvironmentConfigs"]);
        }
        let mut components = documents.iter_mut();
        let found = components.find(|one| one.kind() == "Component" && one.name() == component);
        match found {
            Some(found) => self.put(&mut found.object["spec"]["parameters"]),
            None => Err(Failure::usage(format!(
                "there is no Component {component:?}"
            ))),
        }
    }

    fn put(&self, root: &mut Value) -> Result<(), Failure> {
        let mut here = root;
        for step in &self.path {
            if here.is_null() {
                *here = Value::Object(Map::new());
            }
            let Value::Object(object) = here else {
                let path = self.path.join(".");
                return Err(Failure::usage(format!(
                    "--set {path}: {step:?} is below something that has no fields"
                )));
            };
            here = object.entry(step.clone()).or_insert(Value::Null);
        }
        *here = self.value.clone();
        Ok(())
    }
}

/// The binding of a component to an environment; one that says nothing is added where there is none.
fn binding<'a>(
    documents: &'a mut Vec<Document>,
    component: &str,
    environment: &str,
) -> Result<&'a mut Value, Failure> {
    let is_it = |one: &Document| {
        let spec = &one.object["spec"];
        one.kind() == "ReleaseBinding"
            && spec["owner"]["componentName"] == component
            && spec["environment"] == environment
    };
    if !documents.iter().any(is_it) {
        let mut components = documents.iter();
        let of = components.find(|one| one.kind() == "Component" && one.name() == component);
        let Some(of) = of else {
            return Err(Failure::usage(format!(
                "there is no Component {component:?}"
            )));
        };
        let project = of.object["spec"]["owner"]["projectName"].clone();
        let object = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ReleaseBinding",
            "metadata": { "name": format!("{component}-{environment}"), "namespace": of.object["metadata"]["namespace"] },
            "spec": {
                "owner": { "projectName": project, "componentName": component },
                "environment": environment,
            },
        });
        documents.push(Document {
            place: "--set".to_owned(),
            object,
            source: Source::default(),
        });
    }
    let found = documents.iter_mut().find(|one| is_it(one));
    Ok(&mut found.expect("it was there or was just added").object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component() -> Vec<Document> {
        vec![Document {
            place: String::new(),
            source: Source::default(),
            object: json!({
                "kind": "Component", "metadata": { "name": "cart" },
                "spec": { "owner": { "projectName": "shop" }, "parameters": { "port": 80 } },
            }),
        }]
    }

    #[test]
    fn values_go_where_they_belong() {
        let mut documents = component();
        for text in [
            "parameters.a.b=1",
            "parameters.word=two words",
            "environmentConfigs.replicas=3",
        ] {
            let setting = Setting::read(text).unwrap();
            setting.apply(&mut documents, "cart", "staging").unwrap();
        }
        let parameters = &documents[0].object["spec"]["parameters"];
        assert_eq!(
            *parameters,
            json!({"port": 80, "a": {"b": 1}, "word": "two words"})
        );
        let binding = &documents[1].object["spec"];
        assert_eq!(
            binding["componentTypeEnvironmentConfigs"],
            json!({"replicas": 3})
        );
        assert_eq!(binding["owner"]["projectName"], "shop");
    }

    #[test]
    fn what_cannot_be_set_is_refused() {
        for text in [
            "replicas=3",
            "parameters=3",
            "parameters.=1",
            "parameters.a",
        ] {
            assert!(Setting::read(text).is_err(), "{text}");
        }
        let below = Setting::read("parameters.port.number=1").unwrap();
        assert!(below.apply(&mut component(), "cart", "staging").is_err());
        let nobody = Setting::read("parameters.a=1").unwrap();
        assert!(nobody.apply(&mut component(), "card", "staging").is_err());
    }
}
