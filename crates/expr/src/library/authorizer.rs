//! Questions about permission. The answers come from the [`Host`](crate::Host).

use std::any::Any;

use super::{Table, declare, name_types, shapes};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    ty::Type,
    value::{Opaque, Value},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const CHECKS: Table = &[
    (
        "path",
        path,
        &[
            "authorizer_path: kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.PathCheck",
        ],
    ),
    (
        "group",
        group,
        &[
            "authorizer_group: kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.GroupCheck",
        ],
    ),
    (
        "serviceAccount",
        service_account,
        &[
            "authorizer_serviceaccount: kubernetes.authorization.Authorizer.(string, string) -> kubernetes.authorization.Authorizer",
        ],
    ),
    (
        "resource",
        resource,
        &[
            "groupcheck_resource: kubernetes.authorization.GroupCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "subresource",
        subresource,
        &[
            "resourcecheck_subresource: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "namespace",
        namespace,
        &[
            "resourcecheck_namespace: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "name",
        name,
        &[
            "resourcecheck_name: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "check",
        check,
        &[
            "pathcheck_check: kubernetes.authorization.PathCheck.(string) -> kubernetes.authorization.Decision",
            "resourcecheck_check: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.Decision",
        ],
    ),
    (
        "errored",
        errored,
        &["decision_errored: kubernetes.authorization.Decision.() -> bool"],
    ),
    (
        "error",
        error,
        &["decision_error: kubernetes.authorization.Decision.() -> string"],
    ),
    (
        "allowed",
        allowed,
        &["decision_allowed: kubernetes.authorization.Decision.() -> bool"],
    ),
    (
        "reason",
        reason,
        &["decision_reason: kubernetes.authorization.Decision.() -> string"],
    ),
];

const SELECTORS: Table = &[
    (
        "fieldSelector",
        field_selector,
        &[
            "authorizer_fieldselector: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
    (
        "labelSelector",
        label_selector,
        &[
            "authorizer_labelselector: kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck",
        ],
    ),
];

const SPACE: &str = "kubernetes.authorization";

/// May somebody do something?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Namespace and name of the service account asked about; nobody: the user of the request.
    pub service_account: Option<(String, String)>,
    /// A path that is no resource.
    pub path: Option<String>,
    /// API group of the resource.
    pub group: String,
    /// The resource.
    pub resource: String,
    /// Its subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// A field selector, as written.
    pub field_selector: String,
    /// A label selector, as written.
    pub label_selector: String,
    /// The verb.
    pub verb: String,
}

/// The host's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Whether it is allowed.
    pub allowed: bool,
    /// Why.
    pub reason: String,
    /// What went wrong while deciding.
    pub error: Option<String>,
}

/// How far a question has been put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Authorizer,
    PathCheck,
    GroupCheck,
    ResourceCheck,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Check {
    stage: Stage,
    question: Question,
}

impl Opaque for Check {
    fn type_of(&self) -> Type {
        Type::object(&format!("{SPACE}.{:?}", self.stage), [])
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Opaque for Answer {
    fn type_of(&self) -> Type {
        Type::object(&format!("{SPACE}.Decision"), [])
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Question {
    /// The value `authorizer`: a question about the user of the request.
    pub fn authorizer() -> Value<'static> {
        Value::opaque(Check {
            stage: Stage::Authorizer,
            question: Self::default(),
        })
    }

    /// The value `authorizer.requestResource`: a question about the resource of the request.
    pub fn request_resource(self) -> Value<'static> {
        Value::opaque(Check {
            stage: Stage::ResourceCheck,
            question: self,
        })
    }

    /// The type of [`Question::authorizer`].
    pub fn authorizer_type() -> Type {
        Type::object(&format!("{SPACE}.Authorizer"), [])
    }

    /// The type of [`Question::request_resource`].
    pub fn resource_check_type() -> Type {
        Type::object(&format!("{SPACE}.ResourceCheck"), [])
    }
}

pub(super) fn install(env: &mut Env) {
    declare(env, CHECKS);
    for name in [
        "Authorizer",
        "PathCheck",
        "GroupCheck",
        "ResourceCheck",
        "Decision",
    ] {
        let name = format!("{SPACE}.{name}");
        name_types(env, &[(name.as_str(), Type::object(&name, []))]);
    }
}

pub(super) fn install_selectors(env: &mut Env) {
    declare(env, SELECTORS);
}

/// The question so far and the text to add.
fn parts<'v>(call: &Call<'_>, args: &'v [Value<'_>]) -> Result<(Question, &'v str), EvalError> {
    match args {
        [check, Value::String(text)] => match check.downcast::<Check>() {
            Some(check) => Ok((check.question.clone(), text)),
            None => call.refuse(args),
        },
        _ => call.refuse(args),
    }
}

fn staged(stage: Stage, question: Question) -> Value<'static> {
    Value::opaque(Check { stage, question })
}

fn path<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (question, text) = parts(call, args)?;
    if text.trim().is_empty() {
        return Err(EvalError::new("path must not be empty"));
    }
    let question = Question {
        path: Some(text.to_owned()),
        ..question
    };
    Ok(staged(Stage::PathCheck, question))
}

fn group<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (question, text) = parts(call, args)?;
    Ok(staged(
        Stage::GroupCheck,
        Question {
            group: text.to_owned(),
            ..question
        },
    ))
}

fn service_account<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [check, Value::String(namespace), Value::String(name)] = args else {
        return call.refuse(args);
    };
    let Some(check) = check.downcast::<Check>() else {
        return call.refuse(args);
    };
    if !shapes::subdomain(name).is_empty() {
        return Err(EvalError::new("Invalid service account name"));
    }
    if !shapes::label(namespace).is_empty() {
        return Err(EvalError::new("Invalid service account namespace"));
    }
    let account = Some((namespace.to_string(), name.to_string()));
    let question = Question {
        service_account: account,
        ..check.question.clone()
    };
    Ok(staged(Stage::Authorizer, question))
}

