//! From the data file's definitions to one arena of schema nodes.

use serde_json::Value;

use super::data::Shape;
use crate::schema::{
    Additional, Constraints, ListType, MapType, Node, NodeId, PatchStrategy, Presence, Schemas,
    Type,
};

/// Objects whose Go type keeps any content, though their schema names no field.
const OPAQUE: [&str; 3] = ["FieldsV1", "RawExtension", "Patch"];

/// The arena, and the node of each definition.
pub(super) fn build(definitions: &[Shape]) -> (Schemas, Vec<NodeId>) {
    let mut builder = Builder {
        schemas: Schemas::default(),
        definitions: Vec::with_capacity(definitions.len()),
        refined: Vec::new(),
    };
    for _ in definitions {
        let id = builder.schemas.push(Node::default());
        builder.definitions.push(id);
    }
    for (at, definition) in definitions.iter().enumerate() {
        let mut node = builder.inline(definition);
        let type_name = definition.name.rsplit('.').next().unwrap_or_default();
        node.int_or_string = type_name == "IntOrString";
        let shapeless = node.properties.is_empty()
            && node.additional == Additional::None
            && !node.int_or_string;
        if shapeless && (node.ty.is_none() || OPAQUE.contains(&type_name)) {
            // A quantity is a string or a number, never a tree.
            node.preserve_unknown = type_name != "Quantity";
            if node.ty == Some(Type::Object) {
                node.additional = Additional::Any;
            }
        }
        node.type_name = Some(type_name.into());
        node.go_type = Some(go_type(&definition.name).into());
        builder.schemas.set(builder.definitions[at], node);
    }
    // A field that refers to a definition and says more about itself is a changed copy of it.
    for (id, definition, extra) in std::mem::take(&mut builder.refined) {
        let mut node = builder.schemas.node(definition).clone();
        refine(&mut node, extra);
        builder.schemas.set(id, node);
    }
    (builder.schemas, builder.definitions)
}

struct Builder<'a> {
    schemas: Schemas,
    definitions: Vec<NodeId>,
    refined: Vec<(NodeId, NodeId, &'a Shape)>,
}

impl<'a> Builder<'a> {
    /// The node id of a field, an entry or a map value.
    fn place(&mut self, shape: &'a Shape) -> NodeId {
        let Some(number) = shape.reference else {
            let node = self.inline(shape);
            return self.schemas.push(node);
        };
        let definition = self.definitions[number];
        let plain_default = shape.default.as_ref().is_none_or(is_empty_object);
        if plain_default && shape.patch_strategy.is_none() && shape.atomic_map.is_none() {
            return definition;
        }
        let id = self.schemas.push(Node::default());
        self.refined.push((id, definition, shape));
        id
    }

    fn inline(&mut self, shape: &'a Shape) -> Node {
        let mut properties = Vec::with_capacity(shape.properties.len());
        let mut presences = Vec::with_capacity(shape.properties.len());
        for (name, field) in &shape.properties {
            properties.push((name.clone(), self.place(field)));
            presences.push(presence(field));
        }
        let additional = match &shape.additional {
            Some(values) => Additional::Of(self.place(values)),
            None => Additional::None,
        };
        let items = shape.items.as_ref().map(|items| self.place(items));
        let mut node = Node {
            ty: shape.ty.and_then(json_type),
            go_type: shape.go_type.clone(),
            properties,
            presence: presences,
            additional,
            required: shape.required.clone(),
            items,
            list_type: list_type(shape),
            ..Node::default()
        };
        if shape.format.is_some() || !shape.enum_values.is_empty() {
            node.constraints = Some(Box::new(Constraints {
                format: shape.format.clone(),
                enum_values: shape.enum_values.clone(),
                ..Constraints::default()
            }));
        }
        refine(&mut node, shape);
        node
    }
}

/// What a field may say about itself besides its type.
fn refine(node: &mut Node, shape: &Shape) {
    if let Some(default) = &shape.default {
        node.default = Some(Box::new(default.clone()));
    }
    if let Some(atomic) = shape.atomic_map {
        node.map_type = if atomic {
            MapType::Atomic
        } else {
            MapType::Granular
        };
    }
    if let Some(strategies) = &shape.patch_strategy {
        let has = |name| strategies.split(',').any(|strategy| strategy == name);
        node.patch = Some(Box::new(PatchStrategy {
            merge: has("merge"),
            retain_keys: has("retainKeys"),
            replace: has("replace"),
            merge_key: shape.merge_key.clone(),
        }));
    }
}

/// A reference without a mark is a pointer in Go: there is no empty value to leave out.
fn presence(field: &Shape) -> Presence {
    match field.presence {
        Some('k') => Presence::Keep,
        Some('s') => Presence::Struct,
        Some('n') => Presence::Null,
        Some('v') => Presence::Zero,
        _ if field.reference.is_some() => Presence::Keep,
        _ => Presence::OmitZero,
    }
}

/// The last two segments of a definition's name: Go's package name and the type.
fn go_type(definition: &str) -> &str {
    let start = definition.rmatch_indices('.').nth(1);
    start.map_or(definition, |(at, _)| &definition[at + 1..])
}

fn list_type(shape: &Shape) -> ListType {
    match shape.list_type {
        Some('m') => ListType::Map(shape.list_map_keys.clone()),
        Some('s') => ListType::Set,
        _ => ListType::Atomic,
    }
}

fn json_type(initial: char) -> Option<Type> {
    Some(match initial {
        'o' => Type::Object,
        'a' => Type::Array,
        's' => Type::String,
        'i' => Type::Integer,
        'n' => Type::Number,
        'b' => Type::Boolean,
        _ => return None,
    })
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}
