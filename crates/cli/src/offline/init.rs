//! `quad init`: a new component, written down.

use std::{
    fs,
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use quadrille_render::{Documents, Renderer, library};
use quadrille_template::Row;
use serde_json::{Map, Value, json};

use super::Definition;
use crate::{arguments::TEMPLATE, failure::Failure, object::is_name, output};

/// Write down a new component and its workload; asks on a terminal for what is not said.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad init cart                                                     asks\n  quad init cart --type deployment/service --image shop/cart:1 --port 8080",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// The name of the component.
    name: String,
    /// Its type; see what there is: quad explain TYPE.
    #[arg(long = "type", value_name = "TYPE")]
    component_type: Option<String>,
    /// The image that runs.
    #[arg(long)]
    image: Option<String>,
    /// The port of its endpoint, where its type has one.
    #[arg(long)]
    port: Option<u16>,
    /// The project that it belongs to.
    #[arg(long, default_value = "default")]
    project: String,
    /// The organization that the project belongs to.
    #[arg(short, long, default_value = "default")]
    namespace: String,
    /// The folder to write to [default: the component's name].
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    to: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if !is_name(&arguments.name) {
        return Err(Failure::usage(format!("{:?} is no name", arguments.name)));
    }
    let documents =
        Documents::read(library::documents()).map_err(|error| Failure::new(error.to_string()))?;
    let asked = ask(
        "Type",
        arguments.component_type.as_deref(),
        "deployment/service",
    )?;
    let definition = Definition::find(&documents, &asked)?;
    let Definition::Type(reference, spec) = &definition else {
        return Err(
            Failure::usage(format!("{asked} is a trait, not a component type"))
                .next("Take a type: quad init NAME --type deployment/service"),
        );
    };
    let image = ask(
        "Image",
        arguments.image.as_deref(),
        "registry.example.com/app:1",
    )?;
    let [parameters, _] = definition.schemas(&Renderer::new())?;
    let has_endpoints = !matches!(
        reference.name.as_str(),
        "worker" | "scheduled-task" | "manual-task"
    );
    let mut workload = json!({ "container": { "image": image } });
    if has_endpoints {
        let port = arguments.port.map(|port| port.to_string());
        let port = ask("Port", port.as_deref(), "8080")?;
        let port: u16 = port
            .parse()
            .map_err(|_| Failure::usage(format!("{port:?} is no port")))?;
        workload["endpoints"] = json!({ "http": { "type": "HTTP", "port": port } });
    }
    let owner = json!({ "projectName": arguments.project });
    let mut component_spec = json!({
        "owner": owner,
        "componentType": {
            "kind": reference.kind,
            "name": format!("{}/{}", spec.workload_type, reference.name),
        },
        "autoDeploy": true,
    });
    let required = needed(&parameters.outline());
    if !required.is_empty() {
        component_spec["parameters"] = Value::Object(required);
    }
    workload["owner"] =
        json!({ "projectName": arguments.project, "componentName": arguments.name });
    let metadata = json!({ "name": arguments.name, "namespace": arguments.namespace });
    let document = |kind: &str, spec: Value| json!({ "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec });
    let folder = arguments
        .to
        .clone()
        .unwrap_or_else(|| PathBuf::from(&arguments.name));
    let files = [
        ("component.yaml", document("Component", component_spec)),
        ("workload.yaml", document("Workload", workload)),
    ];
    write(&folder, &files)?;
    let shown = folder.display();
    output::say(&format!(
        "{shown}/component.yaml and {shown}/workload.yaml are written\n\
         Next:  quad render -f {shown}       quad validate -f {shown}       quad apply -f {shown}"
    ))
}

/// Parameters that must be given, each with something to begin with.
fn needed(rows: &[Row]) -> Map<String, Value> {
    let top = rows
        .iter()
        .filter(|row| row.required && !row.path.contains(['.', '[']));
    let example = |row: &Row| match row.ty.as_str() {
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        _ if row.path == "schedule" => json!("0 3 * * *"),
        _ => json!("CHANGE-ME"),
    };
    top.map(|row| (row.path.clone(), example(row))).collect()
}

/// What was said, or what is answered on a terminal, or else what is usual.
fn ask(what: &str, said: Option<&str>, usual: &str) -> Result<String, Failure> {
    if let Some(said) = said {
        return Ok(said.to_owned());
    }
    if !io::stdin().is_terminal() {
        return Ok(usual.to_owned());
    }
    let failed = |error: io::Error| Failure::new("nothing can be asked here").because(&error);
    eprint!("{what} [{usual}]: ");
    io::stderr().flush().map_err(failed)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(match answer.trim() {
        "" => usual.to_owned(),
        answer => answer.to_owned(),
    })
}

/// Writes files, none of which may be there yet.
fn write(folder: &Path, files: &[(&str, Value)]) -> Result<(), Failure> {
    let taken = files
        .iter()
        .map(|(name, _)| folder.join(name))
        .find(|path| path.exists());
    if let Some(path) = taken {
        return Err(Failure::new(format!("{} is there already", path.display()))
            .next("Write to another folder: --to FOLDER"));
    }
    let unwritable = |error: io::Error| {
        Failure::new(format!("{} cannot be written", folder.display())).because(&error)
    };
    fs::create_dir_all(folder).map_err(unwritable)?;
    for (name, document) in files {
        fs::write(folder.join(name), output::yaml(document)?).map_err(unwritable)?;
    }
    Ok(())
}
