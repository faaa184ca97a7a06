//! `quad apply`: makes the cluster hold what documents say.

use http::{Request, header};
use serde_json::Value;

use crate::{
    arguments::TEMPLATE,
    cluster::{Cluster, Which},
    documents::{Document, Files},
    failure::Failure,
    output,
    runtime::block_on,
};

/// Apply documents: files, folders or standard input; also those of core.choreo.dev/v1.
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
}

/// The field manager of what people apply.
pub(crate) const MANAGER: &str = "quad";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let documents = in_order(arguments.files.read()?);
    block_on(async {
        let cluster = arguments.cluster.find().await?;
        let mut failed = 0;
        for document in &documents {
            match apply(&cluster, document, arguments.dry_run).await {
                Ok(outcome) => output::say(&outcome)?,
                Err(failure) => {
                    failed += 1;
                    failure.report();
                }
            }
        }
        match failed {
            0 => Ok(()),
            some => Err(Failure::new(format!(
                "{some} of {} were not applied; the others were",
                documents.len()
            ))),
        }
    })
}

/// What others stand on comes first: definitions, organizations and namespaces, then the rest as written.
pub(crate) fn in_order(mut documents: Vec<Document>) -> Vec<Document> {
    documents.sort_by_key(|document| match document.kind() {
        "CustomResourceDefinition" => 0,
        "Namespace" | "Organization" => 1,
        _ => 2,
    });
    documents
}

/// Applies a document on the server's side. Tells what became of it.
pub(crate) async fn apply(
    cluster: &Cluster,
    document: &Document,
    dry_run: bool,
) -> Result<String, Failure> {
    let path = cluster.path_of(document).await?;
    let place = |failure: Failure| failure.at(&document.place);
    let before = cluster.get(&path).await.map_err(place)?;
    let mut query = format!("fieldManager={MANAGER}&force=true&fieldValidation=Strict");
    if dry_run {
        query.push_str("&dryRun=All");
    }
    let request = Request::patch(format!("{path}?{query}"))
        .header(header::CONTENT_TYPE, "application/apply-patch+yaml")
        .body(document.object.to_string().into_bytes())
        .map_err(|error| Failure::new("the request cannot be made").because(&error))?;
    let after: Value = cluster
        .client
        .request(request)
        .await
        .map_err(|error| place(cluster.failed(&error)))?;
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    let deed = match &before {
        None => "created",
        Some(before) if version(before) == version(&after) => "unchanged",
        Some(_) => "configured",
    };
    let suffix = if dry_run {
        " (nothing was written)"
    } else {
        ""
    };
    Ok(format!("{} {deed}{suffix}", document.called()))
}
