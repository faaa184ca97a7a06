//! The type of a value: one model for built-in kinds and for custom resources.
//!
//! Schemas live in an arena, so that recursive types (`JSONSchemaProps`) need no special case and a large
//! set of definitions stays compact. A [`SchemaRef`] is a cheap, copyable handle to one node.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use serde_json::Value;

/// An index into a [`Schemas`] arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// The JSON type that a node demands. `None` on a node means "anything".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A JSON object: a struct (`properties`) or a map (`additional`).
    Object,
    /// A JSON array.
    Array,
    /// A string.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
}

/// How a list merges.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum ListType {
    /// Replaced as a whole.
    #[default]
    Atomic,
    /// Scalars, each its own key.
    Set,
    /// Objects, identified by these fields.
    Map(Vec<Box<str>>),
}

/// How an object merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MapType {
    /// Field by field.
    #[default]
    Granular,
    /// Replaced as a whole.
    Atomic,
}

/// What values other than the named properties an object may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Additional {
    /// None: unknown fields are pruned or refused.
    #[default]
    None,
    /// Any value.
    Any,
    /// Values of this type: the object is a map.
    Of(NodeId),
}

/// `patchStrategy` of a strategic merge patch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PatchStrategy {
    /// `merge` is among the strategies.
    pub merge: bool,
    /// `retainKeys` is among the strategies.
    pub retain_keys: bool,
    /// `replace` is among the strategies.
    pub replace: bool,
    /// The key that identifies a list entry.
    pub merge_key: Option<Box<str>>,
}

/// One `x-kubernetes-validations` rule, as written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rule {
    /// The CEL expression.
    pub rule: String,
    /// A fixed message.
    pub message: Option<String>,
    /// A CEL expression that gives the message.
    pub message_expression: Option<String>,
    /// The cause's reason (`FieldValueInvalid` …).
    pub reason: Option<String>,
    /// Where to report the error, relative to the node.
    pub field_path: Option<String>,
    /// Whether a transition rule also runs when there is no old value.
    pub optional_old_self: Option<bool>,
}

/// Value constraints; boxed, since most nodes have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    /// Allowed values.
    pub enum_values: Vec<Value>,
    /// `format`.
    pub format: Option<Box<str>>,
    /// Regular expression of a string.
    pub pattern: Option<Box<str>>,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: bool,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: bool,
    /// `multipleOf`.
    pub multiple_of: Option<f64>,
    /// `minLength`.
    pub min_length: Option<i64>,
    /// `maxLength`.
    pub max_length: Option<i64>,
    /// `minItems`.
    pub min_items: Option<i64>,
    /// `maxItems`.
    pub max_items: Option<i64>,
    /// `uniqueItems`.
    pub unique_items: bool,
    /// `minProperties`.
    pub min_properties: Option<i64>,
    /// `maxProperties`.
    pub max_properties: Option<i64>,
    /// `allOf`.
    pub all_of: Vec<NodeId>,
    /// `anyOf`.
    pub any_of: Vec<NodeId>,
    /// `oneOf`.
    pub one_of: Vec<NodeId>,
    /// `not`.
    pub not: Option<NodeId>,
    /// `x-kubernetes-validations`.
    pub rules: Vec<Rule>,
}

/// How Go's encoder treats a field of a built-in type that is empty or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Presence {
    /// Left out when empty (`""`, `0`, `false`, no entries).
    #[default]
    OmitZero,
    /// Left out when missing; an explicit zero is kept (a pointer in Go).
    Keep,
    /// Always shown; an empty struct is `{}` with its own always shown fields.
    Struct,
    /// Always shown; `null` when missing or without entries.
    Null,
    /// Always shown; the type's zero when missing.
    Zero,
}

