//! `quad delete`: takes away what documents or names say, and shows what it waits for.

use std::time::{Duration, Instant};

use http::{Request, header};
use serde_json::{Value, json};

use crate::{
    apply::in_order,
    arguments::TEMPLATE,
    cluster::{Cluster, Which},
    documents::Files,
    failure::Failure,
    output,
    runtime::block_on,
};

/// Delete what documents describe, or an object by kind and name.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad delete -f platform/                     what was applied, in reverse order\n  quad delete environment staging --wait=false don't wait for its end",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// A kind and names, such as `environment staging`.
    #[arg(value_name = "KIND NAME", conflicts_with = "filename")]
    what: Vec<String>,
    #[command(flatten)]
    files: Option<Files>,
    #[command(flatten)]
    cluster: Which,
    /// Wait until they are gone.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    wait: bool,
    /// How long to wait, in seconds.
    #[arg(long, default_value_t = 300)]
    timeout: u64,
}

/// One object to delete.
struct Target {
    called: String,
    path: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let cluster = arguments.cluster.find().await?;
        let targets = targets(arguments, &cluster).await?;
        let mut waiting = Vec::new();
        for target in targets {
            if delete(&cluster, &target.path).await? {
                waiting.push(target);
            } else {
                output::say(&format!("{} was not there", target.called))?;
            }
        }
        if !arguments.wait {
            for target in waiting {
                output::say(&format!("{} is being deleted", target.called))?;
            }
            return Ok(());
        }
        let deadline = Instant::now() + Duration::from_secs(arguments.timeout);
        for target in waiting {
            gone(&cluster, &target, deadline).await?;
        }
        Ok(())
    })
}

async fn targets(arguments: &Arguments, cluster: &Cluster) -> Result<Vec<Target>, Failure> {
    if let Some(files) = &arguments.files {
        let mut targets = Vec::new();
        for document in in_order(files.read()?).iter().rev() {
            targets.push(Target {
                called: document.called(),
                path: cluster.path_of(document).await?,
            });
        }
        return Ok(targets);
    }
    let [kind, names @ ..] = arguments.what.as_slice() else {
        return Err(Failure::usage("what is to be deleted?")
            .next("Name it: quad delete environment staging")
            .next("or give its file: quad delete -f FILE"));
    };
    if names.is_empty() {
        return Err(Failure::usage(format!("which {kind} is to be deleted?"))
            .next(format!("Name it: quad delete {kind} NAME")));
    }
    let found = cluster.named_kind(kind).await?;
    let namespace = found.is_namespaced.then_some(cluster.namespace.as_str());
    Ok(names
        .iter()
        .map(|name| Target {
            called: found.called(name),
            path: format!("{}/{name}", found.path(namespace)),
        })
        .collect())
}

/// Asks for an end. Tells whether there was something to end.
async fn delete(cluster: &Cluster, path: &str) -> Result<bool, Failure> {
    let options =
        json!({ "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background" });
    let request = Request::delete(path)
        .header(header::CONTENT_TYPE, "application/json")
        .body(options.to_string().into_bytes())
        .map_err(|error| Failure::new("the request cannot be made").because(&error))?;
    match cluster.client.request::<Value>(request).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(cluster.failed(&error)),
    }
}

/// How often to look.
const OFTEN: Duration = Duration::from_millis(200);

/// Waits until an object is gone, and says what it waits for whenever that changes.
async fn gone(cluster: &Cluster, target: &Target, deadline: Instant) -> Result<(), Failure> {
    let mut said = String::new();
    loop {
        let Some(object) = cluster.get(&target.path).await? else {
            return output::say(&format!("{} deleted", target.called));
        };
        let words = waits_for(&object);
        if words != said && !words.is_empty() {
            output::aside(&format!("  {}: {words}", target.called));
            said.clone_from(&words);
        }
        if Instant::now() > deadline {
            let failure = Failure::not_yet(format!("{} is not gone yet", target.called));
            let failure = if said.is_empty() {
                failure
            } else {
                failure.next(said)
            };
            return Err(failure.next("It goes on without you; look again: quad describe"));
        }
        tokio::time::sleep(OFTEN).await;
    }
}

/// What the object itself says about its end.
fn waits_for(object: &Value) -> String {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let going = conditions.find(|condition| {
        ["Finalizing", "Deleting"].contains(&condition["type"].as_str().unwrap_or_default())
            && condition["status"] == "True"
    });
    let said = going.and_then(|condition| condition["message"].as_str());
    said.unwrap_or_default().to_owned()
}
