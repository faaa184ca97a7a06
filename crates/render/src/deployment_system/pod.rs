//! The pod of a Deployment.

use serde_json::{Map, Value, json};

use super::{Plane, error::Found, limits, overrides::Wanted, told::Told};
use crate::ports::{self, Listens};

/// The name of the only container.
const CONTAINER: &str = "main";

/// What a pod is made from.
pub(super) struct Pod<'a> {
    pub(super) image: &'a str,
    pub(super) wanted: &'a Wanted,
    pub(super) told: &'a Told,
    pub(super) listens: &'a [Listens],
    /// What happens when its container ends.
    pub(super) restart: &'a str,
    pub(super) plane: Plane<'a>,
}

impl Pod<'_> {
    /// Its spec.
    pub(super) fn spec(&self, found: &mut Found) -> Value {
        let (wanted, told) = (self.wanted, self.told);
        let mut container = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                container.insert(name.to_owned(), value);
            }
        };
        let list = |values: &[Value]| (!values.is_empty()).then(|| json!(values));
        put("name", Some(json!(CONTAINER)));
        put("image", Some(json!(self.image)));
        let args = (!wanted.args.is_empty()).then(|| json!(wanted.args));
        put("args", args);
        put("env", list(&told.env));
        put("ports", list(&ports::of_container(self.listens)));
        put("volumeMounts", list(&told.mounts));
        put("resources", limits::resources(&wanted.limits, found));
        for (name, probe) in [
            ("readinessProbe", &wanted.readiness),
            ("livenessProbe", &wanted.liveness),
        ] {
            put(name, probe.as_ref().map(|(probe, _)| probe.clone()));
        }
        let mut spec = json!({ "restartPolicy": self.restart, "containers": [container] });
        if !told.volumes.is_empty() {
            spec["volumes"] = json!(told.volumes);
        }
        if let Some(secrets) = pull_secrets(self.plane) {
            spec["imagePullSecrets"] = secrets;
        }
        spec
    }
}

/// The Secret that images are pulled with, where the plane's registry names one.
pub(super) fn pull_secrets(plane: Plane<'_>) -> Option<Value> {
    let registry = plane.spec.registry.as_ref()?;
    let secret = registry
        .secret_ref
        .as_ref()
        .filter(|name| !name.is_empty())?;
    Some(json!([{ "name": secret }]))
}
