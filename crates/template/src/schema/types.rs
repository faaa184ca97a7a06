//! Schemas as types of expressions.

use quadrille_expr::{Field, Type};
use quadrille_machinery::schema::{Additional, NodeId, SchemaRef, Type as JsonType};

/// The type of values of a schema; `name` is how expressions reach them. What a schema leaves open
/// may be anything.
pub(crate) fn type_of(schema: SchemaRef<'_>, name: &str) -> Type {
    let node = schema.node();
    if node.int_or_string {
        return Type::Dyn;
    }
    match node.ty {
        None => Type::Dyn,
        Some(JsonType::String) => Type::String,
        Some(JsonType::Integer) => Type::Int,
        Some(JsonType::Number) => Type::Double,
        Some(JsonType::Boolean) => Type::Bool,
        Some(JsonType::Array) => Type::list(match schema.items() {
            // A null among the items has no type of its own.
            Some(items) if !items.node().nullable => type_of(items, &format!("{name}[]")),
            _ => Type::Dyn,
        }),
        Some(JsonType::Object) => object(schema, name),
    }
}

fn object(schema: SchemaRef<'_>, name: &str) -> Type {
    let node = schema.node();
    if node.properties.is_empty() {
        return match node.additional {
            Additional::Of(id) => {
                let values = schema.schemas().at(id);
                Type::map(Type::String, type_of(values, &format!("{name}[]")))
            }
            // `type: object` and no more: any object.
            Additional::Any | Additional::None => Type::map(Type::String, Type::Dyn),
        };
    }
    let open = node.preserve_unknown || node.additional != Additional::None;
    if open || alternatives_add(schema) {
        return Type::Dyn;
    }
    let fields = node.properties.iter().map(|(field, id)| {
        let ty = type_of(schema.schemas().at(*id), &format!("{name}.{field}"));
        let name = field.to_string();
        (name.clone(), Field { name, ty })
    });
    // No expression can write this name, so that it is never taken for a variable.
    Type::object(&format!("object({name})"), fields)
}

/// Whether an alternative (`anyOf` and its kin) describes fields that the schema itself does not.
pub(super) fn alternatives_add(schema: SchemaRef<'_>) -> bool {
    let Some(constraints) = &schema.node().constraints else {
        return false;
    };
    let known = &schema.node().properties;
    let adds = |id: &NodeId| {
        let alternative = schema.schemas().at(*id);
        let described = &alternative.node().properties;
        described
            .iter()
            .any(|(name, _)| !known.iter().any(|(field, _)| field == name))
            || alternatives_add(alternative)
    };
    [
        &constraints.all_of,
        &constraints.any_of,
        &constraints.one_of,
    ]
    .into_iter()
    .flatten()
    .any(adds)
}
