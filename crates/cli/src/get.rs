//! `quad get`: objects as a table, or as they are.

mod watch;

use form_urlencoded::Serializer;
use serde_json::{Value, json};

use crate::{
    arguments::TEMPLATE,
    cluster::{Cluster, Which},
    failure::Failure,
    fields,
    kinds::{self, Found},
    object::{Words, kind_and_names},
    output,
    requests::{OBJECTS, TABLE},
    runtime::block_on,
    style::Style,
    table::Table,
};

/// List objects of a kind, or show some by name.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad get releases -A                     what runs, in every organization\n  quad get environment staging -o yaml     one, as it is",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// A kind and names: `environments`, `release cart`, `release/cart`; several kinds as `env,releases`; `all` for
    /// every kind of the platform.
    #[arg(value_names = ["KIND", "NAME"], num_args = 1.., required = true, value_parser = Words, hide_possible_values = true)]
    what: Vec<String>,
    #[command(flatten)]
    cluster: Which,
    /// In every namespace.
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Only those with these labels.
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<String>,
    /// How to write them.
    #[arg(short, long, value_enum)]
    output: Option<Form>,
    /// With YAML and JSON: who wrote which field, too.
    #[arg(long)]
    show_managed_fields: bool,
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

/// Objects of one kind.
struct Wanted<'a> {
    arguments: &'a Arguments,
    cluster: &'a Cluster,
    kind: Found,
    names: Vec<&'a str>,
}

/// How many objects are asked for at once.
const PAGE: usize = 500;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (words, names) = kind_and_names(&arguments.what)?;
    let is_many = words.contains(',') || words.eq_ignore_ascii_case("all");
    if is_many && !names.is_empty() {
        return Err(
            Failure::usage("names go with one kind, not with several").next(format!(
                "Name the kind with each: quad get KIND {}",
                names.join(" ")
            )),
        );
    }
    if is_many && arguments.watch {
        return Err(Failure::usage("only one kind can be watched at a time"));
    }
    if !names.is_empty() && (arguments.all_namespaces || arguments.selector.is_some()) {
        return Err(Failure::usage("a name says already which object is meant")
            .next("Leave out the names, or -A and -l."));
    }
    block_on(async {
        let cluster = arguments.cluster.find().await?;
        let mut wanted = Vec::new();
        for kind in meant(&cluster, words).await? {
            wanted.push(Wanted {
                arguments,
                cluster: &cluster,
                kind,
                names: names.clone(),
            });
        }
        match (arguments.output, wanted.as_slice()) {
            (form, [one]) if arguments.watch => one.follow(form).await,
            (None | Some(Form::Wide), wanted) => tables(wanted).await,
            (Some(form), wanted) => whole(wanted, form).await,
        }
    })
}

async fn meant(cluster: &Cluster, words: &str) -> Result<Vec<Found>, Failure> {
    if words.eq_ignore_ascii_case("all") {
        return Ok(kinds::all_of_ours());
    }
    let mut found = Vec::new();
    for word in words.split(',').filter(|word| !word.is_empty()) {
        found.push(cluster.named_kind(word).await?);
    }
    Ok(found)
}

