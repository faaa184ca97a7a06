//! Admission policies: kept compiled, and asked before anything is written.
//!
//! ```text
//!   store ──watch──► Policies ──hooks──► admit: match, parameters, judge ──► Status, warnings, audit notes
//! ```

mod admit;
mod change;
mod host;
mod params;

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use quadrille_machinery::{
    policy::{Criteria, Policy},
    status::Status,
};
use quadrille_store::{Store, Watch};
use serde_json::Value;

pub(crate) use self::{
    admit::admit,
    change::{Change, Operation},
};
use crate::stored;

/// Where policies and bindings are kept.
const KEPT: [&str; 2] = [
    "validatingadmissionpolicies.admissionregistration.k8s.io/",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io/",
];

/// Notes of policies about one request, for the request log.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditNotes(pub(crate) std::collections::BTreeMap<String, String>);

/// All policies that are bound to something, as they are now.
#[derive(Default)]
pub(crate) struct Policies(Mutex<Known>);

#[derive(Default)]
struct Known {
    watches: Vec<Watch>,
    hooks: Arc<Vec<Hook>>,
}

/// A policy and its bindings.
pub(crate) struct Hook {
    name: String,
    definition: Arc<Definition>,
    bindings: Vec<Binding>,
}

/// A policy, compiled once for each of its states.
struct Definition {
    state: (String, String),
    spec: Value,
    constraints: Criteria,
    policy: Policy,
}

struct Binding {
    name: String,
    spec: Value,
    resources: Option<Criteria>,
}

impl Policies {
    /// The policies that hold now: a policy holds as soon as its author hears that it is written.
    fn hooks(&self, store: &Store) -> Result<Arc<Vec<Hook>>, Status> {
        let mut known = self.0.lock();
        let mut unchanged = !known.watches.is_empty();
        for watch in &mut known.watches {
            unchanged &= matches!(watch.try_next(), Ok(None));
        }
        if !unchanged {
            // What can't be read is read again next time.
            known.watches.clear();
            // Watching begins before reading, so that nothing falls in between.
            let now = store.revision();
            let watches: Vec<Watch> = KEPT
                .iter()
                .map(|prefix| store.watch(prefix.as_bytes(), now))
                .collect::<Result<_, _>>()
                .map_err(Status::internal)?;
            known.hooks = Arc::new(load(store, &known.hooks)?);
            known.watches = watches;
        }
        Ok(known.hooks.clone())
    }
}

/// Reads all policies and bindings. Those that are as before need not be compiled again.
fn load(store: &Store, before: &[Hook]) -> Result<Vec<Hook>, Status> {
    let [policies, bindings] = KEPT.map(|prefix| read(store, prefix));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut bound: HashMap<String, Vec<Binding>> = HashMap::new();
    for binding in bindings? {
        let spec = binding["spec"].clone();
        let resources = &spec["matchResources"];
        let binding = Binding {
            name: text(&binding["metadata"]["name"]),
            resources: resources.is_object().then(|| Criteria::new(resources)),
            spec,
        };
        let policy = text(&binding.spec["policyName"]);
        bound.entry(policy).or_default().push(binding);
    }
    let mut hooks = Vec::new();
    for policy in policies? {
        let name = text(&policy["metadata"]["name"]);
        let Some(bindings) = bound.remove(&name) else {
            continue;
        };
        let metadata = &policy["metadata"];
        let state = (text(&metadata["uid"]), metadata["generation"].to_string());
        let known = before.iter().find(|hook| hook.definition.state == state);
        let definition = match known {
            Some(hook) => hook.definition.clone(),
            None => Arc::new(Definition {
                state,
                constraints: Criteria::new(&policy["spec"]["matchConstraints"]),
                policy: Policy::compile(&policy["spec"]),
                spec: policy["spec"].clone(),
            }),
        };
        hooks.push(Hook {
            name,
            definition,
            bindings,
        });
    }
    Ok(hooks)
}

fn read(store: &Store, prefix: &'static str) -> Result<Vec<Value>, Status> {
    stored::scan(store, prefix)
        .map(|record| serde_json::from_slice(&record?.value).map_err(Status::internal))
        .collect()
}
