//! Carries out what was decided: first what is said, then what must go, then the object itself.

use std::{sync::Arc, time::Duration};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::Resource;
use quadrille_engine::{
    Site,
    namespaces::{self, NamespaceFound, Tenant},
};
use quadrille_objects::word;
use quadrille_planes::{PlaneName, Trouble};
use quadrille_types::labels::{data_plane, tracking};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    environments, organizations,
    owned::Releases,
    pipelines, projects,
    step::{Found, Kind, NamespaceWish, Step, Sweep, Thing},
};
use crate::{
    alarms::noted,
    chain::shelves::{in_environment, in_project},
    events::{Event, Regarding},
    releases::{Context, Guest, Inner},
};

/// How soon to look again at what is on its way out on a plane.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How soon to try again what failed.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// What is needed of an object to write to it.
pub(crate) struct Object {
    pub(crate) metadata: ObjectMeta,
    conditions: Vec<Condition>,
    /// Its status, as it is written.
    status: Value,
}

impl Object {
    pub(crate) fn of<K: Resource>(object: &K, status: Option<&impl Serialize>) -> Self {
        let status = serde_json::to_value(status).unwrap_or_default();
        let conditions = status["conditions"].clone();
        Self {
            metadata: object.meta().clone(),
            conditions: serde_json::from_value(conditions).unwrap_or_default(),
            status,
        }
    }

    fn is_held_by(&self, finalizer: &str) -> bool {
        let mut names = self.metadata.finalizers.iter().flatten();
        names.any(|name| name == finalizer)
    }
}

/// Decides what is to be done about a thing, from what is known now.
fn decide(world: &Inner, thing: &Thing) -> Option<(Object, Step)> {
    let shelves = &world.shelves;
    if !shelves.are_complete() {
        return None;
    }
    let are_known = world.is_known();
    Some(match thing.kind {
        Kind::Organization => {
            if !shelves.namespaces.is_complete() {
                return None;
            }
            let organization = shelves.organizations.get(&thing.key)?;
            let object = Object::of(&**organization, organization.status.as_ref());
            (object, organizations::decide(organization, shelves))
        }
        Kind::Project => {
            let project = shelves.projects.get(&thing.key)?;
            let object = Object::of(&**project, project.status.as_ref());
            let here = &thing.key.namespace;
            let components = world
                .chain
                .components
                .of_group(here, &in_project(&thing.key.name));
            let releases = Releases {
                are_known,
                makers: makers(
                    components.map(|component| Found::of(Kind::Component, &**component)),
                    world.system.belongings(here, &in_project(&thing.key.name)),
                ),
                here: world.briefs(here, |facts| *facts.project == *thing.key.name),
            };
            (object, projects::decide(project, shelves, &releases))
        }
        Kind::Environment => {
            let environment = shelves.environments.get(&thing.key)?;
            let object = Object::of(&**environment, environment.status.as_ref());
            let here = &thing.key.namespace;
            let bindings = world
                .chain
                .bindings
                .of_group(here, &in_environment(&thing.key.name));
            let releases = Releases {
                are_known,
                makers: makers(
                    bindings.map(|binding| Found::of(Kind::ReleaseBinding, &**binding)),
                    world
                        .system
                        .belongings(here, &in_environment(&thing.key.name)),
                ),
                here: world.briefs(here, |facts| *facts.environment == *thing.key.name),
            };
            (
                object,
                environments::decide(environment, shelves, &releases),
            )
        }
        Kind::DeploymentPipeline => {
            let pipeline = shelves.pipelines.get(&thing.key)?;
            let object = Object::of(&**pipeline, pipeline.status.as_ref());
            (object, pipelines::decide(pipeline, shelves))
        }
        // They are looked after elsewhere.
        _ => return None,
    })
}

/// What has to go first: those of the chain, then those of the deployment system, kind by kind.
fn makers(chain: impl Iterator<Item = Found>, system: Vec<Vec<Found>>) -> Vec<Found> {
    let chain: Vec<Found> = chain.collect();
    let mut all = std::iter::once(chain).chain(system);
    all.find(|found| !found.is_empty()).unwrap_or_default()
}

