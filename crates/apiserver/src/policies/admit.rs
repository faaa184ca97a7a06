//! Asks every policy that a change concerns.

use std::{cell::OnceCell, sync::Arc};

use quadrille_machinery::{
    policy::{Annotation, Attributes, Decision, Judgement, Place, Question, Review},
    status::Status,
};
use quadrille_store::Revision;
use serde_json::{Map, Value, json};
use tokio::runtime::RuntimeFlavor;

use super::{
    Binding, Change, Hook,
    change::{Kind, is_for_namespace, request_value},
    host::Asking,
    params,
};
use crate::{convert, resource::Resource, rest::Request, stored};

/// The longest note of a policy that is written to the request log.
const MAX_NOTE_BYTES: usize = 10 * 1024;
/// The note that tells of a demand that is not met and only audited.
const FAILURE_NOTE: &str = "validation.policy.admission.k8s.io/validation_failure";

/// A refusal.
struct Denial {
    message: String,
    reason: Option<String>,
}

/// What one policy has said so far. The first refusal is the one that is told.
struct Verdict<'h> {
    hook: &'h Hook,
    denial: Option<Denial>,
}

impl Verdict<'_> {
    fn refuse(&mut self, binding: Option<&Binding>, message: &str, reason: Option<String>) {
        let policy = &self.hook.name;
        let with = binding.map_or_else(String::new, |binding| {
            format!(" with binding '{}'", binding.name)
        });
        self.denial.get_or_insert_with(|| Denial {
            message: format!(
                "ValidatingAdmissionPolicy '{policy}'{with} denied request: {message}"
            ),
            reason,
        });
    }

    /// A policy that can't be followed refuses, unless it says otherwise.
    fn misconfigured(&mut self, binding: Option<&Binding>, error: &str) {
        if self.hook.definition.spec["failurePolicy"] != "Ignore" {
            let what = if binding.is_some() {
                "binding"
            } else {
                "policy"
            };
            self.refuse(
                binding,
                &format!("failed to configure {what}: {error}"),
                None,
            );
        }
    }
}

/// Refuses a change that a policy denies; warns and notes where a binding asks for that.
pub(crate) fn admit(request: &Request, change: &Change<'_>) -> Result<(), Status> {
    if request.own || configures_admission(&request.resource) {
        return Ok(());
    }
    let hooks = request.shared.policies.hooks(&request.shared.store)?;
    let plural = &request.resource.plural;
    let concerned: Vec<&Hook> = hooks
        .iter()
        .filter(|hook| hook.definition.constraints.may_concern(plural))
        .collect();
    if concerned.is_empty() {
        return Ok(());
    }
    // Expressions may compute for as long as their budget lasts: nobody else should wait for that.
    let has_other_workers = tokio::runtime::Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if has_other_workers {
        tokio::task::block_in_place(|| ask_all(request, change, &concerned))
    } else {
        ask_all(request, change, &concerned)
    }
}

fn ask_all(request: &Request, change: &Change<'_>, hooks: &[&Hook]) -> Result<(), Status> {
    let admission = Admission::new(request, change)?;
    let mut denial = None;
    for hook in hooks {
        // The first refusal is told; the others may still warn and note.
        let denied = admission.ask(hook);
        denial = denial.or(denied);
    }
    match denial {
        None => Ok(()),
        Some(denial) => Err(refusal(request, change, &denial)),
    }
}

/// Policies don't judge policies: a wrong one could never be mended.
fn configures_admission(resource: &Resource) -> bool {
    resource.is_built_in() && resource.group == "admissionregistration.k8s.io"
}

fn refusal(request: &Request, change: &Change<'_>, denial: &Denial) -> Status {
    let resource = &request.resource;
    let name = match change.name(request) {
        "" => "Unknown",
        name => name,
    };
    let mut status = Status::forbidden(&resource.group, &resource.plural, name, &denial.message);
    (status.code, status.reason) = match denial.reason.as_deref() {
        Some("Forbidden") => (403, "Forbidden"),
        Some("RequestEntityTooLarge") => (413, "RequestEntityTooLarge"),
        _ => (422, "Invalid"),
    };
    status.details["causes"] = json!([{ "message": denial.message }]);
    status
}

/// One change, looked at by policy after policy.
struct Admission<'a> {
    request: &'a Request,
    change: &'a Change<'a>,
    /// The namespace that it is in; null at the cluster's scope.
    namespace: Value,
    /// The resource of the request in its other versions.
    others: Vec<Arc<Resource>>,
}

