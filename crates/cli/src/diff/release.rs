//! What would change on a plane if a release were applied: asked of the plane object by object, as the engine would
//! send them, without writing anything.

use std::{collections::HashMap, sync::Arc};

use kube::core::Status;
use quadrille_controllers::preview::{self, PlaneName, Preview};
use quadrille_engine::{Failure as Refusal, Immutable, immutable};
use quadrille_objects::{
    Desired, Identity, Live, Sight,
    claim::{self, Found, Rival},
    desired::autoscaled,
    owned,
    plan::{self, Leave, Question},
};
use quadrille_planes::{Connected, Served, Trouble, feed::url_path};
use quadrille_types::{Environment, annotations, labels::tracking};
use serde_json::Value;

use super::finding::{Deed, Finding, called, changes};
use crate::{
    cluster::Cluster,
    failure::Failure,
    fields,
    plane::{self, OURS, typed},
    requests::{Apply, OBJECTS},
};

/// What would happen to a release's objects.
pub(super) async fn findings(
    control: &Cluster,
    before: Option<&Value>,
    after: Value,
    is_coming: impl Fn(&str) -> bool,
) -> Result<Vec<Finding>, Failure> {
    let namespace = fields::namespace(&after).to_owned();
    let called = called(&after);
    let mut release = Preview::read(after)
        .map_err(|error| Failure::new("this release cannot be read").because(&error))?;
    if before.is_none() {
        // The rehearsal gave it a uid that it will not have.
        release.uid = "".into();
    }
    let desired = release.desired.clone().map_err(|problems| {
        Failure::new("this release would be held: it cannot be understood").saying(problems)
    })?;
    let Some(plane) = plane_of(control, &namespace, &release.environment).await? else {
        let made = desired.iter().map(|object| Finding {
            object: object.identity.to_string(),
            deed: Deed::Create,
        });
        let environment = &release.environment;
        let waits = (!is_coming(environment)).then(|| Finding {
            object: called,
            deed: Deed::Keep(format!(
                "would wait: there is no Environment {environment} in namespace {namespace}"
            )),
        });
        return Ok(waits.into_iter().chain(made).collect());
    };
    let visit = Visit {
        kinds: Connected::over(plane.client.clone()),
        plane,
        release,
    };
    visit.everything(&desired).await
}

/// The plane of an environment; nothing while there is no such environment.
async fn plane_of(
    control: &Cluster,
    namespace: &str,
    environment: &str,
) -> Result<Option<Cluster>, Failure> {
    let path = format!("{OURS}/{namespace}/environments/{environment}");
    let Some(object) = control.get(&path).await? else {
        return Ok(None);
    };
    let unclear = |words: String| {
        Failure::new(format!(
            "Environment {namespace}/{environment} leads to no plane"
        ))
        .saying(words)
    };
    let object: Environment = typed(object).map_err(unclear)?;
    let name: PlaneName = preview::plane_of(&object).map_err(unclear)?;
    plane::open(control, &name).await.map(Some)
}

/// A look at a plane in the name of a release.
struct Visit {
    kinds: Connected,
    plane: Cluster,
    release: Preview,
}

impl Visit {
    async fn everything(&self, desired: &[Desired]) -> Result<Vec<Finding>, Failure> {
        let autoscaled = autoscaled(desired);
        let mut findings = Vec::new();
        for object in desired {
            let has_autoscaler = autoscaled.contains(&object.identity);
            let deeds = self.one(object, has_autoscaler).await?;
            findings.extend(deeds.into_iter().map(|deed| Finding {
                object: object.identity.to_string(),
                deed,
            }));
        }
        findings.extend(self.removals(desired).await?);
        Ok(findings)
    }

