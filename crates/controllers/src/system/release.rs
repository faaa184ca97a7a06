//! The Release of an object of the deployment system: made, changed and taken away as wished, and how it is doing.

use std::sync::Arc;

use kube::Resource;
use quadrille_objects::digest::Digest;
use quadrille_planes::Trouble;
use quadrille_render::Planned;
use quadrille_types::{
    RawObject,
    conditions::{ConditionType, Holds, Reason},
    names::{ResourceId, generate},
    release::ReleaseObject,
};
use serde_json::{Value, json};

use crate::{
    chain::{
        health,
        releases::{self, Wish},
        shelves::{cell_release, name, uid},
    },
    key::Key,
    platform::step::{Kind, Step},
    releases::{Context, Facts, Inner},
};

/// What is to run of an object.
pub(super) struct Wanted<'a> {
    /// Its Release.
    pub(super) key: Key,
    /// The object.
    pub(super) owner: Owner<'a>,
    pub(super) project: &'a str,
    pub(super) component: &'a str,
    pub(super) environment: &'a str,
    /// The name by which people agree to it; empty where nobody is asked.
    pub(super) identity: &'a str,
    pub(super) objects: &'a [Planned],
}

/// Whom a Release is for.
#[derive(Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
}

impl<'a> Owner<'a> {
    pub(super) fn of(kind: Kind, object: &'a impl Resource) -> Self {
        Self {
            kind: kind.word(),
            name: name(object),
            uid: uid(object),
        }
    }

    /// As whatever is made for it refers to it.
    pub(super) fn reference(&self) -> Value {
        json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": self.kind,
            "name": self.name, "uid": self.uid,
            "controller": true, "blockOwnerDeletion": true,
        })
    }
}

/// What became of a wish.
pub(super) enum Standing {
    /// There is a Release of that name that was not made for this.
    Foreign,
    /// The last one is still going.
    Leaving,
    /// Nothing is to run, and nothing does.
    Nothing,
    /// It was written just now.
    Written,
    /// It is as wished already.
    Same(Arc<Facts>),
}

/// The name of the Release of an object of a kind.
pub(super) fn release_name(kind: Kind, name: &str) -> String {
    let word = match kind {
        Kind::Deployment => "deployment",
        Kind::Endpoint => "endpoint",
        // Bindings have always had Releases of their own name.
        _ => return name.to_owned(),
    };
    let whole = format!("{word}-{name}");
    if whole.len() <= generate::RESOURCE_LIMIT {
        whole
    } else {
        generate::name_within(generate::RESOURCE_LIMIT, &[word, name])
    }
}

/// The Release of that name, whoever made it.
pub(super) fn find(world: &Inner, key: &Key) -> Option<Arc<Facts>> {
    let held = world.releases.get(key)?;
    Some(Arc::clone(&held.facts))
}

/// Whether a Release was made for an object.
pub(super) fn is_of(facts: &Facts, uid: &str) -> bool {
    let rendered = facts.rendered.as_ref();
    rendered.is_some_and(|rendered| rendered.owner == uid)
}

/// What runs by a Release.
pub(super) fn current(facts: &Facts) -> Option<&str> {
    let rendered = facts.rendered.as_ref()?;
    Some(rendered.snapshot.as_str()).filter(|name| !name.is_empty())
}

/// Makes the Release be as wished.
pub(super) async fn see_to(context: &Context, wanted: Wanted<'_>) -> Result<Standing, Trouble> {
    let known = find(&context.world.look(), &wanted.key);
    if let Some(facts) = &known {
        if !is_of(facts, wanted.owner.uid) {
            return Ok(Standing::Foreign);
        }
        if facts.deleting_since.is_some() {
            return Ok(Standing::Leaving);
        }
    }
    if wanted.objects.is_empty() {
        let Some(facts) = &known else {
            return Ok(Standing::Nothing);
        };
        releases::delete(context, facts).await?;
        return Ok(Standing::Leaving);
    }
    let objects: Vec<&Value> = wanted.objects.iter().map(|one| &one.object).collect();
    let text = json!([env!("CARGO_PKG_VERSION"), wanted.identity, objects]).to_string();
    let inputs = Digest::of([text.as_str()]).to_string();
    if let Some(facts) = known.filter(|facts| releases::is_from(facts, &inputs)) {
        return Ok(Standing::Same(facts));
    }
    let known = find(&context.world.look(), &wanted.key);
    let entry = |planned: &Planned| ReleaseObject {
        id: ResourceId::new(planned.id.as_str()),
        object: RawObject::new(&planned.object),
    };
    let wish = Wish {
        key: wanted.key,
        owner: Some(wanted.owner.reference()),
        project: wanted.project,
        component: Some(wanted.component),
        environment: wanted.environment,
        resources: wanted.objects.iter().map(entry).collect(),
        depends_on: vec![cell_release(wanted.project, wanted.environment)],
        snapshot: wanted.identity,
        snapshot_uid: "",
        inputs: &inputs,
        may_shrink: true,
    };
    releases::write(context, known.as_ref(), wish).await?;
    Ok(Standing::Written)
}

