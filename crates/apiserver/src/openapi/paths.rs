//! The paths of one resource: collection, item, subresources, and the list over all namespaces.

use serde_json::{Map, Value, json};

use super::{
    custom,
    definitions::Definitions,
    document_path, is_custom,
    operation::{DELETE, LIST, Operation, PATCH, WRITE, capital, path_parameter, query},
};
use crate::resource::{Resource, Subresource};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const PATCH_TYPES: [&str; 4] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

/// Adds all paths of a resource, and the definitions that they need.
pub(super) fn add(
    paths: &mut Map<String, Value>,
    resource: &Resource,
    definitions: &mut Definitions,
) {
    let mut writer = Writer::new(resource, definitions);
    let root = format!("/{}", document_path(&resource.group, &resource.version));
    let namespace = if resource.namespaced {
        "/namespaces/{namespace}"
    } else {
        ""
    };
    let collection = format!("{root}{namespace}/{}", resource.plural);
    let mut insert = |path: String, item: Map<String, Value>, parameters: &[&str]| {
        if !item.is_empty() {
            paths.insert(path, with_parameters(item, parameters, resource.namespaced));
        }
    };
    insert(collection.clone(), writer.collection(), &[]);
    insert(format!("{collection}/{{name}}"), writer.item(), &["name"]);
    for subresource in &resource.subresources {
        let path = format!("{collection}/{{name}}/{}", subresource.name);
        insert(path, writer.subresource(subresource), &["name"]);
    }
    if resource.namespaced && serves(resource, "list") {
        let mut parameters = query(&LIST);
        parameters.extend(query(&[("pretty", "string")]));
        let all = json!({"get": writer.list_everywhere(), "parameters": parameters});
        paths.insert(format!("{root}/{}", resource.plural), all);
    }
}

fn with_parameters(mut item: Map<String, Value>, names: &[&str], namespaced: bool) -> Value {
    let mut parameters: Vec<Value> = names.iter().map(|name| path_parameter(name)).collect();
    if namespaced {
        parameters.push(path_parameter("namespace"));
    }
    parameters.extend(query(&[("pretty", "string")]));
    item.insert("parameters".into(), parameters.into());
    item.into()
}

fn serves(resource: &Resource, verb: &str) -> bool {
    resource.verbs.iter().any(|served| served == verb)
}

struct Writer<'a> {
    resource: &'a Resource,
    definitions: &'a mut Definitions,
    object: Value,
    list: Value,
    body_types: &'static [&'static str],
    patch_types: &'static [&'static str],
}

impl<'a> Writer<'a> {
    fn new(resource: &'a Resource, definitions: &'a mut Definitions) -> Self {
        let (group, version) = (&resource.group, &resource.version);
        let (object, list) = if is_custom(resource) {
            custom::add(resource, definitions)
        } else {
            let mut of = |kind: &str| definitions.kind(group, version, kind).unwrap_or_default();
            (of(&resource.kind), of(&resource.list_kind))
        };
        let (body_types, patch_types): (&[&str], &[&str]) = if is_custom(resource) {
            (&["application/json", "application/yaml"], &PATCH_TYPES[..3])
        } else {
            (&["*/*"], &PATCH_TYPES)
        };
        Self {
            resource,
            definitions,
            object,
            list,
            body_types,
            patch_types,
        }
    }

