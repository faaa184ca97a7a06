//! `quad release diff`.

use quadrille_objects::difference::{self, Change};
use quadrille_types::{ComponentRelease, ComponentReleaseSpec};
use serde_json::{Value, json};

use super::read;
use crate::{
    arguments::{Output, TEMPLATE},
    cluster::Which,
    diff::finding,
    failure::Failure,
    output, table,
};

/// Show what differs between two releases, field by field.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad release diff cart-1a2b cart-3c4d            from the first to the second\n  quad release diff cart-1a2b cart-3c4d -o json    for scripts",
    after_help = "Exit codes: 0 nothing differs, 1 something does, 2 it could not be found out.",
    help_template = TEMPLATE
)]
pub(super) struct Arguments {
    /// The release to begin with.
    #[arg(value_name = "A")]
    before: String,
    /// The release to compare with.
    #[arg(value_name = "B")]
    after: String,
    #[command(flatten)]
    cluster: Which,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// As with `quad diff`, 1 says that there are differences, so trouble is told by another code.
const DIFFERENT: u8 = 1;
const TROUBLE: u8 = 2;

pub(super) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let changes = found(arguments).await;
    let changes = changes.map_err(|failure| failure.with_code(TROUBLE))?;
    match arguments.output {
        Output::Json => {
            let all: Value = changes.iter().map(facts).collect();
            output::say(&all.to_string())?;
        }
        Output::Text => output::write(text(&changes).as_bytes())?,
    }
    if changes.is_empty() {
        Ok(())
    } else {
        Err(Failure::told(DIFFERENT))
    }
}

async fn found(arguments: &Arguments) -> Result<Vec<Change>, Failure> {
    let cluster = arguments.cluster.find().await?;
    let before = read(&cluster, &arguments.before).await?;
    let after = read(&cluster, &arguments.after).await?;
    same_component(&before, &after)?;
    Ok(difference::changes(
        &content(&before.spec)?,
        &content(&after.spec)?,
    ))
}

/// Releases of two components have nothing to do with each other.
fn same_component(one: &ComponentRelease, other: &ComponentRelease) -> Result<(), Failure> {
    let (one, other) = (&one.spec.owner, &other.spec.owner);
    if one == other {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "these are releases of two components: {}/{} and {}/{}",
        one.project_name, one.component_name, other.project_name, other.component_name
    )))
}

fn content(spec: &ComponentReleaseSpec) -> Result<Value, Failure> {
    serde_json::to_value(spec)
        .map_err(|error| Failure::new("a release cannot be read").because(&error))
}

fn text(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "Nothing differs.\n".to_owned();
    }
    let rows: Vec<Vec<String>> = changes
        .iter()
        .map(|change| vec![change.path.clone(), finding::from_to(change)])
        .collect();
    let widths = table::widths(&rows);
    rows.iter()
        .map(|row| table::line(row, &widths, |_, cell| cell.to_owned()))
        .collect()
}

fn facts(change: &Change) -> Value {
    json!({
        "field": change.path,
        "before": finding::shown(change.before.as_ref()),
        "after": finding::shown(change.after.as_ref()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(component: &str, image: &str) -> ComponentRelease {
        serde_json::from_value(json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ComponentRelease", "metadata": { "name": "r" },
            "spec": {
                "owner": { "projectName": "shop", "componentName": component },
                "componentType": { "kind": "ComponentType", "name": "deployment/x", "spec": { "workloadType": "deployment", "resources": [] } },
                "workload": { "container": { "image": image, "env": [{ "key": "A", "value": image }] } },
            },
        }))
        .unwrap()
    }

    #[test]
    fn what_differs_is_told_field_by_field() {
        let (one, two) = (release("cart", "cart:1"), release("cart", "cart:2"));
        let changes =
            difference::changes(&content(&one.spec).unwrap(), &content(&two.spec).unwrap());
        assert_eq!(
            text(&changes),
            "workload.container.env[A].value   cart:1 → cart:2\nworkload.container.image          cart:1 → cart:2\n"
        );
        assert_eq!(text(&[]), "Nothing differs.\n");
        assert!(same_component(&one, &two).is_ok());
        assert!(same_component(&one, &release("till", "cart:1")).is_err());
    }
}
