//! JSON schemas to schema nodes.

use serde_json::{Map, Value};

use crate::schema::{
    Additional, Constraints, ListType, MapType, Node, NodeId, PatchStrategy, Presence, Rule,
    Schemas, Type,
};

/// The root node of a custom resource.
pub(super) fn root(schemas: &mut Schemas, schema: Option<&Value>) -> NodeId {
    let mut node = match schema {
        Some(schema) => shape(schemas, schema),
        None => Node {
            ty: Some(Type::Object),
            preserve_unknown: true,
            ..Node::default()
        },
    };
    let given = schema.and_then(|schema| schema.pointer("/properties/metadata"));
    add_object_fields(schemas, &mut node, given);
    schemas.push(node)
}

/// Adds what every object has: `apiVersion`, `kind` and typed `metadata`. Limits that the schema sets for
/// `metadata.name` and `metadata.generateName` stay in force.
fn add_object_fields(schemas: &mut Schemas, node: &mut Node, given: Option<&Value>) {
    let metadata = object_meta(schemas);
    let mut typed = schemas.node(metadata).clone();
    for name in ["name", "generateName"] {
        if let Some(limits) = given.and_then(|given| given.pointer(&format!("/properties/{name}")))
        {
            let field = shape(schemas, limits);
            let id = schemas.push(Node {
                ty: Some(Type::String),
                ..field
            });
            set_property(&mut typed, name, id);
        }
    }
    schemas.set(metadata, typed);
    set_property(node, "metadata", metadata);
    for name in ["apiVersion", "kind"] {
        if !node.properties.iter().any(|(field, _)| &**field == name) {
            let id = scalar(schemas, Type::String, None);
            set_property(node, name, id);
        }
    }
}

fn set_property(node: &mut Node, name: &str, id: NodeId) {
    match node
        .properties
        .binary_search_by(|(field, _)| field.as_ref().cmp(name))
    {
        Ok(at) => node.properties[at].1 = id,
        Err(at) => node.properties.insert(at, (name.into(), id)),
    }
}

/// Adds the node of a schema and of everything below it.
pub(super) fn place(schemas: &mut Schemas, schema: &Value) -> NodeId {
    let node = shape(schemas, schema);
    schemas.push(node)
}

fn shape(schemas: &mut Schemas, schema: &Value) -> Node {
    let flag = |name: &str| schema.get(name) == Some(&Value::Bool(true));
    let mut properties: Vec<(Box<str>, NodeId)> = Vec::new();
    // The map is sorted by name, as the model wants it.
    for (name, field) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        properties.push((name.as_str().into(), place(schemas, field)));
    }
    let additional = match schema.get("additionalProperties") {
        Some(Value::Bool(true)) => Additional::Any,
        Some(Value::Object(values)) => {
            Additional::Of(place(schemas, &Value::Object(values.clone())))
        }
        _ => Additional::None,
    };
    let items = schema
        .get("items")
        .filter(|items| items.is_object())
        .map(|items| place(schemas, items));
    let mut node = Node {
        ty: schema.get("type").and_then(json_type),
        int_or_string: flag("x-kubernetes-int-or-string"),
        nullable: flag("nullable"),
        preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
        embedded_resource: flag("x-kubernetes-embedded-resource"),
        properties,
        additional,
        required: texts(schema, "required"),
        items,
        list_type: list_type(schema),
        map_type: match schema.get("x-kubernetes-map-type").and_then(Value::as_str) {
            Some("atomic") => MapType::Atomic,
            _ => MapType::Granular,
        },
        default: schema
            .get("default")
            .filter(|value| !value.is_null())
            .map(|value| Box::new(value.clone())),
        description: schema
            .get("description")
            .and_then(Value::as_str)
            .map(Into::into),
        constraints: constraints(schemas, schema).map(Box::new),
        ..Node::default()
    };
    if node.embedded_resource {
        let given = schema.pointer("/properties/metadata").cloned();
        add_object_fields(schemas, &mut node, given.as_ref());
    }
    node
}

fn json_type(value: &Value) -> Option<Type> {
    Some(match value.as_str()? {
        "object" => Type::Object,
        "array" => Type::Array,
        "string" => Type::String,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Boolean,
        _ => return None,
    })
}

fn texts(schema: &Value, name: &str) -> Vec<Box<str>> {
    let list = schema.get(name).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(Into::into)
        .collect()
}

fn list_type(schema: &Value) -> ListType {
    match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(texts(schema, "x-kubernetes-list-map-keys")),
        _ => ListType::Atomic,
    }
}

fn constraints(schemas: &mut Schemas, schema: &Value) -> Option<Constraints> {
    let text = |name: &str| schema.get(name).and_then(Value::as_str).map(Into::into);
    let float = |name: &str| schema.get(name).and_then(Value::as_f64);
    let whole = |name: &str| schema.get(name).and_then(Value::as_i64);
    let flag = |name: &str| schema.get(name) == Some(&Value::Bool(true));
    let mut branch = |name: &str| -> Vec<NodeId> {
        let list = schema.get(name).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .map(|choice| place(schemas, choice))
            .collect()
    };
    let (all_of, any_of, one_of) = (branch("allOf"), branch("anyOf"), branch("oneOf"));
    let found = Constraints {
        enum_values: schema
            .get("enum")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default(),
        format: text("format"),
        pattern: text("pattern"),
        minimum: float("minimum"),
        maximum: float("maximum"),
        exclusive_minimum: flag("exclusiveMinimum"),
        exclusive_maximum: flag("exclusiveMaximum"),
        multiple_of: float("multipleOf"),
        min_length: whole("minLength"),
        max_length: whole("maxLength"),
        min_items: whole("minItems"),
        max_items: whole("maxItems"),
        unique_items: flag("uniqueItems"),
        min_properties: whole("minProperties"),
        max_properties: whole("maxProperties"),
        all_of,
        any_of,
        one_of,
        not: schema
            .get("not")
            .filter(|not| not.is_object())
            .map(|not| place(schemas, not)),
        rules: rules(schema),
    };
    (found != Constraints::default()).then_some(found)
}

