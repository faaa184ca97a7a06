//! Writes Releases: each is made whole, with its finalizer, by whoever renders it. What we wrote is known at once, so
//! that the engine need not wait for a watch or ask.

use std::sync::Arc;

use quadrille_planes::Trouble;
use quadrille_types::{
    ReleaseSpec, annotations, finalizers,
    labels::hierarchy,
    names::{ComponentName, EnvironmentName, ProjectName, ReleaseName},
    release::{ReleaseObject, ReleaseOwner, ReleaseRef},
};
use serde_json::{Value, json};

use crate::{
    key::Key,
    platform::step::Kind,
    releases::{Context, Facts, Written},
};

/// What a Release is to be.
pub(crate) struct Wish<'a> {
    pub(crate) key: Key,
    /// Whom it is for.
    pub(crate) owner: Option<Value>,
    pub(crate) project: &'a str,
    pub(crate) component: Option<&'a str>,
    pub(crate) environment: &'a str,
    pub(crate) resources: Vec<ReleaseObject>,
    pub(crate) depends_on: Vec<String>,
    /// The component release that it runs.
    pub(crate) snapshot: &'a str,
    /// Its uid.
    pub(crate) snapshot_uid: &'a str,
    /// The digest of what it was rendered from.
    pub(crate) inputs: &'a str,
    /// Whether most of its objects may go at once: nothing of them is lost that is not made again.
    pub(crate) may_shrink: bool,
}

/// Whether a Release is what these inputs came to, and nobody edited it since.
pub(crate) fn is_from(facts: &Facts, inputs: &str) -> bool {
    let expected = origin(inputs, facts.generation);
    facts
        .rendered
        .as_ref()
        .is_some_and(|rendered| rendered.from == expected)
}

fn origin(inputs: &str, generation: i64) -> String {
    format!("{inputs}@{generation}")
}

/// Makes a Release, or makes the known one be as wished.
pub(crate) async fn write(
    context: &Context,
    known: Option<&Arc<Facts>>,
    wish: Wish<'_>,
) -> Result<(), Trouble> {
    let spec = json!(ReleaseSpec {
        owner: ReleaseOwner {
            project_name: ProjectName::new(wish.project),
            component_name: wish.component.map(ComponentName::from),
            resource_name: None,
        },
        environment_name: EnvironmentName::new(wish.environment),
        target_plane: None,
        resources: wish.resources,
        depends_on: wish
            .depends_on
            .iter()
            .map(|name| ReleaseRef {
                name: ReleaseName::new(name.as_str()),
            })
            .collect(),
        interval: None,
        progressing_interval: None,
    });
    let collection = Kind::Release.path(&wish.key.namespace);
    let notes = |generation: i64| {
        let mut notes = json!({
            annotations::RENDERED_FROM: origin(wish.inputs, generation),
            annotations::COMPONENT_RELEASE: Some(wish.snapshot).filter(|name| !name.is_empty()),
            annotations::COMPONENT_RELEASE_UID: Some(wish.snapshot_uid).filter(|uid| !uid.is_empty()),
        });
        // What people allowed is theirs.
        if wish.may_shrink {
            notes[annotations::ALLOW_PRUNE] = json!(generation.to_string());
        }
        notes
    };
    let Some(known) = known else {
        let mut labels = json!({
            hierarchy::NAMESPACE: &*wish.key.namespace,
            hierarchy::PROJECT: wish.project,
            hierarchy::ENVIRONMENT: wish.environment,
        });
        if let Some(component) = wish.component {
            labels[hierarchy::COMPONENT] = json!(component);
        }
        let mut annotations = notes(1);
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.retain(|_, value| !value.is_null());
        }
        let object = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Release",
            "metadata": {
                "namespace": &*wish.key.namespace, "name": &*wish.key.name,
                "labels": labels, "annotations": annotations,
                "finalizers": [finalizers::RELEASE],
                "ownerReferences": wish.owner.into_iter().collect::<Vec<_>>(),
            },
            "spec": spec,
        });
        let metadata = context.control.create(collection, &object).await?;
        return take_in(context, json!({ "metadata": metadata, "spec": spec }));
    };
    let url = format!("{collection}/{}", wish.key.name);
    let patch = json!({
        "metadata": {
            "resourceVersion": known.resource_version,
            // The generation goes up by one with each change of the spec, and the revision says that nobody else
            // makes one.
            "annotations": notes(known.generation + i64::from(!is_same(known, &spec))),
        },
        "spec": spec,
    });
    let metadata = context.control.patch_at(url, &patch).await?;
    take_in(
        context,
        json!({ "metadata": metadata, "spec": spec, "status": known.status() }),
    )
}

/// Whether a Release asks for the same already.
fn is_same(known: &Facts, spec: &Value) -> bool {
    let read = json!({ "metadata": {}, "spec": spec });
    let Ok(written) = serde_json::from_value::<Written>(read) else {
        return false;
    };
    let asked = Facts::read(written);
    // What cannot be understood is as nobody knows.
    let (Ok(before), Ok(after)) = (&known.desired, &asked.desired) else {
        return false;
    };
    asked.depends_on == known.depends_on && before == after
}

fn take_in(context: &Context, release: Value) -> Result<(), Trouble> {
    let written: Written =
        serde_json::from_value(release).map_err(|error| Trouble::Unreadable(error.to_string()))?;
    context.release_written(&Arc::new(Facts::read(written)));
    Ok(())
}

/// Deletes a Release, if that was not done before.
pub(crate) async fn delete(context: &Context, facts: &Facts) -> Result<(), Trouble> {
    if facts.deleting_since.is_some() {
        return Ok(());
    }
    let Key { namespace, name } = &facts.key;
    let path = format!("{}/{name}", Kind::Release.path(namespace));
    context.control.delete(path, &facts.uid).await
}