/// Looks at a thing once. Tells when to look again without an event.
pub(super) async fn run(context: &Context, thing: &Thing) -> Option<Duration> {
    let decided = decide(&context.world.look(), thing);
    let Some((object, step)) = decided else {
        context.written.lock().remove(thing);
        return None;
    };
    if !is_heard(context, thing, &object.metadata) {
        // The watch brings what we wrote, and with it the next look.
        return None;
    }
    let work = Work {
        context,
        thing,
        object,
    };
    after(thing, work.carry_out(step).await)
}

/// When to look at a thing again, by how carrying out went.
pub(crate) fn after(thing: &Thing, carried: Result<Option<Duration>, Trouble>) -> Option<Duration> {
    match carried {
        Ok(again) => again,
        // The watch brings what is there now.
        Err(Trouble::Conflict(_) | Trouble::NotFound(_)) => None,
        Err(trouble) => {
            tracing::debug!(%thing, reason = trouble.reason(), "it could not be looked after");
            Some(trouble.retry_after().unwrap_or_default().max(TRY_AGAIN))
        }
    }
}

/// Whether what is known of a thing is as new as what we wrote last.
pub(crate) fn is_heard(context: &Context, thing: &Thing, metadata: &ObjectMeta) -> bool {
    let mut written = context.written.lock();
    let is_older = written
        .get(thing)
        .is_some_and(|written| revision(metadata) < *written);
    if !is_older {
        written.remove(thing);
    }
    !is_older
}

fn revision(metadata: &ObjectMeta) -> u64 {
    let text = metadata.resource_version.as_deref().unwrap_or_default();
    text.parse().unwrap_or(u64::MAX)
}

pub(crate) struct Work<'a> {
    pub(crate) context: &'a Context,
    pub(crate) thing: &'a Thing,
    pub(crate) object: Object,
}

