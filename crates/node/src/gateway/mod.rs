//! A local gateway controller: says of gateways and routes what a real one would say, without moving a byte.
//!
//! ```text
//!   one watch per kind ─► World ─► decide (pure): the status of every class, gateway and route ─► write what differs
//! ```
//!
//! It takes part for classes whose controller it stands in for ([`CONTROLLERS`]). Conditions carry the reasons of the
//! Gateway API, so that what is wrong with a parent, a host or a backend shows where a real cluster would show it.

mod backends;
mod condition;
mod gateways;
mod hostname;
mod listeners;
mod routes;
mod world;

use std::sync::Arc;

use http::{Request, header};
use kube::Client;
use parking_lot::Mutex;
use quadrille_planes::{Trouble, feed};
use serde_json::{Value, json};
use tokio::{sync::Notify, task::JoinSet};

use self::world::{Kind, World};
use crate::{
    clock::{Clock, shown},
    read::Place,
};

/// The group of the Gateway API.
const GROUP: &str = "gateway.networking.k8s.io";

/// Controllers that it stands in for: its own name, and that of the gateway that planes have as a rule.
pub const CONTROLLERS: [&str; 2] = [
    "quadrille.openchoreo.dev/gateway-controller",
    "gateway.envoyproxy.io/gatewayclass-controller",
];

/// Where gateways of this machine are.
const ADDRESS: &str = "127.0.0.1";

/// A status that should be written.
#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    kind: Kind,
    place: Place,
    status: Value,
}

/// Looks after gateways and routes until dropped.
pub async fn run(client: Client, clock: Arc<dyn Clock>) {
    let world = Arc::new(Mutex::new(World::default()));
    let changed = Arc::new(Notify::new());
    // Tasks end with this value.
    let mut tasks = JoinSet::new();
    for kind in Kind::ALL {
        let (world, changed) = (world.clone(), changed.clone());
        let source = kind.source(client.clone());
        tasks.spawn(feed::follow(source, move |news| {
            if world.lock().hear(kind, news) {
                changed.notify_one();
            }
        }));
    }
    loop {
        changed.notified().await;
        let wanted = {
            let world = world.lock();
            if !world.is_known() {
                continue;
            }
            decide(&world, &shown(clock.now()))
        };
        for wanted in wanted {
            if let Err(trouble) = write(&client, &wanted).await {
                let Wanted { kind, place, .. } = &wanted;
                let (namespace, name) = (&*place.namespace, &*place.name);
                // Whatever changed meanwhile is told by its watch, and looked at again.
                tracing::debug!(?kind, namespace, name, %trouble, "a status can't be written");
            }
        }
    }
}

/// Every status that is not what it should be.
fn decide(world: &World, now: &str) -> Vec<Wanted> {
    let (attached, routes) = routes::decide(world, now);
    let mut wanted = gateways::decide(world, &attached, now);
    wanted.extend(routes);
    wanted
}

async fn write(client: &Client, wanted: &Wanted) -> Result<(), Trouble> {
    let Place { namespace, name } = &wanted.place;
    let path = feed::url_path(
        &wanted.kind.resource(),
        Some(&**namespace).filter(|namespace| !namespace.is_empty()),
    );
    let body = json!({ "status": wanted.status }).to_string().into_bytes();
    let request = Request::patch(format!(
        "{path}/{name}/status?fieldManager=gateway-controller"
    ))
    .header(header::CONTENT_TYPE, "application/merge-patch+json")
    .body(body)
    .map_err(kube::Error::HttpError)?;
    client.request::<Value>(request).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
