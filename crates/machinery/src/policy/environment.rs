//! What the expressions of a policy may name, and of which types that is.

use quadrille_expr::{CompileError, Env, Field, Program, Question, Type};

/// What a variable is called, and what its value is like.
type Variables = Vec<(String, Type)>;

/// The names that expressions of one policy share. Variables are added one by one: each sees those before it.
#[derive(Clone)]
pub(crate) struct Environment {
    base: Env,
    variables: Variables,
}

/// Why an expression is no good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// The author's.
    Invalid(String),
    /// It can't be made to run.
    Internal(String),
}

impl Mistake {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Invalid(text) | Self::Internal(text) => text,
        }
    }
}

impl Environment {
    /// For objects of a type; parameters have one where the policy has parameters at all.
    pub(crate) fn new(object: &Type, params: Option<&Type>, authorizer: bool) -> Self {
        let mut base = Env::kubernetes()
            .variable("object", object.clone())
            .variable("oldObject", object.clone())
            .variable("namespaceObject", namespace_type())
            .variable("request", request_type());
        if let Some(params) = params {
            base = base.variable("params", params.clone());
        }
        if authorizer {
            base = base
                .variable("authorizer", Question::authorizer_type())
                .variable(
                    "authorizer.requestResource",
                    Question::resource_check_type(),
                );
        }
        Self {
            base,
            variables: Vec::new(),
        }
    }

    /// With `variables`, none so far.
    pub(crate) fn composed(mut self) -> Self {
        self.declare_variables();
        self
    }

    /// Adds a variable for the expressions that follow.
    pub(crate) fn add(&mut self, name: &str, ty: &Type) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), plain(ty)));
        self.declare_variables();
    }

    fn declare_variables(&mut self) {
        let fields = self
            .variables
            .iter()
            .map(|(name, ty)| field(name, ty.clone()));
        let ty = Type::object("kubernetes.variables", fields);
        self.base = self.base.clone().variable("variables", ty);
    }

    /// Checks an expression without asking what it gives.
    pub(crate) fn check(&self, text: &str) -> Result<Program, CompileError> {
        self.base.compile(text)
    }

    /// Compiles an expression that must give one of some types.
    pub(crate) fn compile(&self, text: &str, wanted: &[Type]) -> Result<Program, Mistake> {
        let program = self.check(text).map_err(|error| {
            if error.is_instantiation() {
                Mistake::Internal(format!("program instantiation failed: {error}"))
            } else {
                Mistake::Invalid(format!("compilation failed: {error}"))
            }
        })?;
        let given = program.result_type();
        if wanted.is_empty() || wanted.contains(given) {
            return Ok(program);
        }
        Err(Mistake::Invalid(match wanted {
            [one] => format!("must evaluate to {} but got {}", shown(one), shown(given)),
            several => {
                let names: Vec<String> = several.iter().map(shown).collect();
                let names = names.join(" ");
                format!("must evaluate to one of [{names}] but got {}", shown(given))
            }
        }))
    }
}

/// How real servers write a type where they don't speak of expressions.
fn shown(ty: &Type) -> String {
    match ty {
        Type::Null => "null_type".to_owned(),
        Type::Timestamp => "google.protobuf.Timestamp".to_owned(),
        Type::Duration => "google.protobuf.Duration".to_owned(),
        Type::List(list) => format!("list({})", shown(&list.element)),
        Type::Map(map) => format!("map({}, {})", shown(&map.key), shown(&map.value)),
        other => other.to_string(),
    }
}

/// What a variable's type looks like to others: objects lose theirs.
fn plain(ty: &Type) -> Type {
    match ty {
        Type::List(list) => Type::list(plain(&list.element)),
        Type::Map(map) => Type::map(plain(&map.key), plain(&map.value)),
        Type::Null
        | Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::String
        | Type::Bytes
        | Type::Timestamp
        | Type::Duration => ty.clone(),
        _ => Type::Dyn,
    }
}

fn field(name: &str, ty: Type) -> (String, Field) {
    let field = Field {
        name: name.to_owned(),
        ty,
    };
    (name.to_owned(), field)
}

fn texts(names: &[&str]) -> impl Iterator<Item = (String, Field)> {
    names.iter().map(|name| field(name, Type::String))
}

/// `request`: who wants what.
fn request_type() -> Type {
    let kind = Type::object(
        "kubernetes.GroupVersionKind",
        texts(&["group", "version", "kind"]),
    );
    let resource = Type::object(
        "kubernetes.GroupVersionResource",
        texts(&["group", "version", "resource"]),
    );
    let list = || Type::list(Type::String);
    let user = Type::object(
        "kubernetes.UserInfo",
        texts(&["username", "uid"]).chain([
            field("groups", list()),
            field("extra", Type::map(Type::String, list())),
        ]),
    );
    Type::object(
        "kubernetes.AdmissionRequest",
        texts(&[
            "subResource",
            "requestSubResource",
            "name",
            "namespace",
            "operation",
        ])
        .chain([
            field("kind", kind.clone()),
            field("resource", resource.clone()),
            field("requestKind", kind),
            field("requestResource", resource),
            field("userInfo", user),
            field("dryRun", Type::Bool),
            field("options", Type::Dyn),
        ]),
    )
}

/// `namespaceObject`: the namespace of the request, without who owns its fields.
fn namespace_type() -> Type {
    let list = || Type::list(Type::String);
    let map = || Type::map(Type::String, Type::String);
    let spec = Type::object("kubernetes.NamespaceSpec", [field("finalizers", list())]);
    let condition = Type::object(
        "kubernetes.NamespaceCondition",
        texts(&["status", "type", "message", "reason"])
            .chain([field("lastTransitionTime", Type::Timestamp)]),
    );
    let status = Type::object(
        "kubernetes.NamespaceStatus",
        [
            field("conditions", Type::list(condition)),
            field("phase", Type::String),
        ],
    );
    let metadata = Type::object(
        "kubernetes.NamespaceMetadata",
        texts(&[
            "name",
            "generateName",
            "namespace",
            "UID",
            "resourceVersion",
        ])
        .chain([
            field("labels", map()),
            field("annotations", map()),
            field("creationTimestamp", Type::Timestamp),
            field("deletionGracePeriodSeconds", Type::Int),
            field("deletionTimestamp", Type::Timestamp),
            field("generation", Type::Int),
            field("finalizers", list()),
        ]),
    );
    Type::object(
        "kubernetes.Namespace",
        [
            field("metadata", metadata),
            field("spec", spec),
            field("status", status),
        ],
    )
}