    async fn one(&self, desired: &Desired, has_autoscaler: bool) -> Result<Vec<Deed>, Failure> {
        let identity = &desired.identity;
        let Some(served) = self.served(identity, &desired.version).await? else {
            let words = format!("would wait: the plane does not serve {}", identity.kind);
            return Ok(vec![Deed::Refuse(words)]);
        };
        let path = path(&served, identity);
        let found = self.look(&path).await?;
        let live = found
            .as_ref()
            .map(|found| Live::read(found, preview::lens()));
        if let (Some(found), Some(live)) = (&found, &live)
            && let Some(words) = self.refused_claim(desired, found, live)
        {
            return Ok(vec![Deed::Refuse(words)]);
        }
        let stamp = &self.release.stamp;
        let (text, digest) = match &live {
            Some(live) => plan::settled(stamp, desired, live, has_autoscaler),
            None => {
                let text = Arc::clone(&desired.text);
                let digest = stamp.digest(&desired.id, &text);
                (text, digest)
            }
        };
        let mut object: Value = serde_json::from_str(&text)
            .map_err(|error| Failure::new(format!("{identity} cannot be read")).because(&error))?;
        stamp.put_on(&mut object, &desired.id, digest);
        let how = Apply {
            manager: tracking::RELEASE_CONTROLLER,
            is_rehearsal: true,
        };
        match (self.plane.apply(&path, &object, how).await, found) {
            (Ok(_), None) => Ok(vec![Deed::Create]),
            (Ok(after), Some(before)) => Ok(without_marks(changes("", &before, &after))),
            // Its namespace is made with it.
            (Err(kube::Error::Api(status)), None) if status.code == 404 => Ok(vec![Deed::Create]),
            (Err(kube::Error::Api(status)), found) => {
                self.refused(identity, &object, *status, found.as_ref())
                    .await
            }
            (Err(error), _) => Err(self.plane.failed(&error)),
        }
    }

    async fn served(&self, identity: &Identity, version: &str) -> Result<Option<Served>, Failure> {
        let kind = &identity.kind;
        match self
            .kinds
            .kinds()
            .resolve(&kind.group, version, &kind.kind)
            .await
        {
            Ok(served) => Ok(Some(served)),
            Err(Trouble::NotServed(_)) => Ok(None),
            Err(trouble) => Err(Failure::new(format!("{} does not answer", self.plane.url))
                .saying(trouble.message())),
        }
    }

    async fn look(&self, path: &str) -> Result<Option<Value>, Failure> {
        match self.plane.read(path, OBJECTS).await {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(self.plane.failed(&error)),
        }
    }

    /// Why what is there may not be written to, if so. Other releases are not asked whether they gave it up.
    fn refused_claim(&self, desired: &Desired, found: &Value, live: &Live) -> Option<String> {
        let there = Found {
            owner: live.owner.as_deref(),
            is_recorded: self.release.records.iter().any(|record| {
                record.identity == desired.identity && record.uid.as_deref() == Some(&*live.uid)
            }),
            is_applied_by_us: owned::was_applied_by(found, tracking::RELEASE_CONTROLLER),
        };
        let may_adopt = self.release.may_adopt;
        if claim::may_claim(&self.release.uid, there, may_adopt, |_| Rival::Unknown) {
            return None;
        }
        let labels = &found["metadata"]["labels"];
        let whose = match labels[tracking::RELEASE_NAME].as_str() {
            Some(release) => format!("belongs to release {release}"),
            None => "was made by somebody else".to_owned(),
        };
        Some(format!(
            "exists and {whose}: the release would not take it over without {}",
            annotations::ADOPT
        ))
    }

    /// What the engine would do about an answer that is none.
    async fn refused(
        &self,
        identity: &Identity,
        object: &Value,
        status: Status,
        found: Option<&Value>,
    ) -> Result<Vec<Deed>, Failure> {
        let causes = status.details.iter().flat_map(|details| &details.causes);
        let mut fields: Vec<&str> = causes.map(|cause| cause.field.as_str()).collect();
        fields.dedup();
        let fields = fields.join(", ");
        let trouble = Trouble::from(kube::Error::Api(Box::new(status)));
        Ok(vec![match immutable(&identity.kind, object, &trouble) {
            Some(Immutable::Replace) => Deed::Replace {
                fields,
                words: format!(
                    "would be replaced (immutable){}",
                    self.what_goes_along(found).await?
                ),
            },
            Some(Immutable::Refuse(words)) => Deed::Refuse(words),
            None => Deed::Refuse(Refusal::of(identity, &trouble).message),
        }])
    }

