//! Defaulting, with the treatment of nulls that goes with it.

use serde_json::Value;

use crate::schema::{Additional, SchemaRef};

/// Drops nulls where the schema allows none and has no default for them. Done to whatever is read, not to
/// what server-side apply makes.
pub fn drop_nulls(schema: SchemaRef<'_>, value: &mut Value) {
    drop_below(Some(schema), value);
}

/// The schema of a field, looking also at `additionalProperties`.
fn field<'a>(schema: Option<SchemaRef<'a>>, name: &str) -> Option<SchemaRef<'a>> {
    schema.and_then(|schema| schema.field(name))
}

fn refuses_null(schema: SchemaRef<'_>, value: &Value) -> bool {
    value.is_null() && !schema.node().nullable
}

fn drop_below(schema: Option<SchemaRef<'_>>, value: &mut Value) {
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            let inner = field(schema, name);
            let useless = inner
                .is_some_and(|inner| refuses_null(inner, value) && inner.node().default.is_none());
            if !useless {
                drop_below(inner, value);
            }
            !useless
        }),
        Value::Array(entries) => {
            let items = schema.and_then(SchemaRef::items);
            for entry in entries {
                drop_below(items, entry);
            }
        }
        _ => {}
    }
}

/// Fills in default values, also in the place of a null where the schema allows none.
pub fn default(schema: SchemaRef<'_>, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, id) in &schema.node().properties {
                let inner = schema.schemas().at(*id);
                let Some(default) = &inner.node().default else {
                    continue;
                };
                let wanted = match fields.get(&**name) {
                    None => true,
                    Some(value) => refuses_null(inner, value),
                };
                if wanted {
                    fields.insert(name.to_string(), (**default).clone());
                }
            }
            for (name, value) in fields.iter_mut() {
                if let Some(inner) = schema.property(name) {
                    default(inner, value);
                } else if let Additional::Of(id) = schema.node().additional {
                    entry(schema.schemas().at(id), value);
                }
            }
        }
        Value::Array(entries) => {
            if let Some(items) = schema.items() {
                for value in entries {
                    entry(items, value);
                }
            }
        }
        _ => {}
    }
}

/// A value of a list or a map: only a null can be defaulted there.
fn entry(schema: SchemaRef<'_>, value: &mut Value) {
    if let (true, Some(default)) = (refuses_null(schema, value), &schema.node().default) {
        *value = (**default).clone();
    }
    default(schema, value);
}