fn rules(schema: &Value) -> Vec<Rule> {
    let list = schema
        .get("x-kubernetes-validations")
        .and_then(Value::as_array);
    let rule = |rule: &Value| {
        let text = |name: &str| rule.get(name).and_then(Value::as_str).map(str::to_owned);
        Rule {
            rule: text("rule").unwrap_or_default(),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: text("reason"),
            field_path: text("fieldPath"),
            optional_old_self: rule.get("optionalOldSelf").and_then(Value::as_bool),
        }
    };
    list.into_iter().flatten().map(rule).collect()
}

fn scalar(schemas: &mut Schemas, ty: Type, format: Option<&str>) -> NodeId {
    let constraints = format.map(|format| {
        Box::new(Constraints {
            format: Some(format.into()),
            ..Constraints::default()
        })
    });
    schemas.push(Node {
        ty: Some(ty),
        constraints,
        ..Node::default()
    })
}

fn named(schemas: &mut Schemas, ty: Type, name: &str, node: Node) -> NodeId {
    schemas.push(Node {
        ty: Some(ty),
        type_name: Some(name.into()),
        ..node
    })
}

/// `metadata` as every object has it: the same shape, list keys and merge strategies as in built-in kinds.
pub fn object_meta(schemas: &mut Schemas) -> NodeId {
    let string = scalar(schemas, Type::String, None);
    let uid = schemas.push(Node {
        ty: Some(Type::String),
        go_type: Some("types.UID".into()),
        ..Node::default()
    });
    let boolean = scalar(schemas, Type::Boolean, None);
    let int64 = scalar(schemas, Type::Integer, Some("int64"));
    let time_node = Node {
        constraints: Some(Box::new(Constraints {
            format: Some("date-time".into()),
            ..Constraints::default()
        })),
        ..Node::default()
    };
    let time = named(schemas, Type::String, "Time", time_node);
    let strings = schemas.push(Node {
        ty: Some(Type::Object),
        additional: Additional::Of(string),
        ..Node::default()
    });
    let merging = |key: Option<&str>| {
        Some(Box::new(PatchStrategy {
            merge: true,
            merge_key: key.map(Into::into),
            ..PatchStrategy::default()
        }))
    };
    let finalizers = schemas.push(Node {
        ty: Some(Type::Array),
        items: Some(string),
        list_type: ListType::Set,
        patch: merging(None),
        ..Node::default()
    });
    let owner = Node {
        map_type: MapType::Atomic,
        properties: fields(&[
            ("apiVersion", string),
            ("blockOwnerDeletion", boolean),
            ("controller", boolean),
            ("kind", string),
            ("name", string),
            ("uid", uid),
        ]),
        presence: vec![
            Presence::Zero,
            Presence::Keep,
            Presence::Keep,
            Presence::Zero,
            Presence::Zero,
            Presence::Zero,
        ],
        required: ["apiVersion", "kind", "name", "uid"].map(Into::into).into(),
        ..Node::default()
    };
    let owner = named(schemas, Type::Object, "OwnerReference", owner);
    let owners = schemas.push(Node {
        ty: Some(Type::Array),
        items: Some(owner),
        list_type: ListType::Map(vec!["uid".into()]),
        patch: merging(Some("uid")),
        ..Node::default()
    });
    let fields_v1 = Node {
        preserve_unknown: true,
        additional: Additional::Any,
        ..Node::default()
    };
    let fields_v1 = named(schemas, Type::Object, "FieldsV1", fields_v1);
    let entry = Node {
        properties: fields(&[
            ("apiVersion", string),
            ("fieldsType", string),
            ("fieldsV1", fields_v1),
            ("manager", string),
            ("operation", string),
            ("subresource", string),
            ("time", time),
        ]),
        ..Node::default()
    };
    let entry = named(schemas, Type::Object, "ManagedFieldsEntry", entry);
    let managed_fields = schemas.push(Node {
        ty: Some(Type::Array),
        items: Some(entry),
        ..Node::default()
    });
    let meta = Node {
        properties: fields(&[
            ("annotations", strings),
            ("creationTimestamp", time),
            ("deletionGracePeriodSeconds", int64),
            ("deletionTimestamp", time),
            ("finalizers", finalizers),
            ("generateName", string),
            ("generation", int64),
            ("labels", strings),
            ("managedFields", managed_fields),
            ("name", string),
            ("namespace", string),
            ("ownerReferences", owners),
            ("resourceVersion", string),
            ("selfLink", string),
            ("uid", uid),
        ]),
        // `deletionGracePeriodSeconds` is the one field whose zero means something.
        presence: (0..15)
            .map(|at| match at {
                2 => Presence::Keep,
                _ => Presence::OmitZero,
            })
            .collect(),
        ..Node::default()
    };
    named(schemas, Type::Object, "ObjectMeta", meta)
}

/// Properties from a list that is sorted by name.
fn fields(list: &[(&str, NodeId)]) -> Vec<(Box<str>, NodeId)> {
    debug_assert!(list.is_sorted_by_key(|(name, _)| *name));
    list.iter()
        .map(|(name, id)| ((*name).into(), *id))
        .collect()
}

/// The properties of a schema, or none.
pub(super) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}
