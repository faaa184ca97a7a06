//! One run of a story, from its beginning to the judge's ruling.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, Patch, PatchParams};
use quadrille_testkit::{
    ClusterKind, eventually,
    wire::{Call, Injected, Wire},
};
use quadrille_types::{
    Release,
    conditions::{ConditionType, is_true},
};
use serde_json::{Value, json};

use crate::{
    controllers::Controllers,
    judge::{Judge, Place},
    platform::{Platform, config},
    stories::{Objects, Story},
};

/// The release of every story.
pub(crate) const NAME: &str = "cart";

/// A run of a story.
pub(crate) struct Run {
    pub(crate) platform: Platform,
    judge: Judge,
    story: Story,
    /// What the story asks for.
    told: Option<Objects>,
    /// What is asked for in the end: the same, unless somebody changes their mind.
    after: Option<Objects>,
}

impl Run {
    /// Everything is as it was before the story; no controllers run.
    pub(crate) async fn cold(story: Story) -> Self {
        let run = Self::begin(story).await;
        match story.before() {
            None => run,
            Some(_) => {
                let controllers = Controllers::start(&run.platform, Wire::default());
                let run = run.settled_before().await;
                controllers.kill().await;
                run
            }
        }
    }

    /// The same with controllers that run and have nothing to do.
    pub(crate) async fn warm(story: Story) -> (Self, Controllers) {
        let run = Self::begin(story).await;
        let controllers = Controllers::start(&run.platform, Wire::default());
        let run = run.settled_before().await;
        run.canary().await;
        (run, controllers)
    }

    async fn begin(story: Story) -> Self {
        let platform = Platform::at_rest().await;
        let judge = Judge::start(&platform).await;
        let after = story.after(&judge.namespaces[1]);
        Self {
            platform,
            judge,
            story,
            told: after.clone(),
            after,
        }
    }

    async fn settled_before(mut self) -> Self {
        if let Some(objects) = self.story.before() {
            let release = self.platform.release(NAME, &objects).await;
            self.judge.copy_labels(&release).await;
            let asked = self.judge.places(&objects);
            self.until_settled(Some(&asked)).await;
        }
        self
    }

    /// The story begins: somebody writes the release, or deletes it.
    pub(crate) async fn tell(&mut self) {
        match &self.after {
            None => self.platform.delete(NAME).await,
            Some(objects) => {
                let release = self.platform.release(NAME, objects).await;
                if self.story == Story::Create {
                    self.judge.copy_labels(&release).await;
                }
            }
        }
    }

    /// Something else is asked for meanwhile, if the release is not to go.
    pub(crate) async fn change_again(&mut self) {
        if let Some(objects) = &mut self.after {
            let first = objects.iter_mut().find(|(id, _)| *id == "first");
            first.unwrap().1["data"]["value"] = "3".into();
            self.platform.release(NAME, objects).await;
        }
    }

    /// Somebody changes their mind: all shall be as it was before.
    pub(crate) async fn take_back(&mut self) {
        self.after = self.story.before();
        match &self.after {
            None => self.platform.delete(NAME).await,
            Some(objects) => {
                self.platform.release(NAME, objects).await;
            }
        }
    }

    /// Somebody touches the release, which changes nothing.
    pub(crate) async fn touch(&self) {
        let api = self.platform.cluster.api::<Release>();
        let touch = Patch::Merge(json!({ "metadata": { "annotations": { "touched": "yes" } } }));
        // It may be gone already.
        let _ = api.patch(NAME, &PatchParams::default(), &touch).await;
    }

    /// Waits until a fault has struck, or the story is over without it.
    pub(crate) async fn until_struck(&self, fault: &Injected) {
        let after = self.asked_after();
        eventually("the fault strikes or the story is over", async || {
            if fault.hits() > 0 {
                return Ok(());
            }
            self.is_settled(after.as_ref()).await
        })
        .await;
    }

    fn asked_after(&self) -> Option<BTreeMap<Place, Value>> {
        self.after
            .as_ref()
            .map(|objects| self.judge.places(objects))
    }

    /// Waits until the story is over.
    pub(crate) async fn until_over(&self) {
        self.until_settled(self.asked_after().as_ref()).await;
    }

