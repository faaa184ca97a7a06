//! However it is deleted, nothing is left.

use std::fmt::Debug;

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Resource,
    api::{DeleteParams, ListParams},
    core::NamespaceResourceScope,
};
use quadrille_testkit::{
    eventually,
    wire::{Fault, Gate, Matcher, Verb, WatchEnd},
};
use quadrille_types::{
    Component, ComponentRelease, Environment, Project, Release, ReleaseBinding, Workload,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::{shop::Shop, stage::gone};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Component,
    Project,
    Environment,
    Binding,
}

async fn delete(shop: &Shop, what: What) {
    match what {
        What::Component => shop.stage.delete(&shop.api::<Component>(), "cart").await,
        What::Project => shop.stage.delete(&shop.api::<Project>(), "shop").await,
        What::Environment => shop.stage.delete(&shop.api::<Environment>(), "dev").await,
        What::Binding => {
            shop.stage
                .delete(&shop.api::<ReleaseBinding>(), "cart-staging")
                .await;
        }
    }
}

async fn ends(order: &[What]) {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let release = shop.latest("cart").await;
    shop.bind("cart", "shop", "staging", &release).await;
    shop.until_ready("cart", "staging").await;
    for what in order {
        delete(&shop, *what).await;
    }
    if order.contains(&What::Environment) {
        gone(&shop.api::<Environment>(), "dev").await;
        gone(
            &shop.stage.cluster.all::<Namespace>(),
            &shop.cell("shop", "dev"),
        )
        .await;
    }
    if order.contains(&What::Project) {
        gone(&shop.api::<Project>(), "shop").await;
    }
    if order.contains(&What::Project) || order.contains(&What::Component) {
        gone(&shop.api::<Component>(), "cart").await;
        for environment in ["dev", "staging"] {
            let namespaces = shop.stage.cluster.all::<Namespace>();
            gone(&namespaces, &shop.cell("shop", environment)).await;
        }
        // The last are the Releases of the cells: each ends after its namespace.
        nothing_left::<Release>(&shop).await;
        nothing_left::<ReleaseBinding>(&shop).await;
        nothing_left::<ComponentRelease>(&shop).await;
        nothing_left::<Workload>(&shop).await;
    }
}

async fn nothing_left<K>(shop: &Shop)
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + Debug
        + DeserializeOwned,
{
    let what = format!("no {} is left", K::kind(&()));
    let api = shop.api::<K>();
    eventually(&what, async || {
        let left = api.list(&ListParams::default()).await;
        match left.map(|left| left.items) {
            Ok(left) if left.is_empty() => Ok(()),
            Ok(left) => Err(format!("{left:?}")),
            Err(error) => Err(error.to_string()),
        }
    })
    .await;
}

#[tokio::test]
async fn a_component_takes_everything_of_it_along() {
    ends(&[What::Component]).await;
}

#[tokio::test]
async fn a_project_takes_its_components_along() {
    ends(&[What::Project]).await;
}

#[tokio::test]
async fn an_environment_takes_its_bindings_along() {
    ends(&[What::Environment]).await;
}

#[tokio::test]
async fn everything_ends_in_every_order() {
    use What::{Binding, Component, Environment, Project};
    let all = [Component, Project, Environment, Binding];
    for (index, order) in orders(&all).iter().enumerate() {
        // All of them on a cluster of their own, a sample on a shared one.
        if !crate::every::is_for_the_embedded_alone() || index % 8 == 5 {
            ends(order).await;
        }
    }
}

fn orders(of: &[What]) -> Vec<Vec<What>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, first) in of.iter().enumerate() {
        let mut rest = of.to_vec();
        rest.remove(index);
        for mut order in orders(&rest) {
            order.insert(0, *first);
            all.push(order);
        }
    }
    all
}

