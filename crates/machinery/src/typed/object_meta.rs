//! The type of `metadata`, which every object has whatever its own schema says about it.

use std::sync::LazyLock;

use serde_json::json;

use crate::schema::{
    Additional, Constraints, ListType, MapType, Node, NodeId, SchemaRef, Schemas, Type,
};

static OBJECT_META: LazyLock<(Schemas, NodeId)> = LazyLock::new(build);

/// The schema of `metadata`.
pub(super) fn object_meta() -> SchemaRef<'static> {
    OBJECT_META.0.at(OBJECT_META.1)
}

fn of(ty: Type) -> Node {
    Node {
        ty: Some(ty),
        ..Node::default()
    }
}

fn object(fields: &[(&str, NodeId)]) -> Node {
    let mut properties: Vec<_> = fields
        .iter()
        .map(|(name, id)| (Box::from(*name), *id))
        .collect();
    properties.sort();
    Node {
        properties,
        ..of(Type::Object)
    }
}

fn list(items: NodeId, list_type: ListType) -> Node {
    Node {
        items: Some(items),
        list_type,
        ..of(Type::Array)
    }
}

fn build() -> (Schemas, NodeId) {
    let mut schemas = Schemas::default();
    let text = schemas.push(of(Type::String));
    let empty_text = schemas.push(Node {
        default: Some(Box::new(json!(""))),
        ..of(Type::String)
    });
    let number = schemas.push(of(Type::Integer));
    let flag = schemas.push(of(Type::Boolean));
    let time = schemas.push(Node {
        constraints: Some(Box::new(Constraints {
            format: Some("date-time".into()),
            ..Constraints::default()
        })),
        ..of(Type::String)
    });
    let texts = schemas.push(Node {
        additional: Additional::Of(empty_text),
        ..of(Type::Object)
    });
    let anything = schemas.push(of(Type::Object));
    let finalizers = schemas.push(list(empty_text, ListType::Set));
    let owner = schemas.push(Node {
        map_type: MapType::Atomic,
        ..object(&[
            ("apiVersion", empty_text),
            ("blockOwnerDeletion", flag),
            ("controller", flag),
            ("kind", empty_text),
            ("name", empty_text),
            ("uid", empty_text),
        ])
    });
    let owners = schemas.push(list(owner, ListType::Map(vec!["uid".into()])));
    let entry = schemas.push(object(&[
        ("apiVersion", text),
        ("fieldsType", text),
        ("fieldsV1", anything),
        ("manager", text),
        ("operation", text),
        ("subresource", text),
        ("time", time),
    ]));
    let entries = schemas.push(list(entry, ListType::Atomic));
    let root = schemas.push(object(&[
        ("annotations", texts),
        ("creationTimestamp", time),
        ("deletionGracePeriodSeconds", number),
        ("deletionTimestamp", time),
        ("finalizers", finalizers),
        ("generateName", text),
        ("generation", number),
        ("labels", texts),
        ("managedFields", entries),
        ("name", text),
        ("namespace", text),
        ("ownerReferences", owners),
        ("resourceVersion", text),
        ("selfLink", text),
        ("uid", text),
    ]));
    (schemas, root)
}