impl<'a> Admission<'a> {
    fn new(request: &'a Request, change: &'a Change<'a>) -> Result<Self, Status> {
        let catalog = request.shared.catalog.snapshot();
        let own = &request.resource;
        let others = catalog
            .resources()
            .iter()
            .filter(|other| other.storage == own.storage)
            .filter(|other| other.api_version() != own.api_version());
        Ok(Self {
            namespace: namespace(request, change)?,
            others: others.cloned().collect(),
            request,
            change,
        })
    }

    /// What a policy and its bindings say.
    fn ask(&self, hook: &Hook) -> Option<Denial> {
        let definition = &hook.definition;
        let others: Vec<Place<'_>> = self.others.iter().map(|other| place(other)).collect();
        let about = self.attributes(&others);
        let mut verdict = Verdict { hook, denial: None };
        let matched = match definition.constraints.matched(&about) {
            Ok(None) => return None,
            Ok(Some(matched)) => Ok(matched),
            Err(error) => Err(error.to_string()),
        };
        let source = |matched| Ok((matched, params::resource(&self.request.shared, definition)?));
        let (matched, source) = match matched.and_then(source) {
            Ok(found) => found,
            Err(error) => {
                verdict.misconfigured(None, &error);
                return verdict.denial;
            }
        };
        let view = OnceCell::new();
        let mut notes = Notes::default();
        for binding in &hook.bindings {
            let params = self.params(binding, source.as_ref(), &about);
            if params.as_ref().is_ok_and(Vec::is_empty) {
                continue;
            }
            // Objects are converted once, and only for a policy that judges.
            let view = || {
                view.get_or_init(|| View::new(self, &matched))
                    .as_ref()
                    .map_err(|status| format!("failed to convert object version: {status}"))
            };
            match params.and_then(|params| Ok((params, view()?))) {
                Err(error) => verdict.misconfigured(Some(binding), &error),
                Ok((params, view)) => {
                    for params in &params {
                        let judgement = self.judge(hook, view, &matched, params);
                        self.follow(judgement, binding, &mut verdict, &mut notes);
                    }
                }
            }
        }
        notes.publish(&hook.name, self.request);
        verdict.denial
    }

    /// The parameters to judge with; none where a binding is not about the change.
    fn params(
        &self,
        binding: &Binding,
        source: Option<&Arc<Resource>>,
        about: &Attributes<'_>,
    ) -> Result<Vec<Value>, String> {
        if let Some(criteria) = &binding.resources {
            let matched = criteria.matched(about).map_err(|error| error.to_string())?;
            if matched.is_none() {
                return Ok(Vec::new());
            }
        }
        params::collect(&self.request.shared, source, binding, about.namespace)
    }

    /// Does what a binding wants done about a judgement.
    fn follow(
        &self,
        judgement: Judgement,
        binding: &Binding,
        verdict: &mut Verdict<'_>,
        notes: &mut Notes,
    ) {
        for (index, decision) in judgement.decisions.into_iter().enumerate() {
            if let Decision::Deny { message, reason } = decision
                && self.acts(verdict.hook, binding, index, &message)
            {
                verdict.refuse(Some(binding), &message, reason);
            }
        }
        for annotation in judgement.annotations {
            match annotation {
                Annotation::Publish { key, value } => notes.add(key, &value),
                Annotation::Failed(error) => verdict.refuse(Some(binding), &error, None),
            }
        }
    }

