//! Controllers that start know nothing: whatever they are told first, and last, they look at everything.

use std::collections::BTreeSet;

use quadrille_testkit::{
    ClusterKind, eventually,
    wire::{Fault, Gate, Matcher, Verb},
};
use quadrille_types::{Component, Deployment};
use serde_json::json;

use crate::orchard::Orchard;

/// Kinds that the controllers list, whatever runs.
fn listed(orchard: &Orchard) -> BTreeSet<String> {
    let calls = orchard.stage.wire.calls();
    let lists = calls.into_iter().filter(|call| {
        call.verb == Verb::List && (call.group == "openchoreo.dev" || call.resource == "namespaces")
    });
    lists.map(|call| call.resource).collect()
}

#[tokio::test]
async fn whichever_list_comes_last_brings_everything_to_be_looked_at() {
    let mut orchard = Orchard::open().await;
    orchard.service("cart", "shop").await;
    orchard.until_ready::<Deployment>("cart-dev").await;
    let all = listed(&orchard);
    assert!(all.len() > 25, "{all:?}");
    // Which list it is matters only to the controllers: a real server is asked about three of them.
    let each = match orchard.stage.cluster.kind() {
        ClusterKind::Embedded => 1,
        ClusterKind::Real => all.len().div_ceil(3),
    };
    for last in all.iter().step_by(each) {
        orchard.stage.kill();
        orchard.stage.wire.forget();
        let gate = Gate::closed();
        let list = Matcher::verb(Verb::List).resource(last);
        orchard.stage.wire.inject(list, Fault::Hold(gate.clone()));
        // New to these controllers, one of each family; neither has what it stands on.
        let name = format!("new-{last}");
        orchard
            .deploy_as(&name, "cart", "shop", "dev", "none-such", json!({}))
            .await;
        let spec = json!({
            "owner": { "projectName": "shop" }, "componentType": { "name": "deployment/none-such" },
        });
        orchard.put::<Component>(&name, &[], spec).await;
        let org = orchard.org.clone();
        orchard.stage.run(&[&org]);
        eventually("all other lists are read", async || {
            let is_missing = |kind: &&String| {
                let watch = Matcher::verb(Verb::Watch).resource(kind);
                *kind != last && orchard.stage.wire.count(&watch) == 0
            };
            match all.iter().find(is_missing) {
                None => Ok(()),
                Some(missing) => Err(format!("{missing}, with {last} held back")),
            }
        })
        .await;
        gate.open();
        orchard.until::<Deployment>(&name, "False", "").await;
        orchard.until::<Component>(&name, "False", "").await;
        orchard.stage.wire.heal();
    }
}
