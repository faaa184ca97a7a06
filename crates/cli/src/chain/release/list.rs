//! `quad release list`.

use kube::ResourceExt as _;
use quadrille_types::ComponentRelease;
use serde_json::{Value, json};

use super::{image, places};
use crate::{
    arguments::{Output, TEMPLATE},
    chain::{history::ago, named::Named, scene::Scene},
    failure::Failure,
    output, table,
};

/// List the releases of a component, the newest first, and where they run.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad release list cart               the newest first\n  quad release list shop/cart -o json  for scripts",
    after_help = "An environment in brackets: it is asked for there, and does not run yet.",
    help_template = TEMPLATE
)]
pub(super) struct Arguments {
    #[command(flatten)]
    named: Named,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(super) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (cluster, name) = arguments.named.find().await?;
    let scene = Scene::read(&cluster, &name).await?;
    let releases = scene.releases(&cluster).await?;
    if arguments.output == Output::Json {
        let all: Value = releases
            .iter()
            .map(|release| {
                json!({
                    "name": release.name_any(), "image": image(release),
                    "environments": places(release, &scene.bindings),
                    "created": release.metadata.creation_timestamp,
                })
            })
            .collect();
        return output::say(&all.to_string());
    }
    if releases.is_empty() {
        output::aside(&format!("There are no releases of {}.", scene.name()));
        return Ok(());
    }
    let rows = rows(&releases, &scene);
    let widths = table::widths(&rows);
    let lines: String = rows
        .iter()
        .map(|row| table::line(row, &widths, |_, cell| cell.to_owned()))
        .collect();
    output::write(lines.as_bytes())
}

fn rows(releases: &[ComponentRelease], scene: &Scene) -> Vec<Vec<String>> {
    let head = ["RELEASE", "RUNS IN", "MADE", "IMAGE"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(releases.iter().map(|release| {
        let places = match places(release, &scene.bindings) {
            places if places.is_empty() => "-".to_owned(),
            places => places.join(", "),
        };
        vec![
            release.name_any(),
            places,
            ago(release.metadata.creation_timestamp.as_ref()),
            image(release),
        ]
    }));
    rows
}