    fn attributes<'b>(&'b self, others: &'b [Place<'b>]) -> Attributes<'b> {
        Attributes {
            place: place(&self.request.resource),
            equivalents: others,
            subresource: self.request.subresource(),
            namespace: self.change.namespace(self.request),
            name: self.change.name(self.request),
            operation: self.change.operation.name(),
            object: self.change.object,
            old: self.change.old,
            namespace_labels: self.namespace["metadata"]["labels"].as_object(),
        }
    }

    fn judge(&self, hook: &Hook, view: &View, matched: &Place<'_>, params: &Value) -> Judgement {
        let request = self.request;
        let host = Asking {
            user: &request.user,
            authorizer: &*request.shared.authorizer,
        };
        let resource = Question {
            group: request.resource.group.clone(),
            resource: request.resource.plural.clone(),
            subresource: request.subresource().to_owned(),
            namespace: self.change.namespace(request).to_owned(),
            name: self.change.name(request).to_owned(),
            ..Question::default()
        };
        hook.definition.policy.judge(&Review {
            object: view.object.as_ref().unwrap_or(self.change.object),
            old: view.old.as_ref().unwrap_or(self.change.old),
            request: &request_value(request, self.change, &view.kind, matched),
            request_as_sent: &request_value(
                request,
                self.change,
                &view.kind,
                &place(&request.resource),
            ),
            // A namespace is not inside of itself.
            namespace: if is_for_namespace(request) {
                &Value::Null
            } else {
                &self.namespace
            },
            params,
            resource: &resource,
            host: &host,
        })
    }

    /// Does what a binding wants done about a demand that is not met; true if the request is to be refused.
    fn acts(&self, hook: &Hook, binding: &Binding, index: usize, message: &str) -> bool {
        let actions = &binding.spec["validationActions"];
        let mut refused = false;
        for action in actions.as_array().into_iter().flatten() {
            match action.as_str() {
                Some("Deny") => refused = true,
                Some("Warn") => self.request.warn(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {message}",
                    hook.name, binding.name
                )),
                Some("Audit") => {
                    let note = json!([{
                        "message": message,
                        "policy": hook.name,
                        "binding": binding.name,
                        "expressionIndex": index,
                        "validationActions": actions,
                    }]);
                    self.request.note(FAILURE_NOTE.to_owned(), note.to_string());
                }
                _ => {}
            }
        }
        refused
    }
}

fn place(resource: &Resource) -> Place<'_> {
    Place {
        group: &resource.group,
        version: &resource.version,
        resource: &resource.plural,
    }
}

/// The objects of a change in the version that a policy asks for; `None` where that is the request's own.
struct View {
    object: Option<Value>,
    old: Option<Value>,
    kind: Kind,
}

impl View {
    fn new(admission: &Admission<'_>, matched: &Place<'_>) -> Result<Self, Status> {
        let own = &admission.request.resource;
        let change = admission.change;
        let other = admission
            .others
            .iter()
            .find(|other| place(other) == *matched);
        // Subresources that speak a kind of their own look the same in every version.
        let kind = change.kind(admission.request);
        let Some(other) = other.filter(|_| kind.name == own.kind) else {
            return Ok(Self {
                object: None,
                old: None,
                kind,
            });
        };
        let converted = |object: &Value| -> Result<Option<Value>, Status> {
            if object.is_null() {
                return Ok(None);
            }
            let stored = convert::to_storage(own, object.clone())?;
            convert::from_storage(other, stored, Revision(u64::MAX)).map(Some)
        };
        Ok(Self {
            object: converted(change.object)?,
            old: converted(change.old)?,
            kind: Kind {
                group: other.group.clone(),
                version: other.version.clone(),
                name: other.kind.clone(),
            },
        })
    }
}

/// The namespace that a request is in, without who owns its fields; null at the cluster's scope.
fn namespace(request: &Request, change: &Change<'_>) -> Result<Value, Status> {
    let name = change.namespace(request);
    if name.is_empty() {
        return Ok(Value::Null);
    }
    let resource = request.shared.resource("", "v1", "namespaces")?;
    let key = stored::key(&resource, None, name);
    let Some(record) = request.shared.store.get(&key).map_err(Status::internal)? else {
        return Ok(Value::Null);
    };
    let object = stored::decode_record(&resource, &record)?;
    let shown = [
        "name",
        "generateName",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "finalizers",
    ];
    let metadata: Map<String, Value> = shown
        .iter()
        .filter_map(|field| Some(((*field).to_owned(), object["metadata"].get(*field)?.clone())))
        .collect();
    Ok(json!({
        "metadata": metadata,
        "spec": object["spec"],
        "status": object["status"],
    }))
}

/// Notes of one policy: several bindings may say different things under one key.
#[derive(Default)]
struct Notes(Vec<(String, Vec<String>)>);

impl Notes {
    fn add(&mut self, key: String, value: &str) {
        let mut end = value.len().min(MAX_NOTE_BYTES);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        let value = value[..end].to_owned();
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => self.0.push((key, vec![value])),
        }
    }

    fn publish(self, policy: &str, request: &Request) {
        for (key, values) in self.0 {
            request.note(format!("{policy}/{key}"), values.join(", "));
        }
    }
}