    async fn until_settled(&self, asked: Option<&BTreeMap<Place, Value>>) {
        let what = format!("{:?} has come to its end", self.story);
        eventually(&what, async || self.is_settled(asked).await).await;
    }

    /// Whether the plane is as the release asks, and the release says so.
    async fn is_settled(&self, asked: Option<&BTreeMap<Place, Value>>) -> Result<(), String> {
        let api = self.platform.cluster.api::<Release>();
        let release = api.get_opt(NAME).await.map_err(|error| error.to_string())?;
        match (asked, release) {
            (None, Some(release)) => Err(serde_json::to_string(&release.status).unwrap()),
            (Some(_), None) => Err("there is no release".to_owned()),
            (None, None) => {
                let found = self.judge.everything().await;
                self.judge.is_as_asked(&found, &BTreeMap::new())
            }
            (Some(asked), Some(release)) => {
                let status = release.status.unwrap_or_default();
                let says = || serde_json::to_string(&status).unwrap();
                let conditions = &status.conditions;
                // Nothing runs on the embedded cluster, so nothing gets ready.
                let is_done = is_true(conditions, ConditionType::ResourcesApplied)
                    && (self.judge.cluster == ClusterKind::Embedded
                        || is_true(conditions, ConditionType::Ready));
                if !is_done || status.observed_generation != release.metadata.generation {
                    return Err(says());
                }
                let found = self.judge.everything().await;
                self.judge
                    .is_as_asked(&found, asked)
                    .and_then(|()| self.judge.is_written_down(&status, &found))
                    .map_err(|why| format!("{why}; the release says {}", says()))
            }
        }
    }

    /// The judge rules over all that happened, while controllers still run.
    pub(crate) async fn ruling(self, controllers: &Controllers) {
        self.until_over().await;
        self.until_at_rest(controllers).await;
        let found = self.judge.everything().await;
        self.judge.foreign_is_untouched(&found);
        let before = self.story.before().unwrap_or_default();
        let history = self.judge.history().await;
        let places = |objects: &Option<Objects>| {
            let objects = objects.as_ref().map(|objects| self.judge.places(objects));
            objects.unwrap_or_default()
        };
        let asked = [
            self.judge.places(&before),
            places(&self.told),
            places(&self.after),
        ];
        self.judge.order_was_kept(&history, &asked);
        self.until_over().await;
        self.make_room().await;
    }

    /// Waits until nothing is written about the release while another one comes and goes. How its objects are doing
    /// may be told once more, when a watch that broke has been opened again, and its environment may note that it is
    /// used; nothing else may, and not for ever.
    async fn until_at_rest(&self, controllers: &Controllers) {
        const ROUNDS: usize = 10;
        for round in 1..=ROUNDS {
            controllers.wire.forget();
            self.canary().await;
            let calls = controllers.wire.calls();
            let late: Vec<_> = calls.iter().filter(|call| is_about_us(call)).collect();
            if late.is_empty() {
                return;
            }
            let told = ["releases/status", "environments/status"];
            let only_told = late
                .iter()
                .all(|call| told.contains(&call.resource.as_str()));
            assert!(
                only_told && round < ROUNDS,
                "it does not come to rest: {late:#?}"
            );
        }
    }

    /// Ends what runs on a cluster that others use too.
    async fn make_room(&self) {
        if self.judge.cluster == ClusterKind::Real {
            let namespaces = self.platform.cluster.all::<Namespace>();
            for name in &self.judge.namespaces {
                // The other one is there in some stories only.
                let _ = namespaces.delete(name, &DeleteParams::default()).await;
            }
        }
    }

    /// Another release comes and goes: then the controllers have gone around.
    async fn canary(&self) {
        let platform = &self.platform;
        platform
            .release("canary", &[("a", config("canary", "1"))])
            .await;
        platform.applied("canary").await;
        platform.delete("canary").await;
        platform.gone("canary").await;
    }
}

/// Whether something is written about the release of the story.
fn is_about_us(call: &Call) -> bool {
    let is_canary = call
        .name
        .as_deref()
        .is_some_and(|name| name.contains("canary"));
    // The canary wants a namespace too; and what a plane says of itself is not about the release.
    let aside = [
        "events",
        "leases",
        "namespaces",
        "dataplanes",
        "dataplanes/status",
    ];
    call.verb.writes() && !aside.contains(&&*call.resource) && !is_canary
}
