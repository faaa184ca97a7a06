//! What can be told of a policy's expressions when the types of the objects are known. A policy works without;
//! its author learns of misspelt fields before the first request.

use quadrille_expr::{Field, ListKind, Type as ExprType, spellings};
use serde_json::Value;

use super::Environment;
use crate::schema::{Additional, ListType, NodeId, SchemaRef, Type};

/// A kind that a policy is about.
#[derive(Clone, Copy)]
pub struct Checked<'a> {
    /// Its group.
    pub group: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Its name.
    pub kind: &'a str,
    /// Its schema.
    pub schema: SchemaRef<'a>,
    /// The schema of metadata, for kinds that don't tell it.
    pub metadata: Option<SchemaRef<'a>>,
}

impl Checked<'_> {
    /// The type of such objects.
    fn ty(&self) -> ExprType {
        let mut path = Vec::new();
        object(self.schema, self.kind, self.metadata, &mut path)
    }
}

/// What is doubtful in the demands of a policy and in their messages: where, and what.
pub fn warnings(
    spec: &Value,
    kinds: &[Checked<'_>],
    params: Option<Checked<'_>>,
) -> Vec<(String, String)> {
    let params = match params {
        Some(params) => Some(params.ty()),
        None => spec["paramKind"].is_object().then_some(ExprType::Dyn),
    };
    let environments: Vec<(&Checked<'_>, Environment)> = kinds
        .iter()
        .map(|kind| (kind, environment(spec, &kind.ty(), params.as_ref())))
        .collect();
    let mut found = Vec::new();
    let demands = spec["validations"].as_array().into_iter().flatten();
    for (index, demand) in demands.enumerate() {
        for name in ["expression", "messageExpression"] {
            let text = demand[name].as_str().unwrap_or_default();
            if text.is_empty() {
                continue;
            }
            let doubts: Vec<String> = environments
                .iter()
                .filter_map(|(kind, environment)| {
                    let error = environment.check(text).err()?;
                    let Checked {
                        group,
                        version,
                        kind,
                        ..
                    } = kind;
                    Some(format!("{group}/{version}, Kind={kind}: {error}\n"))
                })
                .collect();
            if !doubts.is_empty() {
                found.push((
                    format!("spec.validations[{index}].{name}"),
                    doubts.join("\n"),
                ));
            }
        }
    }
    found
}

fn environment(spec: &Value, object: &ExprType, params: Option<&ExprType>) -> Environment {
    let mut environment = Environment::new(object, params, true).composed();
    let variables = spec["variables"].as_array().into_iter().flatten();
    for variable in variables {
        let text = |field: &str| variable[field].as_str().unwrap_or_default();
        let ty = match environment.check(text("expression")) {
            Ok(program) => program.result_type().clone(),
            Err(_) => ExprType::Dyn,
        };
        environment.add(text("name"), &ty);
    }
    environment
}

/// The type of a part; nothing where a schema contains itself.
fn part(schema: SchemaRef<'_>, name: &str, path: &mut Vec<NodeId>) -> Option<ExprType> {
    if path.contains(&schema.id()) {
        return None;
    }
    path.push(schema.id());
    let ty = of(schema, name, path);
    path.pop();
    ty
}

/// The type of a place; nothing where expressions may not look.
fn of(schema: SchemaRef<'_>, name: &str, path: &mut Vec<NodeId>) -> Option<ExprType> {
    let node = schema.node();
    if node.int_or_string {
        return Some(ExprType::Dyn);
    }
    Some(match node.ty? {
        Type::Array => {
            let items = part(schema.items()?, &format!("{name}.@idx"), path)?;
            let kind = match &node.list_type {
                ListType::Atomic => ListKind::Plain,
                ListType::Set => ListKind::Set,
                ListType::Map(keys) => {
                    ListKind::Keyed(keys.iter().map(ToString::to_string).collect())
                }
            };
            ExprType::list_of(items, kind)
        }
        Type::Object => match node.additional {
            Additional::Of(id) => {
                let values = schema.schemas().at(id);
                let values = part(values, &format!("{name}.@elem"), path)?;
                ExprType::map(ExprType::String, values)
            }
            Additional::None | Additional::Any => object(schema, name, None, path),
        },
        Type::String => {
            let format = node.constraints.as_deref();
            match format.and_then(|limits| limits.format.as_deref()) {
                Some("byte") => ExprType::Bytes,
                Some("duration") => ExprType::Duration,
                Some("date" | "date-time") => ExprType::Timestamp,
                _ => ExprType::String,
            }
        }
        Type::Boolean => ExprType::Bool,
        Type::Number => ExprType::Double,
        Type::Integer => ExprType::Int,
    })
}

fn object(
    schema: SchemaRef<'_>,
    name: &str,
    metadata: Option<SchemaRef<'_>>,
    path: &mut Vec<NodeId>,
) -> ExprType {
    let node = schema.node();
    let mut fields = Vec::new();
    for (field, id) in &node.properties {
        let place = match metadata {
            Some(metadata) if &**field == "metadata" => metadata,
            _ => schema.schemas().at(*id),
        };
        let ty = part(place, &format!("{name}.{field}"), path);
        let Some(ty) = ty else { continue };
        for key in spellings(field) {
            let (name, ty) = (field.to_string(), ty.clone());
            fields.push((key, Field { name, ty }));
        }
    }
    ExprType::object(name, fields)
}
