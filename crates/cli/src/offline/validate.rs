//! `quad validate`: everything that is wrong with documents, at once. They are shown to an API server of our own in
//! this process, types and traits are checked as a whole, and components are rendered.

mod server;

use std::collections::BTreeSet;

use quadrille_render::{DocumentError, Renderer};
use serde_json::Value;

use self::server::Examiner;
use super::{Pile, lines};
use crate::{
    arguments::TEMPLATE, documents::Document, failure::Failure, output, runtime::block_on,
};

/// Say everything that is wrong with documents; no cluster is asked.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad validate -f shop/            a folder\n  quad render … | quad validate -f - what was rendered",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pile: Pile,
}

/// Something that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Complaint {
    place: String,
    line: usize,
    words: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let documents = arguments.pile.files.read()?;
    let mut complaints = BTreeSet::new();
    let refused = block_on(async {
        let examiner = Examiner::start().await?;
        let mut refused = BTreeSet::new();
        for (index, document) in documents.iter().enumerate() {
            for (path, words) in examiner.examine(document).await? {
                refused.insert(index);
                complaints.insert(complaint(document, &path, &words));
            }
        }
        Ok::<_, Failure>(refused)
    })?;
    // What has the wrong shape would only be told again in other words.
    let whole: Vec<&Document> = documents
        .iter()
        .enumerate()
        .filter(|(index, _)| !refused.contains(index))
        .map(|(_, document)| document)
        .collect();
    definitions(&whole, &mut complaints)?;
    if refused.is_empty() {
        components(arguments, &documents, &mut complaints)?;
    }
    if complaints.is_empty() {
        return output::say(&format!("{} documents, nothing wrong", documents.len()));
    }
    for complaint in &complaints {
        output::say(&format!(
            "{}:{}: {}",
            complaint.place, complaint.line, complaint.words
        ))?;
    }
    let count = complaints.len();
    let things = if count == 1 { "thing is" } else { "things are" };
    Err(Failure::new(format!("{count} {things} wrong")))
}

fn complaint(document: &Document, path: &str, words: &str) -> Complaint {
    let (place, begin, text) = document.source();
    let called = format!("{} {}", document.kind(), document.name());
    Complaint {
        place: place.to_owned(),
        line: begin + lines::line_of(text, path) - 1,
        words: if words.starts_with(&called) {
            words.to_owned()
        } else {
            format!("{called}: {words}")
        },
    }
}

/// Types and traits, each as a whole.
fn definitions(
    documents: &[&Document],
    complaints: &mut BTreeSet<Complaint>,
) -> Result<(), Failure> {
    let renderer = Renderer::new();
    for document in documents {
        let one = quadrille_render::Documents::read(vec![document.object.clone()])
            .map_err(|error| Failure::new(error.to_string()).at(&document.place))?;
        let types = one.component_types().filter_map(|(reference, spec)| {
            renderer.check_component_type(&reference.kind, spec).err()
        });
        let traits = one
            .traits()
            .filter_map(|(_, spec)| renderer.check_trait(spec).err());
        for problem in types.chain(traits).flat_map(|problems| problems.0) {
            complaints.insert(complaint(document, &problem.path, &problem.to_string()));
        }
    }
    Ok(())
}

/// Components, in every environment there is.
fn components(
    arguments: &Arguments,
    documents: &[Document],
    complaints: &mut BTreeSet<Complaint>,
) -> Result<(), Failure> {
    let objects = documents.iter().map(|one| one.object.clone());
    let all = arguments.pile.with_library(objects)?;
    let mut environments: Vec<&str> = all.environments().collect();
    if environments.is_empty() {
        environments.push("development");
    }
    let renderer = Renderer::new();
    for component in all.components() {
        let is_it = |one: &&Document| one.kind() == "Component" && one.name() == component;
        let Some(document) = documents.iter().find(is_it) else {
            continue;
        };
        for environment in &environments {
            match all.plan(&renderer, component, environment) {
                Ok(_) => {}
                Err(DocumentError::Component { problems, .. }) => {
                    for problem in problems {
                        complaints.insert(complaint(
                            document,
                            &problem.field,
                            &problem.to_string(),
                        ));
                    }
                }
                Err(error) => {
                    let words = error.to_string();
                    let path = field_in(&document.object, &words);
                    complaints.insert(complaint(document, &path, &words));
                }
            }
        }
    }
    Ok(())
}

/// The field of a component that words are about, as far as they name a parameter.
fn field_in(component: &Value, words: &str) -> String {
    let parameters = component["spec"]["parameters"].as_object();
    let mut names = parameters
        .into_iter()
        .flat_map(|parameters| parameters.keys());
    let is_named = |name: &&String| {
        words
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| word == **name)
    };
    names.find(is_named).map_or_else(
        || "spec".to_owned(),
        |name| format!("spec.parameters.{name}"),
    )
}
