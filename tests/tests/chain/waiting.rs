//! What happens when its time has come, by a clock in the test's hand: the controllers take it for the time of day, on
//! both kinds of cluster.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use quadrille_testkit::clock::ManualClock;
use quadrille_types::{ReleaseBinding, conditions::ConditionType};
use serde_json::{Value, json};

use crate::shop::{Shop, paths};

const HOUR: Duration = Duration::from_hours(1);
const SECOND: Duration = Duration::from_secs(1);
const ALMOST_AN_HOUR: Duration = HOUR.saturating_sub(SECOND);

/// A shop whose pipeline promotes to staging after an hour, and its clock: about now, so that it does not matter that
/// others have clocks of their own.
async fn open(mut paths: Value) -> (Shop, ManualClock) {
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
    let clock = ManualClock::at(now);
    let shop = Shop::open_at(&clock).await;
    paths[0]["targetEnvironmentRefs"][0]["autoPromote"] = json!({ "after": "1h" });
    shop.pipeline(json!({ "promotionPaths": paths })).await;
    (shop, clock)
}

/// A component that is ready in the first environment.
async fn ready(shop: &Shop) -> String {
    shop.component("cart", "shop", "cart:1").await;
    shop.until_ready("cart", "dev").await;
    shop.latest("cart").await
}

/// The binding is looked at, and after it another component is deployed: what was to happen has.
async fn seen_again(shop: &Shop, mark: &str) {
    shop.patch::<ReleaseBinding>(
        "cart-dev",
        json!({ "metadata": { "labels": { "seen": mark } } }),
    )
    .await;
    shop.component(mark, "office", "other:1").await;
    shop.until_ready(mark, "dev").await;
}

async fn is_bound(shop: &Shop, environment: &str) -> bool {
    let bindings = shop.api::<ReleaseBinding>();
    let found = bindings.get_opt(&format!("cart-{environment}")).await;
    found.unwrap().is_some()
}

#[tokio::test]
async fn a_promotion_that_is_not_due_waits_until_it_is() {
    let (shop, clock) = open(paths()).await;
    let release = ready(&shop).await;
    clock.advance(ALMOST_AN_HOUR);
    seen_again(&shop, "almost").await;
    assert!(!is_bound(&shop, "staging").await, "a second too early");
    clock.advance(SECOND);
    shop.until_ready("cart", "staging").await;
    let binding = shop.binding("cart", "staging").await;
    assert_eq!(binding.spec.release_name, Some(release));
}

#[tokio::test]
async fn the_time_is_kept_over_a_restart_of_the_controllers() {
    let (mut shop, clock) = open(paths()).await;
    ready(&shop).await;
    clock.advance(ALMOST_AN_HOUR);
    shop.stage.kill();
    let org = shop.org.clone();
    shop.stage.run(&[&org]);
    seen_again(&shop, "almost").await;
    assert!(!is_bound(&shop, "staging").await, "a second too early");
    clock.advance(SECOND);
    shop.until_ready("cart", "staging").await;
}

#[tokio::test]
async fn a_release_that_stops_being_ready_waits_from_the_beginning() {
    let (shop, clock) = open(paths()).await;
    ready(&shop).await;
    clock.advance(ALMOST_AN_HOUR);
    // It gets into trouble: what differs here is not what the type asks for.
    let sized =
        |size: Value| json!({ "spec": { "componentTypeEnvironmentConfigs": { "size": size } } });
    shop.patch::<ReleaseBinding>("cart-dev", sized(json!("large")))
        .await;
    let ready = ConditionType::Ready;
    shop.until("cart", "dev", ready, "False", "RenderingFailed")
        .await;
    clock.advance(SECOND);
    shop.patch::<ReleaseBinding>("cart-dev", sized(json!(2)))
        .await;
    shop.until_data("cart", "dev", "size", "2").await;
    shop.until_ready("cart", "dev").await;
    clock.advance(ALMOST_AN_HOUR);
    seen_again(&shop, "almost").await;
    assert!(!is_bound(&shop, "staging").await, "it began anew");
    clock.advance(SECOND);
    shop.until_ready("cart", "staging").await;
}

