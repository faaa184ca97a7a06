//! `quad release show`.

use std::fmt::Write as _;

use kube::ResourceExt as _;
use quadrille_types::{ComponentRelease, ReleaseBinding};
use serde_json::{Value, json};

use super::{image, places, read};
use crate::{
    arguments::{Output, TEMPLATE},
    chain::history::ago,
    cluster::Which,
    failure::Failure,
    output,
    style::Style,
};

/// Show what is in a release, and where it runs.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad release show cart-1a2b             image, type, traits, parameters\n  quad release show cart-1a2b -o json     everything",
    help_template = TEMPLATE
)]
pub(super) struct Arguments {
    /// The release.
    release: String,
    #[command(flatten)]
    cluster: Which,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(super) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let cluster = arguments.cluster.find().await?;
    let release = read(&cluster, &arguments.release).await?;
    let owner = &release.spec.owner;
    let bindings: Vec<ReleaseBinding> = cluster
        .of_component(
            "releasebindings",
            owner.project_name.as_str(),
            owner.component_name.as_str(),
        )
        .await?;
    let places = places(&release, &bindings);
    if arguments.output == Output::Json {
        return output::say(&json!({ "release": release, "environments": places }).to_string());
    }
    let text = text(&release, &places, Style::of_standard_output())?;
    output::write(text.as_bytes())
}

fn text(release: &ComponentRelease, places: &[String], style: Style) -> Result<String, Failure> {
    let spec = &release.spec;
    let mut out = format!("{}\n", style.bold(&release.name_any()));
    let mut line = |name: &str, said: &str| {
        // Writing to a text cannot fail.
        let _ = writeln!(out, "  {name:<12} {said}");
    };
    let owner = &spec.owner;
    line(
        "component",
        &format!("{} (project {})", owner.component_name, owner.project_name),
    );
    line(
        "type",
        &format!("{} {}", spec.component_type.kind, spec.component_type.name),
    );
    line("image", &image(release));
    line("made", &ago(release.metadata.creation_timestamp.as_ref()));
    let runs = if places.is_empty() {
        "nowhere".to_owned()
    } else {
        places.join(", ")
    };
    line("runs in", &runs);
    let traits: Vec<&str> = spec
        .traits
        .iter()
        .map(|frozen| frozen.name.as_str())
        .collect();
    if !traits.is_empty() {
        line("traits", &traits.join(", "));
    }
    let profile = spec.component_profile.as_ref();
    let parameters = profile.and_then(|profile| profile.parameters.as_ref());
    for (title, value) in [
        ("Parameters", parameters.cloned()),
        ("Workload", serde_json::to_value(&spec.workload).ok()),
    ] {
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            let _ = writeln!(out, "\n{title}");
            for line in output::yaml(&value)?.lines() {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
    Ok(out)
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_none_or(serde_json::Map::is_empty)
}