    /// The pods that go with what is replaced.
    async fn what_goes_along(&self, found: Option<&Value>) -> Result<String, Failure> {
        let Some(found) = found.filter(|found| found["kind"] == "Job") else {
            return Ok(String::new());
        };
        let namespace = fields::namespace(found);
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let pods = self.look(&path).await?.unwrap_or_default();
        let is_its = |pod: &&Value| {
            fields::items(&pod["metadata"]["ownerReferences"])
                .iter()
                .any(|owner| fields::text(owner, "uid") == fields::uid(found))
        };
        let pods = fields::items(&pods["items"]).iter();
        let pods: Vec<&Value> = pods.filter(is_its).collect();
        let is_finished = |pod: &&&Value| {
            ["Succeeded", "Failed"].contains(&fields::text(&pod["status"], "phase"))
        };
        let finished = pods.iter().filter(is_finished).count();
        let counted = [(finished, "finished"), (pods.len() - finished, "running")];
        let words: Vec<String> = counted
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| {
                let plural = if count == 1 { "" } else { "s" };
                format!("{count} {word} pod{plural}")
            })
            .collect();
        if words.is_empty() {
            return Ok(String::new());
        }
        Ok(format!(": deletes {}", words.join(" and ")))
    }

    /// What is there because of this release, and no longer asked for.
    async fn removals(&self, desired: &[Desired]) -> Result<Vec<Finding>, Failure> {
        let records = &self.release.records;
        let asked: Vec<&Identity> = desired.iter().map(|object| &object.identity).collect();
        let mut seen: HashMap<Identity, Live> = HashMap::new();
        for record in records {
            if asked.contains(&&record.identity) {
                continue;
            }
            let identity = &record.identity;
            if let Some(served) = self.served(identity, &record.version).await?
                && let Some(found) = self.look(&path(&served, identity)).await?
            {
                seen.insert(identity.clone(), Live::read(&found, preview::lens()));
            }
        }
        let plan = plan::plan(&Question {
            stamp: &self.release.stamp,
            owner: &self.release.uid,
            desired,
            records,
            look: |identity: &Identity| seen.get(identity).map_or(Sight::Absent, Sight::Present),
            may_remove_anything: self.release.may_remove_anything,
        });
        let leaving = plan
            .removals
            .iter()
            .filter(|removal| removal.how == Leave::Delete);
        let leaving = leaving.map(|removal| &records[removal.index].identity);
        let leaving = leaving.filter(|identity| seen.contains_key(identity));
        Ok(leaving
            .map(|identity| Finding {
                object: identity.to_string(),
                deed: match &plan.blocked {
                    None => Deed::Delete,
                    Some(why) => Deed::Keep(format!(
                        "would stay until {} allows it: {why}",
                        annotations::ALLOW_PRUNE
                    )),
                },
            })
            .collect())
    }
}

fn path(served: &Served, identity: &Identity) -> String {
    let namespace = served.namespaced.then_some(&*identity.namespace);
    format!(
        "{}/{}",
        url_path(&served.resource, namespace),
        identity.name
    )
}

/// The marks of a release change with everything, and say nothing.
fn without_marks(findings: Vec<Finding>) -> Vec<Deed> {
    let marks = [
        format!("metadata.annotations[{}]", annotations::APPLIED_DIGEST),
        format!("metadata.labels[{}]", tracking::RELEASE_UID),
    ];
    findings
        .into_iter()
        .filter(|finding| !marks.iter().any(|mark| finding.is_about(mark)))
        .map(|finding| finding.deed)
        .collect()
}
