//! A local gateway controller: says of gateways, routes and policies what a real one would say, without moving a byte.
//!
//! ```text
//!   World ─► decide (pure): the status of every class, gateway, route, backend and policy ─► write what differs
//! ```
//!
//! It takes part for classes whose controller it stands in for ([`CONTROLLERS`]). Conditions carry the reasons of the
//! Gateway API, so that what is wrong with a parent, a host or a backend shows where a real cluster would show it.

mod backends;
mod condition;
mod gateways;
mod hostname;
mod listeners;
mod policies;
mod routes;
mod world;

use std::sync::Arc;

use kube::Client;
use serde_json::Value;

use self::world::{Kind, World};
use crate::{
    clock::{Clock, shown},
    read::Place,
    world::{Sight, write_status},
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

/// Looks after gateways, routes and policies until dropped.
pub async fn run(client: Client, clock: Arc<dyn Clock>) {
    let sight = Sight::open(&client);
    loop {
        let wanted = sight
            .changed(|world| decide(world, &shown(clock.now())))
            .await;
        for Wanted {
            kind,
            place,
            status,
        } in wanted
        {
            let written = write_status(&client, "gateway-controller", kind, &place, &status).await;
            if let Err(trouble) = written {
                let Place { namespace, name } = &place;
                // Whatever changed meanwhile is told by its watch, and looked at again.
                tracing::debug!(?kind, %namespace, %name, %trouble, "a status can't be written");
            }
        }
    }
}

/// Every status that is not what it should be.
fn decide(world: &World, now: &str) -> Vec<Wanted> {
    let (attached, routes) = routes::decide(world, now);
    let mut wanted = gateways::decide(world, &attached, now);
    wanted.extend(routes);
    wanted.extend(backends::decide(world, now));
    wanted.extend(policies::decide(world, now));
    wanted
}

#[cfg(test)]
mod tests;
