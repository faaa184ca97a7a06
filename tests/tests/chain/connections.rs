//! What components need of each other.

use quadrille_types::{Component, ReleaseBinding, conditions::ConditionType};
use serde_json::{Value, json};

use crate::{shop::Shop, stage::gone};

const PENDING: ConditionType = ConditionType::ConnectionsResolved;

fn needing(project: &str, component: &str, visibility: &str) -> Value {
    json!({
        "container": { "image": "web:1" },
        "dependencies": { "endpoints": [{
            "project": project, "component": component, "name": "api", "visibility": visibility,
            "envBindings": { "address": "CART" },
        }]},
    })
}

fn offering(port: u16, visibility: &[&str]) -> Value {
    json!({
        "container": { "image": "cart:1" },
        "endpoints": { "api": { "type": "HTTP", "port": port, "visibility": visibility } },
    })
}

#[tokio::test]
async fn a_consumer_waits_for_its_provider_follows_it_and_outlives_it() {
    let shop = Shop::open().await;
    let web = needing("office", "cart", "namespace");
    shop.component_with("web", "shop", web, json!({})).await;
    shop.until(
        "web",
        "dev",
        PENDING,
        "False",
        "office/cart is not deployed",
    )
    .await;
    assert_eq!(
        shop.data("web", "shop", "dev").await,
        None,
        "nothing starts half"
    );
    let pending = shop
        .binding("web", "dev")
        .await
        .status
        .unwrap()
        .pending_connections;
    assert_eq!((pending.len(), pending[0].component.as_str()), (1, "cart"));
    // One that shows itself to its own project only is not for others.
    shop.component_with("cart", "office", offering(80, &[]), json!({}))
        .await;
    shop.until(
        "web",
        "dev",
        PENDING,
        "False",
        "add namespace to its visibility",
    )
    .await;
    shop.component_with("cart", "office", offering(80, &["namespace"]), json!({}))
        .await;
    shop.until_ready("web", "dev").await;
    let cell = shop.cell("office", "dev");
    let address = |port: u16| format!("CART=http://cart.{cell}.svc.cluster.local:{port}");
    shop.until_data("web", "dev", "needs", &address(80)).await;
    // It moves.
    shop.component_with("cart", "office", offering(81, &["namespace"]), json!({}))
        .await;
    shop.until_data("web", "dev", "needs", &address(81)).await;
    // It goes: what runs goes on, and says what is missing.
    shop.patch::<ReleaseBinding>("cart-dev", json!({ "spec": { "state": "Undeploy" } }))
        .await;
    shop.until("web", "dev", PENDING, "False", "was taken away")
        .await;
    shop.until_data("web", "dev", "needs", &address(81)).await;
    shop.stage.delete(&shop.api::<Component>(), "cart").await;
    gone(&shop.api::<Component>(), "cart").await;
    shop.until(
        "web",
        "dev",
        PENDING,
        "False",
        "office/cart is not deployed",
    )
    .await;
}

#[tokio::test]
async fn a_consumer_that_may_start_without_its_provider_does() {
    let shop = Shop::open().await;
    let mut web = needing("shop", "cart", "project");
    web["dependencies"]["endpoints"][0]["optional"] = json!(true);
    shop.component_with("web", "shop", web, json!({})).await;
    shop.until_ready("web", "dev").await;
    shop.until_data("web", "dev", "needs", "").await;
    shop.component_with("cart", "shop", offering(80, &[]), json!({}))
        .await;
    let cell = shop.cell("shop", "dev");
    let address = format!("CART=http://cart.{cell}.svc.cluster.local:80");
    shop.until_data("web", "dev", "needs", &address).await;
}

#[tokio::test]
async fn components_that_need_each_other_are_told_so() {
    let shop = Shop::open().await;
    let both = |other: &str| {
        let mut workload = needing("shop", other, "project");
        workload["endpoints"] = json!({ "api": { "type": "HTTP", "port": 80 } });
        workload
    };
    shop.component_with("web", "shop", both("cart"), json!({}))
        .await;
    shop.component_with("cart", "shop", both("web"), json!({}))
        .await;
    shop.until(
        "web",
        "dev",
        PENDING,
        "False",
        "shop/web → shop/cart → shop/web",
    )
    .await;
    shop.until("cart", "dev", PENDING, "False", "optional: true")
        .await;
    assert_eq!(shop.data("web", "shop", "dev").await, None);
    let mut mended = both("web");
    mended["dependencies"]["endpoints"][0]["optional"] = json!(true);
    shop.component_with("cart", "shop", mended, json!({})).await;
    shop.until_ready("cart", "dev").await;
    shop.until_ready("web", "dev").await;
}
