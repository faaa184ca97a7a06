//! `quad schema`: what editors check documents against while they are written.

use quadrille_render::Renderer;
use serde_json::{Value, json};

use super::{Definition, Pile};
use crate::{arguments::TEMPLATE, failure::Failure, kinds, output};

/// Write the JSON schema of a kind, or of what a component type takes; no cluster is asked.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad schema component > component.schema.json     a kind of ours\n  quad schema deployment/service                    what a type takes",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// A kind of ours, a type or a trait.
    #[arg(value_name = "KIND")]
    name: String,
    #[command(flatten)]
    pile: Pile,
}

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let schema = match kinds::definition(&arguments.name) {
        Some(definition) => of_kind(&definition),
        None => of_definition(arguments)?,
    };
    let text = serde_json::to_string_pretty(&schema);
    let text =
        text.map_err(|error| Failure::new("the schema cannot be written").because(&error))?;
    output::say(&text)
}

fn of_kind(definition: &Value) -> Value {
    let spec = &definition["spec"];
    let mut schema = spec["versions"][0]["schema"]["openAPIV3Schema"].clone();
    schema["$schema"] = json!(DRAFT);
    schema["title"] = spec["names"]["kind"].clone();
    let group = spec["group"].as_str().unwrap_or_default();
    let version = spec["versions"][0]["name"].as_str().unwrap_or_default();
    schema["properties"]["apiVersion"] = json!({ "const": format!("{group}/{version}") });
    schema["properties"]["kind"] = json!({ "const": spec["names"]["kind"] });
    schema["required"] = json!(["apiVersion", "kind", "metadata"]);
    schema
}

fn of_definition(arguments: &Arguments) -> Result<Value, Failure> {
    let given = arguments.pile.given()?.into_iter().map(|one| one.object);
    let documents = arguments.pile.with_library(given)?;
    let definition = Definition::find(&documents, &arguments.name)
        .map_err(|failure| failure.next("or a kind of ours: quad schema component"))?;
    let [parameters, environment] = definition.schemas(&Renderer::new())?;
    Ok(json!({
        "$schema": DRAFT,
        "title": definition.called(),
        "type": "object",
        "properties": {
            "parameters": parameters.json_schema(),
            "environmentConfigs": environment.json_schema(),
        },
    }))
}
