//! `quad apply`: makes the cluster hold what documents say.

use std::time::{Duration, Instant};

use quadrille_objects::difference;
use serde_json::json;

use crate::{
    arguments::{Output, TEMPLATE},
    cluster::{Cluster, Which},
    documents::{Document, Files},
    failure::Failure,
    output,
    requests::Apply,
    runtime::block_on,
};

/// Apply documents: files, folders, addresses or standard input; also those of core.choreo.dev/v1.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad apply -f platform/                  everything in a folder\n  quad apply -f - < release.yaml           from standard input",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    cluster: Which,
    /// Only ask the server whether it would take them.
    #[arg(long)]
    dry_run: bool,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// The field manager of what people apply.
pub(crate) const MANAGER: &str = "quad";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let documents = in_order(arguments.files.read()?);
    block_on(async {
        let cluster = arguments.cluster.find().await?;
        let mut failed = 0;
        let mut organizations: Vec<&str> = Vec::new();
        for document in &documents {
            // The namespace of an organization that was just made takes a moment.
            let namespace = document.namespace().unwrap_or(&cluster.namespace);
            let applied = if rank(document) > 1 && organizations.contains(&namespace) {
                match namespace_of(&cluster, namespace).await {
                    Ok(()) => apply(&cluster, document, arguments.dry_run).await,
                    Err(failure) => Err(failure.at(&document.place)),
                }
            } else {
                apply(&cluster, document, arguments.dry_run).await
            };
            match applied {
                Ok(result) => {
                    if document.kind() == "Organization" && !arguments.dry_run {
                        organizations.push(document.name());
                    }
                    let called = document.called();
                    let words = format!("{called} {result}");
                    let facts = json!({ "object": called, "result": result });
                    output::tell(arguments.output, &words, &facts)?;
                }
                Err(failure) if failure.is_final() => return Err(failure),
                Err(failure) => {
                    failed += 1;
                    failure.report();
                }
            }
        }
        match failed {
            0 => Ok(()),
            all if all == documents.len() => Err(Failure::told(1)),
            some => Err(Failure::new(format!(
                "{some} of {} could not be applied; the others are",
                documents.len()
            ))),
        }
    })
}

/// Waits for the namespace of an organization, as long as that is likely to come.
async fn namespace_of(cluster: &Cluster, organization: &str) -> Result<(), Failure> {
    let path = format!("/api/v1/namespaces/{organization}");
    let deadline = Instant::now() + PATIENCE;
    while cluster.get(&path).await?.is_none() {
        if Instant::now() > deadline {
            let what = format!("organization {organization} has no namespace yet");
            return Err(Failure::not_yet(what)
                .next("Do its controllers run? quad up runs them; so does quad-controller."));
        }
        tokio::time::sleep(OFTEN).await;
    }
    Ok(())
}

/// How long a namespace may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often to look.
const OFTEN: Duration = Duration::from_millis(50);

/// What others stand on comes first: definitions, organizations and namespaces, then the rest as written.
pub(crate) fn in_order(mut documents: Vec<Document>) -> Vec<Document> {
    documents.sort_by_key(rank);
    documents
}

fn rank(document: &Document) -> u8 {
    match document.kind() {
        "CustomResourceDefinition" => 0,
        "Namespace" | "Organization" => 1,
        _ => 2,
    }
}

/// Applies a document on the server's side. Tells what became of it.
pub(crate) async fn apply(
    cluster: &Cluster,
    document: &Document,
    dry_run: bool,
) -> Result<String, Failure> {
    let place = |failure: Failure| failure.at(&document.place);
    let path = cluster.path_of(document).await.map_err(place)?;
    let before = cluster.get(&path).await.map_err(place)?;
    let how = Apply {
        manager: MANAGER,
        is_rehearsal: dry_run,
    };
    let after = cluster
        .apply(&path, &document.object, how)
        .await
        .map_err(|error| place(cluster.failed(&error)))?;
    let deed = match &before {
        None => "created",
        // Who wrote which field may have changed; what is asked for has not.
        Some(before) if difference::changes(before, &after).is_empty() => "unchanged",
        Some(_) => "configured",
    };
    let suffix = if dry_run {
        " (nothing was written)"
    } else {
        ""
    };
    Ok(format!("{deed}{suffix}"))
}
