//! `quad render`: what components become, from documents alone.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use quadrille_objects::secret;
use quadrille_render::{Documents, Plan, Renderer};
use serde_json::Value;

use super::{Pile, settings::Setting};
use crate::{
    arguments::TEMPLATE,
    chain::live::{everything, rehearsed},
    cluster::Which,
    diff::finding::{self, Deed, Finding},
    documents::{Document, Files, Source},
    failure::Failure,
    fields,
    nearest::nearest,
    output,
    runtime::block_on,
    style::Style,
};

/// Show the objects that components become; no cluster is asked, unless --live.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad render -f shop/ --env staging                    all components of a folder\n  quad render --live --component cart --env staging     as the cluster has it",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pile: Pile,
    /// Render what the cluster has; documents that are given go over it.
    #[arg(long, conflicts_with = "against")]
    live: bool,
    #[command(flatten)]
    cluster: Which,
    /// Only this component; can be given more than once.
    #[arg(long, value_name = "NAME")]
    component: Vec<String>,
    /// Only this environment [default: all among the documents, else development].
    #[arg(long = "env", value_name = "NAME")]
    environment: Vec<String>,
    /// Try a value: parameters.PATH=VALUE or environmentConfigs.PATH=VALUE.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Compare with what these documents become.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "to"])]
    against: Option<PathBuf>,
    /// Show what Secrets hold.
    #[arg(long, conflicts_with = "against")]
    show_secrets: bool,
    /// How to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Form,
    /// The folder that files are written to.
    #[arg(long, value_name = "FOLDER", required_if_eq("output", "dir"))]
    to: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One stream of documents.
    #[default]
    Yaml,
    /// A file for each object.
    Dir,
}

/// As with `quad diff`, 1 says that there are differences, so trouble is told by another code.
const DIFFERENT: u8 = 1;
const TROUBLE: u8 = 2;

/// A component in an environment, rendered.
struct Rendered {
    component: String,
    environment: String,
    plan: Plan,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let given = if arguments.live {
        arguments.of_the_cluster()?
    } else {
        arguments.pile.files.read()?
    };
    let mut rendered = arguments.rendered(&given, &arguments.set)?;
    if let Some(path) = &arguments.against {
        let before = Files::of(path.clone()).read();
        let before = before.and_then(|before| arguments.rendered(&before, &[]));
        let findings = findings(
            &before.map_err(|failure| failure.with_code(TROUBLE))?,
            &rendered,
        );
        output::write(finding::text(&findings, Style::of_standard_output()).as_bytes())?;
        return if findings.is_empty() {
            Ok(())
        } else {
            Err(Failure::told(DIFFERENT))
        };
    }
    for one in &mut rendered {
        if !arguments.show_secrets {
            one.hide_secrets();
        }
        one.remarks();
    }
    match (arguments.output, &arguments.to) {
        (Form::Dir, Some(folder)) => {
            for one in &rendered {
                one.write_to(folder)?;
            }
            output::say(&format!(
                "{} objects written to {}",
                objects(&rendered),
                folder.display()
            ))
        }
        _ => {
            for one in &rendered {
                one.say()?;
            }
            Ok(())
        }
    }
}

fn objects(rendered: &[Rendered]) -> usize {
    rendered.iter().map(|one| one.plan.objects.len()).sum()
}

impl Arguments {
    /// What the cluster has, with the documents over it.
    fn of_the_cluster(&self) -> Result<Vec<Document>, Failure> {
        let given = self.pile.given()?;
        let objects = block_on(async {
            let cluster = self.cluster.find().await?;
            let given = rehearsed(&cluster, &given).await?;
            everything(&cluster, &given).await
        })?;
        let document = |object| Document {
            place: "the cluster".to_owned(),
            object,
            source: Source::default(),
        };
        Ok(objects.into_iter().map(document).collect())
    }

