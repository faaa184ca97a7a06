//! Definitions of kinds, and objects of these kinds, in one release.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use quadrille_testkit::{eventually, wire::WatchEnd};
use serde_json::{Value, json};

use crate::{
    hands::api,
    objects::in_namespace,
    platform::{Platform, config},
};

/// A kind that no other test has: its definition and an object of it.
fn kind_of_its_own(platform: &Platform) -> (Value, Value) {
    let group = format!("{}.example.com", platform.namespace());
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("widgets.{group}") },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": { "plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "properties": { "spec": {
                        "type": "object", "properties": { "size": { "type": "integer" } },
                    }},
                }},
            }],
        },
    });
    let widget = json!({
        "apiVersion": format!("{group}/v1"), "kind": "Widget",
        "metadata": { "name": "w" }, "spec": { "size": 1 },
    });
    (in_namespace(definition, None), widget)
}

#[tokio::test]
async fn a_definition_and_an_object_of_its_kind_come_and_go_together() {
    let platform = Platform::start().await;
    let (definition, widget) = kind_of_its_own(&platform);
    let objects = [("widget", widget.clone()), ("kind", definition.clone())];
    platform.release("cart", &objects).await;
    platform.applied("cart").await;
    let size = |size: i64| {
        move |found: Option<&Value>| found.is_some_and(|found| found["spec"]["size"] == size)
    };
    platform
        .until_object("the widget is there", &widget, size(1))
        .await;
    platform
        .edit(&widget, json!({ "spec": { "size": 7 } }))
        .await;
    platform
        .until_object("the widget is mended", &widget, size(1))
        .await;
    platform.delete("cart").await;
    platform.gone("cart").await;
    let definitions: Api<DynamicObject> = api(platform.client(), &definition, None);
    let name = definition["metadata"]["name"].as_str().unwrap();
    eventually("the definition is gone", async || {
        match definitions.get_opt(name).await.unwrap() {
            None => Ok(()),
            Some(left) => Err(format!("{left:?}")),
        }
    })
    .await;
}

#[tokio::test]
async fn an_object_of_a_kind_that_comes_later_waits_for_it() {
    let platform = Platform::start().await;
    let (definition, widget) = kind_of_its_own(&platform);
    let objects = [("widget", widget.clone()), ("config", config("a", "1"))];
    platform.release("cart", &objects).await;
    let error = platform
        .until_error("cart", "widget", "KindNotServed")
        .await;
    assert!(error.message.contains("Widget"), "{}", error.message);
    assert!(error.message.contains("install its definition"));
    platform.until_configs(&[("a", "1")]).await;
    platform.release("kinds", &[("kind", definition)]).await;
    platform.applied("cart").await;
    platform.delete("cart").await;
    platform.gone("cart").await;
    platform.delete("kinds").await;
    platform.gone("kinds").await;
}

/// A kind with two versions, the older one of which can be dropped.
struct Widgets {
    definitions: Api<CustomResourceDefinition>,
    name: String,
    group: String,
    /// One of its objects, as each version has it.
    current: Value,
    old: Value,
}

impl Widgets {
    async fn install(platform: &Platform) -> Self {
        let (mut definition, current) = kind_of_its_own(platform);
        let mut older = definition["spec"]["versions"][0].clone();
        older["name"] = json!("v1beta1");
        older["storage"] = json!(false);
        let versions = definition["spec"]["versions"].as_array_mut();
        versions.unwrap().push(older);
        let group = definition["spec"]["group"].as_str().unwrap().to_owned();
        let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
        let definitions: Api<CustomResourceDefinition> = Api::all(platform.client());
        let definition = serde_json::from_value(definition).unwrap();
        definitions
            .create(&PostParams::default(), &definition)
            .await
            .unwrap();
        let mut old = current.clone();
        old["apiVersion"] = json!(format!("{group}/v1beta1"));
        Self {
            definitions,
            name,
            group,
            current,
            old,
        }
    }