impl Wanted<'_> {
    fn collection(&self) -> String {
        let is_one = self.kind.is_namespaced && !self.arguments.all_namespaces;
        self.kind
            .path(is_one.then_some(self.cluster.namespace.as_str()))
    }

    /// The path of the collection with these parameters and the selector.
    fn query(&self, parameters: &[(&str, &str)]) -> String {
        let mut query = Serializer::new(format!("{}?", self.collection()));
        if let Some(selector) = &self.arguments.selector {
            query.append_pair("labelSelector", selector);
        }
        query.extend_pairs(parameters);
        query.finish()
    }

    /// Reads everything that is wanted, and hands over each answer: an object, or a page of a list.
    async fn read(&self, form: &str, mut take: impl FnMut(Value)) -> Result<(), Failure> {
        for name in &self.names {
            let path = self.cluster.path(&self.kind, name);
            match self.cluster.read(&path, form).await {
                Ok(answer) => take(answer),
                Err(error) => return Err(self.unread(Some(name), &error).await),
            }
        }
        if !self.names.is_empty() {
            return Ok(());
        }
        let limit = PAGE.to_string();
        let mut next = String::new();
        loop {
            let mut parameters = vec![("limit", limit.as_str())];
            if !next.is_empty() {
                parameters.push(("continue", &next));
            }
            let page = match self.cluster.read(&self.query(&parameters), form).await {
                Ok(page) => page,
                Err(error) => return Err(self.unread(None, &error).await),
            };
            fields::text(&page["metadata"], "continue").clone_into(&mut next);
            take(page);
            if next.is_empty() {
                return Ok(());
            }
        }
    }

    async fn unread(&self, name: Option<&str>, error: &kube::Error) -> Failure {
        self.cluster.unread(&self.kind, name, error).await
    }

    async fn table(&self) -> Result<Table, Failure> {
        let mut table = Table::new(
            self.arguments.output == Some(Form::Wide),
            self.arguments.all_namespaces && self.kind.is_namespaced,
        );
        self.read(TABLE, |page| table.take(&page)).await?;
        Ok(table)
    }

    fn none_found(&self) {
        let is_one = self.kind.is_namespaced && !self.arguments.all_namespaces;
        let plural = self.kind.plural();
        if is_one {
            let namespace = &self.cluster.namespace;
            output::aside(&format!(
                "No {plural} in namespace {namespace}. Look in all of them: quad get {plural} -A"
            ));
        } else {
            output::aside(&format!("No {plural}."));
        }
    }
}

async fn tables(wanted: &[Wanted<'_>]) -> Result<(), Failure> {
    let style = Style::of_standard_output();
    if let [one] = wanted {
        let mut table = one.table().await?;
        if table.is_empty() {
            one.none_found();
            return Ok(());
        }
        return output::write(table.text(style).as_bytes());
    }
    let mut is_first = true;
    for one in wanted {
        let mut table = one.table().await?.prefixed(format!("{}/", one.kind.word()));
        if table.is_empty() {
            continue;
        }
        if !is_first {
            output::say("")?;
        }
        is_first = false;
        output::write(table.text(style).as_bytes())?;
    }
    if is_first {
        output::aside("Nothing of these kinds. Look in all namespaces: -A");
    }
    Ok(())
}

async fn whole(wanted: &[Wanted<'_>], form: Form) -> Result<(), Failure> {
    let mut objects = Vec::new();
    for one in wanted {
        one.read(OBJECTS, |answer| match answer {
            Value::Object(mut list) if list.contains_key("items") => {
                let items = list.remove("items").unwrap_or_default();
                objects.extend(fields::items(&items).iter().map(|item| {
                    let mut item = item.clone();
                    // Items of a list leave out what the list says of them.
                    item["apiVersion"] = one.kind.api_version().into();
                    item["kind"] = one.kind.kind().into();
                    item
                }));
            }
            object => objects.push(object),
        })
        .await?;
    }
    let is_one = matches!(wanted, [one] if one.names.len() == 1);
    let answer = match objects.as_slice() {
        [object] if is_one => object.clone(),
        _ if form == Form::Name => json!({ "items": objects }),
        _ => json!({ "apiVersion": "v1", "kind": "List", "items": objects }),
    };
    let shows_managed_fields = wanted.iter().any(|one| one.arguments.show_managed_fields);
    written(answer, form, shows_managed_fields)
}

/// Writes an object or a list of them.
fn written(mut answer: Value, form: Form, shows_managed_fields: bool) -> Result<(), Failure> {
    match answer.get_mut("items").and_then(Value::as_array_mut) {
        _ if shows_managed_fields => {}
        Some(items) => items.iter_mut().for_each(tidied),
        None => tidied(&mut answer),
    }
    match form {
        Form::Json => output::say(&serde_json::to_string_pretty(&answer).unwrap_or_default()),
        Form::Yaml => output::say(output::yaml(&answer)?.trim_end()),
        Form::Name | Form::Wide => {
            let one = std::slice::from_ref(&answer);
            let items = answer["items"].as_array().map_or(one, Vec::as_slice);
            for item in items {
                let api_version = fields::text(item, "apiVersion");
                let group = api_version.split_once('/').map_or("", |(group, _)| group);
                let kind = fields::text(item, "kind");
                output::say(&kinds::called(group, kind, fields::name(item)))?;
            }
            Ok(())
        }
    }
}

/// Who wrote which field fills screens and is hardly ever asked for.
fn tidied(object: &mut Value) {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
}
