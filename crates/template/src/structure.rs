//! Rules about the shape of a definition that no expression decides: what templates of objects must
//! have, and which kinds they may be.

use std::collections::HashMap;

use serde_json::Value as Json;

use crate::{
    definition::{Definition, KindRule, ResourceSource},
    problem::{Problem, Problems},
    scan,
};

/// Notes what is wrong with the shape of a definition.
pub(crate) fn check(definition: &Definition<'_>, problems: &mut Problems) {
    let mut ids: HashMap<&str, &str> = HashMap::new();
    for resource in &definition.resources {
        if let Some(first) = ids.insert(resource.id, &resource.path) {
            let words = format!("the id `{}` is taken by {first}", resource.id);
            let at = format!("{}.id", resource.path);
            problems.push(Problem::new(at, words).remedy("give each an id of its own"));
        }
        template(resource, definition.namespace, problems);
    }
    kinds(definition, problems);
}

fn template(resource: &ResourceSource<'_>, namespace: Option<&str>, problems: &mut Problems) {
    let path = format!("{}.template", resource.path);
    let object = resource.template;
    if !object.is_object() {
        problems.push(Problem::new(path, "the template of an object is an object"));
        return;
    }
    for field in ["apiVersion", "kind"] {
        match object.get(field) {
            Some(Json::String(text)) if !text.is_empty() => {}
            Some(_) => problems.push(Problem::new(format!("{path}.{field}"), "must be text")),
            None => problems.push(required(&path, field)),
        }
    }
    if let Some(kind) = object.get("kind").and_then(Json::as_str)
        && kind.contains("${")
    {
        let words = "the kind of an object must be written out, not made by an expression";
        let remedy = "write a template for each kind, with includeWhen";
        problems.push(Problem::new(format!("{path}.kind"), words).remedy(remedy));
    }
    match object.pointer("/metadata/name") {
        Some(Json::String(name)) if !name.is_empty() => {}
        Some(_) => problems.push(Problem::new(
            format!("{path}.metadata.name"),
            "must be text that is not empty",
        )),
        None => problems.push(required(&path, "metadata.name")),
    }
    if let (Some(wanted), Some(given)) = (namespace, object.pointer("/metadata/namespace")) {
        let fits = given
            .as_str()
            .and_then(|text| scan::standalone(text).ok().flatten())
            .is_some_and(|inner| inner.trim() == wanted);
        if !fits {
            let words = format!("the namespace must be ${{{wanted}}} and nothing else");
            let remedy = "objects of a component stay in the namespace of its cell";
            let at = format!("{path}.metadata.namespace");
            problems.push(Problem::new(at, words).remedy(remedy));
        }
    }
}

fn required(path: &str, field: &str) -> Problem {
    Problem::new(format!("{path}.{field}"), "is required")
        .remedy("every object has apiVersion, kind and metadata.name")
}

fn kinds(definition: &Definition<'_>, problems: &mut Problems) {
    let KindRule {
        required,
        forbidden,
    } = definition.kinds;
    let same = |one: &str, two: &str| one.eq_ignore_ascii_case(two);
    let mut found: Vec<&str> = Vec::new();
    for resource in &definition.resources {
        let Some(kind) = resource.template.get("kind").and_then(Json::as_str) else {
            continue;
        };
        let at = format!("{}.template.kind", resource.path);
        if required.is_some_and(|wanted| same(wanted, kind)) {
            if let Some(first) = found.first() {
                let words = format!("there must be one {kind}, and {first} is it already");
                problems.push(Problem::new(at, words));
            }
            found.push(&resource.path);
        } else if forbidden.iter().any(|one| same(one, kind)) {
            let (words, remedy) = match required {
                Some(wanted) => (
                    format!("a {kind} cannot be part of this: the workload is a {wanted}"),
                    "make a type of its own for the other workload",
                ),
                None => (
                    format!("a {kind} cannot be made here"),
                    "workloads come from the component type; patch the one that is there",
                ),
            };
            problems.push(Problem::new(at, words).remedy(remedy));
        }
    }
    if let (Some(wanted), true) = (required, found.is_empty()) {
        let words = format!("no template is of kind {wanted}");
        let remedy = "a type has exactly one template of its workload's kind";
        let first = definition.resources.first();
        let list = first.and_then(|resource| resource.path.rsplit_once('['));
        let path = list.map_or("", |(list, _)| list);
        problems.push(Problem::new(path, words).remedy(remedy));
    }
    for remove in &definition.removes {
        let kind = remove.target.kind;
        if forbidden.iter().any(|one| same(one, kind)) {
            let words = format!("a {kind} cannot be removed: it is the workload");
            problems.push(Problem::new(format!("{}.target.kind", remove.path), words));
        }
    }
}
