//! What admission adds to new objects from other objects and from the request: a pod's service account and
//! priority, a claim's storage class, and who asks for a certificate.

use std::time::Duration;

use quadrille_machinery::{names, status::Status};
use serde_json::{Value, json};

use crate::{
    kinds,
    rest::{Request, write},
    stored,
};

/// How long to wait for a namespace's `default` service account, which is made shortly after it.
const ACCOUNT_WAIT: Duration = Duration::from_secs(1);
/// Where every container finds its token.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Completes a new object, or says why it can't be.
pub(crate) async fn admit_new(request: &Request, object: &mut Value) -> Result<(), Status> {
    let resource = &request.resource;
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") => {
            // Nobody makes default accounts where nobody keeps house.
            if request.shared.housekeeping {
                service_account(request, object).await?;
            }
            priority(request, object)
        }
        ("", "PersistentVolumeClaim") => storage_class(request, object),
        ("certificates.k8s.io", "CertificateSigningRequest") => {
            requester(request, object);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn forbidden(request: &Request, object: &Value, why: &str) -> Status {
    let metadata = &object["metadata"];
    let given = |field: &str| metadata[field].as_str().filter(|name| !name.is_empty());
    // Nobody has made a name yet for an object that asks for one.
    let name = given("name").or_else(|| given("generateName"));
    let name = name.unwrap_or_default();
    Status::forbidden(&request.resource.group, &request.resource.plural, name, why)
}

fn find(
    request: &Request,
    group: &str,
    plural: &str,
    namespace: Option<&str>,
    name: &str,
) -> Result<Option<Value>, Status> {
    let Some(resource) = kinds::load().resource(group, "v1", plural) else {
        return Ok(None);
    };
    let key = stored::key(resource, namespace, name);
    let record = request.shared.store.get(&key).map_err(Status::internal)?;
    record
        .map(|record| stored::decode_record(resource, &record))
        .transpose()
}

/// Who asks for a certificate is the server's to say.
fn requester(request: &Request, object: &mut Value) {
    let user = &request.user;
    let spec = &mut object["spec"];
    spec["username"] = json!(user.name);
    spec["uid"] = json!(user.uid);
    spec["groups"] = json!(user.groups);
    spec["extra"] = json!(user.extra);
}

async fn service_account(request: &Request, pod: &mut Value) -> Result<(), Status> {
    if pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_string() {
        return Ok(());
    }
    let name = match pod["spec"]["serviceAccountName"].as_str() {
        None | Some("") => "default".to_owned(),
        Some(name) => name.to_owned(),
    };
    let namespace = request.namespace().unwrap_or_default();
    let Some(account) = account(request, namespace, &name).await? else {
        let why = format!(
            "error looking up service account {namespace}/{name}: serviceaccount {name:?} not found"
        );
        return Err(forbidden(request, pod, &why));
    };
    pod["spec"]["serviceAccountName"] = json!(name);
    let choice = |object: &Value| object["automountServiceAccountToken"].as_bool();
    if choice(&pod["spec"]).or(choice(&account)).unwrap_or(true) {
        mount_token(&mut pod["spec"]);
    }
    let has_secrets = pod["spec"]["imagePullSecrets"]
        .as_array()
        .is_some_and(|secrets| !secrets.is_empty());
    if !has_secrets && account["imagePullSecrets"].is_array() {
        pod["spec"]["imagePullSecrets"] = account["imagePullSecrets"].clone();
    }
    Ok(())
}

async fn account(request: &Request, namespace: &str, name: &str) -> Result<Option<Value>, Status> {
    let look = || find(request, "", "serviceaccounts", Some(namespace), name);
    let store = &request.shared.store;
    let before = store.revision();
    let found = look()?;
    if found.is_some() || name != "default" {
        return Ok(found);
    }
    let prefix = format!("serviceaccounts/{namespace}/");
    let mut made = store
        .watch(prefix.as_bytes(), before)
        .map_err(Status::internal)?;
    let appeared = async {
        // When the watch ends, for whatever reason, one last look tells.
        while made.next().await.is_ok() {
            let found = look()?;
            if found.is_some() {
                return Ok(found);
            }
        }
        look()
    };
    tokio::time::timeout(ACCOUNT_WAIT, appeared)
        .await
        .unwrap_or(Ok(None))
}

/// Gives every container that has none the token of the account.
fn mount_token(spec: &mut Value) {
    let volume = names::generate("kube-api-access-", &write::suffix());
    let mut needed = false;
    for list in ["initContainers", "containers"] {
        for container in spec[list].as_array_mut().into_iter().flatten() {
            let mounts = container["volumeMounts"].as_array();
            let mounted = mounts
                .into_iter()
                .flatten()
                .any(|mount| mount["mountPath"] == TOKEN_PATH);
            if mounted {
                continue;
            }
            needed = true;
            let mount = json!({"name": volume, "readOnly": true, "mountPath": TOKEN_PATH});
            push(&mut container["volumeMounts"], mount);
        }
    }
    if needed {
        let sources = json!([
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {
                "name": "kube-root-ca.crt",
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }},
            {"downwardAPI": {"items": [{
                "path": "namespace",
                "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
            }]}},
        ]);
        let projected = json!({"defaultMode": 0o644, "sources": sources});
        push(
            &mut spec["volumes"],
            json!({"name": volume, "projected": projected}),
        );
    }
}