impl Work<'_> {
    /// Takes hold of the object, so that nothing of it is left behind. Tells whether it may still be looked after: one
    /// that is going and was let go is nobody's any more.
    pub(crate) async fn hold(&mut self) -> Result<bool, Trouble> {
        let Some(finalizer) = self.thing.kind.finalizer() else {
            return Ok(true);
        };
        let is_going = self.object.metadata.deletion_timestamp.is_some();
        let is_held = self.object.is_held_by(finalizer);
        if !is_going && !is_held {
            self.set_finalizer(finalizer, true).await?;
        }
        Ok(is_held || !is_going)
    }

    pub(crate) async fn carry_out(mut self, step: Step) -> Result<Option<Duration>, Trouble> {
        if !self.hold().await? {
            return Ok(None);
        }
        let is_going = self.object.metadata.deletion_timestamp.is_some();
        let swept = self.sweep(&step.sweeps).await;
        self.say(&step, swept.as_ref().err()).await?;
        if let Some(wish) = step.namespace {
            self.see_to_namespace(wish).await?;
        }
        for found in step.removes.iter().filter(|found| !found.is_going) {
            let Thing { kind, key } = &found.thing;
            let path = format!("{}/{}", kind.path(&key.namespace), key.name);
            self.context.control.delete(path, &found.uid).await?;
        }
        match swept {
            Ok(true) if is_going && step.may_go && step.removes.is_empty() => {
                if let Some(note) = step.note {
                    self.tell(note);
                }
                if let Some(finalizer) = self.thing.kind.finalizer() {
                    self.set_finalizer(finalizer, false).await?;
                }
                Ok(None)
            }
            Ok(true) => Ok(None),
            Ok(false) => Ok(Some(LOOK_AGAIN)),
            Err(_) => Ok(Some(TRY_AGAIN)),
        }
    }

    /// Takes namespaces away. Tells whether all are gone, or what is in the way.
    async fn sweep(&self, sweeps: &[Sweep]) -> Result<bool, String> {
        let mut is_clean = true;
        for sweep in sweeps {
            let name = PlaneName {
                namespace: self.thing.key.namespace.to_string(),
                name: sweep.plane.clone(),
            };
            let site = match self.context.world.look().way_to(&name) {
                Ok(site) => site,
                Err(_) if sweep.may_skip => continue,
                Err(why) => return Err(why),
            };
            match self.sweep_one(&site, &name, sweep).await {
                Ok(clean) => is_clean &= clean,
                Err(_) if sweep.may_skip => {}
                Err(trouble) => {
                    // That a plane is left alone for a while is no cause; what it is left alone for is.
                    self.context.world.look().way_to(&name)?;
                    if !trouble.is_unsent() {
                        return Err(format!("DataPlane {name}: {}", trouble.message()));
                    }
                    is_clean = false;
                }
            }
        }
        Ok(is_clean)
    }

    async fn sweep_one(
        &self,
        site: &Site,
        plane: &PlaneName,
        sweep: &Sweep,
    ) -> Result<bool, Trouble> {
        let labels: Vec<(&str, &str)> = sweep
            .labels
            .iter()
            .map(|(key, value)| (*key, value.as_str()))
            .collect();
        let mut is_clean = true;
        for found in namespaces::labelled(site, &labels).await? {
            let guest = self.context.world.look().guest(plane, &found.name);
            // Whose objects are in it has it from now on.
            if let Some(guest) = guest {
                hand_over(site, &found, &guest).await?;
                continue;
            }
            is_clean = false;
            if found.is_going {
                continue;
            }
            // Whoever it is may be known by another way to the same cluster only, or not at all.
            match namespaces::tenant(site, &found.name, None).await? {
                None => namespaces::delete(site, &found).await?,
                Some(tenant) => self.leave_to(site, &found, &tenant).await?,
            }
        }
        Ok(is_clean)
    }

    /// Leaves a namespace to somebody who has something in it.
    async fn leave_to(
        &self,
        site: &Site,
        found: &NamespaceFound,
        tenant: &Tenant,
    ) -> Result<(), Trouble> {
        let guest = {
            let world = self.context.world.look();
            let held = world.by_uid(&tenant.owner);
            held.map(|held| Guest::of(&held.facts))
        };
        if let Some(guest) = guest {
            return hand_over(site, found, &guest).await;
        }
        let none = word("");
        let labels = namespace_labels(&none, &none, &none).map(|(key, _)| (key, None));
        namespaces::hand_over(site, found, &labels).await?;
        let (name, object, called) = (&found.name, &tenant.object, &tenant.called);
        self.tell(format!(
            "Namespace {name} is left: it holds {object} of {called}"
        ));
        Ok(())
    }

    /// Writes the status, if it says something new.
    pub(crate) async fn say(
        &mut self,
        step: &Step,
        problem: Option<&String>,
    ) -> Result<(), Trouble> {
        use quadrille_types::conditions::{ConditionType, Reason};
        let mut step_said = step.said.clone();
        if let Some(problem) = problem {
            for judgement in &mut step_said {
                judgement.message = format!(
                    "{problem}; to leave what is there, annotate the object with {}: \"true\"",
                    quadrille_types::annotations::ABANDON
                );
                if judgement.condition == ConditionType::Finalizing {
                    judgement.reason = Reason::CleanupFailed.as_str();
                }
            }
        }
        let said = Step {
            said: step_said,
            ..Step::default()
        };
        let generation = self.object.metadata.generation;
        let now = noted(self.context.alarms.now());
        let conditions = said.conditions(&self.object.conditions, generation, &now);
        let mut status = Map::new();
        status.insert("conditions".to_owned(), json!(conditions));
        status.insert("observedGeneration".to_owned(), json!(generation));
        for (field, value) in &step.fields {
            status.insert((*field).to_owned(), value.clone());
        }
        let is_known = |(field, value): (&String, &Value)| self.object.status[field] == *value;
        if status.iter().all(is_known) {
            return Ok(());
        }
        let patch = json!({
            "metadata": { "resourceVersion": self.object.metadata.resource_version },
            "status": status,
        });
        self.patch("/status", &patch).await
    }

    async fn set_finalizer(&mut self, finalizer: &str, is_held: bool) -> Result<(), Trouble> {
        let mut names = self.object.metadata.finalizers.clone().unwrap_or_default();
        names.retain(|name| name != finalizer);
        if is_held {
            names.push(finalizer.to_owned());
        }
        let patch = json!({ "metadata": {
            "resourceVersion": self.object.metadata.resource_version,
            "finalizers": names,
        }});
        self.patch("", &patch).await
    }

    pub(crate) async fn patch(&mut self, subresource: &str, patch: &Value) -> Result<(), Trouble> {
        let Thing { kind, key } = self.thing;
        let url = format!("{}/{}{subresource}", kind.path(&key.namespace), key.name);
        self.object.metadata = self.context.control.patch_at(url, patch).await?;
        let written = revision(&self.object.metadata);
        if written != u64::MAX {
            let mut known = self.context.written.lock();
            known.insert(self.thing.clone(), written);
        }
        Ok(())
    }

    async fn see_to_namespace(&self, wish: NamespaceWish) -> Result<(), Trouble> {
        let control = &self.context.control;
        let name = &*self.thing.key.name;
        let url = format!("/api/v1/namespaces/{name}");
        let labels: Map<String, Value> = organizations::labels(name)
            .into_iter()
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .collect();
        match wish {
            NamespaceWish::Make => {
                let namespace = json!({
                    "apiVersion": "v1", "kind": "Namespace",
                    "metadata": {
                        "name": name, "labels": labels,
                        "ownerReferences": [{
                            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Organization",
                            "name": name, "uid": self.object.metadata.uid,
                            "controller": true, "blockOwnerDeletion": true,
                        }],
                    },
                });
                let made = control.create("/api/v1/namespaces".to_owned(), &namespace);
                match made.await {
                    // The watch will tell whose it is.
                    Err(Trouble::AlreadyExists(_)) => Ok(()),
                    made => made.map(drop),
                }
            }
            NamespaceWish::Label => {
                let patch = json!({ "metadata": { "labels": labels } });
                control.patch_at(url, &patch).await.map(drop)
            }
            NamespaceWish::Leave => {
                let gone: Map<String, Value> = labels
                    .into_iter()
                    .map(|(key, _)| (key, Value::Null))
                    .collect();
                let patch = json!({ "metadata": { "labels": gone } });
                control.patch_at(url, &patch).await.map(drop)
            }
            NamespaceWish::Remove => {
                let uid = {
                    let world = self.context.world.look();
                    let namespace = world.shelves.namespaces.find("", name);
                    let waits = namespace.filter(|one| one.metadata.deletion_timestamp.is_none());
                    waits.and_then(|one| one.metadata.uid.as_deref().map(word))
                };
                match uid {
                    Some(uid) => control.delete(url, &uid).await,
                    None => Ok(()),
                }
            }
        }
    }

    fn tell(&self, note: String) {
        use quadrille_types::conditions::Reason;
        self.context.events.tell(Event {
            regarding: Regarding {
                kind: self.thing.kind.word(),
                namespace: self.thing.key.namespace.to_string(),
                name: self.thing.key.name.to_string(),
                uid: self.object.metadata.uid.clone().unwrap_or_default(),
            },
            is_warning: true,
            reason: Reason::Abandoned.as_str(),
            action: "Delete",
            note,
        });
    }
}

async fn hand_over(site: &Site, found: &NamespaceFound, guest: &Guest) -> Result<(), Trouble> {
    let labels = namespace_labels(&guest.organization, &guest.project, &guest.environment);
    let labels: Vec<(&str, Option<&str>)> = labels
        .iter()
        .map(|(key, value)| (*key, Some(&**value)))
        .collect();
    namespaces::hand_over(site, found, &labels).await
}

/// What is put onto a namespace that is made for a release, so that it is found when its environment or project
/// goes.
pub(crate) fn namespace_labels(
    organization: &Arc<str>,
    project: &Arc<str>,
    environment: &Arc<str>,
) -> [(&'static str, Arc<str>); 4] {
    [
        (tracking::CREATED_BY, word(tracking::RELEASE_CONTROLLER)),
        (data_plane::ORGANIZATION_NAME, Arc::clone(organization)),
        (data_plane::PROJECT_NAME, Arc::clone(project)),
        (data_plane::ENVIRONMENT_NAME, Arc::clone(environment)),
    ]
}
