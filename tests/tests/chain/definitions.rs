//! What platform teams change.

use kube::api::PostParams;
use quadrille_types::{
    Component, ComponentType, ReleaseBinding, Trait, Workload, conditions::ConditionType,
};
use serde_json::{Value, json};

use crate::{
    shop::{Shop, page},
    stage::until_said,
};

fn note(text: &str) -> Value {
    json!({ "patches": [{
        "target": { "group": "", "version": "v1", "kind": "ConfigMap" },
        "operations": [{ "op": "add", "path": "/data/note", "value": text }],
    }]})
}

#[tokio::test]
async fn an_edit_of_a_type_reaches_all_its_components_and_is_told() {
    let shop = Shop::open().await;
    let names: Vec<String> = (0..12).map(|number| format!("page-{number}")).collect();
    for name in &names {
        shop.component(name, "shop", "page:1").await;
    }
    for name in &names {
        shop.until_ready(name, "dev").await;
    }
    shop.apply::<ComponentType>("page", page("two")).await;
    for name in &names {
        shop.until_data(name, "dev", "mark", "two").await;
    }
    let types = shop.api::<ComponentType>();
    let rolled = ConditionType::RolledOut;
    until_said(&types, "page", rolled, "True", "all 12 components").await;
    // Those in later environments keep what they were promoted with.
    let release = shop
        .binding("page-0", "dev")
        .await
        .spec
        .release_name
        .unwrap();
    shop.bind("page-0", "shop", "staging", &release).await;
    shop.until_data("page-0", "staging", "mark", "two").await;
    shop.apply::<ComponentType>("page", page("three")).await;
    shop.until_data("page-0", "dev", "mark", "three").await;
    shop.until_data("page-0", "staging", "mark", "two").await;
}

#[tokio::test]
async fn a_binding_that_somebody_wrote_anew_is_not_waited_for() {
    let shop = Shop::open().await;
    let types = shop.api::<ComponentType>();
    let rolled = ConditionType::RolledOut;
    shop.component("one", "shop", "page:1").await;
    shop.until_ready("one", "dev").await;
    until_said(&types, "page", rolled, "True", "all 1 components").await;
    let mut binding = shop.binding("one", "dev").await;
    binding.metadata.annotations = None;
    let bindings = shop.api::<ReleaseBinding>();
    bindings
        .replace("one-dev", &PostParams::default(), &binding)
        .await
        .unwrap();
    shop.component("two", "shop", "page:1").await;
    until_said(&types, "page", rolled, "True", "all 2 components").await;
}

#[tokio::test]
async fn an_edit_that_breaks_the_first_ones_goes_no_further() {
    let shop = Shop::open().await;
    let names: Vec<String> = (0..12).map(|number| format!("page-{number:02}")).collect();
    for name in &names {
        shop.component(name, "shop", "page:1").await;
    }
    for name in &names {
        shop.until_ready(name, "dev").await;
    }
    let mut broken = page("two");
    broken["resources"][0]["template"]["kind"] = json!("NoSuchKind");
    shop.apply::<ComponentType>("page", broken).await;
    let types = shop.api::<ComponentType>();
    let rolled = ConditionType::RolledOut;
    until_said(&types, "page", rolled, "False", "RolloutStopped").await;
    let mut reached = Vec::new();
    for name in &names {
        let status = shop.binding(name, "dev").await.status.unwrap();
        if status.history.len() > 1 {
            reached.push((name, status.history));
        }
    }
    assert!((1..=5).contains(&reached.len()), "{reached:#?}");
    shop.apply::<ComponentType>("page", page("three")).await;
    for name in &names {
        shop.until_data(name, "dev", "mark", "three").await;
    }
    until_said(&types, "page", rolled, "True", "").await;
}

#[tokio::test]
async fn an_edit_of_a_type_does_not_wait_for_those_who_cannot_go_on() {
    let shop = Shop::open().await;
    let names: Vec<String> = (0..12).map(|number| format!("page-{number:02}")).collect();
    for name in &names {
        shop.component(name, "shop", "page:1").await;
    }
    for name in &names {
        shop.until_ready(name, "dev").await;
    }
    // As many as go first have lost what they are made of.
    let (lame, sound) = names.split_at(5);
    let components = shop.api::<Component>();
    for name in lame {
        shop.stage.delete(&shop.api::<Workload>(), name).await;
        let ready = ConditionType::Ready;
        until_said(&components, name, ready, "False", "WorkloadNotFound").await;
    }
    shop.apply::<ComponentType>("page", page("two")).await;
    for name in sound {
        shop.until_data(name, "dev", "mark", "two").await;
    }
    for name in lame {
        shop.until_data(name, "dev", "mark", "one").await;
        shop.component(name, "shop", "page:1").await;
        shop.until_data(name, "dev", "mark", "two").await;
    }
}

#[tokio::test]
async fn an_edit_of_a_type_does_not_wait_for_those_who_wait_for_others() {
    let shop = Shop::open().await;
    let names: Vec<String> = (0..12).map(|number| format!("page-{number:02}")).collect();
    let (waiting, sound) = names.split_at(5);
    let needing = json!({
        "container": { "image": "page:1" },
        "dependencies": { "endpoints": [{
            "component": "nobody", "name": "api", "visibility": "project",
            "envBindings": { "address": "NOBODY" },
        }]},
    });
    for name in waiting {
        let workload = needing.clone();
        shop.component_with(name, "shop", workload, json!({})).await;
    }
    for name in sound {
        shop.component(name, "shop", "page:1").await;
    }
    for name in waiting {
        let resolved = ConditionType::ConnectionsResolved;
        shop.until(name, "dev", resolved, "False", "nobody").await;
    }
    for name in sound {
        shop.until_ready(name, "dev").await;
    }
    shop.apply::<ComponentType>("page", page("two")).await;
    for name in sound {
        shop.until_data(name, "dev", "mark", "two").await;
    }
}

#[tokio::test]
async fn an_edit_of_a_trait_reaches_those_who_have_it_themselves_or_by_their_type() {
    let shop = Shop::open().await;
    shop.apply::<Trait>("note", note("one")).await;
    let own = json!({ "traits": [{ "name": "note", "instanceName": "n" }] });
    let workload = json!({ "container": { "image": "page:1" } });
    shop.component_with("own", "shop", workload.clone(), own)
        .await;
    let mut with_note = page("one");
    with_note["traits"] = json!([{ "name": "note", "instanceName": "n" }]);
    with_note["allowedTraits"] = json!([]);
    shop.apply::<ComponentType>("noted", with_note).await;
    let typed = json!({ "componentType": { "name": "proxy/noted" } });
    shop.component_with("typed", "shop", workload, typed).await;
    for name in ["own", "typed"] {
        shop.until_data(name, "dev", "note", "one").await;
    }
    shop.apply::<Trait>("note", note("two")).await;
    for name in ["own", "typed"] {
        shop.until_data(name, "dev", "note", "two").await;
    }
}

#[tokio::test]
async fn a_definition_with_mistakes_says_which() {
    let shop = Shop::open().await;
    let mut wrong = page("one");
    wrong["resources"][0]["template"]["data"]["title"] = json!("${parameters.titel}");
    shop.apply::<ComponentType>("wrong", wrong).await;
    let types = shop.api::<ComponentType>();
    until_said(&types, "wrong", ConditionType::Ready, "False", "titel").await;
    let traits = shop.api::<Trait>();
    shop.apply::<Trait>("wrong", note("${nothing.there}")).await;
    until_said(&traits, "wrong", ConditionType::Ready, "False", "nothing").await;
}
