//! `quad describe`: everything about one object that a person wants to know.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{
    age,
    arguments::TEMPLATE,
    cluster::Cluster,
    failure::Failure,
    object::{Named, Target},
    output,
    runtime::block_on,
    style::Style,
};

/// Show one object: its conditions, what it put where and how that is doing, and what happened.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad describe release cart           what it put where, and how that is doing\n  quad describe dataplane default      whether it is reached, and who uses it",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    object: Named,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let Target {
            cluster,
            kind,
            path,
        } = arguments.object.find().await?;
        let Some(object) = cluster.get(&path).await? else {
            let place = if kind.is_namespaced {
                format!(" in namespace {}", cluster.namespace)
            } else {
                String::new()
            };
            let called = kind.called(&arguments.object.name);
            return Err(
                Failure::new(format!("there is no {called}{place}")).next(format!(
                    "See which there are: quad get {} -A",
                    kind.plural()
                )),
            );
        };
        let events = events(&cluster, &object).await?;
        let text = text(kind.kind(), &object, &events, Style::of_standard_output());
        output::write(text.as_bytes())
    })
}

/// What happened to an object, the newest last.
async fn events(cluster: &Cluster, object: &Value) -> Result<Vec<Value>, Failure> {
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
    let namespace = object["metadata"]["namespace"]
        .as_str()
        .unwrap_or("default");
    let path =
        format!("/api/v1/namespaces/{namespace}/events?fieldSelector=involvedObject.uid%3D{uid}");
    let list = cluster.get(&path).await?.unwrap_or_default();
    let mut events = list["items"].as_array().cloned().unwrap_or_default();
    events.sort_by_key(|event| moment(event).to_owned());
    Ok(events)
}

fn moment(event: &Value) -> &str {
    let fields = ["lastTimestamp", "eventTime"];
    let told = fields.iter().find_map(|field| event[*field].as_str());
    let made = event["metadata"]["creationTimestamp"].as_str();
    told.or(made).unwrap_or_default()
}

fn text(kind: &str, object: &Value, events: &[Value], style: Style) -> String {
    let mut out = String::new();
    let metadata = &object["metadata"];
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let _ = writeln!(
        out,
        "{}",
        style.bold(&format!("{kind} {}", said(&metadata["name"])))
    );
    if metadata["namespace"].is_string() {
        let _ = writeln!(out, "  namespace   {}", said(&metadata["namespace"]));
    }
    let made = age::since(&said(&metadata["creationTimestamp"])).unwrap_or_default();
    let _ = writeln!(out, "  age         {made}");
    if metadata["deletionTimestamp"].is_string() {
        let since = age::since(&said(&metadata["deletionTimestamp"])).unwrap_or_default();
        let _ = writeln!(
            out,
            "  deleted     {since} ago, held by {}",
            list(&metadata["finalizers"])
        );
    }
    conditions(&mut out, object, style);
    inventory(&mut out, object, style);
    if !events.is_empty() {
        let _ = writeln!(out, "\nEvents");
        for event in events {
            let when = age::since(moment(event)).unwrap_or_default();
            let _ = writeln!(
                out,
                "  {when:>6} ago  {}  {}",
                said(&event["reason"]),
                said(&event["message"])
            );
        }
    }
    out
}

fn list(names: &Value) -> String {
    let names = names
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    names.collect::<Vec<_>>().join(", ")
}

fn conditions(out: &mut String, object: &Value, style: Style) {
    let conditions = object["status"]["conditions"].as_array();
    let Some(conditions) = conditions.filter(|conditions| !conditions.is_empty()) else {
        let _ = writeln!(out, "\nNothing is said about it yet.");
        return;
    };
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
        let text = |key: &str| entry[key].as_str().unwrap_or_default();
        match text("namespace") {
            "" => format!("{} {}", text("kind"), text("name")),
            namespace => format!("{} {namespace}/{}", text("kind"), text("name")),
        }
    };
    let width = resources.iter().map(|entry| called(entry).len()).max();
    let width = width.unwrap_or_default();
    for entry in resources {
        let health = entry["healthStatus"].as_str().unwrap_or("Unknown");
        let mark = match health {
            "Healthy" => style.green("●"),
            "Degraded" => style.red("✖"),
            _ => "○".to_owned(),
        };
        let error = entry["error"]["message"].as_str();
        let words = error
            .or(entry["healthMessage"].as_str())
            .unwrap_or_default();
        let line = format!("  {:<width$}  {mark} {health:<11}  {words}", called(entry));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}
