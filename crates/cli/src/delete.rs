//! `quad delete`: takes away what documents or names say, and shows what it waits for.

use std::time::{Duration, Instant};

use http::{Request, header};
use serde_json::json;

use crate::{
    apply::in_order,
    arguments::{Output, TEMPLATE},
    cluster::{Cluster, Which},
    confirm,
    documents::{Document, Files},
    failure::Failure,
    fields,
    object::{Words, kind_and_names, which},
    output, patience,
    progress::Progress,
    runtime::block_on,
};

/// Delete what documents describe, or objects by kind and name.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad delete -f platform/                        what was applied, in reverse order\n  quad delete environment staging --wait=false    don't wait for its end",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// A kind and names: `environment staging` or `environment/staging`.
    #[arg(value_names = ["KIND", "NAME"], num_args = 1.., conflicts_with = "filename", value_parser = Words, hide_possible_values = true)]
    what: Vec<String>,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    cluster: Which,
    /// Don't ask. (Without a terminal nothing is asked.)
    #[arg(short, long)]
    yes: bool,
    /// Wait until they are gone.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    wait: bool,
    /// How long to wait: seconds, or 5m.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = patience::parse)]
    timeout: Duration,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// One object to delete.
struct Target {
    /// With its kind and group.
    called: String,
    /// As it is named on the command line.
    named: String,
    path: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // Before anything else runs: reading an address takes a runtime of its own.
    let documents = if arguments.files.are_given() {
        Some(in_order(arguments.files.read()?))
    } else {
        None
    };
    block_on(async {
        let cluster = arguments.cluster.find().await?;
        let (targets, mut refused) = match &documents {
            Some(documents) => described(&cluster, documents).await?,
            None => (named(&cluster, &arguments.what).await?, 0),
        };
        if targets.is_empty() {
            return Err(Failure::told(1));
        }
        if !arguments.yes && confirm::is_possible() && !confirm::ask(&question(&targets))? {
            return Err(Failure::new("nothing was deleted"));
        }
        let tell = |target: &Target, result: &str| {
            let words = format!("{} {result}", target.called);
            let facts = json!({ "object": target.called, "result": result });
            output::tell(arguments.output, &words, &facts)
        };
        let mut waiting = Vec::new();
        for target in targets {
            match delete(&cluster, &target.path).await {
                Ok(true) => waiting.push(target),
                Ok(false) => tell(&target, "was not there")?,
                Err(failure) if failure.is_final() => return Err(failure),
                // The others go all the same, and are told of.
                Err(failure) => {
                    refused += 1;
                    failure.at(&target.called).report();
                }
            }
        }
        let deadline = Instant::now() + arguments.timeout;
        for target in waiting {
            if arguments.wait {
                gone(&cluster, &target, deadline).await?;
                tell(&target, "deleted")?;
            } else {
                tell(&target, "is being deleted")?;
            }
        }
        match refused {
            0 => Ok(()),
            _ => Err(Failure::told(1)),
        }
    })
}

/// What documents describe, the last first; and how many are of kinds that the cluster does not have, which is told.
async fn described(
    cluster: &Cluster,
    documents: &[Document],
) -> Result<(Vec<Target>, usize), Failure> {
    let (mut targets, mut refused) = (Vec::new(), 0);
    for document in documents.iter().rev() {
        match cluster.path_of(document).await {
            Ok(path) => targets.push(Target {
                called: document.called(),
                named: format!("{} {}", document.kind().to_lowercase(), document.name()),
                path,
            }),
            Err(failure) if failure.is_final() => return Err(failure.at(&document.place)),
            Err(failure) => {
                refused += 1;
                failure.at(&document.place).report();
            }
        }
    }
    Ok((targets, refused))
}

/// What names say. One that is not there is a typing error more often than not, so then nothing is deleted.
async fn named(cluster: &Cluster, words: &[String]) -> Result<Vec<Target>, Failure> {
    if words.is_empty() {
        return Err(Failure::usage("what is to be deleted?")
            .next("Name it: quad delete environment staging")
            .next("or give its file: quad delete -f FILE"));
    }
    let (kind, names) = kind_and_names(words)?;
    if names.is_empty() {
        return Err(which(kind));
    }
    let found = cluster.named_kind(kind).await?;
    let mut targets = Vec::new();
    for name in names {
        cluster.object(&found, name).await?;
        targets.push(Target {
            called: found.called(name),
            named: format!("{} {name}", found.word()),
            path: cluster.path(&found, name),
        });
    }
    Ok(targets)
}

/// How many are named in a question.
const NAMED: usize = 5;

fn question(targets: &[Target]) -> String {
    let names: Vec<&str> = targets
        .iter()
        .take(NAMED)
        .map(|target| target.named.as_str())
        .collect();
    let more = match targets.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let takes_more = [
        "organization ",
        "project ",
        "environment ",
        "dataplane ",
        "namespace ",
    ];
    let takes_more = names
        .iter()
        .any(|name| takes_more.iter().any(|kind| name.starts_with(kind)));
    let below = match names.as_slice() {
        [name] if takes_more => {
            format!("Everything below goes with it (quad tree {name} shows it), and it")
        }
        _ if takes_more => "Everything below them goes with them, and it".to_owned(),
        _ => "It".to_owned(),
    };
    let names = names.join(", ");
    format!("Delete {names}{more}? {below} cannot be undone.")
}

/// Asks for an end. Tells whether there was something to end.
async fn delete(cluster: &Cluster, path: &str) -> Result<bool, Failure> {
    let options =
        json!({ "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background" });
    let request = Request::delete(path)
        .header(header::CONTENT_TYPE, "application/json")
        .body(options.to_string().into_bytes())
        .map_err(|error| Failure::new("the request cannot be made").because(&error))?;
    match cluster.send(request).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(cluster.failed(&error)),
    }
}

/// How often to look.
const OFTEN: Duration = Duration::from_millis(200);

/// Waits until an object is gone, and says what it waits for whenever that changes.
async fn gone(cluster: &Cluster, target: &Target, deadline: Instant) -> Result<(), Failure> {
    let mut progress = Progress::start();
    let mut said = String::new();
    loop {
        let Some(object) = cluster.get(&target.path).await? else {
            return Ok(());
        };
        let words = fields::waits_for(&object);
        if !words.is_empty() {
            progress.show(&format!("{}: {words}", target.called));
            words.clone_into(&mut said);
        }
        if Instant::now() > deadline {
            let failure = Failure::not_yet(format!("{} is not gone yet", target.called));
            let failure = if said.is_empty() {
                failure
            } else {
                failure.saying(said)
            };
            let namespace = &cluster.namespace;
            return Err(failure.next(format!(
                "It goes on without you; look again: quad describe {} -n {namespace}",
                target.named
            )));
        }
        tokio::time::sleep(OFTEN).await;
    }
}