fn push(list: &mut Value, entry: Value) {
    match list {
        Value::Array(entries) => entries.push(entry),
        other => *other = json!([entry]),
    }
}

/// A priority class is a number and a policy for the pods that name it; nobody gives them by hand.
fn priority(request: &Request, pod: &mut Value) -> Result<(), Status> {
    let class = match pod["spec"]["priorityClassName"].as_str() {
        None | Some("") => default_class(request)?,
        Some(name) => Some(named_class(request, pod, name)?),
    };
    let class = class.unwrap_or_else(|| json!({"value": 0}));
    if let Some(name) = class["metadata"]["name"].as_str() {
        pod["spec"]["priorityClassName"] = json!(name);
    }
    let policy = &class["preemptionPolicy"];
    let policy = policy.as_str().unwrap_or("PreemptLowerPriority");
    let spec = &pod["spec"];
    if !spec["priority"].is_null() && spec["priority"] != class["value"] {
        let why = format!(
            "the integer value of priority ({}) must not be provided in pod spec; priority admission controller computed {} from the given PriorityClass name",
            spec["priority"], class["value"]
        );
        return Err(forbidden(request, pod, &why));
    }
    if let Some(given) = spec["preemptionPolicy"].as_str()
        && given != policy
    {
        let why = format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
        );
        return Err(forbidden(request, pod, &why));
    }
    pod["spec"]["preemptionPolicy"] = json!(policy);
    pod["spec"]["priority"] = class["value"].clone();
    Ok(())
}

fn named_class(request: &Request, pod: &Value, name: &str) -> Result<Value, Status> {
    if let Some(class) = find(request, "scheduling.k8s.io", "priorityclasses", None, name)? {
        return Ok(class);
    }
    match name {
        "system-node-critical" => Ok(json!({"value": 2_000_001_000})),
        "system-cluster-critical" => Ok(json!({"value": 2_000_000_000})),
        _ => {
            let why = format!("no PriorityClass with name {name} was found");
            Err(forbidden(request, pod, &why))
        }
    }
}

/// The class of pods that name none. If a race made several, the lowest counts.
fn default_class(request: &Request) -> Result<Option<Value>, Status> {
    let classes = all(request, "scheduling.k8s.io", "priorityclasses")?;
    Ok(classes
        .into_iter()
        .filter(|class| class["globalDefault"] == json!(true))
        .min_by_key(|class| class["value"].as_i64()))
}

/// All objects of a kind that has no namespaces.
fn all(request: &Request, group: &str, plural: &str) -> Result<Vec<Value>, Status> {
    let Some(resource) = kinds::load().resource(group, "v1", plural) else {
        return Ok(Vec::new());
    };
    let prefix = stored::prefix(resource, None);
    let page = request.shared.store.list(&prefix, None, 0, None);
    let page = page.map_err(Status::internal)?;
    let objects = page.records.iter();
    objects
        .map(|record| stored::decode_record(resource, record))
        .collect()
}

/// A claim that names no class gets the default one; of several, the newest.
fn storage_class(request: &Request, claim: &mut Value) -> Result<(), Status> {
    const OLD: &str = "volume.beta.kubernetes.io/storage-class";
    if !claim["spec"]["storageClassName"].is_null()
        || !claim["metadata"]["annotations"][OLD].is_null()
    {
        return Ok(());
    }
    let is_default = |class: &Value| {
        let annotations = &class["metadata"]["annotations"];
        ["", "beta."].iter().any(|version| {
            let name = format!("storageclass.{version}kubernetes.io/is-default-class");
            annotations[name.as_str()] == "true"
        })
    };
    let classes = all(request, "storage.k8s.io", "storageclasses")?;
    let newest = classes.into_iter().filter(is_default).max_by_key(|class| {
        let metadata = &class["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
        (text("creationTimestamp"), std::cmp::Reverse(text("name")))
    });
    if let Some(class) = newest {
        claim["spec"]["storageClassName"] = class["metadata"]["name"].clone();
    }
    Ok(())
}
