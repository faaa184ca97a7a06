//! `quad describe`: everything about one object that a person wants to know.

use std::fmt::Write as _;

use quadrille_objects::secret;
use serde_json::{Value, json};

use crate::{
    age,
    arguments::{Output, TEMPLATE},
    cluster::Cluster,
    failure::Failure,
    fields::{self, placed, text as said},
    object::Named,
    output,
    requests::OBJECTS,
    runtime::block_on,
    style::Style,
};

/// Show one object: its conditions, what it put where and how that is doing, and what happened.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad describe release cart           what it put where, and how that is doing\n  quad describe dataplane default      whether it is reached, and what is wrong if not",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    object: Named,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let target = arguments.object.find().await?;
        let object = target.read().await?;
        let events = events(&target.cluster, &object).await?;
        let style = Style::of_standard_output();
        let text = text(target.kind.kind(), &object, events.as_deref(), style);
        let facts = json!({ "object": hidden(object), "events": events });
        output::tell(arguments.output, text.trim_end(), &facts)
    })
}

/// An object without what Secrets hold, those that a release carries included.
fn hidden(mut object: Value) -> Value {
    secret::hide(&mut object);
    if let Some(carried) = object
        .pointer_mut("/spec/resources")
        .and_then(Value::as_array_mut)
    {
        for entry in carried {
            if let Some(object) = entry.get_mut("object") {
                secret::hide(object);
            }
        }
    }
    object
}

/// What happened to an object, the newest last; nothing where that may not be seen.
async fn events(cluster: &Cluster, object: &Value) -> Result<Option<Vec<Value>>, Failure> {
    let namespace = match fields::namespace(object) {
        "" => "default",
        namespace => namespace,
    };
    let uid = fields::uid(object);
    let path =
        format!("/api/v1/namespaces/{namespace}/events?fieldSelector=involvedObject.uid%3D{uid}");
    let list = match cluster.read(&path, OBJECTS).await {
        Ok(list) => list,
        Err(kube::Error::Api(status)) if status.code == 403 => return Ok(None),
        Err(error) => return Err(cluster.failed(&error)),
    };
    let mut events = fields::items(&list["items"]).to_vec();
    events.sort_by_key(|event| moment(event).to_owned());
    Ok(Some(events))
}

fn moment(event: &Value) -> &str {
    let fields = ["lastTimestamp", "eventTime"];
    let told = fields.iter().find_map(|field| event[*field].as_str());
    let made = event["metadata"]["creationTimestamp"].as_str();
    told.or(made).unwrap_or_default()
}

fn text(kind: &str, object: &Value, events: Option<&[Value]>, style: Style) -> String {
    let mut out = String::new();
    let metadata = &object["metadata"];
    let title = style.bold(&format!("{kind} {}", said(metadata, "name")));
    let _ = writeln!(out, "{title}");
    if metadata["namespace"].is_string() {
        let _ = writeln!(out, "  namespace   {}", said(metadata, "namespace"));
    }
    let made = age::since(said(metadata, "creationTimestamp")).unwrap_or_default();
    let _ = writeln!(out, "  age         {made}");
    if metadata["deletionTimestamp"].is_string() {
        let since = age::since(said(metadata, "deletionTimestamp")).unwrap_or_default();
        let _ = writeln!(
            out,
            "  deleted     {since} ago, held by {}",
            list(&metadata["finalizers"])
        );
    }
    conditions(&mut out, object, style);
    inventory(&mut out, object, style);
    match events {
        None => out.push_str("\nEvents\n  you may not see them\n"),
        Some([]) => {}
        Some(events) => {
            out.push_str("\nEvents\n");
            for event in events {
                let when = age::since(moment(event)).unwrap_or_default();
                let times = match event["count"].as_i64().unwrap_or(1) {
                    ..=1 => String::new(),
                    count => format!(" ({count} times)"),
                };
                let (reason, message) = (said(event, "reason"), said(event, "message"));
                let _ = writeln!(out, "  {when:>6} ago  {reason}  {message}{times}");
            }
        }
    }
    out
}

fn list(names: &Value) -> String {
    let names = fields::items(names).iter().filter_map(Value::as_str);
    names.collect::<Vec<_>>().join(", ")
}

fn conditions(out: &mut String, object: &Value, style: Style) {
    let conditions = fields::conditions(object);
    if conditions.is_empty() {
        // Most kinds of a cluster have nothing to say, and that says nothing.
        if said(object, "apiVersion").starts_with(quadrille_types::GROUP) {
            out.push_str("\nNothing is said about it yet.\n");
        }
        return;
    }
    let _ = writeln!(out, "\nConditions");
    let width = |key: &str| {
        let lengths = conditions
            .iter()
            .map(|one| one[key].as_str().unwrap_or_default().len());
        lengths.max().unwrap_or_default()
    };
    let (name_width, reason_width) = (width("type"), width("reason"));
    for condition in conditions {
        let text = |key: &str| condition[key].as_str().unwrap_or_default();
        let status = text("status");
        // Of these, True is the bad news.
        let is_bad_news = ["Finalizing", "Deleting", "PruneBlocked"].contains(&text("type"));
        let shown = match status {
            "True" if !is_bad_news => style.green(&format!("{status:<7}")),
            "Unknown" => format!("{status:<7}"),
            "False" if is_bad_news => format!("{status:<7}"),
            _ => style.red(&format!("{status:<7}")),
        };
        let _ = writeln!(
            out,
            "  {:<name_width$}  {shown}  {:<reason_width$}  {}",
            text("type"),
            text("reason"),
            text("message"),
        );
    }
}

/// What a release put where, and how that is doing.
fn inventory(out: &mut String, object: &Value, style: Style) {
    let Some(resources) = object["status"]["resources"].as_array() else {
        return;
    };
    let _ = writeln!(out, "\nObjects");
    let called = |entry: &Value| {
        let place = placed(said(entry, "namespace"), said(entry, "name"));
        format!("{} {place}", said(entry, "kind"))
    };
    let width = resources.iter().map(|entry| called(entry).len()).max();
    let width = width.unwrap_or_default();
    for entry in resources {
        let health = entry["healthStatus"].as_str().unwrap_or("Unknown");
        let error = entry["error"]["message"].as_str();
        let words = error.unwrap_or(said(entry, "healthMessage"));
        let padding = " ".repeat("Progressing".len().saturating_sub(health.len()));
        let health = style.health(health);
        let line = format!("  {:<width$}  {health}{padding}  {words}", called(entry));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}