/// Takes the Release of an object away. Tells whether there is still one.
pub(super) async fn take_away(context: &Context, key: &Key, uid: &str) -> Result<bool, Trouble> {
    let known = find(&context.world.look(), key);
    let Some(facts) = known.filter(|facts| is_of(facts, uid)) else {
        return Ok(false);
    };
    releases::delete(context, &facts).await?;
    Ok(true)
}

/// What is to be done about an object of which only a Release is left to go.
pub(super) async fn end(context: &Context, key: &Key, uid: &str) -> Result<Step, Trouble> {
    let mut step = Step::default();
    let ends = Reason::Finalizing;
    if take_away(context, key, uid).await? {
        let words = format!("waits for the end of Release {}", key.name);
        step.ending(ends, ends, words);
    } else {
        step.ending(ends, ends, "nothing is left of it");
        step.may_go = true;
    }
    Ok(step)
}

/// A judgement for people and machines.
pub(super) struct Doing {
    pub(super) holds: Holds,
    /// As the engine's words have it.
    pub(super) reason: Reason,
    pub(super) words: String,
}

impl Doing {
    /// Nothing runs, and nothing is to.
    pub(super) fn undeployed(is_going: bool) -> Self {
        let words = if is_going {
            "Resources being undeployed"
        } else {
            "Resources undeployed"
        };
        Self {
            holds: Holds::False,
            reason: Reason::ResourcesUndeployed,
            words: words.to_owned(),
        }
    }

    /// Says how what runs is doing, whatever is asked for.
    pub(super) fn say(&self, step: &mut Step) {
        let words = self.words.clone();
        step.say(
            ConditionType::ResourcesReady,
            self.holds,
            self.reason,
            words,
        );
    }

    /// The word that bindings of classes have for a reason.
    pub(super) fn bound_reason(&self) -> Reason {
        match self.reason {
            _ if self.holds == Holds::True => Reason::ResourcesActive,
            Reason::ResourcesDegraded | Reason::ResourceApplyFailed => {
                Reason::ResourceHealthDegraded
            }
            Reason::ReleaseOwnershipConflict | Reason::ResourcesUndeployed => self.reason,
            _ => Reason::ResourceHealthProgressing,
        }
    }
}

impl Standing {
    /// Whether what is wished is what the plane has, or gets.
    pub(super) fn is_followed(&self) -> bool {
        matches!(self, Self::Nothing | Self::Written | Self::Same(_))
    }

    /// How what is wished is doing. `workload` is what it is about, such as `cronjob`.
    pub(super) fn doing(&self, release: &str, workload: &str) -> Doing {
        let (reason, words) = match self {
            Self::Foreign => (
                Reason::ReleaseOwnershipConflict,
                format!(
                    "Release {release} is there and was not made for this: delete it, or give this another name"
                ),
            ),
            Self::Leaving => (
                Reason::ResourcesProgressing,
                "the last Release is still going".to_owned(),
            ),
            Self::Nothing => {
                return Doing {
                    holds: Holds::True,
                    reason: Reason::Ready,
                    words: "nothing of it is to run by itself".to_owned(),
                };
            }
            Self::Written => (
                Reason::ResourcesProgressing,
                "the objects are being applied".to_owned(),
            ),
            Self::Same(facts) => return of(facts, workload),
        };
        Doing {
            holds: Holds::False,
            reason,
            words,
        }
    }
}

/// How a Release is doing.
pub(super) fn of(facts: &Facts, workload: &str) -> Doing {
    let health::Verdict {
        holds,
        reason,
        words,
    } = health::judge(facts, workload);
    Doing {
        holds,
        reason,
        words,
    }
}

/// How the Release that an object has is doing, if it has one.
pub(super) fn of_known(facts: Option<&Arc<Facts>>, workload: &str) -> Doing {
    match facts {
        Some(facts) => of(facts, workload),
        None => Doing {
            holds: Holds::False,
            reason: Reason::ResourcesProgressing,
            words: "nothing is in the plane yet".to_owned(),
        },
    }
}

/// What is said of so many objects that are all well.
pub(super) fn all_well(count: usize) -> String {
    match count {
        1 => "Its one resource is deployed and healthy".to_owned(),
        count => format!("All {count} resources are deployed and healthy"),
    }
}
