//! From one environment to the next.

use quadrille_types::{ReleaseBinding, annotations, conditions::ConditionType};
use serde_json::json;

use crate::shop::{Shop, paths};

#[tokio::test]
async fn an_advising_pipeline_lets_a_release_skip_a_stage_and_says_so() {
    let shop = Shop::open().await;
    let two = json!([
        { "sourceEnvironmentRef": "dev", "targetEnvironmentRefs": [{ "name": "staging" }] },
        { "sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [{ "name": "prod" }] },
    ]);
    shop.pipeline(json!({ "promotionPaths": two })).await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let release = shop.latest("cart").await;
    shop.bind("cart", "shop", "prod", &release).await;
    shop.until_ready("cart", "prod").await;
    let admitted = ConditionType::Admitted;
    shop.until(
        "cart",
        "prod",
        admitted,
        "True",
        "has not been ready in staging",
    )
    .await;
}

#[tokio::test]
async fn a_strict_pipeline_refuses_until_the_stage_before_was_ready() {
    let shop = Shop::open().await;
    let two = json!([
        { "sourceEnvironmentRef": "dev", "targetEnvironmentRefs": [{ "name": "staging" }] },
        { "sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [{ "name": "prod" }] },
    ]);
    shop.pipeline(json!({ "promotionPaths": two, "enforcement": "Strict" }))
        .await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let release = shop.latest("cart").await;
    shop.bind("cart", "shop", "prod", &release).await;
    let admitted = ConditionType::Admitted;
    shop.until("cart", "prod", admitted, "False", "PromotionOutOfOrder")
        .await;
    assert_eq!(shop.data("cart", "shop", "prod").await, None);
    shop.bind("cart", "shop", "staging", &release).await;
    shop.until_ready("cart", "staging").await;
    shop.until_ready("cart", "prod").await;
    shop.until("cart", "prod", admitted, "True", "PromotionInOrder")
        .await;
}

#[tokio::test]
async fn what_has_been_ready_is_promoted_by_itself_but_not_past_an_approval() {
    let shop = Shop::open().await;
    let mut paths = paths();
    paths[0]["targetEnvironmentRefs"][0]["autoPromote"] = json!({});
    paths[1]["targetEnvironmentRefs"][0]["autoPromote"] = json!({ "after": "0s" });
    shop.pipeline(json!({ "promotionPaths": paths })).await;
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    let release = shop.latest("cart").await;
    shop.until_ready("cart", "staging").await;
    let admitted = ConditionType::Admitted;
    shop.until("cart", "prod", admitted, "False", "ApprovalRequired")
        .await;
    assert_eq!(shop.data("cart", "shop", "prod").await, None);
    // What somebody does by hand after that stays.
    shop.component("cart", "shop", "cart:2").await;
    let second = shop.until_another("cart", "staging", &release).await;
    shop.patch::<ReleaseBinding>(
        "cart-staging",
        json!({ "spec": { "releaseName": release } }),
    )
    .await;
    shop.until_another("cart", "staging", &second).await;
    shop.component("other", "shop", "other:1").await;
    shop.until_ready("other", "staging").await;
    let binding = shop.binding("cart", "staging").await;
    assert_eq!(binding.spec.release_name.as_ref(), Some(&release));
    assert_eq!(
        binding.metadata.annotations.unwrap()[annotations::AUTO_PROMOTED],
        second
    );
}
