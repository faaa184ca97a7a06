//! `quad up --sample`: something that runs from the first minute on.

use std::time::{Duration, Instant};

use clap::ValueEnum;
use kube::Client;
use quadrille_types::ReleaseBinding;

use super::defaults::NAMESPACE;
use crate::{
    apply::{apply, in_order},
    chain::{
        named::Name,
        ready::{Awaited, End, Patience},
        scene::Scene,
        urls,
    },
    cluster::Cluster,
    documents::{self, Document},
    failure::Failure,
};

/// A sample that comes with the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sample {
    /// One service.
    Greeter,
    /// Three components that need each other, one of them a database.
    Shop,
    /// Something that runs at given times.
    ScheduledTask,
    /// Settings that differ per environment.
    Overrides,
}

/// A file of a sample: what it is called, and what is in it.
type File = (&'static str, &'static str);

macro_rules! files {
    ($($path:literal),*) => {
        &[$(($path, include_str!(concat!("../../../../samples/", $path)))),*]
    };
}

impl Sample {
    fn files(self) -> &'static [File] {
        match self {
            Self::Greeter => files!["greeter/greeter.yaml"],
            Self::Shop => files![
                "shop/project.yaml",
                "shop/database.yaml",
                "shop/cart.yaml",
                "shop/web.yaml"
            ],
            Self::ScheduledTask => files![
                "scheduled-task/environments.yaml",
                "scheduled-task/report.yaml"
            ],
            Self::Overrides => files!["overrides/environments.yaml", "overrides/service.yaml"],
        }
    }

    fn documents(self) -> Result<Vec<Document>, Failure> {
        let mut all = Vec::new();
        for (path, text) in self.files() {
            all.extend(documents::parse(path, text)?);
        }
        Ok(in_order(all))
    }
}

/// What became of a component of a sample.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) component: String,
    /// Whether it is ready.
    pub(crate) is_good: bool,
    /// What there is to say.
    pub(crate) words: String,
    pub(crate) urls: Vec<String>,
}

/// How long a component may take to be ready.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often to look.
const OFTEN: Duration = Duration::from_millis(20);

/// Makes a sample and waits until it is ready. What is there already is left as it is.
pub(crate) async fn run(
    client: Client,
    url: &str,
    sample: Sample,
) -> Result<Vec<Outcome>, Failure> {
    let cluster = Cluster {
        client,
        namespace: NAMESPACE.to_owned(),
        url: url.to_owned(),
    };
    let started = Instant::now();
    let documents = sample.documents()?;
    for document in &documents {
        let path = cluster.path_of(document).await?;
        if cluster.get(&path).await?.is_none() {
            apply(&cluster, document, false).await?;
        }
    }
    let components = documents.iter().filter(|one| one.kind() == "Component");
    let mut outcomes = Vec::new();
    for component in components.map(Document::name) {
        outcomes.push(match ready(&cluster, component).await {
            Ok((words, urls)) => Outcome {
                component: component.to_owned(),
                is_good: true,
                words: format!("{words}   {:.1} s", started.elapsed().as_secs_f64()),
                urls,
            },
            Err(failure) => Outcome {
                component: component.to_owned(),
                is_good: false,
                words: failure.to_string(),
                urls: Vec::new(),
            },
        });
    }
    Ok(outcomes)
}

/// Waits until a component is ready in the first environment; what there is to say, and where it is reached.
async fn ready(cluster: &Cluster, component: &str) -> Result<(String, Vec<String>), Failure> {
    let name = Name::read(component)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let scene = Scene::read(cluster, &name).await?;
        let first = scene.first()?;
        let binding = scene.binding(&first)?;
        if let Some((binding, release)) = binding.and_then(asked) {
            let awaited = Awaited {
                scene: &scene,
                environment: &first,
                release: &release,
                binding: &binding,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            return match awaited.until_ready(cluster, left, Patience::Short).await? {
                End::Ready(binding) => Ok((
                    format!("{:<32}  Ready in {first}", format!("release {release}")),
                    urls::of(&binding),
                )),
                End::NeedsApproval(words) => Err(Failure::not_yet(words)),
            };
        }
        if Instant::now() > deadline {
            let why = scene.trouble().unwrap_or("nobody has looked at it yet");
            return Err(Failure::not_yet(format!("not deployed: {why}")));
        }
        tokio::time::sleep(OFTEN).await;
    }
}

/// A binding that asks for a release.
fn asked(binding: &ReleaseBinding) -> Option<(String, String)> {
    let name = binding.metadata.name.clone()?;
    Some((name, binding.spec.release_name.clone()?))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::*;

    #[test]
    fn every_document_of_a_sample_comes_along() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
        for sample in Sample::value_variants() {
            let brought: BTreeSet<&str> = sample.files().iter().map(|(path, _)| *path).collect();
            let folder = sample.to_possible_value().unwrap();
            let folder = folder.get_name();
            for entry in std::fs::read_dir(root.join(folder)).unwrap() {
                let file = entry.unwrap().path();
                let name = file.file_name().unwrap().to_str().unwrap();
                let path = format!("{folder}/{name}");
                let is_document = file.extension().is_some_and(|ending| ending == "yaml");
                assert!(!is_document || brought.contains(path.as_str()), "{path}");
            }
            assert!(!sample.documents().unwrap().is_empty());
        }
    }
}