    /// With what quad brings, where there is no cluster that has its own.
    fn documents(&self, given: impl IntoIterator<Item = Value>) -> Result<Documents, Failure> {
        if self.live {
            let read = Documents::read(given.into_iter().collect());
            return read.map_err(|error| Failure::new(error.to_string()));
        }
        self.pile.with_library(given)
    }

    /// Renders every component in every environment that is wanted; all failures at once.
    fn rendered(&self, given: &[Document], set: &[String]) -> Result<Vec<Rendered>, Failure> {
        let settings: Vec<Setting> = set
            .iter()
            .map(|text| Setting::read(text))
            .collect::<Result<_, _>>()?;
        let objects = |given: &[Document]| {
            given
                .iter()
                .map(|one| one.object.clone())
                .collect::<Vec<_>>()
        };
        let documents = self.documents(objects(given))?;
        let components: Vec<String> = match self.component.as_slice() {
            [] => documents.components().map(str::to_owned).collect(),
            named => {
                for name in named {
                    known(name, &documents)?;
                }
                named.to_vec()
            }
        };
        if components.is_empty() {
            return Err(Failure::new(
                "there is no Component with a componentType among the documents",
            )
            .next("Make one: quad init NAME --type deployment/service"));
        }
        let environments: Vec<String> = match self.environment.as_slice() {
            [] => documents.environments().map(str::to_owned).collect(),
            named => named.to_vec(),
        };
        let environments = if environments.is_empty() {
            vec!["development".to_owned()]
        } else {
            environments
        };
        let quad = Renderer::new();
        let (mut rendered, mut failed) = (Vec::new(), Vec::new());
        for component in &components {
            for environment in &environments {
                let mut given = given.to_vec();
                for setting in &settings {
                    setting.apply(&mut given, component, environment)?;
                }
                let documents = self.documents(objects(&given))?;
                match documents.plan(&quad, component, environment) {
                    Ok(plan) => rendered.push(Rendered {
                        component: component.clone(),
                        environment: environment.clone(),
                        plan,
                    }),
                    Err(error) => failed.push(format!("in {environment}: {error}")),
                }
            }
        }
        if failed.is_empty() {
            return Ok(rendered);
        }
        failed.dedup();
        let count = failed.len();
        let what = if count == 1 {
            "cannot be rendered".to_owned()
        } else {
            format!("{count} times it cannot be rendered")
        };
        Err(Failure::new(what)
            .saying(failed.join("\n"))
            .next("See everything that is wrong: quad validate -f FILE"))
    }
}

/// A component that is not there is a typing error more often than not.
fn known(name: &str, documents: &Documents) -> Result<(), Failure> {
    if documents.components().any(|known| known == name) {
        return Ok(());
    }
    let failure = Failure::new(format!("there is no component {name} that can be rendered"));
    Err(match nearest(name, documents.components()) {
        Some(near) => failure.next(format!("Did you mean {near}?")),
        None => failure,
    })
}

impl Rendered {
    /// What is not wrong, but should be known.
    fn remarks(&self) {
        let Self {
            component,
            environment,
            plan,
        } = self;
        for note in &plan.notes {
            output::aside(&format!("{component} in {environment}: {note}"));
        }
        for pending in &plan.pending_connections {
            output::aside(&format!(
                "{component} in {environment}: waits for the endpoint {} of {}: {}",
                pending.endpoint, pending.component, pending.reason
            ));
        }
    }

    fn hide_secrets(&mut self) {
        for planned in &mut self.plan.objects {
            secret::hide(&mut planned.object);
        }
    }

    fn say(&self) -> Result<(), Failure> {
        for planned in &self.plan.objects {
            output::say(&format!("--- # {} in {}", self.component, self.environment))?;
            output::say(output::yaml(&planned.object)?.trim_end())?;
        }
        Ok(())
    }

    fn write_to(&self, folder: &Path) -> Result<(), Failure> {
        let folder = folder.join(&self.environment).join(&self.component);
        let unwritable = |error: std::io::Error| {
            Failure::new(format!("{} cannot be written", folder.display())).because(&error)
        };
        fs::create_dir_all(&folder).map_err(unwritable)?;
        for planned in &self.plan.objects {
            let text = output::yaml(&planned.object)?;
            fs::write(folder.join(file_name(&planned.object)), text).map_err(unwritable)?;
        }
        Ok(())
    }
}

