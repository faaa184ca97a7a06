//! A schema node as ownership tracking sees it.

use serde_json::Value;

use super::object_meta::object_meta;
use crate::schema::{self, Additional, ListType, MapType, SchemaRef};

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub struct Type<'a>(Kind<'a>);

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    /// What a schema node says.
    Node {
        schema: SchemaRef<'a>,
        /// The node or one above it keeps unknown fields.
        preserve: bool,
        /// The value is a whole object: `apiVersion`, `kind` and `metadata` have their own types.
        resource: bool,
    },
    /// Nothing is known: maps field by field, lists as one unit.
    Deduced,
    /// Nothing is known and nothing below is told apart.
    Opaque,
    /// There is no such field.
    Missing,
}

/// What kinds of value a type allows, at most one of each.
#[derive(Clone, Copy)]
pub(super) struct Atom<'a> {
    pub(super) scalar: Option<Scalar>,
    pub(super) list: Option<List<'a>>,
    pub(super) map: Option<Map<'a>>,
}

/// A single value without parts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
}

#[derive(Clone, Copy)]
pub(super) struct List<'a> {
    pub(super) relation: Relation<'a>,
    pub(super) element: Type<'a>,
}

/// How the entries of a list are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation<'a> {
    /// Not at all.
    Atomic,
    /// By their value.
    Set,
    /// By these fields.
    Keyed(&'a [Box<str>]),
}

#[derive(Clone, Copy)]
pub(super) struct Map<'a> {
    fields: Option<SchemaRef<'a>>,
    preserve: bool,
    resource: bool,
    pub(super) element: Type<'a>,
    pub(super) atomic: bool,
}

/// Which of a type's kinds a value is handled as.
#[derive(Clone, Copy)]
pub(super) enum Handled<'a> {
    Map(Map<'a>),
    Scalar(Scalar),
    List(List<'a>),
    /// The schema has no type for the value.
    Nothing,
}

impl<'a> Type<'a> {
    /// The type of a whole object whose schema this is.
    pub fn of_object(schema: SchemaRef<'a>) -> Self {
        if schema.node().ty.is_none() {
            return Self::deduced();
        }
        Self(Kind::Node {
            schema,
            preserve: false,
            resource: true,
        })
    }

    /// The type of a part of an object, or of any value that has no metadata.
    pub fn of_value(schema: SchemaRef<'a>) -> Self {
        Self::below(schema, false)
    }

    /// The type of a value that no schema describes.
    pub fn deduced() -> Self {
        Self(Kind::Deduced)
    }

    /// The type of a field that does not exist.
    pub(super) fn missing() -> Self {
        Self(Kind::Missing)
    }

    fn below(schema: SchemaRef<'a>, preserve: bool) -> Self {
        // The one built-in type whose content nobody looks into.
        if schema.node().type_name.as_deref() == Some("RawExtension") {
            return Self(Kind::Opaque);
        }
        Self(Kind::Node {
            schema,
            preserve,
            resource: schema.node().embedded_resource,
        })
    }

    /// Whether there is no such field.
    pub(super) fn is_missing(self) -> bool {
        matches!(self.0, Kind::Missing)
    }

    /// Whether the type counts as unknown for the purposes of schema changes.
    pub(super) fn is_untyped(self) -> bool {
        match self.0 {
            Kind::Deduced => true,
            Kind::Node { schema, .. } => {
                schema.node().type_name.is_none() && self.atom().scalar == Some(Scalar::Untyped)
            }
            Kind::Opaque | Kind::Missing => false,
        }
    }

    pub(super) fn atom(self) -> Atom<'a> {
        match self.0 {
            Kind::Missing => Atom {
                scalar: None,
                list: None,
                map: None,
            },
            Kind::Deduced => unknown(Self(Kind::Deduced), false),
            Kind::Opaque => unknown(Self(Kind::Opaque), true),
            Kind::Node {
                schema,
                preserve,
                resource,
            } => {
                let preserve = preserve || schema.node().preserve_unknown;
                atom_of_node(schema, preserve, resource)
            }
        }
    }
}

