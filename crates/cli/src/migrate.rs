//! `quad migrate`: how a component of the deployment system moves to the component chain, and what that does to what runs.

mod read;
mod show;
mod steps;

use clap::ValueEnum;
use quadrille_render::deployment_system::migration::{Migration, MigrationError, migrate};
use serde_json::Value;

use crate::{
    arguments::TEMPLATE, chain::named::Name, cluster::Which, documents::Files, failure::Failure,
    fields, nearest::nearest, output, runtime::block_on, style::Style,
};

/// Show how a component of OpenChoreo 0.4 becomes one with a componentType, and what that changes; nothing is written.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad migrate cart                     as the cluster has it: documents, differences, steps\n  quad migrate cart -f shop/ -o yaml    only the documents, from files and without a cluster",
    help_template = TEMPLATE,
    after_help = "The new documents make the same objects, to the letter wherever Kubernetes allows: names, selectors and pods stay. \
                  Where something restarts or must be made anew, a warning says so; so it does for whatever cannot be moved.\n\
                  The whole way: docs/migrating-from-openchoreo.md"
)]
pub(crate) struct Arguments {
    /// The component: `cart`, or with its project `shop/cart`.
    component: String,
    /// What deploys it, where several things do: the name of a `DeploymentTrack`, or `ServiceBinding`, `WebApplicationBinding`,
    /// `ScheduledTaskBinding`.
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    cluster: Which,
    /// How to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Form,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Everything, for people.
    #[default]
    Text,
    /// Only the new documents, for `quad apply -f -`; warnings go to standard error.
    Yaml,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = Name::read(&arguments.component)?;
    let (documents, releases) = if arguments.files.are_given() {
        let given = arguments.files.read()?.into_iter();
        let wanted = arguments.cluster.namespace();
        // What says no namespace is meant to be in the one that was named.
        let is_there = |object: &Value| {
            let namespace = fields::namespace(object);
            wanted.is_none_or(|wanted| namespace.is_empty() || namespace == wanted)
        };
        let given = given.map(|document| document.object).filter(is_there);
        (given.collect(), None)
    } else {
        block_on(async {
            let cluster = arguments.cluster.find().await?;
            let documents = read::everything(&cluster).await?;
            let releases: Vec<Value> = documents
                .iter()
                .filter(|one| one["kind"] == "Release")
                .cloned()
                .collect();
            Ok((documents, Some(releases)))
        })?
    };
    agrees(&name, &documents)?;
    let migration = migrate(&documents, &name.component, arguments.from.as_deref())
        .map_err(|error| failure(&error, &documents))?;
    match arguments.output {
        Form::Yaml => {
            say_documents(&migration)?;
            for warning in &migration.warnings {
                output::aside(&format!("! {warning}"));
            }
            Ok(())
        }
        Form::Text => {
            let style = Style::of_standard_output();
            say_documents(&migration)?;
            output::say("")?;
            output::write(show::differences(&migration, style).as_bytes())?;
            output::write(show::warnings(&migration, style).as_bytes())?;
            output::write(steps::text(&migration, releases.as_deref()).as_bytes())
        }
    }
}

fn say_documents(migration: &Migration) -> Result<(), Failure> {
    for document in &migration.documents {
        output::say("---")?;
        output::say(output::yaml(document)?.trim_end())?;
    }
    Ok(())
}

/// A project that was said must be the component's.
fn agrees(name: &Name, documents: &[Value]) -> Result<(), Failure> {
    let mut components = documents.iter().filter(|one| one["kind"] == "Component");
    let found = components.find(|one| fields::name(one) == name.component);
    let Some(found) = found else { return Ok(()) };
    let component = crate::chain::reads::understood(found.clone())?;
    name.agrees(&component)
}

/// Why it cannot be moved, and what to do about it.
fn failure(error: &MigrationError, documents: &[Value]) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        MigrationError::NoComponent { component } => {
            let components = documents.iter().filter(|one| one["kind"] == "Component");
            match nearest(component, components.map(fields::name)) {
                Some(near) => failure.next(format!("Did you mean {near}?")),
                None => failure.next("See which there are: quad get components"),
            }
        }
        MigrationError::Already { component, .. } => {
            failure.next(format!("See how it is doing: quad status {component}"))
        }
        MigrationError::Several { known, .. } => {
            let known: Vec<String> = known.iter().map(|one| format!("--from {one}")).collect();
            failure.next(format!("Say which is meant: {}", known.join(" or ")))
        }
        MigrationError::NotRendered { .. } => {
            failure.next("Only what runs can be moved as it runs: put that right first.")
        }
        MigrationError::Nothing { .. }
        | MigrationError::Twice { .. }
        | MigrationError::NoFirstEnvironment
        | MigrationError::Documents(_) => failure,
    }
}
