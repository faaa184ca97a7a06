//! `quad tree`: what belongs to what, and how it is doing.

mod branch;
mod family;
mod made;

use self::{branch::Branch, family::Family};
use crate::{
    arguments::{Output, TEMPLATE},
    cluster::{Cluster, Which},
    failure::Failure,
    fields,
    kinds::Found,
    object::{Words, kind_and_names, which},
    output,
    runtime::block_on,
    style::Style,
};

/// Show what is below an object, and how it is doing: an organization down to the pods of its releases.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad tree                    everything of this organization\n  quad tree release cart       one release, down to its pods",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// A kind and a name: `release cart`, `project/shop`; the whole organization where none is given.
    #[arg(value_names = ["KIND", "NAME"], num_args = 0..=2, value_parser = Words, hide_possible_values = true)]
    what: Vec<String>,
    #[command(flatten)]
    cluster: Which,
    /// How many levels to show.
    #[arg(short, long, value_name = "LEVELS")]
    depth: Option<usize>,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let cluster = arguments.cluster.find().await?;
        let root = root(arguments, &cluster).await?;
        match arguments.output {
            Output::Text => {
                let text = root.text(arguments.depth, Style::of_standard_output());
                output::write(text.as_bytes())
            }
            Output::Json => output::say(&root.json(arguments.depth).to_string()),
        }
    })
}

async fn root(arguments: &Arguments, cluster: &Cluster) -> Result<Branch, Failure> {
    if arguments.what.is_empty() {
        let namespace = &cluster.namespace;
        return match Family::of(cluster).await?.organization(namespace) {
            Some(branch) => Ok(branch),
            None => {
                let kind = cluster.named_kind("organization").await?;
                Err(cluster.missing(&kind, namespace).await)
            }
        };
    }
    let (kind, names) = kind_and_names(&arguments.what)?;
    let [name] = names.as_slice() else {
        return Err(which(kind));
    };
    let kind = cluster.named_kind(kind).await?;
    let mut object = cluster.object(&kind, name).await?;
    object["apiVersion"] = kind.api_version().into();
    object["kind"] = kind.kind().into();
    if !kind.is_ours() {
        return made::below(cluster, &object).await;
    }
    let home = home(cluster, &kind, fields::namespace(&object), name);
    Ok(Family::of(&home).await?.below(&object))
}

/// The cluster, looking at the namespace that the object's family is in.
fn home(cluster: &Cluster, kind: &Found, namespace: &str, name: &str) -> Cluster {
    let namespace = match (kind.kind(), namespace) {
        ("Organization", _) => name,
        (_, "") => &cluster.namespace,
        (_, namespace) => namespace,
    };
    Cluster {
        namespace: namespace.to_owned(),
        ..cluster.clone()
    }
}
