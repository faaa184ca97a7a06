//! The steps that move a component, as they are typed.

use std::fmt::Write as _;

use quadrille_render::deployment_system::migration::{Migration, Moved};
use quadrille_types::annotations::{ABANDON, ADOPT};
use serde_json::Value;

use crate::fields;

/// The steps; with the Releases of the cluster they have all names in them.
pub(super) fn text(migration: &Migration, releases: Option<&[Value]>) -> String {
    let component = &migration.component;
    let namespace = &migration.organization;
    let mut text = String::from("To move it, with what runs left alone:\n");
    let _ = writeln!(
        text,
        "  quad migrate {component} -n {namespace} -o yaml > {component}.yaml      # keep it where your documents are\n  \
         quad apply -f {component}.yaml"
    );
    let Some(releases) = releases else {
        text += "then each environment, the first one first: docs/migrating-from-openchoreo.md\n";
        return text;
    };
    for (index, moved) in migration.environments.iter().enumerate() {
        let environment = &moved.environment;
        let _ = writeln!(text, "then {environment}:");
        if moved.after.is_empty() {
            text += &deleted(moved, namespace);
            continue;
        }
        let begin = if index == 0 {
            format!("quad deploy {component} -n {namespace} --env {environment} --no-wait")
        } else {
            format!("quad promote {component} -n {namespace} --to {environment} --no-wait")
        };
        let _ = writeln!(
            text,
            "  {begin}\n  kubectl annotate -n {namespace} releases.{GROUP} {component}-{environment} {ADOPT}=true",
            GROUP = quadrille_types::GROUP
        );
        let owned = owned(moved, releases);
        if !owned.is_empty() {
            let _ = writeln!(
                text,
                "  kubectl annotate -n {namespace} releases.{GROUP} {} {ABANDON}=true",
                owned.join(" "),
                GROUP = quadrille_types::GROUP
            );
        }
        text += &deleted(moved, namespace);
        let _ = writeln!(text, "  quad status {component} -n {namespace}");
    }
    text
}

/// The Releases of what ends.
fn owned<'a>(moved: &Moved, releases: &'a [Value]) -> Vec<&'a str> {
    let is_owned = |release: &&Value| {
        let owners = fields::items(&release["metadata"]["ownerReferences"]);
        owners.iter().any(|owner| {
            let (kind, name) = (fields::text(owner, "kind"), fields::text(owner, "name"));
            let mut ends = moved.ends.iter();
            ends.any(|end| end.0 == kind && end.1 == name)
        })
    };
    releases.iter().filter(is_owned).map(fields::name).collect()
}

/// How what ends is taken away. Endpoints go with their Deployment.
fn deleted(moved: &Moved, namespace: &str) -> String {
    let mut text = String::new();
    for (kind, name) in moved.ends.iter().filter(|(kind, _)| kind != "Endpoint") {
        let _ = writeln!(
            text,
            "  quad delete {}.{}/{name} -n {namespace}",
            kind.to_lowercase(),
            quadrille_types::GROUP
        );
    }
    text
}
