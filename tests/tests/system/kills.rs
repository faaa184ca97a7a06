//! The controllers are killed before every single call while something is deployed, changed and deleted, and start anew:
//! it comes to the same end, and what is released is released once.

use quadrille_testkit::{
    eventually,
    wire::{Fault, Matcher, Wire},
};
use quadrille_types::{Deployment, Endpoint, Release, Service, ServiceBinding};
use serde_json::json;

use crate::{
    every::{Choice, Told, for_every_call, is_for_the_embedded_alone},
    orchard::{Orchard, Ours, endpoint_of, endpoint_release, image, offering, on_plane, said},
};

#[derive(Clone, Copy, Debug)]
enum Story {
    /// A Deployment comes, with its endpoint.
    Deploy,
    /// Another artifact is deployed.
    Change,
    /// It goes.
    Delete,
    /// An instance comes, is bound and released.
    Bind,
}

async fn is_ready<K: Ours>(orchard: &Orchard, name: &str) -> Result<(), String> {
    let object = orchard.get::<K>(name).await.unwrap_or_default();
    let ready = said(&object, quadrille_types::conditions::ConditionType::Ready);
    let holds = ready["status"] == "True"
        && ready["observedGeneration"] == object["metadata"]["generation"];
    if holds {
        Ok(())
    } else {
        Err(format!("{name}: {:#}", object["status"]))
    }
}

impl Story {
    async fn before(self, orchard: &Orchard) {
        match self {
            Self::Bind => {}
            Self::Deploy => {
                orchard.component("cart", "shop", "Service").await;
                let artifact = image("registry.test/cart:1", offering());
                orchard.artifact("cart-1", "cart", "shop", artifact).await;
            }
            Self::Change | Self::Delete => {
                orchard.service("cart", "shop").await;
                let artifact = image("registry.test/cart:2", offering());
                orchard.artifact("cart-2", "cart", "shop", artifact).await;
                orchard.until_ready::<Deployment>("cart-dev").await;
                let endpoint = endpoint_of("cart-dev", "api");
                orchard.until_ready::<Endpoint>(&endpoint).await;
            }
        }
    }

    async fn tell(self, orchard: &Orchard) {
        match self {
            Self::Deploy => orchard.deploy("cart", "shop", "dev", "cart-1").await,
            Self::Change => orchard.deploy("cart", "shop", "dev", "cart-2").await,
            Self::Delete => orchard.delete::<Deployment>("cart-dev").await,
            Self::Bind => orchard.instance::<Service>("cart", "shop", json!({})).await,
        }
    }

    async fn is_over(self, orchard: &Orchard) -> Result<(), String> {
        match self {
            Self::Deploy | Self::Change => {
                is_ready::<Deployment>(orchard, "cart-dev").await?;
                is_ready::<Endpoint>(orchard, &endpoint_of("cart-dev", "api")).await
            }
            Self::Bind => {
                is_ready::<ServiceBinding>(orchard, "cart").await?;
                is_ready::<Service>(orchard, "cart").await
            }
            Self::Delete => {
                let mut left = orchard.names::<Deployment>().await;
                left.extend(orchard.names::<Endpoint>().await);
                left.extend(orchard.names::<Release>().await);
                let objects = orchard.plane_objects().await;
                left.extend(
                    objects
                        .into_keys()
                        .map(|(kind, name)| format!("{kind} {name}")),
                );
                if left.is_empty() {
                    Ok(())
                } else {
                    Err(format!("{left:?}"))
                }
            }
        }
    }

    /// Each Release, with how often it was asked for something else.
    fn written(self) -> Vec<(String, i64)> {
        let cell = quadrille_render::cell::release_name("shop", "dev");
        let endpoint = endpoint_release("cart-dev", "api");
        let mut written = match self {
            Self::Deploy => vec![
                ("deployment-cart-dev".to_owned(), 1),
                (endpoint, 1),
                (cell, 1),
            ],
            Self::Change => vec![
                ("deployment-cart-dev".to_owned(), 2),
                (endpoint, 1),
                (cell, 1),
            ],
            Self::Bind => vec![("cart".to_owned(), 1), (cell, 1)],
            Self::Delete => Vec::new(),
        };
        written.sort();
        written
    }
}

async fn killed(story: Story, call: Matcher) -> Told {
    let mut orchard = Orchard::open().await;
    story.before(&orchard).await;
    let uid = match story {
        Story::Change => {
            let before = orchard.placed("Deployment", &on_plane("cart")).await;
            Some(before.unwrap()["metadata"]["uid"].clone())
        }
        _ => None,
    };
    orchard.stage.wire.forget();
    let death = orchard.stage.wire.inject(call, Fault::Die);
    story.tell(&orchard).await;
    eventually("it is over, or the controllers are dead", async || {
        let is_done = death.hits() > 0 || story.is_over(&orchard).await.is_ok();
        is_done.then_some(()).ok_or("neither")
    })
    .await;
    let told = Told::new(&death, &orchard.stage.wire);
    orchard.stage.kill();
    orchard.stage.wire = Wire::default();
    let org = orchard.org.clone();
    orchard.stage.run(&[&org]);
    eventually("it is over", async || story.is_over(&orchard).await).await;
    let written = orchard.releases().await.into_iter();
    let written: Vec<(String, i64)> = written.map(|(name, (often, _))| (name, often)).collect();
    assert_eq!(written, story.written(), "{story:?}");
    if let Some(uid) = uid {
        let after = orchard
            .placed("Deployment", &on_plane("cart"))
            .await
            .unwrap();
        assert_eq!(after["metadata"]["uid"], uid, "it was made a second time");
        let image = &after["spec"]["template"]["spec"]["containers"][0]["image"];
        assert_eq!(image, "registry.test/cart:2");
    }
    told
}

async fn everywhere(story: Story) {
    if is_for_the_embedded_alone() {
        return;
    }
    let calls = for_every_call("the deployment system", Choice::ALL, |call| {
        killed(story, call)
    })
    .await;
    println!("{story:?}: {calls} calls");
}

#[tokio::test]
async fn a_deployment_is_deployed_after_a_kill_at_every_call() {
    everywhere(Story::Deploy).await;
}

#[tokio::test]
async fn a_deployment_is_changed_after_a_kill_at_every_call() {
    everywhere(Story::Change).await;
}

#[tokio::test]
async fn a_deployment_is_deleted_after_a_kill_at_every_call() {
    everywhere(Story::Delete).await;
}

#[tokio::test]
async fn an_instance_is_bound_after_a_kill_at_every_call() {
    everywhere(Story::Bind).await;
}