fn file_name(object: &Value) -> String {
    let kind = fields::text(object, "kind").to_lowercase();
    format!("{kind}-{}.yaml", fields::name(object))
}

/// What would be different, object by object.
fn findings(before: &[Rendered], after: &[Rendered]) -> Vec<Finding> {
    let all = |rendered: &[Rendered]| -> Vec<(String, Value)> {
        let plans = rendered.iter().flat_map(|one| &one.plan.objects);
        plans
            .map(|planned| (finding::called(&planned.object), planned.object.clone()))
            .collect()
    };
    let (before, after) = (all(before), all(after));
    let find = |pile: &[(String, Value)], name: &str| {
        pile.iter()
            .find(|(called, _)| called == name)
            .map(|(_, object)| object.clone())
    };
    let mut findings = Vec::new();
    for (name, object) in &after {
        match find(&before, name) {
            Some(old) => findings.extend(finding::changes(name, &old, object)),
            None => findings.push(Finding {
                object: name.clone(),
                deed: Deed::Create,
            }),
        }
    }
    for (name, _) in before
        .iter()
        .filter(|(name, _)| find(&after, name).is_none())
    {
        findings.push(Finding {
            object: name.clone(),
            deed: Deed::Delete,
        });
    }
    findings
}

#[cfg(test)]
mod tests {
    use quadrille_render::Documents;
    use serde_json::json;

    use super::*;

    /// A component whose type makes a Secret of what it is told.
    fn rendered(token: &str) -> Rendered {
        let object = |kind: &str, name: &str, spec: Value| {
            let metadata = json!({ "name": name, "namespace": "default" });
            json!({ "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec })
        };
        let metadata = json!({ "name": "${metadata.name}", "namespace": "${metadata.namespace}" });
        let template = |api_version: &str, kind: &str, field: &str, content: Value| json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, field: content });
        let deployment = template("apps/v1", "Deployment", "spec", json!({ "template": {} }));
        let content = json!({ "token": "${parameters.token}" });
        let secret = template("v1", "Secret", "stringData", content);
        let schema = json!({ "type": "object", "properties": { "token": { "type": "string" } } });
        let documents = vec![
            object(
                "Component",
                "cart",
                json!({
                    "owner": { "projectName": "shop" }, "componentType": { "name": "deployment/secretive" },
                    "parameters": { "token": token },
                }),
            ),
            object(
                "Workload",
                "cart",
                json!({
                    "owner": { "projectName": "shop", "componentName": "cart" }, "container": { "image": "i" },
                }),
            ),
            object(
                "ComponentType",
                "secretive",
                json!({
                    "workloadType": "deployment", "parameters": { "openAPIV3Schema": schema },
                    "resources": [
                        { "id": "deployment", "template": deployment }, { "id": "secret", "template": secret },
                    ],
                }),
            ),
        ];
        let documents = Documents::read(documents).unwrap();
        Rendered {
            component: "cart".to_owned(),
            environment: "development".to_owned(),
            plan: documents
                .plan(&Renderer::new(), "cart", "development")
                .unwrap(),
        }
    }

    #[test]
    fn what_is_in_rendered_secrets_is_not_shown() {
        let findings = findings(&[rendered("canary-one")], &[rendered("canary-two")]);
        let shown = finding::text(&findings, Style::plain());
        assert!(shown.contains("stringData.token"), "{shown}");
        assert!(shown.contains("********"), "{shown}");
        assert!(!shown.contains("canary"), "{shown}");
        let mut rendered = rendered("canary");
        rendered.hide_secrets();
        let shown = format!("{:?}", rendered.plan.objects);
        assert!(shown.contains("********"), "{shown}");
        assert!(!shown.contains("canary"), "{shown}");
    }
}
