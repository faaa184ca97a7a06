//! The controllers are killed before every single call while a component is deployed, promoted, asked for in production
//! and approved there, and start anew: it comes to the same end, no release is deployed twice, and a watch over
//! everything sees at no moment something in production that nobody agreed to.

use quadrille_testkit::{
    eventually,
    wire::{Fault, Matcher, Wire},
};
use quadrille_types::{
    ReleaseBinding,
    conditions::{ConditionType, find},
};
use serde_json::json;

use crate::{
    every::{Choice, Told, for_every_call, is_for_the_embedded_alone},
    guard::{Guard, faults},
    shop::Shop,
};

#[derive(Clone, Copy, Debug)]
enum Story {
    Deploy,
    Promote,
    /// Another release than the one that runs is promoted, and asked for where somebody has to agree.
    Ask,
    Approve,
}

impl Story {
    fn place(self) -> &'static str {
        match self {
            Self::Deploy => "dev",
            Self::Promote => "staging",
            Self::Ask | Self::Approve => "prod",
        }
    }

    /// How many releases of the component there are at the end, how many ran at the place, and what runs there.
    fn end(self) -> (usize, usize, &'static str) {
        match self {
            Self::Deploy | Self::Promote => (1, 1, "cart:1"),
            Self::Ask => (2, 1, "cart:1"),
            Self::Approve => (2, 2, "cart:2"),
        }
    }

    /// What is there before.
    async fn before(self, shop: &Shop) {
        if matches!(self, Self::Deploy) {
            return;
        }
        offer(shop, "cart:1").await;
        shop.until_ready("cart", "dev").await;
        if matches!(self, Self::Promote) {
            return;
        }
        let first = shop.latest("cart").await;
        shop.bind("cart", "shop", "staging", &first).await;
        shop.until_ready("cart", "staging").await;
        shop.approve("cart", "prod", &first, json!({})).await;
        shop.bind("cart", "shop", "prod", &first).await;
        shop.until_ready("cart", "prod").await;
        offer(shop, "cart:2").await;
        let second = shop.until_another("cart", "dev", &first).await;
        if matches!(self, Self::Approve) {
            ask(shop).await;
            shop.until_another("cart", "staging", &first).await;
            shop.until_asked("cart").await;
            assert_ne!(first, second);
        }
    }

    async fn tell(self, shop: &Shop) {
        match self {
            Self::Deploy => offer(shop, "cart:1").await,
            Self::Promote => {
                let release = shop.latest("cart").await;
                shop.bind("cart", "shop", "staging", &release).await;
            }
            Self::Ask => ask(shop).await,
            Self::Approve => {
                let release = shop.latest("cart").await;
                shop.approve("cart", "prod", &release, json!({})).await;
            }
        }
    }

    async fn is_over(self, shop: &Shop) -> Result<(), String> {
        if matches!(self, Self::Ask) {
            let staging = shop.binding("cart", "staging").await;
            let runs = staging.status.and_then(|status| status.current_release);
            if runs != staging.spec.release_name {
                return Err(format!("staging runs {runs:?}"));
            }
        }
        let name = format!("cart-{}", self.place());
        let found = shop.api::<ReleaseBinding>().get_opt(&name).await.unwrap();
        let is_over = found.as_ref().is_some_and(|binding| {
            let status = binding.status.clone().unwrap_or_default();
            let ready = find(&status.conditions, ConditionType::Ready);
            ready.is_some_and(|ready| {
                let is_of_this = ready.observed_generation == binding.metadata.generation;
                is_of_this
                    && match self {
                        Self::Ask => ready.reason == "ApprovalRequired",
                        _ => ready.status == "True",
                    }
            })
        });
        if is_over {
            Ok(())
        } else {
            Err(serde_json::to_string_pretty(&found).unwrap())
        }
    }
}

/// The newest release is promoted, and asked for in production.
async fn ask(shop: &Shop) {
    let release = shop.latest("cart").await;
    shop.bind("cart", "shop", "staging", &release).await;
    shop.bind("cart", "shop", "prod", &release).await;
}

/// A component that others can reach.
async fn offer(shop: &Shop, image: &str) {
    let workload = json!({
        "container": { "image": image },
        "endpoints": { "api": { "type": "HTTP", "port": 80 } },
    });
    shop.component_with("cart", "shop", workload, json!({}))
        .await;
}

async fn killed(story: Story, call: Matcher) -> Told {
    let mut shop = Shop::open().await;
    let guard = Guard::over(&shop).await;
    story.before(&shop).await;
    shop.stage.wire.forget();
    let death = shop.stage.wire.inject(call, Fault::Die);
    story.tell(&shop).await;
    eventually("it is over, or the controllers are dead", async || {
        let is_done = death.hits() > 0 || story.is_over(&shop).await.is_ok();
        is_done.then_some(()).ok_or("neither")
    })
    .await;
    let told = Told::new(&death, &shop.stage.wire);
    shop.stage.kill();
    shop.stage.wire = Wire::default();
    let org = shop.org.clone();
    shop.stage.run(&[&org]);
    eventually("it is over", async || story.is_over(&shop).await).await;
    let place = story.place();
    let (releases, ran, image) = story.end();
    shop.until_data("cart", place, "image", image).await;
    let snapshots = shop.snapshots("cart").await;
    assert_eq!(snapshots.len(), releases, "{snapshots:?}");
    let status = shop.binding("cart", place).await.status.unwrap();
    assert_eq!(status.history.len(), ran, "each was deployed once");
    assert_eq!(status.endpoints.len(), 1, "where it is reached is told");
    let seen = guard.relieve().await;
    let faults = faults(&seen, &shop.cell("shop", "prod"));
    assert!(faults.is_empty(), "{story:?}: {faults:#?}");
    told
}

async fn everywhere(story: Story) {
    if is_for_the_embedded_alone() {
        return;
    }
    let calls = for_every_call("chain", Choice::ALL, |call| killed(story, call)).await;
    println!("{story:?}: {calls} calls");
}

#[tokio::test]
async fn a_component_is_deployed_after_a_kill_at_every_call() {
    everywhere(Story::Deploy).await;
}

#[tokio::test]
async fn a_release_is_promoted_after_a_kill_at_every_call() {
    everywhere(Story::Promote).await;
}

#[tokio::test]
async fn a_release_that_is_asked_for_waits_after_a_kill_at_every_call() {
    everywhere(Story::Ask).await;
}

#[tokio::test]
async fn a_release_is_approved_after_a_kill_at_every_call() {
    everywhere(Story::Approve).await;
}
