//! Stand-ins for operators that planes have as a rule: those that make Secrets of what is kept elsewhere, and KEDA.
//!
//! ```text
//!   World ─► decide (pure): Secrets to make or replace, statuses that differ ─► write
//! ```
//!
//! Nothing is fetched from anywhere. A Secret gets the keys that are asked for and one value for all of them,
//! [`VALUE`]: enough for pods to start. One that somebody else made stays as it is.

mod external_secrets;
mod kinds;
mod scalers;
mod secret;
mod secrets_store;

use std::sync::Arc;

use http::Method;
use kube::Client;
use quadrille_planes::{Trouble, feed};
use serde_json::Value;

pub use self::secret::VALUE;
use self::{
    kinds::{Kind, World},
    secret::Claims,
};
use crate::{
    clock::{Clock, shown},
    read::Place,
    world::{Kinds as _, Sight, send, write_status},
};

/// Who writes, in the books of the API.
const WRITER: &str = "simulated-operators";

/// Something to write.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// A Secret that is not there.
    Make {
        /// What asks for it.
        asker: (Kind, Place),
        secret: Value,
    },
    /// A Secret of ours that is not what is asked for any more.
    Replace {
        /// What asks for it.
        asker: (Kind, Place),
        secret: Value,
    },
    /// A status.
    Report {
        kind: Kind,
        place: Place,
        status: Value,
    },
}

/// Stands in for operators until dropped.
pub async fn run(client: Client, clock: Arc<dyn Clock>) {
    let sight = Sight::open(&client);
    loop {
        let steps = sight
            .changed(|world| decide(world, &shown(clock.now())))
            .await;
        for step in steps {
            let Err(trouble) = take(&client, &step).await else {
                continue;
            };
            // Whatever changed meanwhile is told by its watch, and looked at again.
            tracing::debug!(?step, %trouble, "an operator's step fails");
            let (Step::Make { asker, .. } | Step::Replace { asker, .. }) = &step else {
                continue;
            };
            let Trouble::Invalid(_) = &trouble else {
                continue;
            };
            let now = shown(clock.now());
            let words = trouble.to_string();
            let report = sight.now(|world| external_secrets::refused(world, asker, &words, &now));
            if let Some(report) = report
                && let Err(trouble) = take(&client, &report).await
            {
                tracing::debug!(step = ?report, %trouble, "an operator's step fails");
            }
        }
    }
}

/// Everything that is not as it should be.
fn decide(world: &World, now: &str) -> Vec<Step> {
    let mut claims = Claims::default();
    let mut steps = external_secrets::decide(world, &mut claims, now);
    steps.extend(secrets_store::decide(world, &mut claims));
    steps.extend(scalers::decide(world));
    steps
}

async fn take(client: &Client, step: &Step) -> Result<(), Trouble> {
    let (method, secret) = match step {
        Step::Make { secret, .. } => (Method::POST, secret),
        Step::Replace { secret, .. } => (Method::PUT, secret),
        Step::Report {
            kind,
            place,
            status,
        } => return write_status(client, WRITER, *kind, place, status).await,
    };
    let Place { namespace, name } = Place::of(secret);
    let mut url = feed::url_path(&Kind::Secret.resource(), Some(&namespace));
    if method == Method::PUT {
        url = format!("{url}/{name}");
    }
    let url = format!("{url}?fieldManager={WRITER}");
    send(client, method, url, "application/json", secret).await
}

#[cfg(test)]
mod tests;