fn resource<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (question, text) = parts(call, args)?;
    if text.trim().is_empty() {
        return Err(EvalError::new("resource must not be empty"));
    }
    Ok(staged(
        Stage::ResourceCheck,
        Question {
            resource: text.to_owned(),
            ..question
        },
    ))
}

fn subresource<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (question, text) = parts(call, args)?;
    Ok(staged(
        Stage::ResourceCheck,
        Question {
            subresource: text.to_owned(),
            ..question
        },
    ))
}

fn namespace<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (question, text) = parts(call, args)?;
    Ok(staged(
        Stage::ResourceCheck,
        Question {
            namespace: text.to_owned(),
            ..question
        },
    ))
}

fn name<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (question, text) = parts(call, args)?;
    Ok(staged(
        Stage::ResourceCheck,
        Question {
            name: text.to_owned(),
            ..question
        },
    ))
}

fn field_selector<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (question, text) = parts(call, args)?;
    Ok(staged(
        Stage::ResourceCheck,
        Question {
            field_selector: text.to_owned(),
            ..question
        },
    ))
}

fn label_selector<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (question, text) = parts(call, args)?;
    Ok(staged(
        Stage::ResourceCheck,
        Question {
            label_selector: text.to_owned(),
            ..question
        },
    ))
}

fn check<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (question, text) = parts(call, args)?;
    let question = Question {
        verb: text.to_owned(),
        ..question
    };
    match call.host {
        Some(host) => Ok(Value::opaque(host.authorize(&question))),
        None => Err(EvalError::new(
            "nobody answers questions about permission here",
        )),
    }
}

fn answer<'v>(call: &Call<'_>, args: &'v [Value<'_>]) -> Result<&'v Answer, EvalError> {
    match args.first().and_then(Value::downcast::<Answer>) {
        Some(answer) => Ok(answer),
        None => call.refuse(args),
    }
}

fn errored<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(answer(call, args)?.error.is_some()))
}

fn error<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::from(
        answer(call, args)?.error.clone().unwrap_or_default(),
    ))
}

fn allowed<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(answer(call, args)?.allowed))
}

fn reason<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::from(answer(call, args)?.reason.clone()))
}
