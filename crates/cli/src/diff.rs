//! `quad diff`: what would change if documents were applied. A release is followed to its plane.

mod environment;
pub(crate) mod finding;
mod release;

use self::finding::{Deed, Finding};
use crate::{
    apply::{MANAGER, in_order},
    arguments::{Output, TEMPLATE},
    chain::live::passwords,
    cluster::{Cluster, Which},
    documents::{Document, Files},
    failure::Failure,
    output,
    requests::Apply,
    runtime::block_on,
    style::Style,
};

/// Show what would change if documents were applied; nothing is written.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad diff -f cart/ --env staging     what a component would change there, on the plane too\n  quad diff -f platform/ || echo       exit code 1: something would change",
    after_help = "Exit codes: 0 nothing would change, 1 something would, 2 it could not be found out.",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    cluster: Which,
    /// Components: compare what they would become with what runs in this environment.
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    environment: Option<String>,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// As with `diff` and `kubectl diff`, 1 says that there are differences, so trouble is told by another code.
const DIFFERENT: u8 = 1;
const TROUBLE: u8 = 2;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let findings = found(arguments).map_err(|failure| failure.with_code(TROUBLE))?;
    match arguments.output {
        Output::Text => {
            let text = finding::text(&findings, Style::of_standard_output());
            output::write(text.as_bytes())?;
        }
        Output::Json => output::say(&finding::json(&findings).to_string())?,
    }
    if findings.is_empty() {
        Ok(())
    } else {
        Err(Failure::told(DIFFERENT))
    }
}

fn found(arguments: &Arguments) -> Result<Vec<Finding>, Failure> {
    let documents = in_order(arguments.files.read()?);
    block_on(async {
        let cluster = arguments.cluster.find().await?;
        if let Some(environment) = &arguments.environment {
            return environment::findings(cluster, &documents, environment).await;
        }
        let mut findings = Vec::new();
        for document in &documents {
            let found = of_document(&cluster, document, &documents).await;
            findings.extend(found.map_err(|failure| failure.at(&document.place))?);
        }
        Ok(findings)
    })
}

/// What would come of a document, after those that come with it.
async fn of_document(
    cluster: &Cluster,
    document: &Document,
    together: &[Document],
) -> Result<Vec<Finding>, Failure> {
    let path = cluster.path_of(document).await?;
    let before = cluster.get(&path).await?;
    let how = Apply {
        manager: MANAGER,
        is_rehearsal: true,
    };
    let object = finding::called(&document.object);
    let after = match cluster.apply(&path, &document.object, how).await {
        Ok(after) => after,
        // Its namespace, or the definition of its kind, may be one of the documents.
        Err(kube::Error::Api(status)) if status.code == 404 && before.is_none() => {
            return Ok(vec![Finding {
                object,
                deed: Deed::Create,
            }]);
        }
        Err(error) => return Err(cluster.failed(&error)),
    };
    let mut findings = match &before {
        None => vec![Finding {
            object,
            deed: Deed::Create,
        }],
        Some(before) => finding::changes(&object, before, &after),
    };
    if document.kind() == "ReleaseBinding" {
        let mut confidential = Vec::new();
        for binding in before.iter().chain([&after]) {
            confidential.extend(passwords(cluster, together, binding).await?);
        }
        for finding in &mut findings {
            finding.hide(&confidential);
        }
    }
    if document.is_release() {
        // What a release carries is compared where it goes.
        findings.retain(|finding| !finding.is_about("spec.resources"));
        let is_coming = |environment: &str| {
            let mut others = together.iter();
            others.any(|other| other.kind() == "Environment" && other.name() == environment)
        };
        findings.extend(release::findings(cluster, before.as_ref(), after, is_coming).await?);
    }
    Ok(findings)
}