#[tokio::test]
async fn a_binding_that_goes_takes_its_release_along_and_an_automatic_one_comes_back() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let bindings = shop.api::<ReleaseBinding>();
    let uid = bindings.get("cart-dev").await.unwrap().metadata.uid;
    bindings
        .delete("cart-dev", &DeleteParams::default())
        .await
        .unwrap();
    quadrille_testkit::eventually("there is another binding", async || {
        let found = bindings.get_opt("cart-dev").await.unwrap();
        let is_new = found.is_some_and(|found| found.metadata.uid != uid);
        is_new.then_some(()).ok_or("not yet")
    })
    .await;
    shop.until_ready("cart", "dev").await;
}

#[tokio::test]
async fn a_release_whose_end_nobody_told_holds_nobody_back() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let release = shop.latest("cart").await;
    shop.bind("cart", "shop", "staging", &release).await;
    shop.until_ready("cart", "staging").await;
    let held = json!(["openchoreo.dev/dataplane-cleanup", "example.com/hold"]);
    let held = json!({ "metadata": { "finalizers": held } });
    shop.patch::<Release>("cart-staging", held).await;
    delete(&shop, What::Binding).await;
    let releases = shop.api::<Release>();
    eventually("nobody else holds it", async || {
        let found = releases.get("cart-staging").await.unwrap();
        let left = found.metadata.finalizers.unwrap_or_default();
        (left == ["example.com/hold"])
            .then_some(())
            .ok_or(format!("{left:?}"))
    })
    .await;
    // It ends while nobody looks, and the next list lacks it.
    let gate = Gate::closed();
    let lists = Matcher::verb(Verb::List).resource("releases");
    let wire = &shop.stage.wire;
    wire.inject(lists.first(1), Fault::Hold(gate.clone()));
    wire.end_watches(WatchEnd::Expired);
    gate.reached_by(1).await;
    let free = json!({ "metadata": { "finalizers": null } });
    shop.patch::<Release>("cart-staging", free).await;
    gate.open();
    gone(&shop.api::<ReleaseBinding>(), "cart-staging").await;
}

/// The Release of a cell: which one it is, and its name.
async fn cell_of(shop: &Shop, environment: &str) -> Option<(Option<String>, String)> {
    let all = shop.api::<Release>().list(&ListParams::default()).await;
    let found = all.unwrap().items.into_iter().find(|release| {
        release.spec.owner.component_name.is_none()
            && release.spec.environment_name.as_str() == environment
    })?;
    Some((found.metadata.uid, found.metadata.name.unwrap()))
}

#[tokio::test]
async fn a_cell_that_is_wanted_again_while_it_is_being_deleted_is_made_anew() {
    let shop = Shop::open().await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let release = shop.latest("cart").await;
    shop.bind("cart", "shop", "staging", &release).await;
    shop.until_ready("cart", "staging").await;
    let (uid, cell) = cell_of(&shop, "staging").await.unwrap();
    // Its end is decided, and on its way to the server.
    let gate = Gate::closed();
    let deletion = Matcher::verb(Verb::Delete).resource("releases").name(&cell);
    let held = Fault::Hold(gate.clone());
    shop.stage.wire.inject(deletion, held);
    delete(&shop, What::Binding).await;
    gate.reached_by(1).await;
    gone(&shop.api::<ReleaseBinding>(), "cart-staging").await;
    shop.bind("cart", "shop", "staging", &release).await;
    let releases = shop.api::<Release>();
    eventually("the new release says how it goes", async || {
        let found = releases.get_opt("cart-staging").await.unwrap();
        let status = found.and_then(|found| found.status);
        let says = status.is_some_and(|status| !status.conditions.is_empty());
        says.then_some(()).ok_or("not yet")
    })
    .await;
    gate.open();
    eventually("the cell is another one", async || {
        match cell_of(&shop, "staging").await {
            Some((now, _)) if now != uid => Ok(()),
            Some(_) => Err("it is the same"),
            None => Err("there is none"),
        }
    })
    .await;
    shop.until_ready("cart", "staging").await;
}
