//! What an API server checks that roles cannot say: nobody gives somebody else's word, and nobody asks in somebody
//! else's name. The user is the one whom the server authenticated.

use quadrille_types::annotations::REQUESTED_BY;
use serde_json::{Value, json};

const APPROVALS: &str = "quad-approvals";
const REQUESTS: &str = "quad-requests";

/// Policies, each with its binding.
pub fn objects() -> Vec<Value> {
    let asked = format!("object.metadata.?annotations['{REQUESTED_BY}'].orValue('')");
    let asked_before = format!(
        "(oldObject == null ? '' : oldObject.metadata.?annotations['{REQUESTED_BY}'].orValue(''))"
    );
    let released = "object.spec.?releaseName.orValue('')";
    let released_before = "(oldObject == null ? '' : oldObject.spec.?releaseName.orValue(''))";
    [
        policy(
            APPROVALS,
            "approvals",
            &["CREATE"],
            "object.spec.by == request.userInfo.username",
            "'spec.by: must be the name of whoever says so: ' + request.userInfo.username",
        ),
        policy(
            REQUESTS,
            "releasebindings",
            &["CREATE", "UPDATE"],
            // A name that stays while the release changes would be that of who asked for the one before.
            &format!(
                "{asked} == '' || {asked} == request.userInfo.username || \
                 ({asked} == {asked_before} && {released} == {released_before})"
            ),
            &format!(
                "'metadata.annotations[{REQUESTED_BY}]: must be the name of whoever asks, ' + \
                 request.userInfo.username + ', or be left out'"
            ),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn policy(
    name: &str,
    resource: &str,
    operations: &[&str],
    expression: &str,
    message: &str,
) -> [Value; 2] {
    [
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": { "name": name },
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": { "resourceRules": [{
                    "apiGroups": ["openchoreo.dev"], "apiVersions": ["*"],
                    "operations": operations, "resources": [resource],
                }]},
                "validations": [{ "expression": expression, "messageExpression": message }],
            },
        }),
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": { "name": name },
            "spec": { "policyName": name, "validationActions": ["Deny"] },
        }),
    ]
}
