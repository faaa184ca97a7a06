//! Where somebody has to agree.

use kube::api::{DeleteParams, ListParams};
use quadrille_types::{Approval, ReleaseBinding, annotations, conditions::ConditionType};
use serde_json::json;

use crate::{shop::Shop, stage::until_said};

#[tokio::test]
async fn nothing_runs_where_nobody_agreed_and_what_ran_goes_on() {
    let (shop, first) = Shop::asking().await;
    assert_eq!(shop.data("cart", "shop", "prod").await, None);
    // A word about another release, or another environment, is none about this one.
    shop.approve("cart", "prod", "cart-another", json!({}))
        .await;
    shop.approve("cart", "staging", &first, json!({})).await;
    shop.until_asked("cart").await;
    assert_eq!(shop.data("cart", "shop", "prod").await, None);
    shop.approve("cart", "prod", &first, json!({ "by": "anna" }))
        .await;
    shop.until_ready("cart", "prod").await;
    let history = shop.binding("cart", "prod").await.status.unwrap().history;
    assert_eq!(history[0].approved_by.as_deref(), Some("anna"));
    // The next one waits, and the first one goes on.
    shop.component("cart", "shop", "cart:2").await;
    let second = shop.until_another("cart", "dev", &first).await;
    shop.bind("cart", "shop", "staging", &second).await;
    shop.until_another("cart", "staging", &first).await;
    shop.bind("cart", "shop", "prod", &second).await;
    shop.until_asked("cart").await;
    shop.until_data("cart", "prod", "image", "cart:1").await;
    let status = shop.binding("cart", "prod").await.status.unwrap();
    assert_eq!(status.current_release.as_ref(), Some(&first));
    shop.approve("cart", "prod", &second, json!({})).await;
    shop.until_another("cart", "prod", &first).await;
    shop.until_data("cart", "prod", "image", "cart:2").await;
}

#[tokio::test]
async fn a_refusal_counts_until_somebody_agrees_later() {
    let (shop, release) = Shop::asking().await;
    let no = json!({ "decision": "Reject", "by": "bob", "comment": "not on a Friday" });
    shop.approve("cart", "prod", &release, no).await;
    shop.until(
        "cart",
        "prod",
        ConditionType::Ready,
        "False",
        "not on a Friday",
    )
    .await;
    // Taken back, it is as if it was never said.
    let words = shop.api::<Approval>();
    let all = ListParams::default();
    words
        .delete_collection(&DeleteParams::default(), &all)
        .await
        .unwrap();
    shop.until_asked("cart").await;
    shop.approve("cart", "prod", &release, json!({})).await;
    shop.until_ready("cart", "prod").await;
    // What runs by then goes on, also without the word.
    words
        .delete_collection(&DeleteParams::default(), &all)
        .await
        .unwrap();
    shop.component("other", "shop", "other:1").await;
    shop.until_ready("other", "dev").await;
    shop.until_ready("cart", "prod").await;
}

#[tokio::test]
async fn a_word_that_has_ended_does_not_count() {
    let (shop, release) = Shop::asking().await;
    let ended = json!({ "expiresAt": "2020-01-01T00:00:00Z" });
    shop.approve("cart", "prod", &release, ended).await;
    shop.component("other", "shop", "other:1").await;
    shop.until_ready("other", "dev").await;
    shop.until_asked("cart").await;
    let lasting = json!({ "expiresAt": "2100-01-01T00:00:00Z" });
    shop.approve("cart", "prod", &release, lasting).await;
    shop.until_ready("cart", "prod").await;
}

#[tokio::test]
async fn who_agrees_may_have_to_be_somebody_else_than_who_asked() {
    let (shop, release) = Shop::asking().await;
    let mut paths = crate::shop::paths();
    paths[1]["targetEnvironmentRefs"][0]["requiresOtherApprover"] = json!(true);
    shop.pipeline(json!({ "promotionPaths": paths })).await;
    shop.patch::<ReleaseBinding>(
        "cart-prod",
        json!({ "metadata": { "annotations": { annotations::REQUESTED_BY: "anna" } } }),
    )
    .await;
    shop.approve("cart", "prod", &release, json!({ "by": "anna" }))
        .await;
    shop.until(
        "cart",
        "prod",
        ConditionType::Ready,
        "False",
        "somebody else",
    )
    .await;
    shop.approve("cart", "prod", &release, json!({ "by": "bob" }))
        .await;
    shop.until_ready("cart", "prod").await;
    let history = shop.binding("cart", "prod").await.status.unwrap().history;
    assert_eq!(history[0].requested_by.as_deref(), Some("anna"));
}

/// Waits until the only word says this of itself.
async fn until_words(shop: &Shop, status: &str, words: &str) {
    let api = shop.api::<Approval>();
    let all = api.list(&ListParams::default()).await.unwrap();
    assert_eq!(all.items.len(), 1);
    let name = all.items[0].metadata.name.as_deref().unwrap();
    until_said(&api, name, ConditionType::Ready, status, words).await;
}

async fn take_back(shop: &Shop) {
    let words = shop.api::<Approval>();
    let (how, all) = (DeleteParams::default(), ListParams::default());
    words.delete_collection(&how, &all).await.unwrap();
}

#[tokio::test]
async fn a_word_says_of_itself_whether_it_counts() {
    let (shop, release) = Shop::asking().await;
    shop.component("other", "shop", "other:1").await;
    shop.until_ready("other", "dev").await;
    let others = shop.latest("other").await;
    for (environment, about, more, status, words) in [
        (
            "prod",
            "cart-never",
            json!({}),
            "False",
            "there is no ComponentRelease",
        ),
        (
            "prod",
            &*others,
            json!({}),
            "False",
            "belongs to another component",
        ),
        (
            "moon",
            &*release,
            json!({}),
            "False",
            "there is no Environment",
        ),
        (
            "prod",
            &*release,
            json!({ "expiresAt": "2020-01-01T00:00:00Z" }),
            "False",
            "ApprovalExpired",
        ),
        (
            "prod",
            &*release,
            json!({ "decision": "Reject" }),
            "True",
            "ApprovalRejected",
        ),
    ] {
        shop.approve("cart", environment, about, more).await;
        until_words(&shop, status, words).await;
        take_back(&shop).await;
    }
    shop.until_asked("cart").await;
    assert_eq!(shop.data("cart", "shop", "prod").await, None);
    // One that is held while it goes was taken back all the same.
    shop.approve("cart", "staging", &release, json!({})).await;
    until_words(&shop, "True", "Approved").await;
    let api = shop.api::<Approval>();
    let word = api
        .list(&ListParams::default())
        .await
        .unwrap()
        .items
        .remove(0);
    let name = word.metadata.name.unwrap();
    let held = |names: &[&str]| json!({ "metadata": { "finalizers": names } });
    shop.patch::<Approval>(&name, held(&["example.com/held"]))
        .await;
    take_back(&shop).await;
    until_words(&shop, "False", "ApprovalWithdrawn").await;
    shop.patch::<Approval>(&name, held(&[])).await;
    // The release that it is about may come later, and go again.
    shop.approve("cart", "prod", &release, json!({})).await;
    until_words(&shop, "True", "Approved").await;
    shop.until_ready("cart", "prod").await;
}
