//! What the schema says about a field.

use super::error::{Refusal, Result};
use crate::{
    go_text,
    schema::{Additional, SchemaRef, Type},
};

/// How a field merges.
pub(super) struct Strategy<'a> {
    /// By its entries, or field by field.
    pub(super) merge: bool,
    /// Not at all.
    pub(super) replace: bool,
    /// What identifies an entry.
    pub(super) key: Option<&'a str>,
}

/// A field that holds an object.
pub(super) fn struct_field<'a>(
    schema: SchemaRef<'a>,
    name: &str,
) -> Result<(SchemaRef<'a>, Strategy<'a>)> {
    let node = schema.node();
    if !matches!(node.additional, Additional::None | Additional::Any)
        || node.ty == Some(Type::Array)
    {
        let kind = if node.ty == Some(Type::Array) {
            "slice"
        } else {
            "map"
        };
        return Err(Refusal::Late(format!(
            "merging an object in json but data type is not struct, instead is: {kind}"
        )));
    }
    let Some(field) = schema.property(name) else {
        let owner = node.type_name.as_deref().unwrap_or_default();
        let owner = owner.rsplit('.').next().unwrap_or_default();
        return Err(Refusal::Late(format!(
            "unable to find api field in struct {owner} for the json field {}",
            go_text::quote(name)
        )));
    };
    let patch = field.node().patch.as_deref();
    let strategy = Strategy {
        merge: patch.is_some_and(|patch| patch.merge),
        replace: patch.is_some_and(|patch| patch.replace),
        key: patch.and_then(|patch| patch.merge_key.as_deref()),
    };
    Ok((field, strategy))
}

/// A field that holds a list: the schema of its entries.
pub(super) fn list_field<'a>(
    schema: SchemaRef<'a>,
    name: &str,
) -> Result<(SchemaRef<'a>, Strategy<'a>)> {
    let (field, strategy) = struct_field(schema, name)?;
    let Some(entries) = field.items() else {
        return Err(Refusal::Late(
            "expected slice or array type, but got: struct".to_owned(),
        ));
    };
    if entries.node().ty == Some(Type::Array) {
        return Err(Refusal::Late("unexpected slice of slice".to_owned()));
    }
    Ok((entries, strategy))
}
