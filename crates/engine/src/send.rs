//! Applies one object: as a new one, onto what is ours, or not at all.

use std::sync::Arc;

use quadrille_objects::{
    Desired, Digest, Identity, Live, Record, Stamp,
    claim::{self, Found, Rival},
    owned,
    plan::{self, Apply, Mode, Why},
};
use quadrille_planes::{Served, Trouble};
use serde_json::Value;

use crate::{
    failure::Failure,
    replace::{self, Immutable},
    requests::Propagation,
    site::{Deleted, Site},
};

/// Whose the objects are, and what their owner may do.
pub struct Owner<'a> {
    /// What is put onto every object.
    pub stamp: &'a Stamp,
    /// The owner's uid, as the label has it.
    pub uid: &'a str,
    /// Labels for namespaces that have to be made.
    pub namespace_labels: &'a [(&'a str, &'a str)],
    /// Whether objects that others made may be taken over.
    pub may_adopt: bool,
    /// What another owner (by uid) has to do with an object of this identity.
    pub rival: &'a (dyn Fn(&str, &Identity) -> Rival + Sync),
}

/// An object that was applied.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The digest of what was sent.
    pub digest: Digest,
    /// What is there now.
    pub live: Live,
    /// What was undone, for people; nothing if there was nothing to undo.
    pub healed: Option<String>,
}

/// Why an object may not be ours.
const OWNERSHIP_CONFLICT: &str = "OwnershipConflict";

/// Applies one object of a plan.
pub(crate) async fn send(
    site: &Site,
    owner: &Owner<'_>,
    desired: &Desired,
    apply: &Apply,
    record: Option<&Record>,
    has_autoscaler: bool,
) -> Result<Applied, Failure> {
    let identity = &desired.identity;
    let failed = |trouble: Trouble| Failure::of(identity, &trouble);
    let served = resolve(site, desired).await?;
    let namespace = served.namespaced.then_some(&identity.namespace);
    if let Some(namespace) = namespace {
        let made = site.ensure_namespace(namespace, owner.namespace_labels);
        made.await.map_err(failed)?;
    }
    let sending = Sending {
        site,
        owner,
        desired,
        record,
        served: &served,
    };
    let sent = match apply.mode {
        Mode::CreateOnly => sending.create(apply).await,
        Mode::Update => sending.update(apply).await,
        Mode::LookFirst => sending.look_first(apply, has_autoscaler).await,
    };
    if let (Err(failure), Some(namespace)) = (&sent, namespace)
        && failure.reason != OWNERSHIP_CONFLICT
    {
        // It may have gone since; ask again next time.
        site.lost_namespace(namespace);
    }
    sent
}

/// Finds the kind, and whether the object's namespace fits it.
async fn resolve(site: &Site, desired: &Desired) -> Result<Served, Failure> {
    let identity = &desired.identity;
    let served = match site.resolve(identity, &desired.version).await {
        Ok(served) => served,
        Err(trouble @ Trouble::NotServed(_)) => {
            let words = format!(
                "{}: install its definition there, or take the object out",
                trouble.message()
            );
            return Err(Failure::new("KindNotServed", words));
        }
        Err(trouble) => return Err(Failure::of(identity, &trouble)),
    };
    match (served.namespaced, identity.namespace.is_empty()) {
        (true, true) => Err(Failure::new(
            "NamespaceMissing",
            "metadata.namespace is missing: say in which namespace the object belongs",
        )),
        (false, false) => Err(Failure::new(
            "NamespaceNotAllowed",
            "metadata.namespace is given, but objects of this kind belong to the whole cluster: take it out",
        )),
        _ => Ok(served),
    }
}

struct Sending<'a> {
    site: &'a Site,
    owner: &'a Owner<'a>,
    desired: &'a Desired,
    record: Option<&'a Record>,
    served: &'a Served,
}