    /// The older version is no longer served.
    async fn drop_old(&self, platform: &Platform) {
        let drop: Vec<Value> = vec![
            json!({ "op": "test", "path": "/spec/versions/1/name", "value": "v1beta1" }),
            json!({ "op": "replace", "path": "/spec/versions/1/served", "value": false }),
        ];
        let drop = serde_json::from_value(Value::Array(drop)).unwrap();
        let patch = Patch::Json::<()>(drop);
        self.definitions
            .patch(&self.name, &PatchParams::default(), &patch)
            .await
            .unwrap();
        let olds = platform.any(&self.group, "v1beta1", "Widget");
        eventually("the old version is not served", async || {
            let listed = olds.list(&ListParams::default()).await;
            listed.map_or(Ok(()), |_| Err("it is"))
        })
        .await;
    }

    async fn uninstall(&self) {
        self.definitions
            .delete(&self.name, &DeleteParams::default())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn an_object_whose_version_is_no_longer_served_goes_with_its_release() {
    let mut platform = Platform::start().await;
    let widgets = Widgets::install(&platform).await;
    platform
        .release("cart", &[("widget", widgets.old.clone())])
        .await;
    platform.applied("cart").await;
    platform.kill();
    widgets.drop_old(&platform).await;
    platform.run();
    platform.delete("cart").await;
    platform.gone("cart").await;
    platform
        .until_object("the widget is gone", &widgets.current, |found| {
            found.is_none()
        })
        .await;
    widgets.uninstall().await;
}

#[tokio::test]
async fn an_object_that_is_held_goes_at_last_although_its_version_is_no_longer_served() {
    let mut platform = Platform::start().await;
    let widgets = Widgets::install(&platform).await;
    platform
        .release("cart", &[("widget", widgets.old.clone())])
        .await;
    platform.applied("cart").await;
    platform.kill();
    widgets.drop_old(&platform).await;
    platform.hold(&widgets.current).await;
    platform.run();
    platform.delete("cart").await;
    platform
        .until_object("the widget is asked to go", &widgets.current, |found| {
            found.is_some_and(|found| found["metadata"]["deletionTimestamp"].is_string())
        })
        .await;
    platform.let_go(&widgets.current).await;
    platform.gone("cart").await;
    widgets.uninstall().await;
}

#[tokio::test]
async fn a_kind_that_somebody_names_in_a_version_that_is_gone_is_watched_for_everybody() {
    let platform = Platform::start().await;
    let widgets = Widgets::install(&platform).await;
    widgets.drop_old(&platform).await;
    let mut outdated = widgets.old.clone();
    outdated["metadata"]["name"] = json!("outdated");
    platform.release("past", &[("widget", outdated)]).await;
    platform
        .until_error("past", "widget", "KindNotServed")
        .await;
    platform
        .release("cart", &[("widget", widgets.current.clone())])
        .await;
    platform.applied("cart").await;
    platform
        .edit(&widgets.current, json!({ "spec": { "size": 7 } }))
        .await;
    platform
        .until_object("the widget is mended", &widgets.current, |found| {
            found.is_some_and(|found| found["spec"]["size"] == 1)
        })
        .await;
    for name in ["cart", "past"] {
        platform.delete(name).await;
        platform.gone(name).await;
    }
    widgets.uninstall().await;
}

#[tokio::test]
async fn an_object_is_mended_in_another_version_when_its_own_is_no_longer_served() {
    let platform = Platform::start().await;
    let widgets = Widgets::install(&platform).await;
    platform
        .release("cart", &[("widget", widgets.old.clone())])
        .await;
    platform.applied("cart").await;
    widgets.drop_old(&platform).await;
    platform.wire.end_watches(WatchEnd::Cut);
    platform
        .release("cart", &[("widget", widgets.current.clone())])
        .await;
    platform.applied("cart").await;
    platform
        .edit(&widgets.current, json!({ "spec": { "size": 7 } }))
        .await;
    platform
        .until_object("the widget is mended", &widgets.current, |found| {
            found.is_some_and(|found| found["spec"]["size"] == 1)
        })
        .await;
    platform.delete("cart").await;
    platform.gone("cart").await;
    widgets.uninstall().await;
}
