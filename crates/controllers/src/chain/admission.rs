//! Which release may run in an environment: the order of the pipeline, and whether somebody agreed.

use jiff::Timestamp;
use quadrille_types::{
    Approval,
    approval::Decision,
    conditions::{Holds, Reason},
    deployment_pipeline::{Promotion, Resolved as Pipeline},
    names::EnvironmentName,
    release_binding::Ran,
};
use std::sync::Arc;

use super::inputs::Guarded;

/// What admission goes by.
pub(crate) struct Asked<'a> {
    /// The environment.
    pub(crate) environment: &'a EnvironmentName,
    /// The release that is asked for.
    pub(crate) release: &'a str,
    /// Which one of that name it is; nothing where its name says what it holds.
    pub(crate) which: Option<Which<'a>>,
    /// How the pipelines of the namespace guard the environment.
    pub(crate) guarded: Option<Guarded>,
    /// Who asked, if they said so.
    pub(crate) requested_by: Option<&'a str>,
    /// The component, for people.
    pub(crate) component: &'a str,
    /// The pipeline, or why there is none.
    pub(crate) pipeline: &'a Result<Pipeline, String>,
    /// What ran of the component when, in this environment and others.
    pub(crate) ran: &'a [(&'a EnvironmentName, &'a [Ran])],
    /// What was said about the component in this environment.
    pub(crate) approvals: &'a [Arc<Approval>],
    /// Now.
    pub(crate) now: Timestamp,
}

/// One release of several that had the same name.
#[derive(Clone, Copy)]
pub(crate) struct Which<'a> {
    pub(crate) uid: &'a str,
    /// Since when it is there.
    pub(crate) made: Option<Timestamp>,
}

/// Whether a release may run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Whether it may.
    pub(crate) is_admitted: bool,
    /// Why, for machines.
    pub(crate) reason: Reason,
    /// Why, for people.
    pub(crate) words: String,
    /// Who agreed, where somebody had to.
    pub(crate) approved_by: Option<String>,
    /// Until when that holds without an event: then a word that counts ends.
    pub(crate) until: Option<Timestamp>,
}

impl Verdict {
    fn yes(reason: Reason, words: impl Into<String>) -> Self {
        Self {
            is_admitted: true,
            reason,
            words: words.into(),
            approved_by: None,
            until: None,
        }
    }

    fn no(reason: Reason, words: impl Into<String>) -> Self {
        Self {
            is_admitted: false,
            ..Self::yes(reason, words)
        }
    }

    /// As a condition has it.
    pub(crate) fn holds(&self) -> Holds {
        self.is_admitted.into()
    }
}

/// Judges a release that does not run yet.
pub(crate) fn judge(asked: &Asked<'_>) -> Verdict {
    let pipeline = match asked.pipeline {
        Ok(pipeline) => pipeline,
        Err(why) => {
            let words = format!("whether it may run here cannot be told: {why}");
            return Verdict::no(Reason::DeploymentPipelineNotFound, words);
        }
    };
    let order = order(asked, pipeline);
    if !order.is_admitted {
        return order;
    }
    let is_known = pipeline.environments().contains(&asked.environment);
    let steps: Vec<&Promotion> = pipeline.into(asked.environment).collect();
    let own = steps
        .iter()
        .any(|step| step.needs_approval)
        .then(|| Guarded {
            needs_other: steps.iter().any(|step| step.needs_other_approver),
        });
    // What another pipeline guards is not entered by one that does not know it.
    let Some(Guarded { needs_other }) = own.or(asked.guarded.filter(|_| !is_known)) else {
        return order;
    };
    let approval = approval(asked, needs_other);
    if approval.is_admitted && order.reason == Reason::PromotionOutOfOrder {
        let words = format!("{}; {}", approval.words, order.words);
        return Verdict { words, ..approval };
    }
    approval
}

