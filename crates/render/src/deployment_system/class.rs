//! What a class says, with what an instance says merged into it.

use quadrille_machinery::{
    kinds,
    patch::strategic,
    typed::{Duplicates, Type, validate},
};
use serde_json::{Map, Value, json};

use super::error::{At, Mistake};

/// The container that classes speak of: the workload's own, whatever it is called there.
const SPOKEN_OF: &str = "main";

/// A template of a class: what it is the spec of, and where its pods are in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template {
    /// The definition of the spec.
    definition: &'static str,
    /// The way to the spec of its pods.
    pods: &'static str,
}

/// The spec of a `Deployment`.
pub(super) const DEPLOYMENT: Template = Template {
    definition: "io.k8s.api.apps.v1.DeploymentSpec",
    pods: "/template/spec",
};
/// The spec of a Service.
pub(super) const SERVICE: Template = Template {
    definition: "io.k8s.api.core.v1.ServiceSpec",
    pods: "/none",
};
/// The spec of a `CronJob`.
pub(super) const CRON_JOB: Template = Template {
    definition: "io.k8s.api.batch.v1.CronJobSpec",
    pods: "/jobTemplate/spec/template/spec",
};

impl Template {
    /// The class's template with an instance's part merged into it, as a strategic merge patch does: containers, variables
    /// and volumes by name, ports by number. `container` is the instance's.
    pub(super) fn merged(
        self,
        written: Option<&Value>,
        part: Map<String, Value>,
        container: &str,
        at: &At,
    ) -> Result<Value, Vec<Mistake>> {
        let schema = kinds::load()
            .definition(self.definition)
            .expect("the spec of a built-in kind is among the built-in definitions");
        let mut base = written.cloned().unwrap_or_else(|| json!({}));
        if let Err(errors) = validate(&base, Type::of_value(schema.root()), Duplicates::Refused) {
            let wrong = errors.0.into_iter().map(|error| {
                let field = format!("{}{}", at.field, error.path);
                At::new(&at.whose, field).wrong(error.message)
            });
            return Err(wrong.collect());
        }
        drop_nulls(&mut base);
        self.speak_of(&mut base, container);
        strategic::merge(&base, part, schema.root())
            .map(Value::Object)
            .map_err(|refusal| vec![at.wrong(refusal.message)])
    }

    /// Gives the container that a class speaks of its name in the instance, unless the class knows that name.
    fn speak_of(self, base: &mut Value, container: &str) {
        let path = format!("{}/containers", self.pods);
        let Some(Value::Array(containers)) = base.pointer_mut(&path) else {
            return;
        };
        if containers.iter().any(|known| known["name"] == container) {
            return;
        }
        if let Some(spoken_of) = containers
            .iter_mut()
            .find(|known| known["name"] == SPOKEN_OF)
        {
            spoken_of["name"] = container.into();
        }
    }
}

/// Takes out what is null: some programs write every field that they know.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(entries) => entries.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
