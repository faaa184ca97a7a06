//! `quad deploy`: a component as it is now becomes a release, and that runs in the first environment.

use std::time::{Duration, Instant};

use kube::ResourceExt as _;
use quadrille_render::snapshot::Snapshot;
use quadrille_types::{Component, names::EnvironmentName};
use serde_json::json;

use super::{
    binding::point,
    decide::to_deploy,
    live::{self, Live, Wrong, given},
    named::{Name, Named},
    ready::{Awaited, Wait, remark},
    scene::{Scene, chosen},
    standing::running,
};
use crate::{
    apply::{apply, in_order},
    arguments::{Output, TEMPLATE},
    cluster::Cluster,
    documents::{Document, Files},
    failure::Failure,
    offline::lines,
    output,
    runtime::block_on,
};

/// Deploy a component as it is now to the first environment of its pipeline.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad deploy cart                      as the cluster has it\n  quad deploy cart -f cart/             apply these documents, then deploy",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    files: Files,
    /// A release that exists, instead of a new one.
    #[arg(long, conflicts_with = "filename")]
    release: Option<String>,
    /// The environment [default: the first of the pipeline].
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    environment: Option<String>,
    #[command(flatten)]
    wait: Wait,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let written = if arguments.files.are_given() {
        in_order(arguments.files.read()?)
    } else {
        Vec::new()
    };
    block_on(async {
        let (mut cluster, name) = arguments.named.find().await?;
        let described = given(&written, "Component", &name.component);
        if let Some(namespace) = described.and_then(Document::namespace) {
            namespace.clone_into(&mut cluster.namespace);
        }
        let documents = live::rehearsed(&cluster, &written).await?;
        let component = live::component(&cluster, &name, &documents).await?;
        let scene = Scene::around(&cluster, component, &documents).await?;
        let environment = match &arguments.environment {
            Some(typed) => scene.environment(typed)?,
            None => scene.first()?,
        };
        if let Some(typed) = &arguments.release {
            let release = chosen(&scene.releases(&cluster).await?, &scene.name(), typed)?;
            remark(to_deploy(&scene, &environment, &release)?.as_deref());
            return arguments
                .point(&cluster, &scene, &environment, &release)
                .await;
        }
        let snapshot = taken(&cluster, &scene, &environment, &documents).await?;
        let known = to_deploy(&scene, &environment, &snapshot.name)?;
        // From here on there are writes.
        remark(known.as_deref());
        let (scene, snapshot) = if documents.is_empty() {
            (scene, snapshot)
        } else {
            arguments.apply(&cluster, &written).await?;
            let name = Name {
                project: None,
                component: scene.name(),
            };
            // The server may have filled in what documents leave open.
            let scene = Scene::read(&cluster, &name).await?;
            let snapshot = taken(&cluster, &scene, &environment, &[]).await?;
            (scene, snapshot)
        };
        kept(&cluster, &snapshot).await?;
        let scene = if is_deployed_by_itself(&scene, &environment) {
            by_itself(&cluster, scene, &environment, &snapshot.name).await?
        } else {
            scene
        };
        arguments
            .point(&cluster, &scene, &environment, &snapshot.name)
            .await
    })
}

impl Arguments {
    async fn apply(&self, cluster: &Cluster, documents: &[Document]) -> Result<(), Failure> {
        for document in documents {
            let result = apply(cluster, document, false).await?;
            if self.wait.output() == Output::Text {
                output::say(&format!("{} {result}", document.called()))?;
            }
        }
        Ok(())
    }

    async fn point(
        &self,
        cluster: &Cluster,
        scene: &Scene,
        environment: &EnvironmentName,
        release: &str,
    ) -> Result<(), Failure> {
        let binding = point(cluster, scene, environment, release).await?;
        let awaited = Awaited {
            scene,
            environment,
            release,
            binding: &binding,
        };
        self.wait.follow(cluster, awaited).await
    }
}

/// Whether a controller brings every change of a component there.
fn is_deployed_by_itself(scene: &Scene, environment: &EnvironmentName) -> bool {
    scene.component.spec.auto_deploy == Some(true) && scene.pipeline.first() == Some(environment)
}

/// How long what is deployed by itself is given: after that, somebody has changed the binding by hand.
const MOMENT: Duration = Duration::from_secs(2);
/// How often to look.
const OFTEN: Duration = Duration::from_millis(20);

