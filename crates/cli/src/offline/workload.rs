//! `quad workload create`: a Workload from an image and the descriptor that lies beside the source.

mod descriptor;

use std::{fs, path::PathBuf};

use self::descriptor::Descriptor;
use crate::{arguments::TEMPLATE, failure::Failure, output};

/// Workloads, from what lies beside the source.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad workload create --project shop --component cart --image shop/cart:1\n  quad workload create … --descriptor workload.yaml | quad apply -f -",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Create(Create),
}

/// Write the Workload of a component; nothing is sent anywhere.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad workload create --project shop --component cart --image shop/cart:1\n  quad workload create … --descriptor workload.yaml | quad apply -f -",
    help_template = TEMPLATE
)]
struct Create {
    /// The project.
    #[arg(long, default_value = "default")]
    project: String,
    /// The component.
    #[arg(long)]
    component: String,
    /// The organization.
    #[arg(short, long, default_value = "default")]
    namespace: String,
    /// The image that was built.
    #[arg(long)]
    image: String,
    /// What the source says about itself: endpoints, dependencies, configurations.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    descriptor: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Verb::Create(create) = &arguments.verb;
    let descriptor = match &create.descriptor {
        None => Descriptor::default(),
        Some(path) => {
            let shown = path.display();
            let text = fs::read_to_string(path)
                .map_err(|error| Failure::new(format!("{shown} cannot be read")).because(&error))?;
            Descriptor::read(&text).map_err(|words| {
                Failure::new(format!("{shown} is no descriptor of a workload")).saying(&words)
            })?
        }
    };
    let folder = create.descriptor.as_ref().and_then(|path| path.parent());
    let spec = descriptor.spec(&create.image, |file| {
        let path = folder.map_or_else(|| PathBuf::from(file), |folder| folder.join(file));
        fs::read_to_string(&path).map_err(|error| {
            Failure::new(format!("{} cannot be read", path.display())).because(&error)
        })
    })?;
    let workload = serde_json::json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Workload",
        "metadata": { "name": create.component, "namespace": create.namespace },
        "spec": merged(spec, &create.project, &create.component),
    });
    output::say(output::yaml(&workload)?.trim_end())
}

fn merged(mut spec: serde_json::Value, project: &str, component: &str) -> serde_json::Value {
    spec["owner"] = serde_json::json!({ "projectName": project, "componentName": component });
    spec
}