impl Sending<'_> {
    fn failed(&self, trouble: &Trouble) -> Failure {
        Failure::of(&self.desired.identity, trouble)
    }

    fn stamped(&self, text: &str, digest: Digest) -> Result<Value, Failure> {
        let mut object: Value = serde_json::from_str(text)
            .map_err(|error| Failure::new("Malformed", error.to_string()))?;
        self.owner
            .stamp
            .put_on(&mut object, &self.desired.id, digest);
        Ok(object)
    }

    fn done(&self, digest: Digest, answer: &Value, healed: Option<String>) -> Applied {
        let live = self.site.sights().note(&self.desired.identity, answer);
        Applied {
            digest,
            live,
            healed,
        }
    }

    async fn get(&self) -> Result<Option<Value>, Failure> {
        let found = self.site.get(self.served, &self.desired.identity).await;
        found.map_err(|trouble| self.failed(&trouble))
    }

    /// Makes the object where nothing is. Where something is, it goes on only if that is ours.
    async fn create(&self, apply: &Apply) -> Result<Applied, Failure> {
        let identity = &self.desired.identity;
        let mut object = self.stamped(&apply.text, apply.digest)?;
        // An object that exists has another one, so the server refuses; one that doesn't is made.
        object["metadata"]["resourceVersion"] = "1".into();
        match self.site.apply(self.served, identity, &object).await {
            Ok(answer) => {
                let healed = match apply.why {
                    Why::Missing => Some("was gone".to_owned()),
                    Why::Replaced => Some("was replaced by another object".to_owned()),
                    Why::New | Why::Changed | Why::Drifted => None,
                };
                return Ok(self.done(apply.digest, &answer, healed));
            }
            Err(Trouble::Conflict(_) | Trouble::AlreadyExists(_)) => {}
            Err(trouble) => return Err(self.failed(&trouble)),
        }
        let Some(found) = self.get().await? else {
            return Err(Failure::new(
                "Conflict",
                "it came and went while it was being made",
            ));
        };
        if found["metadata"]["deletionTimestamp"].is_string() {
            self.site.sights().note(identity, &found);
            return Err(Failure::new(
                "Terminating",
                "an older object of this name is still being deleted",
            ));
        }
        self.claim(&found)?;
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
        self.apply_onto(&object, apply, Some(&found)).await
    }

    /// Whether what is there may be written to.
    fn claim(&self, found: &Value) -> Result<(), Failure> {
        let identity = &self.desired.identity;
        let live = Live::read(found, self.site.sights().lens());
        let there = Found {
            owner: live.owner.as_deref(),
            is_recorded: self
                .record
                .is_some_and(|record| record.uid.as_deref() == Some(&*live.uid)),
            is_applied_by_us: owned::was_applied_by(found, self.site.manager()),
        };
        let (us, may_adopt) = (self.owner.uid, self.owner.may_adopt);
        let rival = |uid: &str| (self.owner.rival)(uid, identity);
        if claim::may_claim(us, there, may_adopt, rival) {
            return Ok(());
        }
        let whose = match (
            &live.owner,
            owned::last_other_writer(found, self.site.manager()),
        ) {
            (Some(uid), _) if **uid != *self.owner.uid => {
                format!("belongs to {}", self.site.marks().owner_of(found))
            }
            (_, Some(manager)) => format!("was made by {manager}"),
            (_, None) => "was made by somebody else".to_owned(),
        };
        let is_wanted = live
            .owner
            .as_deref()
            .is_some_and(|uid| rival(uid) == Rival::Wants);
        let hint = if is_wanted {
            "rename one of them, or take one of them out".to_owned()
        } else {
            let adopt = quadrille_types::annotations::ADOPT;
            format!("rename one of them, or allow taking it over with the annotation {adopt}")
        };
        Err(Failure::new(
            OWNERSHIP_CONFLICT,
            format!("it exists and {whose}: {hint}"),
        ))
    }

    /// Applies onto an object of ours.
    async fn update(&self, apply: &Apply) -> Result<Applied, Failure> {
        let object = self.stamped(&apply.text, apply.digest)?;
        let before = match apply.why {
            Why::Drifted => self.get().await?,
            _ => None,
        };
        self.apply_onto(&object, apply, before.as_ref()).await
    }

    async fn look_first(&self, apply: &Apply, has_autoscaler: bool) -> Result<Applied, Failure> {
        let Some(found) = self.get().await? else {
            return self.create(apply).await;
        };
        let live = self.site.sights().note(&self.desired.identity, &found);
        let (text, digest) = plan::settled(self.owner.stamp, self.desired, &live, has_autoscaler);
        let settled = Apply {
            text,
            digest,
            ..apply.clone()
        };
        self.update(&settled).await
    }

    async fn apply_onto(
        &self,
        object: &Value,
        apply: &Apply,
        before: Option<&Value>,
    ) -> Result<Applied, Failure> {
        let identity = &self.desired.identity;
        match self.site.apply(self.served, identity, object).await {
            Ok(answer) => {
                let healed = apply
                    .why
                    .heals()
                    .then(|| self.what_was_undone(before, &answer));
                Ok(self.done(apply.digest, &answer, healed))
            }
            Err(trouble) => match replace::immutable(&identity.kind, object, &trouble) {
                None => Err(self.failed(&trouble)),
                Some(Immutable::Refuse(words)) => Err(Failure::new("FieldIsImmutable", words)),
                Some(Immutable::Replace) => self.replace(object).await,
            },
        }
    }

    /// Makes way for a new object: the old one is deleted once the new one is known to be acceptable. It is made
    /// when the old one is gone, which the watch will tell.
    async fn replace(&self, object: &Value) -> Result<Applied, Failure> {
        let identity = &self.desired.identity;
        let rehearsed = self.site.rehearse(self.served, identity, object).await;
        rehearsed.map_err(|trouble| self.failed(&trouble))?;
        let Some(uid) = self.record.and_then(|record| record.uid.as_ref()) else {
            return Err(Failure::new("Conflict", "what is there is not known yet"));
        };
        let deleted = self
            .site
            .delete(self.served, identity, uid, Propagation::Background)
            .await;
        match deleted.map_err(|trouble| self.failed(&trouble))? {
            Deleted::Gone => {
                let mut object = object.clone();
                object["metadata"]["resourceVersion"] = "1".into();
                let made = self.site.apply(self.served, identity, &object).await;
                let answer = made.map_err(|trouble| self.failed(&trouble))?;
                let digest = digest_of(&answer, self.site).unwrap_or_else(|| Digest::of([""]));
                Ok(self.done(digest, &answer, None))
            }
            Deleted::Going(_) => Err(Failure::new(
                "Replacing",
                "an immutable field changed: the old object is being deleted to make way",
            )),
        }
    }

    fn what_was_undone(&self, before: Option<&Value>, after: &Value) -> String {
        let Some(before) = before else {
            return "was changed".to_owned();
        };
        let manager = self.site.manager();
        let fields = owned::regained(before, after, manager);
        let who = owned::last_other_writer(before, manager).unwrap_or("somebody");
        let shown: Vec<&str> = fields.iter().take(5).map(String::as_str).collect();
        match (shown.as_slice(), fields.len()) {
            ([], _) => format!("was changed by {who}"),
            (shown, count) if count > shown.len() => format!(
                "{} and {} more were changed by {who}",
                shown.join(", "),
                count - shown.len()
            ),
            (shown, _) => format!("{} changed by {who}", shown.join(", ")),
        }
    }
}

fn digest_of(answer: &Value, site: &Site) -> Option<Digest> {
    Live::read(answer, site.sights().lens()).applied
}

/// What a record is after an object was applied.
pub fn recorded(desired: &Desired, applied: &Applied) -> Record {
    Record {
        id: Arc::clone(&desired.id),
        identity: desired.identity.clone(),
        version: Arc::clone(&desired.version),
        uid: Some(Arc::clone(&applied.live.uid)),
        digest: Some(applied.digest),
        owned: applied.live.owned,
    }
}
