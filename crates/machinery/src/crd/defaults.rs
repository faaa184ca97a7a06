//! Defaults of a definition, and what a server does to it before it is checked.

use serde_json::{Value, json};

use super::{initial_status, list, storage_version, text};
use crate::{
    builtin::{defaults, encoding},
    kinds,
};

/// A definition with a spec as a server stores it, for whoever ships definitions: such a one can be installed without
/// a look at what is in it. It must be one that a server accepts; nothing is checked here.
pub fn completed(definition: &Value) -> Value {
    let schema = kinds::load()
        .schema("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
        .expect("definitions are a built-in kind");
    let mut stored = definition.clone();
    defaults::apply(schema.root(), &mut stored);
    default(&mut stored);
    encoding::encode(schema.root(), &mut stored);
    let mut complete = definition.clone();
    complete["spec"] = stored["spec"].take();
    complete
}

/// Fills in what a definition leaves out: names derived from the kind, conversion, stored versions.
pub fn default(definition: &mut Value) {
    let names = &definition["spec"]["names"];
    let kind = text(names, "kind").to_owned();
    let (singular, list_kind) = (text(names, "singular"), text(names, "listKind"));
    let derive = [
        ("singular", singular.is_empty(), kind.to_lowercase()),
        ("listKind", list_kind.is_empty(), format!("{kind}List")),
    ];
    for (field, missing, value) in derive {
        if missing && !kind.is_empty() {
            definition["spec"]["names"][field] = json!(value);
        }
    }
    let conversion = &definition["spec"]["conversion"];
    if conversion.is_null() {
        definition["spec"]["conversion"] = json!({ "strategy": "None" });
    }
    let service = definition.pointer_mut("/spec/conversion/webhook/clientConfig/service");
    if let Some(service) = service.filter(|service| service.get("port").is_none()) {
        service["port"] = json!(443);
    }
    add_stored_version(definition);
}

/// What a create does: the status starts afresh, with the storage version noted as stored.
pub fn prepare_create(definition: &mut Value) {
    definition["status"] = initial_status(definition);
}

/// What an update does: the status stays what it was, and a new storage version is noted.
pub fn prepare_update(definition: &mut Value, old: &Value) {
    definition["status"] = old["status"].clone();
    let Some(version) = storage_version(definition).map(str::to_owned) else {
        return;
    };
    let stored = list(&definition["status"], "storedVersions");
    if !stored.iter().any(|known| *known == *version) {
        let mut stored = stored.to_vec();
        stored.push(json!(version));
        definition["status"]["storedVersions"] = json!(stored);
    }
}

fn add_stored_version(definition: &mut Value) {
    if !list(&definition["status"], "storedVersions").is_empty() {
        return;
    }
    if let Some(version) = storage_version(definition).map(str::to_owned) {
        if definition["status"].is_null() {
            definition["status"] = initial_status(definition);
        }
        definition["status"]["storedVersions"] = json!([version]);
    }
}
