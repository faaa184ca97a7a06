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
    definitions: impl Iterator<Item = &str>,
) -> Result<(), StartError> {
    let failed = |what: &str, status| StartError::Bootstrap {
        what: what.to_owned(),
        status,
    };
    let mut new = New::around(shared).map_err(|status| failed("definitions", status))?;
    let mut changed = Vec::new();
    for text in definitions {
        let named: Named = serde_json::from_str(text)
            .map_err(|error| failed("a definition", Status::internal(error)))?;
        let name = named.metadata.name;
        match look(shared, &name, text).await {
            Ok(Found::Installed) => {}
            Ok(Found::Changed) => changed.push(name),
            Ok(Found::New(definition)) => new
                .add(&name, definition)
                .map_err(|status| failed(&name, status))?,
            Err(status) => return Err(failed(&name, status)),
        }
    }
    let synced = async {
        new.create(shared).await?;
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
    // Nobody's: whose every field of a schema is would be as long as the schema, and no one asks.
    let saved = write::create(request, &options, definition, Ownership::Recorded).await?;
    saved.object(&request.resource)
}

/// Definitions that are to be created, all at once. As trees they would take far more memory than as text, and the
/// process would keep it.
struct New {
    resource: Arc<Resource>,
    /// The names that are taken, by group.
    used: HashMap<String, crd::UsedNames>,
    now: String,
    ops: Vec<Op>,
}

impl New {
    /// None yet, beside those that are there.
    fn around(shared: &Shared) -> Result<Self, Status> {
        let mut used: HashMap<String, crd::UsedNames> = HashMap::new();
        for head in heads(shared)? {
            let group = group_of(&head);
            used.entry(group.clone()).or_default().add(&head, &group);
        }
        Ok(Self {
            resource: definitions(shared)?,
            used,
            now: clock::seconds(shared.clock.now()),
            ops: Vec::new(),
        })
    }

    /// Adds one, with the names and conditions that it gets.
    fn add(&mut self, name: &str, mut definition: Value) -> Result<(), Status> {
        let group = group_of(&definition);
        let used = self.used.entry(group.clone()).or_default();
        definition["status"] = crd::status_for(&definition, used, &self.now);
        used.add(&definition, &group);
        self.ops.push(Op::Put {
            key: stored::key(&self.resource, None, name),
            value: stored::encode(&definition)?,
            expect: Expect::Absent,
        });
        Ok(())
    }

    async fn create(self, shared: &Shared) -> Result<(), Status> {
        if self.ops.is_empty() {
            return Ok(());
        }
        match write::commit_all(&shared.store, self.ops).await {
            Ok(_) => {}
            Err(Failure::Mismatch(_)) => return Err(Status::internal("somebody else was faster")),
            Err(Failure::Refused(status)) => return Err(status),
        }
        shared.refresh_catalog();
        Ok(())
    }
}

fn group_of(definition: &Value) -> String {
    let group = definition["spec"]["group"].as_str();
    group.unwrap_or_default().to_owned()
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
