//! From the deployment system to the component chain: what a team would write so that what runs goes on running.
//!
//! ```text
//!   Deployments, or bindings of classes ──running──► in each environment: objects, image, settings
//!        ├─ what the workload says ──workload──► Workload, overrides of environments
//!        └─ the rest ──component_type──► ComponentType, what bindings tell it
//!   these documents ──the chain──► objects ──compare──► what restarts, what must be made anew
//! ```
//! Nothing is written here and nothing is guessed: the new documents are rendered as the chain would, and what differs from
//! what runs is told. What cannot be moved is told too, with its field.

mod addresses;
mod compare;
mod component_type;
mod documents;
mod own_parts;
mod pile;
mod pods;
mod running;
mod sources;
mod told;
mod unify;
mod words;
mod workload;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

pub use compare::Effect;
use quadrille_types::{Component, Project, release_state::ReleaseState, workload::Visibility};
use serde_json::{Value, json};

use self::{
    documents::New,
    own_parts::{Cut, Says},
    pile::{Pile, name, read},
    running::{Running, Whose},
    sources::Source,
};
use crate::{Documents, Renderer, documents::DocumentError, policy, provider::PolicyProvider};

/// What moving a component takes.
#[derive(Clone, Debug)]
pub struct Migration {
    /// The component.
    pub component: String,
    /// Its organization.
    pub organization: String,
    /// What would be written, in the order to apply it.
    pub documents: Vec<Value>,
    /// What that does in each environment, the first of the pipeline first.
    pub environments: Vec<Moved>,
    /// What should be known before.
    pub warnings: Vec<Warning>,
}

/// What moving does in an environment.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The environment.
    pub environment: String,
    /// The objects in its plane now.
    pub before: Vec<Value>,
    /// The objects afterwards.
    pub after: Vec<Value>,
    /// What happens to what runs.
    pub effects: Vec<Effect>,
    /// Objects of the deployment system that end with it: kinds and names.
    pub ends: Vec<(String, String)>,
}

/// Something that should be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub about: String,
    /// What it is.
    pub words: String,
}

impl Warning {
    fn new(about: impl Into<String>, words: impl Into<String>) -> Self {
        Self {
            about: about.into(),
            words: words.into(),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.about, self.words)
    }
}

