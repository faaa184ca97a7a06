//! Nobody gives away more than they have: what those who write roles and bindings must be allowed.

use quadrille_machinery::{
    rbac::{self, RoleRef, Rule},
    status::Status,
};
use serde_json::Value;

use crate::{
    auth::{Attributes, Authorizer, Decision, MASTERS, rbac::asker},
    rest::Request,
};

/// What the garbage collector changes, which gives nothing to anybody.
const HOUSEKEEPING: [&str; 4] = ["ownerReferences", "finalizers", "selfLink", "managedFields"];

/// Checks a role or binding that is about to be written; everything else may pass.
pub(crate) fn check(request: &Request, new: &Value, old: Option<&Value>) -> Result<(), Status> {
    let resource = &request.resource;
    let is_about_access = resource.is_built_in() && resource.group == rbac::GROUP;
    if !is_about_access || request.own || request.user.is_in(MASTERS) {
        return Ok(());
    }
    if old.is_some_and(|old| without_housekeeping(old) == without_housekeeping(new)) {
        return Ok(());
    }
    if resource.plural.ends_with("bindings") {
        check_binding(request, new)
    } else {
        check_role(request, new, old)
    }
}

fn without_housekeeping(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in HOUSEKEEPING {
            metadata.remove(field);
        }
    }
    object
}

fn check_role(request: &Request, new: &Value, old: Option<&Value>) -> Result<(), Status> {
    let resource = &request.resource;
    let name = request.target.name.as_deref().unwrap_or_default();
    if may(request, "escalate", &resource.plural, name) {
        return Ok(());
    }
    check_rules(request, new, &Rule::read_all(new))?;
    let gathers = |role: &Value| {
        let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array();
        selectors.is_some_and(|selectors| !selectors.is_empty())
    };
    if gathers(new) || old.is_some_and(gathers) {
        check_rules(request, new, &rbac::full_authority()).map_err(|_| {
            refused(
                request,
                new,
                "must have cluster-admin privileges to use the aggregationRule",
            )
        })?;
    }
    Ok(())
}

fn check_binding(request: &Request, new: &Value) -> Result<(), Status> {
    let role = RoleRef::read(&new["roleRef"]);
    let plural = match role.kind.as_str() {
        "ClusterRole" => "clusterroles",
        "Role" => "roles",
        other => {
            let why = format!("unsupported role reference kind: {other:?}");
            return Err(Status::failure(why));
        }
    };
    if may(request, "bind", plural, &role.name) {
        return Ok(());
    }
    let namespace = request.namespace().unwrap_or_default();
    let rules = request.shared.authorizer.role(&role, namespace)?;
    // Real servers speak of the binding, under the name of the role.
    let missing = || Status::not_found(rbac::GROUP, &request.resource.plural, &role.name);
    let rules = rules.ok_or_else(missing)?;
    check_rules(request, new, &rules)
}

fn may(request: &Request, verb: &str, resource: &str, name: &str) -> bool {
    let attributes = Attributes {
        group: rbac::GROUP,
        version: "*",
        resource,
        namespace: request.namespace().unwrap_or_default(),
        name,
        ..Attributes::of_path(&request.user, verb, "")
    };
    let decision = request.shared.authorizer.authorize(&attributes);
    matches!(decision, Decision::Allow { .. })
}

fn check_rules(request: &Request, object: &Value, wanted: &[Rule]) -> Result<(), Status> {
    let namespace = request.namespace().unwrap_or_default();
    let (held, wrong) = request.shared.authorizer.rules(&request.user, namespace)?;
    let missing = rbac::missing(&held, wanted);
    if missing.is_empty() {
        return Ok(());
    }
    let words = rbac::missing_words(asker(&request.user), &missing, &wrong);
    Err(refused(request, object, &words))
}

fn refused(request: &Request, object: &Value, why: &str) -> Status {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Status::forbidden(rbac::GROUP, &request.resource.plural, name, why)
}