/// Lets a controller do what it is about to do anyhow, instead of writing the same at the same time.
async fn by_itself(
    cluster: &Cluster,
    scene: Scene,
    environment: &EnvironmentName,
    release: &str,
) -> Result<Scene, Failure> {
    let deadline = Instant::now() + MOMENT;
    let mut scene = scene;
    loop {
        let found = scene.binding(environment)?;
        let asked = found.and_then(|binding| binding.spec.release_name.as_deref());
        if asked == Some(release) || Instant::now() > deadline {
            return Ok(scene);
        }
        tokio::time::sleep(OFTEN).await;
        scene = Scene::around(cluster, scene.component, &[]).await?;
    }
}

/// The snapshot of a component as it is now, or everything that speaks against it.
async fn taken(
    cluster: &Cluster,
    scene: &Scene,
    environment: &EnvironmentName,
    documents: &[Document],
) -> Result<Snapshot, Failure> {
    let live = Live::gather(cluster, &scene.component, environment, documents).await?;
    live.snapshot(environment).map_err(|wrong| {
        let document = given(documents, "Component", &scene.name());
        let runs = scene.binding(environment).ok().flatten().and_then(running);
        let runs = runs.map(|runs| runs.release);
        refusal(&scene.component, document, environment, runs, &wrong)
    })
}

/// Everything that is wrong, with its place, what goes on meanwhile, and the next command.
fn refusal(
    component: &Component,
    document: Option<&Document>,
    environment: &EnvironmentName,
    runs: Option<&str>,
    wrong: &[Wrong],
) -> Failure {
    let name = component.name_any();
    let place = |field: &str| match document {
        None => format!("Component {name}   {field}"),
        Some(document) => {
            let (file, begin, text) = document.source();
            let line = begin + lines::line_of(text, field) - 1;
            format!("{file}:{line}   {field}")
        }
    };
    let failure = match wrong {
        [one] => {
            let failure = Failure::new(format!("{name} is not deployed: {}", one.words));
            match &one.field {
                Some(field) => failure.saying(place(field)),
                None => failure,
            }
        }
        many => {
            let lines = many.iter().map(|one| match &one.field {
                Some(field) => format!("{}: {}", place(field), one.words),
                None => one.words.clone(),
            });
            Failure::new(format!(
                "{name} is not deployed: {} things are wrong",
                many.len()
            ))
            .saying(lines.collect::<Vec<_>>().join("\n"))
        }
    };
    let failure = match runs {
        Some(release) => failure.next(format!(
            "The last good release {release} keeps running in {environment}."
        )),
        None => failure,
    };
    let written = component.spec.component_type.as_ref();
    match written {
        Some(written) => failure.next(format!(
            "See what this type takes: quad explain {}",
            written.name
        )),
        None => failure,
    }
}

/// Keeps a snapshot, unless it is kept already: the same content has the same name.
async fn kept(cluster: &Cluster, snapshot: &Snapshot) -> Result<(), Failure> {
    let path = cluster.path_of_ours("componentreleases", &snapshot.name);
    if cluster.get(&path).await?.is_some() {
        return Ok(());
    }
    let object = json!({
        "apiVersion": "openchoreo.dev/v1alpha1", "kind": "ComponentRelease",
        "metadata": { "name": snapshot.name, "namespace": cluster.namespace },
        "spec": snapshot.spec,
    });
    match cluster.create("componentreleases", &object).await {
        Ok(_) => Ok(()),
        // Whoever deploys by itself was faster.
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(cluster.failed(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::scene::tests::scene, *};

    fn said(wrong: &[Wrong], runs: Option<&str>) -> String {
        let scene = scene(vec![]);
        refusal(&scene.component, None, &"development".into(), runs, wrong).to_string()
    }

    #[test]
    fn what_is_wrong_is_told_with_place_what_goes_on_and_what_to_do() {
        let wrong = |field: &str, words: &str| Wrong {
            field: Some(field.to_owned()),
            words: words.to_owned(),
        };
        let replicas = wrong(
            "spec.parameters.replicas",
            "replicas: must be an integer (got \"two\")",
        );
        assert_eq!(
            said(std::slice::from_ref(&replicas), Some("cart-9d21aa")),
            "cart is not deployed: replicas: must be an integer (got \"two\")\n    \
             Component cart   spec.parameters.replicas\n  \
             The last good release cart-9d21aa keeps running in development.\n  \
             See what this type takes: quad explain deployment/service"
        );
        let both = said(&[replicas, wrong("spec.traits[0]", "is not allowed")], None);
        assert!(both.contains("2 things are wrong"), "{both}");
        assert!(
            both.contains("Component cart   spec.traits[0]: is not allowed"),
            "{both}"
        );
        assert!(!both.contains("keeps running"), "{both}");
    }
}