/// Whether the steps before were taken.
fn order(asked: &Asked<'_>, pipeline: &Pipeline) -> Verdict {
    let (release, environment) = (asked.release, asked.environment);
    let is_known = pipeline.environments().contains(&environment);
    let sources: Vec<&EnvironmentName> =
        pipeline.into(environment).map(|step| &step.from).collect();
    if is_known && sources.is_empty() {
        let words = format!("{environment} is where the pipeline begins");
        return Verdict::yes(Reason::FirstEnvironment, words);
    }
    let was_ready_in = |place: &EnvironmentName| {
        let there = asked
            .ran
            .iter()
            .filter(|(environment, _)| *environment == place);
        there
            .flat_map(|(_, history)| *history)
            .filter(|ran| ran.release_name == release)
            .filter_map(|ran| ran.ready_at.as_ref())
            // What had the name before says nothing about this one.
            .any(|ready| asked.which.is_none_or(|which| Some(ready.0) >= which.made))
    };
    if let Some(source) = sources.iter().find(|source| was_ready_in(source)) {
        let words = format!("{release} has been ready in {source}");
        return Verdict::yes(Reason::PromotionInOrder, words);
    }
    // What ran here before took its steps then.
    if was_ready_in(environment) {
        let words = format!("{release} has been ready here before");
        return Verdict::yes(Reason::PromotionInOrder, words);
    }
    let missing = if is_known {
        let names: Vec<&str> = sources.iter().map(|name| name.as_str()).collect();
        format!("{release} has not been ready in {}", names.join(" or "))
    } else {
        format!("{environment} is not part of the project's pipeline")
    };
    if !pipeline.is_strict() {
        return Verdict::yes(
            Reason::PromotionOutOfOrder,
            format!("{missing}; the pipeline only advises, so it runs"),
        );
    }
    let remedy = match sources.first() {
        Some(source) => format!(
            "deploy it there first: quad promote {} --to {source}",
            asked.component
        ),
        None => {
            "add it to the pipeline's promotionPaths, or deploy to another environment".to_owned()
        }
    };
    Verdict::no(
        Reason::PromotionOutOfOrder,
        format!("{missing}, and the pipeline is strict: {remedy}"),
    )
}

/// Whether somebody agreed to exactly this release in exactly this environment. A word against it counts until somebody
/// agrees later; of two at the same moment, the one against.
fn approval(asked: &Asked<'_>, needs_other: bool) -> Verdict {
    let (release, environment, component) = (asked.release, asked.environment, asked.component);
    let valid = asked.approvals.iter().filter(|one| {
        one.spec.release_name == release
            && one.metadata.deletion_timestamp.is_none()
            && one.spec.counts_at(asked.now)
            // Nobody agreed to what was put in its place after that.
            && asked.which.is_none_or(|which| one.spec.release_uid.as_deref() == Some(which.uid))
    });
    let made = |one: &Approval| one.metadata.creation_timestamp.as_ref().map(|time| time.0);
    let (against, agreed): (Vec<_>, Vec<_>) =
        valid.partition(|one| one.spec.decision() == Decision::Reject);
    let against = against.into_iter().max_by_key(|one| made(one));
    let mut agreed: Vec<_> = agreed
        .into_iter()
        .filter(|one| against.is_none_or(|against| made(one) > made(against)))
        .collect();
    agreed.sort_by_key(|one| made(one));
    if let Some(against) = against.filter(|_| agreed.is_empty()) {
        let words = format!(
            "{} refused {release} in {environment}{}",
            against.spec.by,
            comment(against)
        );
        return Verdict {
            until: against.spec.expires_at.as_ref().map(|end| end.0),
            ..Verdict::no(Reason::ApprovalRejected, words)
        };
    }
    let next = format!("quad approve {component} --env {environment}");
    let Some(first) = agreed.first() else {
        let words = format!("{release} waits until somebody agrees to it in {environment}: {next}");
        return Verdict::no(Reason::ApprovalRequired, words);
    };
    let mut counts = *first;
    if needs_other {
        let Some(requester) = asked.requested_by else {
            let words = format!(
                "whoever agrees must not be who asked, and who asked for {release} was not said: quad promote {component} \
                 --to {environment}, or set the annotation {} on the binding",
                quadrille_types::annotations::REQUESTED_BY
            );
            return Verdict::no(Reason::ApprovalRequired, words);
        };
        match agreed.iter().find(|one| one.spec.by != requester) {
            Some(other) => counts = *other,
            None => {
                let words = format!(
                    "{requester} asked for {release} and agreed to it: somebody else has to agree: {next}"
                );
                return Verdict::no(Reason::ApprovalRequired, words);
            }
        }
    }
    let by = &counts.spec.by;
    Verdict {
        approved_by: Some(by.clone()),
        ..Verdict::yes(
            Reason::Approved,
            format!(
                "{by} agreed to {release} in {environment}{}",
                comment(counts)
            ),
        )
    }
}

