//! Verbs that need no cluster: they work on a pile of documents.

pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod lines;
pub(crate) mod render;
pub(crate) mod schema;
mod settings;
pub(crate) mod validate;
pub(crate) mod workload;

use quadrille_render::{Documents, Renderer, library};
use quadrille_template::Parameters;
use quadrille_types::{ComponentTypeSpec, TraitSpec, reference::Reference};
use serde_json::Value;

use crate::{
    documents::{Document, Files},
    failure::Failure,
    nearest::nearest,
};

/// Documents, and what `quad` brings itself.
#[derive(Debug, clap::Args)]
pub(crate) struct Pile {
    #[command(flatten)]
    files: Files,
    /// Leave out the types and traits that quad brings.
    #[arg(long)]
    no_library: bool,
}

impl Pile {
    /// The documents that were given; none is fine where the library is enough.
    fn given(&self) -> Result<Vec<Document>, Failure> {
        if self.files.are_given() {
            self.files.read()
        } else {
            Ok(Vec::new())
        }
    }

    /// With the library before them: what was given goes over what we bring.
    fn with_library(&self, given: impl IntoIterator<Item = Value>) -> Result<Documents, Failure> {
        let mut all = if self.no_library {
            Vec::new()
        } else {
            library::documents()
        };
        all.extend(given);
        Documents::read(all).map_err(|error| Failure::new(error.to_string()))
    }
}

/// A component type or a trait.
enum Definition<'a> {
    Type(&'a Reference, &'a ComponentTypeSpec),
    Trait(&'a Reference, &'a TraitSpec),
}

impl<'a> Definition<'a> {
    /// Finds one by what people call it: `service`, `deployment/service`, `trait/autoscaler`.
    fn find(documents: &'a Documents, name: &str) -> Result<Self, Failure> {
        let types = documents.component_types().map(|(reference, spec)| {
            let full = format!("{}/{}", spec.workload_type, reference.name);
            (full, Self::Type(reference, spec))
        });
        let traits = documents.traits().map(|(reference, spec)| {
            let full = format!("trait/{}", reference.name);
            (full, Self::Trait(reference, spec))
        });
        let mut known = Vec::new();
        for (full, definition) in types.chain(traits) {
            let short = full.split_once('/').map(|(_, short)| short);
            if full == name || short == Some(name) {
                return Ok(definition);
            }
            known.push(full);
        }
        let failure = Failure::usage(format!("there is no component type or trait {name:?}"));
        let short = known.iter().filter_map(|full| full.split('/').next_back());
        let near = nearest(name, known.iter().map(String::as_str).chain(short));
        let failure = match near {
            Some(near) => failure.next(format!("Did you mean {near}?")),
            None => failure,
        };
        Err(failure.next(format!("There are: {}", known.join(", "))))
    }

    /// As it is called.
    fn called(&self) -> String {
        let (Self::Type(reference, _) | Self::Trait(reference, _)) = self;
        format!("{} {}", reference.kind, reference.name)
    }

    /// What it takes: parameters, and what may differ per environment.
    fn schemas(&self, renderer: &Renderer) -> Result<[Parameters; 2], Failure> {
        let schemas = match self {
            Self::Type(reference, spec) => {
                renderer.schemas_of_component_type(&reference.kind, spec)
            }
            Self::Trait(_, spec) => renderer.schemas_of_trait(spec),
        };
        schemas.map_err(|problems| {
            Failure::new(format!("{} cannot be used", self.called())).saying(problems.to_string())
        })
    }
}
