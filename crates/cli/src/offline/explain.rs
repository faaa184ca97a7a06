//! `quad explain`: what a component type or a trait takes.

use quadrille_render::Renderer;
use quadrille_template::Row;

use super::{Definition, Pile};
use crate::{arguments::TEMPLATE, failure::Failure, output, style::Style, table};

/// Show what a component type or trait takes; no cluster is asked.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad explain deployment/service             a type that quad brings\n  quad explain trait/autoscaler -f types/     a trait, also among your own",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// A type or trait: `deployment/service`, `trait/autoscaler`, or just its name.
    #[arg(value_name = "TYPE")]
    name: String,
    #[command(flatten)]
    pile: Pile,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let given = arguments.pile.given()?.into_iter().map(|one| one.object);
    let documents = arguments.pile.with_library(given)?;
    let definition = Definition::find(&documents, &arguments.name)?;
    let [parameters, environment] = definition.schemas(&Renderer::new())?;
    let style = Style::of_standard_output();
    let mut text = format!("{}\n", style.bold(&definition.called()));
    for (title, rows) in [
        ("parameters", parameters.outline()),
        (
            "environmentConfigs, may differ per environment",
            environment.outline(),
        ),
    ] {
        text.extend(["\n", &style.bold(title), "\n", &lines(&rows)]);
    }
    output::write(text.as_bytes())
}

fn lines(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "  none\n".to_owned();
    }
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let widths = table::widths(&rows);
    let line =
        |row: &Vec<String>| format!("  {}", table::line(row, &widths, |_, cell| cell.to_owned()));
    rows.iter().map(line).collect()
}

fn cells(row: &Row) -> Vec<String> {
    let value = match &row.default {
        Some(default) => format!("default {default}"),
        None if row.required => "required".to_owned(),
        None => "optional".to_owned(),
    };
    let description = row.description.clone().unwrap_or_default();
    vec![row.path.clone(), row.ty.clone(), value, description]
}