#[tokio::test]
async fn a_release_that_another_one_replaces_is_not_promoted_any_more() {
    let (shop, clock) = open(paths()).await;
    let first = ready(&shop).await;
    clock.advance(ALMOST_AN_HOUR);
    shop.component("cart", "shop", "cart:2").await;
    let second = shop.until_another("cart", "dev", &first).await;
    clock.advance(ALMOST_AN_HOUR);
    seen_again(&shop, "almost").await;
    assert!(
        !is_bound(&shop, "staging").await,
        "the second has its own hour"
    );
    clock.advance(SECOND);
    shop.until_ready("cart", "staging").await;
    let binding = shop.binding("cart", "staging").await;
    assert_eq!(binding.spec.release_name, Some(second));
}

#[tokio::test]
async fn no_time_is_long_enough_to_get_past_an_approval() {
    let mut paths = paths();
    paths[1]["targetEnvironmentRefs"][0]["autoPromote"] = json!({ "after": "1h" });
    let (shop, clock) = open(paths).await;
    let release = ready(&shop).await;
    clock.advance(HOUR);
    shop.until_ready("cart", "staging").await;
    clock.advance(HOUR);
    let admitted = ConditionType::Admitted;
    shop.until("cart", "prod", admitted, "False", "ApprovalRequired")
        .await;
    clock.advance(HOUR * 24 * 365);
    seen_again(&shop, "later").await;
    shop.until("cart", "prod", admitted, "False", "ApprovalRequired")
        .await;
    assert_eq!(shop.data("cart", "shop", "prod").await, None);
    shop.approve("cart", "prod", &release, json!({})).await;
    shop.until_ready("cart", "prod").await;
}

#[tokio::test]
async fn a_word_counts_until_it_ends() {
    let (shop, clock) = open(paths()).await;
    let first = ready(&shop).await;
    clock.advance(HOUR);
    shop.until_ready("cart", "staging").await;
    let ends = |after: Duration| {
        let end = clock.now() + SignedDuration::try_from(after).unwrap();
        json!({ "expiresAt": end.to_string() })
    };
    // One who refused, and whose word ends, has no say any more.
    let mut no = ends(HOUR);
    no["decision"] = json!("Reject");
    shop.approve("cart", "prod", &first, no).await;
    shop.bind("cart", "shop", "prod", &first).await;
    let admitted = ConditionType::Admitted;
    shop.until("cart", "prod", admitted, "False", "ApprovalRejected")
        .await;
    clock.advance(ALMOST_AN_HOUR);
    seen_again(&shop, "almost").await;
    shop.until("cart", "prod", admitted, "False", "ApprovalRejected")
        .await;
    clock.advance(SECOND);
    shop.until("cart", "prod", admitted, "False", "ApprovalRequired")
        .await;
    // One who agreed beforehand, and whose word ends before anybody asks, agreed to nothing.
    shop.component("cart", "shop", "cart:2").await;
    let second = shop.until_another("cart", "dev", &first).await;
    shop.approve("cart", "prod", &second, ends(HOUR)).await;
    clock.advance(HOUR);
    shop.bind("cart", "shop", "prod", &second).await;
    shop.until("cart", "prod", admitted, "False", &second).await;
    shop.until("cart", "prod", admitted, "False", "ApprovalRequired")
        .await;
    assert_eq!(shop.data("cart", "shop", "prod").await, None);
    // What runs by then goes on.
    shop.approve("cart", "prod", &second, ends(HOUR)).await;
    shop.until_ready("cart", "prod").await;
    clock.advance(HOUR);
    seen_again(&shop, "after").await;
    shop.until_ready("cart", "prod").await;
    shop.until_data("cart", "prod", "image", "cart:2").await;
}