fn unknown(element: Type<'_>, atomic: bool) -> Atom<'_> {
    Atom {
        scalar: Some(Scalar::Untyped),
        list: Some(List {
            relation: Relation::Atomic,
            element: Type(Kind::Opaque),
        }),
        map: Some(Map {
            fields: None,
            preserve: false,
            resource: false,
            element,
            atomic,
        }),
    }
}

fn atom_of_node(schema: SchemaRef<'_>, preserve: bool, resource: bool) -> Atom<'_> {
    let mut atom = Atom {
        scalar: None,
        list: None,
        map: None,
    };
    match schema.node().ty {
        None => {
            atom.scalar = Some(Scalar::Untyped);
            if !is_quantity(schema) {
                atom.list = Some(list_of_node(schema, preserve));
                atom.map = Some(map_of_node(schema, preserve, resource));
            }
        }
        Some(schema::Type::Object) => atom.map = Some(map_of_node(schema, preserve, resource)),
        Some(schema::Type::Array) => atom.list = Some(list_of_node(schema, preserve)),
        Some(schema::Type::Integer | schema::Type::Number) => atom.scalar = Some(Scalar::Numeric),
        Some(schema::Type::Boolean) => atom.scalar = Some(Scalar::Boolean),
        Some(schema::Type::String) => {
            let constraints = schema.node().constraints.as_ref();
            let format = constraints.and_then(|constraints| constraints.format.as_deref());
            atom.scalar = Some(match format {
                None | Some("" | "byte") => Scalar::String,
                Some(_) => Scalar::Untyped,
            });
        }
    }
    atom
}

/// Quantities are the one type without a JSON type that is known to be a scalar.
fn is_quantity(schema: SchemaRef<'_>) -> bool {
    schema.node().type_name.as_deref() == Some("Quantity")
}

fn list_of_node(schema: SchemaRef<'_>, preserve: bool) -> List<'_> {
    List {
        relation: match &schema.node().list_type {
            ListType::Atomic => Relation::Atomic,
            ListType::Set => Relation::Set,
            ListType::Map(keys) => Relation::Keyed(keys),
        },
        element: schema
            .items()
            .map_or(Type(Kind::Opaque), |items| Type::below(items, preserve)),
    }
}

fn map_of_node(schema: SchemaRef<'_>, preserve: bool, resource: bool) -> Map<'_> {
    let node = schema.node();
    let element = match node.additional {
        Additional::Of(id) => Type::below(schema.schemas().at(id), preserve),
        Additional::Any => Type(Kind::Deduced),
        // An object about which nothing is said may hold anything.
        Additional::None if preserve || (node.properties.is_empty() && !resource) => {
            Type(Kind::Deduced)
        }
        Additional::None => Type(Kind::Missing),
    };
    Map {
        fields: Some(schema),
        preserve,
        resource,
        element,
        atomic: node.map_type == MapType::Atomic,
    }
}

impl<'a> Map<'a> {
    /// The type of a named field.
    pub(super) fn named(&self, name: &str) -> Option<Type<'a>> {
        if self.resource {
            let meta: SchemaRef<'a> = object_meta();
            match name {
                "metadata" => return Some(Type::below(meta, false)),
                "apiVersion" | "kind" => {
                    let text = meta.property("name").expect("object metadata has a name");
                    return Some(Type::below(text, false));
                }
                _ => {}
            }
        }
        let schema = self.fields?.property(name)?;
        Some(Type::below(schema, self.preserve))
    }

    /// The type of any field: a named one, or what the map holds.
    pub(super) fn field(&self, name: &str) -> Type<'a> {
        self.named(name).unwrap_or(self.element)
    }

    /// The default of a named field.
    pub(super) fn default_of(&self, name: &str) -> Option<&'a Value> {
        self.fields?.property(name)?.node().default.as_deref()
    }

    fn has_fields(&self) -> bool {
        self.resource
            || self
                .fields
                .is_some_and(|schema| !schema.node().properties.is_empty())
    }

    /// A map without named fields whose values may be anything.
    pub(super) fn is_untyped(&self) -> bool {
        self.element.is_untyped() && !self.has_fields()
    }
}

impl List<'_> {
    pub(super) fn is_atomic(&self) -> bool {
        self.relation == Relation::Atomic
    }
}

impl<'a> Atom<'a> {
    /// Narrows the type to the kind that a value has; a null or a value of a kind that the type does not
    /// allow leaves it as it is.
    fn narrowed(self, value: Option<&Value>) -> Handled<'a> {
        match (value, self) {
            (
                Some(Value::Bool(_) | Value::Number(_) | Value::String(_)),
                Atom {
                    scalar: Some(scalar),
                    ..
                },
            ) => Handled::Scalar(scalar),
            (
                Some(Value::Array(_)),
                Atom {
                    list: Some(list), ..
                },
            ) => Handled::List(list),
            (Some(Value::Object(_)), Atom { map: Some(map), .. }) => Handled::Map(map),
            _ => self.first(),
        }
    }

    /// The kind that is tried first when the value does not decide.
    pub(super) fn first(self) -> Handled<'a> {
        match self {
            Atom { map: Some(map), .. } => Handled::Map(map),
            Atom {
                scalar: Some(scalar),
                ..
            } => Handled::Scalar(scalar),
            Atom {
                list: Some(list), ..
            } => Handled::List(list),
            _ => Handled::Nothing,
        }
    }

    /// How a value is handled.
    pub(super) fn of(self, value: &Value) -> Handled<'a> {
        self.narrowed(Some(value))
    }

    /// How two values, of which at most one is missing, are handled: together, or each in its own way.
    pub(super) fn of_pair(
        self,
        left: Option<&Value>,
        right: Option<&Value>,
    ) -> (Option<Handled<'a>>, Handled<'a>) {
        match (left, right) {
            (_, None) => (None, self.narrowed(left)),
            (None, _) => (None, self.narrowed(right)),
            (Some(l), Some(r)) if self.kind_of(l) == self.kind_of(r) => {
                (None, self.narrowed(right))
            }
            _ => (Some(self.narrowed(left)), self.narrowed(right)),
        }
    }

    /// What narrowing chooses: 0 is "undecided".
    fn kind_of(self, value: &Value) -> u8 {
        match value {
            Value::Bool(_) | Value::Number(_) | Value::String(_) if self.scalar.is_some() => 1,
            Value::Array(_) if self.list.is_some() => 2,
            Value::Object(_) if self.map.is_some() => 3,
            // With one kind to choose from, undecided and decided are the same.
            _ => match (
                self.scalar.is_some(),
                self.list.is_some(),
                self.map.is_some(),
            ) {
                (true, false, false) => 1,
                (false, true, false) => 2,
                (false, false, true) => 3,
                _ => 0,
            },
        }
    }
}
