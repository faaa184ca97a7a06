//! The steps that move a component, as they are typed.

use quadrille_render::deployment_system::migration::{Migration, Moved};
use quadrille_types::{
    GROUP,
    annotations::{ABANDON, ADOPT},
};
use serde_json::Value;

use crate::fields;

/// The steps; with the Releases of the cluster they have all names in them.
pub(super) fn text(migration: &Migration, releases: Option<&[Value]>) -> String {
    let component = &migration.component;
    let namespace = &migration.organization;
    let mut text = format!(
        "To move it, with what runs left alone:\n  \
         quad migrate {component} -n {namespace} -o yaml > {component}.yaml      # keep it where your documents are\n  \
         quad apply -f {component}.yaml\n"
    );
    let Some(releases) = releases else {
        text += "then each environment, the first one first: docs/migrating-from-openchoreo.md\n";
        return text;
    };
    for (index, moved) in migration.environments.iter().enumerate() {
        text += &of_environment(migration, moved, index == 0, releases);
    }
    text
}

fn of_environment(
    migration: &Migration,
    moved: &Moved,
    is_first: bool,
    releases: &[Value],
) -> String {
    let (component, environment) = (&migration.component, &moved.environment);
    let namespace = &migration.organization;
    let mut lines = vec![format!("then {environment}:")];
    if moved.after.is_empty() {
        lines.extend(deleted(moved, namespace));
        return lines.join("\n  ") + "\n";
    }
    lines.push(if is_first {
        format!("quad deploy {component} -n {namespace} --env {environment} --no-wait")
    } else {
        format!("quad promote {component} -n {namespace} --to {environment} --no-wait")
    });
    let new = format!("{component}-{environment}");
    let annotate = format!("kubectl annotate -n {namespace} releases.{GROUP}");
    let adopt = format!("{annotate} {new} {ADOPT}=true");
    let old = owned(moved, releases);
    let is_taken = old.contains(&new.as_str());
    if !is_taken {
        lines.push(adopt.clone());
    }
    if !old.is_empty() {
        lines.push(format!("{annotate} {} {ABANDON}=true", old.join(" ")));
    }
    lines.extend(deleted(moved, namespace));
    if is_taken {
        // The old release has the name of the new one, which can only come afterwards.
        lines.push(format!(
            "kubectl wait -n {namespace} --for=create releases.{GROUP}/{new}"
        ));
        lines.push(adopt);
    }
    lines.push(format!("quad wait releasebinding {new} -n {namespace}"));
    lines.join("\n  ") + "\n"
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

/// How what ends is taken away. Endpoints go with their Deployment, and the binding of an instance with that.
fn deleted(moved: &Moved, namespace: &str) -> Vec<String> {
    let is_made_by_another = |kind: &str, name: &str| {
        let maker = kind.strip_suffix("Binding").filter(|maker| *maker != "API");
        let mut ends = moved.ends.iter();
        kind == "Endpoint" || ends.any(|end| maker == Some(&end.0) && end.1 == name)
    };
    let left = moved.ends.iter();
    let left = left.filter(|(kind, name)| !is_made_by_another(kind, name));
    let line = |(kind, name): &(String, String)| {
        let kind = kind.to_lowercase();
        format!("quad delete {kind}.{GROUP}/{name} -n {namespace}")
    };
    left.map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn migration(ends: &[(&str, &str)]) -> Migration {
        let ends = ends.iter();
        Migration {
            component: "cart".to_owned(),
            organization: "acme".to_owned(),
            documents: Vec::new(),
            environments: vec![Moved {
                environment: "staging".to_owned(),
                before: vec![json!({})],
                after: vec![json!({})],
                effects: Vec::new(),
                ends: ends
                    .map(|(kind, name)| ((*kind).to_owned(), (*name).to_owned()))
                    .collect(),
            }],
            warnings: Vec::new(),
        }
    }

    fn release(name: &str, kind: &str, owner: &str) -> Value {
        json!({ "metadata": { "name": name, "ownerReferences": [{ "kind": kind, "name": owner }] } })
    }

    fn steps(ends: &[(&str, &str)], releases: &[Value]) -> String {
        let text = text(&migration(ends), Some(releases));
        text.split_once("then staging:\n").unwrap().1.to_owned()
    }

    #[test]
    fn old_releases_are_let_go_before_what_they_belong_to_is_deleted() {
        let releases = [
            release("deployment-cart", "Deployment", "cart"),
            release("endpoint-cart-api", "Endpoint", "cart-api"),
            release("deployment-stock", "Deployment", "stock"),
        ];
        let ends = [("Deployment", "cart"), ("Endpoint", "cart-api")];
        assert_eq!(
            steps(&ends, &releases),
            "  quad deploy cart -n acme --env staging --no-wait\n  \
             kubectl annotate -n acme releases.openchoreo.dev cart-staging openchoreo.dev/adopt=true\n  \
             kubectl annotate -n acme releases.openchoreo.dev deployment-cart endpoint-cart-api openchoreo.dev/abandon=true\n  \
             quad delete deployment.openchoreo.dev/cart -n acme\n  \
             quad wait releasebinding cart-staging -n acme\n"
        );
    }

    #[test]
    fn a_release_of_the_same_name_must_be_gone_before_the_new_one_takes_over() {
        let releases = [release("cart-staging", "ServiceBinding", "cart-staging")];
        let text = steps(&[("ServiceBinding", "cart-staging")], &releases);
        let place = |words: &str| {
            text.find(words)
                .unwrap_or_else(|| panic!("{words}: {text}"))
        };
        assert!(place("abandon") < place("quad delete servicebinding"));
        assert!(place("quad delete servicebinding") < place("--for=create"));
        assert!(place("--for=create") < place("adopt"));
    }

    #[test]
    fn the_binding_of_an_instance_goes_with_it() {
        let ends = [
            ("Service", "cart"),
            ("ServiceBinding", "cart"),
            ("API", "more"),
        ];
        let text = steps(&ends, &[]);
        assert!(
            text.contains("quad delete service.openchoreo.dev/cart"),
            "{text}"
        );
        assert!(!text.contains("servicebinding"), "{text}");
        assert!(
            text.contains("quad delete api.openchoreo.dev/more"),
            "{text}"
        );
    }
}
