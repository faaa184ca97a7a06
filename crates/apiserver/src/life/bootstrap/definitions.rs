//! Definitions that are installed at the start of a server.
//!
//! There may be many and large ones. They are given as they are stored, so a new one is copied, with metadata and status
//! around its spec, and all new ones are written together. What is stored already is told by its text.

use std::{collections::HashMap, sync::Arc};

use quadrille_machinery::{crd, status::Status};
use quadrille_store::{Expect, Op};
use serde_json::{Value, json};

use super::{super::definitions::heads, by_the_server};
use crate::{
    clock,
    definition::Parts,
    resource::Resource,
    rest::write::{self, Failure, Ownership, VersionRule},
    server::{Definitions, Shared, StartError},
    stored, strategy,
};

/// Creates or updates custom resource definitions, and serves them.
pub(crate) async fn install(
    shared: &Arc<Shared>,
    definitions: Definitions,
) -> Result<(), StartError> {
    let failed = |what: &str, status| StartError::Bootstrap {
        what: what.to_owned(),
        status,
    };
    let mut new = New::around(shared).map_err(|status| failed("definitions", status))?;
    let mut changed = Vec::new();
    for text in definitions {
        let given: Parts<'_> = serde_json::from_str(&text)
            .map_err(|error| failed("a definition", Status::internal(error)))?;
        let Some(name) = given.name().map(str::to_owned) else {
            let status = Status::internal("metadata.name is missing");
            return Err(failed("a definition", status));
        };
        let done = match look(shared, &name, &given) {
            Ok(Found::Installed) => Ok(()),
            Ok(Found::Nothing) => new.add(&name, given),
            Ok(Found::Another) => {
                let done = replace(shared, &name, &given).await;
                changed.push(name.clone());
                done
            }
            Err(status) => Err(status),
        };
        done.map_err(|status| failed(&name, status))?;
    }
    let synced = async {
        new.create(shared).await?;
        let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
        shared.sync_definitions(&changed).await
    };
    synced.await.map_err(|status| failed("definitions", status))
}

/// What is stored under the name of a definition.
enum Found {
    /// The same.
    Installed,
    /// What an earlier version brought, or what somebody made of it.
    Another,
    Nothing,
}

fn look(shared: &Shared, name: &str, given: &Parts<'_>) -> Result<Found, Status> {
    let resource = definitions(shared)?;
    let key = stored::key(&resource, None, name);
    let Some(record) = shared.store.get(&key).map_err(Status::internal)? else {
        return Ok(Found::Nothing);
    };
    let there: Parts<'_> = serde_json::from_slice(&record.value).map_err(Status::internal)?;
    // To read and check a large definition takes its time; the same text needs neither. Names that were not accepted
    // are those of an update that the server did not live to serve.
    let names = &given.head().map_err(Status::internal)?["spec"]["names"];
    if there.spec.get() == given.spec.get() && there.status["acceptedNames"] == *names {
        return Ok(Found::Installed);
    }
    Ok(Found::Another)
}

/// Makes a definition that is there what was given, as if somebody updated it.
async fn replace(shared: &Arc<Shared>, name: &str, given: &Parts<'_>) -> Result<(), Status> {
    let mut request = shared.request(&definitions(shared)?, None, name);
    request.one_of_many = true;
    let spec: Value = serde_json::from_str(given.spec.get()).map_err(Status::internal)?;
    let (options, rule) = (by_the_server(), VersionRule::Retry);
    write::update(&request, &options, Ownership::Track, rule, |current| {
        let mut new = current.object.clone();
        new["spec"] = spec.clone();
        Ok(new)
    })
    .await?;
    Ok(())
}

fn definitions(shared: &Shared) -> Result<Arc<Resource>, Status> {
    shared.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

/// Definitions that are to be created, all at once. As trees they would take far more memory than as text, and the
/// process would keep it. Nobody owns their fields: to tell whose every field of a schema is takes as much as the
/// schema, and no one asks.
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
    fn add(&mut self, name: &str, given: Parts<'_>) -> Result<(), Status> {
        let mut head = given.head().map_err(Status::internal)?;
        let group = group_of(&head);
        let used = self.used.entry(group.clone()).or_default();
        head["status"] = crd::initial_status(&head);
        head["status"] = crd::status_for(&head, used, &self.now);
        used.add(&head, &group);
        let mut metadata = given.metadata;
        strategy::fill_system_fields(&mut metadata, &self.now);
        metadata.insert("generation".to_owned(), json!(1));
        self.ops.push(Op::Put {
            key: stored::key(&self.resource, None, name),
            value: stored::encode_around(given.spec, &metadata, &head["status"])?,
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
