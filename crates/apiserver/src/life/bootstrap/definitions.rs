//! Definitions that are installed at the start of a server.
//!
//! There may be many and large ones. New ones are written together, with their status, so that each is stored once;
//! those that are there and as they were given are not even read in full.

use std::{collections::HashMap, sync::Arc};

use quadrille_machinery::{crd, status::Status};
use quadrille_store::{Expect, Op};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{super::definitions::heads, by_the_server};
use crate::{
    clock,
    options::WriteOptions,
    resource::Resource,
    rest::{
        Request,
        write::{self, Failure, Ownership, VersionRule},
    },
    server::{Shared, StartError},
    stored,
};

/// On a definition that was installed: a digest of what was given.
const INSTALLED: &str = "quadrille.openchoreo.dev/installed";

/// The name in a definition's text.
#[derive(Deserialize)]
struct Named {
    metadata: Name,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// Creates or updates custom resource definitions, each given as JSON, and serves them.
pub(crate) async fn install(
    shared: &Arc<Shared>,
    definitions: impl Iterator<Item = String>,
) -> Result<(), StartError> {
    let failed = |what: &str, status| StartError::Bootstrap {
        what: what.to_owned(),
        status,
    };
    let mut new = Vec::new();
    let mut changed = Vec::new();
    for text in definitions {
        let named: Named = serde_json::from_str(&text)
            .map_err(|error| failed("a definition", Status::internal(error)))?;
        let name = named.metadata.name;
        match look(shared, &name, &text).await {
            Ok(Found::Installed) => {}
            Ok(Found::Changed) => changed.push(name),
            Ok(Found::New(definition)) => new.push(definition),
            Err(status) => return Err(failed(&name, status)),
        }
    }
    let synced = async {
        create_all(shared, new).await?;
        let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
        shared.sync_definitions(&changed).await
    };
    synced.await.map_err(|status| failed("definitions", status))
}

/// What became of a definition.
enum Found {
    /// It is there as it was given.
    Installed,
    /// It was there, and is now what was given.
    Changed,
    /// It is to be created.
    New(Value),
}

async fn look(shared: &Arc<Shared>, name: &str, text: &str) -> Result<Found, Status> {
    let resource = definitions(shared)?;
    let mut request = shared.request(&resource, None, name);
    request.one_of_many = true;
    let digest = format!("{:x}", Sha256::digest(text));
    let key = stored::key(&resource, None, name);
    let there = shared.store.get(&key).map_err(Status::internal)?;
    // Checking all rules of a large definition takes its time; what nobody touched since needs none.
    if let Some(record) = &there
        && is_installed(&record.value, &digest)
    {
        return Ok(Found::Installed);
    }
    let mut definition: Value = serde_json::from_str(text).map_err(Status::internal)?;
    if there.is_none() {
        definition["metadata"]["annotations"][INSTALLED] = json!(digest);
        return prepared(&request, definition).await.map(Found::New);
    }
    let (options, rule) = (by_the_server(), VersionRule::Retry);
    write::update(&request, &options, Ownership::Track, rule, |current| {
        let mut new = current.object.clone();
        new["metadata"]["annotations"][INSTALLED] = json!(digest);
        new["spec"] = definition["spec"].clone();
        Ok(new)
    })
    .await?;
    Ok(Found::Changed)
}

fn definitions(shared: &Shared) -> Result<Arc<Resource>, Status> {
    shared.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

/// A new definition as it would be stored.
async fn prepared(request: &Request, definition: Value) -> Result<Value, Status> {
    let options = WriteOptions {
        dry_run: true,
        ..by_the_server()
    };
    let saved = write::create(request, &options, definition, Ownership::Track).await?;
    saved.object(&request.resource)
}

/// Creates definitions, with the names and conditions that they get, all at once.
async fn create_all(shared: &Arc<Shared>, mut new: Vec<Value>) -> Result<(), Status> {
    if new.is_empty() {
        return Ok(());
    }
    let resource = definitions(shared)?;
    let before = heads(shared)?;
    let now = clock::seconds(shared.clock.now());
    for index in 0..new.len() {
        let group = new[index]["spec"]["group"].as_str().unwrap_or_default();
        let mut used = crd::UsedNames::default();
        for other in before.iter().map(|head| &**head).chain(&new[..index]) {
            used.add(other, group);
        }
        new[index]["status"] = crd::status_for(&new[index], &used, &now);
    }
    let mut ops = Vec::new();
    for definition in &new {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        ops.push(Op::Put {
            key: stored::key(&resource, None, name),
            value: stored::encode(definition)?,
            expect: Expect::Absent,
        });
    }
    match write::commit_all(&shared.store, ops).await {
        Ok(_) => {}
        Err(Failure::Mismatch(_)) => return Err(Status::internal("somebody else was faster")),
        Err(Failure::Refused(status)) => return Err(status),
    }
    shared.refresh_catalog();
    Ok(())
}

/// Whether a stored definition is the one with this digest, as it was installed.
fn is_installed(stored: &[u8], digest: &str) -> bool {
    #[derive(Deserialize)]
    struct Stored {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        generation: i64,
        #[serde(default)]
        annotations: HashMap<String, String>,
    }
    serde_json::from_slice::<Stored>(stored).is_ok_and(|Stored { metadata }| {
        let installed = metadata.annotations.get(INSTALLED);
        metadata.generation == 1 && installed.is_some_and(|installed| installed == digest)
    })
}