    fn operation(
        &self,
        verb: &'a str,
        action: &'a str,
        answers: (&'a [&'a str], Value),
    ) -> Operation<'a> {
        let scope = if self.resource.namespaced {
            "Namespaced"
        } else {
            ""
        };
        Operation {
            resource: self.resource,
            verb,
            subject: format!("{scope}{}", self.resource.kind),
            action,
            kind: [
                &self.resource.group,
                &self.resource.version,
                &self.resource.kind,
            ],
            query: &[],
            body: None,
            answers,
        }
    }

    fn collection(&mut self) -> Map<String, Value> {
        let mut item = Map::new();
        if serves(self.resource, "list") {
            let list = Operation {
                query: &LIST,
                ..self.operation("list", "list", (&["200"], self.list.clone()))
            };
            item.insert("get".into(), list.document());
        }
        if serves(self.resource, "create") {
            let create = Operation {
                query: &WRITE,
                body: Some((self.object.clone(), self.body_types)),
                ..self.operation(
                    "create",
                    "post",
                    (&["200", "201", "202"], self.object.clone()),
                )
            };
            item.insert("post".into(), create.document());
        }
        if serves(self.resource, "deletecollection") {
            let status = self.definitions.built_in(&format!("{META}.Status"));
            let mut delete = self.operation("delete", "deletecollection", (&["200"], status));
            delete.subject = format!("Collection{}", delete.subject);
            delete.query = &LIST;
            item.insert("delete".into(), delete.document());
        }
        item
    }

    fn item(&mut self) -> Map<String, Value> {
        let mut item = Map::new();
        if serves(self.resource, "get") {
            let read = self.operation("read", "get", (&["200"], self.object.clone()));
            item.insert("get".into(), read.document());
        }
        if serves(self.resource, "update") {
            let replace = Operation {
                query: &WRITE,
                body: Some((self.object.clone(), self.body_types)),
                ..self.operation("replace", "put", (&["200", "201"], self.object.clone()))
            };
            item.insert("put".into(), replace.document());
        }
        if serves(self.resource, "patch") {
            let patch = self.patch(self.object.clone());
            item.insert("patch".into(), patch.document());
        }
        if serves(self.resource, "delete") {
            let options = self.definitions.built_in(&format!("{META}.DeleteOptions"));
            let status = self.definitions.built_in(&format!("{META}.Status"));
            let delete = Operation {
                query: &DELETE,
                body: Some((options, self.body_types)),
                ..self.operation("delete", "delete", (&["200", "202"], status))
            };
            item.insert("delete".into(), delete.document());
        }
        item
    }

    fn patch(&mut self, object: Value) -> Operation<'a> {
        let body = self.definitions.built_in(&format!("{META}.Patch"));
        let codes: &[&str] = if is_custom(self.resource) {
            &["200"]
        } else {
            &["200", "201"]
        };
        Operation {
            query: &PATCH,
            body: Some((body, self.patch_types)),
            ..self.operation("patch", "patch", (codes, object))
        }
    }

    fn subresource(&mut self, subresource: &'a Subresource) -> Map<String, Value> {
        let own = subresource.group.is_empty() && subresource.version.is_empty();
        let (group, version) = if own {
            (&self.resource.group, &self.resource.version)
        } else {
            (&subresource.group, &subresource.version)
        };
        let object = if subresource.kind == self.resource.kind {
            self.object.clone()
        } else {
            let found = self.definitions.kind(group, version, &subresource.kind);
            // Options of connections (`PodExecOptions`) are no schema of the document.
            found.unwrap_or_else(|| json!({"type": "string"}))
        };
        let mut item = Map::new();
        for verb in &subresource.verbs {
            let (method, mut operation) = match verb.as_str() {
                "get" => (
                    "get",
                    self.operation("read", "get", (&["200"], object.clone())),
                ),
                "update" => {
                    let replace = Operation {
                        query: &WRITE,
                        body: Some((object.clone(), self.body_types)),
                        ..self.operation("replace", "put", (&["200", "201"], object.clone()))
                    };
                    ("put", replace)
                }
                "patch" => ("patch", self.patch(object.clone())),
                "create" => {
                    let create = Operation {
                        query: &WRITE,
                        body: Some((object.clone(), self.body_types)),
                        ..self.operation("create", "post", (&["200", "201", "202"], object.clone()))
                    };
                    ("post", create)
                }
                _ => continue,
            };
            operation.subject += &capital(&subresource.name);
            if !is_custom(self.resource) {
                operation.kind = [group, version, &subresource.kind];
            }
            item.insert(method.into(), operation.document());
        }
        item
    }

    fn list_everywhere(&self) -> Value {
        let mut list = self.operation("list", "list", (&["200"], self.list.clone()));
        list.subject = format!("{}ForAllNamespaces", self.resource.kind);
        list.document()
    }
}