/// One node of a schema.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a keyword of its own"
)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// The demanded JSON type; `None` is anything.
    pub ty: Option<Type>,
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `nullable`.
    pub nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`.
    pub preserve_unknown: bool,
    /// `x-kubernetes-embedded-resource`.
    pub embedded_resource: bool,
    /// The Go type's short name (`DeploymentSpec`) of a built-in type: real servers name it in decode errors.
    pub type_name: Option<Box<str>>,
    /// The Go type as decode errors name it (`v1.DeploymentSpec`, `v1.Protocol`), for built-in types only.
    pub go_type: Option<Box<str>>,
    /// Named fields, sorted by name.
    pub properties: Vec<(Box<str>, NodeId)>,
    /// How each of `properties` is encoded; empty for custom resources, whose fields are kept as they are.
    pub presence: Vec<Presence>,
    /// Fields beyond the named ones.
    pub additional: Additional,
    /// Names of required fields.
    pub required: Vec<Box<str>>,
    /// The entries of an array.
    pub items: Option<NodeId>,
    /// How a list merges.
    pub list_type: ListType,
    /// How an object merges.
    pub map_type: MapType,
    /// Strategic merge behaviour of this field.
    pub patch: Option<Box<PatchStrategy>>,
    /// The default value.
    pub default: Option<Box<Value>>,
    /// Human words; built-in data carries none.
    pub description: Option<Box<str>>,
    /// Value constraints.
    pub constraints: Option<Box<Constraints>>,
}

impl Node {
    /// Whether an empty list in a field is something else than none: it gets no default, and is refused for
    /// being empty.
    pub fn keeps_empty(&self, field: &str) -> bool {
        self.type_name.as_deref() == Some("HPAScalingRules") && field == "policies"
    }
}

/// An arena of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schemas {
    nodes: Vec<Node>,
}

impl Schemas {
    /// Adds a node and gives its id.
    pub fn push(&mut self, node: Node) -> NodeId {
        let id = u32::try_from(self.nodes.len()).expect("fewer than 2^32 schema nodes");
        self.nodes.push(node);
        NodeId(id)
    }

    /// Replaces a node that was pushed earlier: the way to close a recursive type.
    pub fn set(&mut self, id: NodeId, node: Node) {
        self.nodes[id.0 as usize] = node;
    }

    /// The node behind an id of this arena.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// A handle to one node.
    pub fn at(&self, id: NodeId) -> SchemaRef<'_> {
        SchemaRef { schemas: self, id }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// A handle to one node of an arena.
#[derive(Clone, Copy, Debug)]
pub struct SchemaRef<'a> {
    schemas: &'a Schemas,
    id: NodeId,
}

impl<'a> SchemaRef<'a> {
    /// The node itself.
    pub fn node(self) -> &'a Node {
        self.schemas.node(self.id)
    }

    /// The node's id in its arena.
    pub fn id(self) -> NodeId {
        self.id
    }

    /// The arena that the node lives in.
    pub fn schemas(self) -> &'a Schemas {
        self.schemas
    }

    /// The schema of a named property, not looking at `additional`.
    pub fn property(self, name: &str) -> Option<Self> {
        let properties = &self.node().properties;
        let at = properties
            .binary_search_by(|(field, _)| field.as_ref().cmp(name))
            .ok()?;
        Some(self.schemas.at(properties[at].1))
    }

    /// The schema of a field: a named property, or the map's value type.
    pub fn field(self, name: &str) -> Option<Self> {
        self.property(name)
            .or_else(|| match self.node().additional {
                Additional::Of(id) => Some(self.schemas.at(id)),
                Additional::None | Additional::Any => None,
            })
    }

    /// The schema of a list's entries.
    pub fn items(self) -> Option<Self> {
        self.node().items.map(|id| self.schemas.at(id))
    }
}

/// A schema together with the arena that keeps it alive: what a resource holds.
#[derive(Clone)]
pub struct Schema(Kept);

#[derive(Clone)]
enum Kept {
    Ready(Arc<Schemas>, NodeId),
    /// Made when it is first looked at.
    Later(Arc<LazyLock<Schema, Box<dyn FnOnce() -> Schema + Send>>>),
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Schema").finish_non_exhaustive()
    }
}

impl Schema {
    /// A schema rooted at `root`.
    pub fn new(schemas: Arc<Schemas>, root: NodeId) -> Self {
        Self(Kept::Ready(schemas, root))
    }

    /// The schema of a value that may be anything: what a custom resource without a schema has.
    pub fn anything() -> Self {
        let mut schemas = Schemas::default();
        let root = schemas.push(Node {
            preserve_unknown: true,
            ..Node::default()
        });
        Self::new(Arc::new(schemas), root)
    }

    /// A schema that is made when somebody first looks at it.
    pub fn later(make: impl FnOnce() -> Self + Send + 'static) -> Self {
        Self(Kept::Later(Arc::new(LazyLock::new(Box::new(make)))))
    }

    /// The root node.
    pub fn root(&self) -> SchemaRef<'_> {
        match &self.0 {
            Kept::Ready(schemas, root) => schemas.at(*root),
            Kept::Later(schema) => schema.root(),
        }
    }
}
