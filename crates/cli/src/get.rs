//! `quad get`: objects as a table, or as they are.

use futures::StreamExt as _;
use http::{Request, header};
use serde_json::Value;

use crate::{
    arguments::TEMPLATE,
    cluster::{Cluster, Which},
    failure::Failure,
    kinds::Found,
    output,
    runtime::block_on,
    table::Table,
};

/// List objects of a kind, or show some by name.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad get releases -A                     what runs, in every organization\n  quad get environment staging -o yaml     one, as it is",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// The kind: its name, plural or short name.
    kind: String,
    /// Names; everything of the kind where none is given.
    names: Vec<String>,
    #[command(flatten)]
    cluster: Which,
    /// In every namespace.
    #[arg(short = 'A', long, conflicts_with = "names")]
    all_namespaces: bool,
    /// Only those with these labels.
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<String>,
    /// How to write them.
    #[arg(short, long, value_enum)]
    output: Option<Form>,
    /// Go on, and show what changes.
    #[arg(short, long)]
    watch: bool,
}

/// How objects are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A table with more columns.
    Wide,
    /// YAML.
    Yaml,
    /// JSON.
    Json,
    /// Kind and name only.
    Name,
}

const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let cluster = arguments.cluster.find().await?;
        let kind = cluster.named_kind(&arguments.kind).await?;
        let namespace =
            (kind.is_namespaced && !arguments.all_namespaces).then_some(cluster.namespace.as_str());
        let paths = paths(arguments, &kind, namespace);
        match arguments.output {
            None | Some(Form::Wide) => table(arguments, &cluster, &kind, &paths).await,
            Some(form) => whole(&cluster, &kind, &paths, form).await,
        }
    })
}

fn paths(arguments: &Arguments, kind: &Found, namespace: Option<&str>) -> Vec<String> {
    let collection = kind.path(namespace);
    if arguments.names.is_empty() {
        let selector = arguments.selector.as_deref().map(|selector| {
            form_urlencoded::Serializer::new(String::new())
                .append_pair("labelSelector", selector)
                .finish()
        });
        return vec![match selector {
            Some(selector) => format!("{collection}?{selector}"),
            None => collection,
        }];
    }
    let names = arguments.names.iter();
    names.map(|name| format!("{collection}/{name}")).collect()
}

async fn ask(cluster: &Cluster, path: &str, accept: &str) -> Result<Value, Failure> {
    let request = Request::get(path)
        .header(header::ACCEPT, accept)
        .body(Vec::new())
        .map_err(|error| Failure::new("the request cannot be made").because(&error))?;
    let answer = cluster.client.request(request).await;
    answer.map_err(|error| cluster.failed(&error))
}

async fn table(
    arguments: &Arguments,
    cluster: &Cluster,
    kind: &Found,
    paths: &[String],
) -> Result<(), Failure> {
    let mut shown = Table::new(
        arguments.output == Some(Form::Wide),
        arguments.all_namespaces && kind.is_namespaced,
    );
    for path in paths {
        shown.take(&ask(cluster, path, TABLE).await?);
    }
    if shown.is_empty() {
        let place = if arguments.all_namespaces || !kind.is_namespaced {
            String::new()
        } else {
            format!(" in namespace {}", cluster.namespace)
        };
        output::aside(&format!("no {} found{place}", kind.plural()));
    } else {
        output::write(shown.text().as_bytes())?;
    }
    if !arguments.watch {
        return Ok(());
    }
    for path in paths {
        watch(cluster, path, &mut shown).await?;
    }
    Ok(())
}

/// Shows what changes, line by line, until the server or the user ends it.
async fn watch(cluster: &Cluster, path: &str, shown: &mut Table) -> Result<(), Failure> {
    let (collection, query) = path.split_once('?').unwrap_or((path, ""));
    let revision = shown.revision().to_owned();
    let url = format!("{collection}?{query}&watch=true&resourceVersion={revision}");
    let request = Request::get(url)
        .header(header::ACCEPT, TABLE)
        .body(Vec::new())
        .map_err(|error| Failure::new("the request cannot be made").because(&error))?;
    let events = cluster.client.request_events::<Value>(request).await;
    let events = events.map_err(|error| cluster.failed(&error))?;
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        use kube::core::WatchEvent;
        match event.map_err(|error| cluster.failed(&error))? {
            WatchEvent::Added(table) | WatchEvent::Modified(table) | WatchEvent::Deleted(table) => {
                output::write(shown.lines_of(&table).as_bytes())?;
            }
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Error(status) => return Err(Failure::new(status.message)),
        }
    }
    Ok(())
}

async fn whole(
    cluster: &Cluster,
    kind: &Found,
    paths: &[String],
    form: Form,
) -> Result<(), Failure> {
    for (index, path) in paths.iter().enumerate() {
        let answer = ask(cluster, path, "application/json").await?;
        match form {
            Form::Json => output::say(&serde_json::to_string_pretty(&answer).unwrap_or_default())?,
            Form::Yaml => {
                if index > 0 {
                    output::say("---")?;
                }
                output::say(output::yaml(&answer)?.trim_end())?;
            }
            Form::Name | Form::Wide => {
                let items = answer["items"].as_array();
                let items = items.map_or(std::slice::from_ref(&answer), Vec::as_slice);
                for item in items {
                    let name = item["metadata"]["name"].as_str().unwrap_or_default();
                    output::say(&kind.called(name))?;
                }
            }
        }
    }
    Ok(())
}