/// Why a component cannot be moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MigrationError {
    /// It is not there.
    #[error("there is no Component {component}")]
    NoComponent {
        /// The component.
        component: String,
    },
    /// It has been moved.
    #[error(
        "Component {component} is of the component chain already: its spec.componentType is {reference}"
    )]
    Already {
        /// The component.
        component: String,
        /// Its type.
        reference: String,
    },
    /// Nothing deploys it.
    #[error(
        "nothing deploys Component {component}: it has no Deployment, and no Service, WebApplication or ScheduledTask"
    )]
    Nothing {
        /// The component.
        component: String,
    },
    /// Several things deploy it.
    #[error("Component {component} is deployed by {}: a component of the chain runs once in an environment", known.iter().map(|one| shown_source(one)).collect::<Vec<_>>().join(" and by "))]
    Several {
        /// The component.
        component: String,
        /// Tracks, and kinds of bindings.
        known: Vec<String>,
    },
    /// It runs twice in an environment.
    #[error("it runs twice in {environment}, by {first} and by {second}: delete one of them first")]
    Twice {
        /// The environment.
        environment: String,
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// It is bound to no environment yet, and nobody can tell which is the first.
    #[error("it is bound to no environment yet, and no DeploymentPipeline says which is the first")]
    NoFirstEnvironment,
    /// It cannot be rendered as it is.
    #[error("what runs in {environment} cannot be told: {cause}")]
    NotRendered {
        /// The environment.
        environment: String,
        /// Why.
        cause: String,
    },
    /// Documents are missing or unreadable.
    #[error(transparent)]
    Documents(#[from] DocumentError),
}

/// What deploys a component, as people call it: a kind of binding, or a track by its name.
fn shown_source(source: &str) -> String {
    let is_kind = sources::INSTANCES
        .iter()
        .any(|kind| source.strip_suffix("Binding") == Some(kind));
    if is_kind {
        format!("a {source}")
    } else {
        format!("DeploymentTrack {source}")
    }
}

/// What moving a component takes. `from` says what deploys it where several things do: a track, or a kind of binding.
pub fn migrate(
    documents: &[Value],
    component: &str,
    from: Option<&str>,
) -> Result<Migration, MigrationError> {
    let mut found = documents.iter().filter(|document| {
        document["kind"] == "Component" && pile::is_ours(document) && name(document) == component
    });
    let written = found.next().ok_or_else(|| MigrationError::NoComponent {
        component: component.to_owned(),
    })?;
    let read_component: Component = read(written)?;
    if let Some(reference) = &read_component.spec.component_type {
        return Err(MigrationError::Already {
            component: component.to_owned(),
            reference: reference.name.clone(),
        });
    }
    let pile = Pile::around(documents, written);
    let wanted = read_component.spec.owner.project_name.as_str();
    let project: Project = pile.get("Project", wanted, &format!("Component {component}"))?;
    let whose = Whose {
        pile: &pile,
        component: &read_component,
        project: &project,
    };
    let source = Source::find(&pile, &read_component, &project, from)?;
    let mut warnings = Vec::new();
    let running = running::all(whose, &source, &mut warnings)?;
    let (says, mut cuts) = cut(&running, &mut warnings);
    let mut seen: BTreeMap<String, BTreeSet<Visibility>> = BTreeMap::new();
    for (running, cut) in running.iter().zip(&mut cuts) {
        for (name, by) in addresses::name_endpoints(running, cut) {
            seen.entry(name).or_default().extend(by);
        }
        cut.objects.extend(own_cell(component, running));
    }
    let made = component_type::Inputs {
        component,
        organization: &pile.organization,
        running: &running,
        says,
        cuts,
    }
    .make();
    told::tell(whose, &source, &running, &made.configs, &mut warnings);
    let new = New {
        whose,
        written,
        running: &running,
        made: &made,
        says,
        seen: &seen,
    };
    let documents = new.documents(&mut warnings);
    let environments = moved(&pile, component, running, &documents)?;
    for one in &environments {
        warnings.extend(told::effects(one));
    }
    Ok(Migration {
        component: component.to_owned(),
        organization: pile.organization,
        documents,
        environments,
        warnings,
    })
}

/// Cuts out what the workload says, as much of it as goes.
fn cut(running: &[Running], warnings: &mut Vec<Warning>) -> (Says, Vec<Cut>) {
    let wanted = workload::says(running);
    let less = [
        wanted,
        Says {
            files: false,
            ..wanted
        },
        Says {
            env: false,
            ..wanted
        },
        Says {
            env: false,
            files: false,
        },
    ];
    for says in less {
        let cuts: Option<Vec<Cut>> = running
            .iter()
            .map(|running| own_parts::cut(running, says))
            .collect();
        if let Some(cuts) = cuts {
            told::left_to_the_type(running, says, warnings);
            return (says, cuts);
        }
    }
    // Nothing is cut out of lists by the last of them, so it always goes.
    (less[3], Vec::new())
}

/// The policy by which the own cell reaches the pods. Today the cell has one for all pods of the deployment system; that
/// goes with the last of them, and the chain's own policies know pods by other labels.
fn own_cell(component: &str, running: &Running) -> Option<Value> {
    let runs = running
        .objects
        .iter()
        .find(|object| object["kind"] == "Deployment")?;
    let policy = policy::Policy {
        metadata: json!({
            "name": component_type::type_name(component),
            "namespace": runs["metadata"]["namespace"],
        }),
        pods: runs["spec"]["selector"].clone(),
        ingress: policy::Reach::from([(policy::Peer::OwnCell, BTreeSet::new())]),
        egress: None,
    };
    let plane = running.site.plane();
    Some(policy.object(PolicyProvider::of(plane.spec, plane.annotations)))
}

/// Renders the new documents as the chain would.
fn moved(
    pile: &Pile<'_>,
    component: &str,
    running: Vec<Running>,
    new: &[Value],
) -> Result<Vec<Moved>, MigrationError> {
    let around = [
        "Project",
        "Environment",
        "DataPlane",
        "ClusterDataPlane",
        "SecretReference",
    ];
    let around = around.iter().flat_map(|kind| pile.of_kind(kind)).cloned();
    let documents = Documents::read(around.chain(new.iter().cloned()).collect())?;
    let renderer = Renderer::new();
    let mut ended: BTreeSet<(String, String)> = BTreeSet::new();
    let moved = running.into_iter().map(|one| {
        let environment = one.site.name;
        // What several environments share ends with the first of them.
        let ends = one.ends.into_iter();
        let ends = ends
            .map(|(kind, name)| (kind.to_owned(), name))
            .filter(|end| ended.insert(end.clone()))
            .collect();
        if one.state == ReleaseState::Undeploy {
            return Ok(Moved {
                environment,
                before: Vec::new(),
                after: Vec::new(),
                effects: Vec::new(),
                ends,
            });
        }
        let plan = documents.plan(&renderer, component, &environment)?;
        let after: Vec<Value> = plan.objects.into_iter().map(|one| one.object).collect();
        Ok(Moved {
            effects: compare::effects(&one.objects, &after),
            environment,
            before: one.objects,
            after,
            ends,
        })
    });
    moved.collect()
}