fn comment(word: &Approval) -> String {
    let comment = word.spec.comment.as_deref();
    comment.map(|text| format!(" ({text})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pipeline(fields: &Value) -> Result<Pipeline, String> {
        let mut spec = json!({ "promotionPaths": [
            { "sourceEnvironmentRef": "dev", "targetEnvironmentRefs": [{ "name": "staging" }] },
            { "sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [
                { "name": "prod", "requiresApproval": true }] },
        ]});
        let more = fields.as_object().cloned().unwrap_or_default();
        spec.as_object_mut().unwrap().extend(more);
        let spec: quadrille_types::DeploymentPipelineSpec = serde_json::from_value(spec).unwrap();
        spec.resolve().map_err(|problem| problem.to_string())
    }

    fn ran(environment: &str, release: &str, is_ready: bool) -> (EnvironmentName, Vec<Ran>) {
        let ready_at = is_ready.then_some("2026-01-01T00:00:00Z");
        let ran = json!([{ "releaseName": release, "readyAt": ready_at }]);
        (environment.into(), serde_json::from_value(ran).unwrap())
    }

    fn borrowed(ran: &[(EnvironmentName, Vec<Ran>)]) -> Vec<(&EnvironmentName, &[Ran])> {
        let each = ran.iter();
        each.map(|(place, history)| (place, history.as_slice()))
            .collect()
    }

    fn word(release: &str, decision: &str, by: &str, at: u8, more: &Value) -> Arc<Approval> {
        let mut spec = json!({
            "owner": { "projectName": "p", "componentName": "c" },
            "environment": "prod", "releaseName": release, "decision": decision, "by": by,
        });
        let more = more.as_object().cloned().unwrap_or_default();
        spec.as_object_mut().unwrap().extend(more);
        Arc::new(
            serde_json::from_value(json!({
                "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Approval",
                "metadata": {
                    "name": format!("a{at}"), "creationTimestamp": format!("2026-01-01T00:00:{at:02}Z"),
                },
                "spec": spec,
            }))
            .unwrap(),
        )
    }

    fn judged(
        environment: &str,
        pipeline: &Result<Pipeline, String>,
        ran: &[(EnvironmentName, Vec<Ran>)],
        approvals: &[Arc<Approval>],
        requested_by: Option<&str>,
    ) -> (bool, Reason) {
        let verdict = judge(&Asked {
            environment: &environment.into(),
            release: "r1",
            which: None,
            guarded: None,
            requested_by,
            component: "c",
            pipeline,
            ran: &borrowed(ran),
            approvals,
            now: "2026-02-01T00:00:00Z".parse().unwrap(),
        });
        (verdict.is_admitted, verdict.reason)
    }

    #[test]
    fn what_was_put_in_the_place_of_a_release_was_never_ready_and_nobody_agreed_to_it() {
        let strict = pipeline(&json!({ "enforcement": "Strict" }));
        let advised = pipeline(&json!({}));
        let ready = [ran("staging", "r1", true)];
        let yes = [
            word(
                "r1",
                "Approve",
                "anna",
                1,
                &json!({ "releaseUid": "first" }),
            ),
            word("r1", "Approve", "bob", 2, &json!({})),
        ];
        let judged = |uid: &str, made: &str, pipeline: &Result<Pipeline, String>| {
            let made = Some(made.parse().unwrap());
            let verdict = judge(&Asked {
                environment: &"prod".into(),
                release: "r1",
                which: Some(Which { uid, made }),
                guarded: None,
                requested_by: None,
                component: "c",
                pipeline,
                ran: &borrowed(&ready),
                approvals: &yes,
                now: "2026-02-01T00:00:00Z".parse().unwrap(),
            });
            (verdict.reason, verdict.approved_by)
        };
        let (before, after) = ("2025-12-31T00:00:00Z", "2026-01-01T00:00:02Z");
        let agreed = (Reason::Approved, Some("anna".to_owned()));
        assert_eq!(judged("first", before, &strict), agreed);
        let required = (Reason::ApprovalRequired, None);
        assert_eq!(judged("second", before, &strict), required);
        assert_eq!(judged("second", after, &advised), required);
        let (reason, _) = judged("second", after, &strict);
        assert_eq!(reason, Reason::PromotionOutOfOrder);
    }

    #[test]
    fn what_another_pipeline_guards_is_guarded_for_those_who_are_not_promoted_there() {
        let short = pipeline(&json!({ "promotionPaths": [
            { "sourceEnvironmentRef": "dev", "targetEnvironmentRefs": [] }] }));
        let open = pipeline(&json!({ "promotionPaths": [
            { "sourceEnvironmentRef": "dev", "targetEnvironmentRefs": [{ "name": "prod" }] }] }));
        let judged = |pipeline: &Result<Pipeline, String>, guarded: Option<Guarded>| {
            let verdict = judge(&Asked {
                environment: &"prod".into(),
                release: "r1",
                which: None,
                guarded,
                requested_by: None,
                component: "c",
                pipeline,
                ran: &[],
                approvals: &[],
                now: "2026-02-01T00:00:00Z".parse().unwrap(),
            });
            verdict.reason
        };
        let guarded = Some(Guarded::default());
        assert_eq!(judged(&short, None), Reason::PromotionOutOfOrder);
        assert_eq!(judged(&short, guarded), Reason::ApprovalRequired);
        // Its own pipeline knows better.
        assert_eq!(judged(&open, guarded), Reason::PromotionOutOfOrder);
    }

    #[test]
    fn a_release_takes_the_steps_of_the_pipeline_or_is_told_to() {
        let advised = pipeline(&json!({}));
        let strict = pipeline(&json!({ "enforcement": "Strict" }));
        let never = [ran("dev", "r1", false)];
        let ready = [ran("dev", "r1", true)];
        let other = [ran("dev", "r2", true)];
        let cases = [
            ("dev", &strict, &never[..], (true, Reason::FirstEnvironment)),
            ("staging", &strict, &ready, (true, Reason::PromotionInOrder)),
            (
                "staging",
                &strict,
                &never,
                (false, Reason::PromotionOutOfOrder),
            ),
            (
                "staging",
                &strict,
                &other,
                (false, Reason::PromotionOutOfOrder),
            ),
            (
                "staging",
                &advised,
                &never,
                (true, Reason::PromotionOutOfOrder),
            ),
            (
                "elsewhere",
                &strict,
                &ready,
                (false, Reason::PromotionOutOfOrder),
            ),
            (
                "elsewhere",
                &advised,
                &ready,
                (true, Reason::PromotionOutOfOrder),
            ),
        ];
        for (environment, pipeline, bindings, expected) in cases {
            assert_eq!(
                judged(environment, pipeline, bindings, &[], None),
                expected,
                "{environment}"
            );
        }
    }

    #[test]
    fn nobody_can_tell_without_a_pipeline() {
        let none = Err("there is no DeploymentPipeline".to_owned());
        assert_eq!(
            judged("dev", &none, &[], &[], None),
            (false, Reason::DeploymentPipelineNotFound)
        );
    }

    #[test]
    fn what_needs_a_word_waits_for_one_about_exactly_this_release() {
        let advised = pipeline(&json!({}));
        let ready = [ran("staging", "r1", true)];
        let no = &json!({});
        let judged =
            |approvals: &[Arc<Approval>]| judged("prod", &advised, &ready, approvals, None);
        let required = (false, Reason::ApprovalRequired);
        assert_eq!(judged(&[]), required);
        assert_eq!(judged(&[word("r2", "Approve", "anna", 1, no)]), required);
        assert_eq!(
            judged(&[word("r1", "Approve", "anna", 1, no)]),
            (true, Reason::Approved)
        );
        let ended = json!({ "expiresAt": "2026-01-15T00:00:00Z" });
        assert_eq!(
            judged(&[word("r1", "Approve", "anna", 1, &ended)]),
            required
        );
        // The last word counts.
        let yes = word("r1", "Approve", "anna", 1, no);
        let against = word("r1", "Reject", "bob", 2, no);
        assert_eq!(
            judged(&[against.clone(), yes]),
            (false, Reason::ApprovalRejected)
        );
        let later = word("r1", "Approve", "anna", 3, no);
        assert_eq!(judged(&[against, later]), (true, Reason::Approved));
    }

    #[test]
    fn who_agrees_may_have_to_be_somebody_else_than_who_asked() {
        let strict = pipeline(&json!({ "promotionPaths": [
            { "sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [
                { "name": "prod", "requiresOtherApprover": true }] },
        ]}));
        let ready = [ran("staging", "r1", true)];
        let yes = [word("r1", "Approve", "anna", 1, &json!({}))];
        let required = (false, Reason::ApprovalRequired);
        for (asker, expected) in [
            (None, required),
            (Some("anna"), required),
            (Some("bob"), (true, Reason::Approved)),
        ] {
            assert_eq!(judged("prod", &strict, &ready, &yes, asker), expected);
        }
    }
}
