//! Request scripts: what they may say, and reading them from their folder.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::super::scripts;

/// One script: a rule of the API, shown by a few requests.
pub(super) type Script = scripts::Script<Content>;

/// The content of a script file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    /// The rule, as a sentence.
    pub(super) description: String,
    /// Names for texts that several steps use.
    #[serde(default)]
    pub(super) vars: BTreeMap<String, String>,
    /// Times are told apart (`<time-1>`, `<time-2>`); such a script separates its moments by `tick` steps.
    #[serde(default)]
    pub(super) clock: bool,
    /// The requests, in order.
    pub(super) steps: Vec<Step>,
}

/// One step: exactly one of its actions is set.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the words of a file format, not states"
)]
pub(super) struct Step {
    /// GET this path.
    pub(super) get: Option<String>,
    /// POST the body to this path.
    pub(super) post: Option<String>,
    /// PUT the body to this path.
    pub(super) put: Option<String>,
    /// DELETE this path.
    pub(super) delete: Option<String>,
    /// PATCH with a JSON patch.
    pub(super) json: Option<String>,
    /// PATCH with a JSON merge patch.
    pub(super) merge: Option<String>,
    /// PATCH with a strategic merge patch.
    pub(super) strategic: Option<String>,
    /// PATCH with a server-side apply.
    pub(super) apply: Option<String>,
    /// Any other request: `METHOD /path`.
    pub(super) request: Option<String>,
    /// Opens a watch on this path.
    pub(super) watch: Option<String>,
    /// Reads events of the watch with this name.
    pub(super) collect: Option<String>,
    /// GETs this path again and again until `until` holds; only the last answer counts.
    pub(super) wait: Option<String>,
    /// Waits until the next second of the clock begins.
    pub(super) tick: bool,

    /// The name of an opened watch.
    #[serde(rename = "as")]
    pub(super) name: Option<String>,
    /// How many events to collect.
    pub(super) events: Option<usize>,
    /// Collect until the server ends the watch.
    pub(super) end: bool,
    /// Keep periodic bookmarks too.
    pub(super) bookmarks: bool,
    /// Conditions of `wait`: path to expected value; the path `status` means the HTTP status.
    pub(super) until: BTreeMap<String, Value>,

    /// Query parameters, encoded by the runner.
    pub(super) query: BTreeMap<String, Value>,
    /// Further headers.
    pub(super) headers: BTreeMap<String, String>,
    /// A body, sent as JSON.
    pub(super) body: Option<Value>,
    /// A body, sent as it stands.
    pub(super) text: Option<String>,
    /// A body put together from pieces.
    pub(super) pieces: Option<Vec<Piece>>,
    /// A body from a file of custom resource definitions.
    pub(super) file: Option<String>,
    /// Values of the answer for later steps: name to path.
    pub(super) save: BTreeMap<String, String>,
    /// Places of the result that are not compared.
    pub(super) ignore: Vec<String>,
    /// The only places of the result that are compared.
    pub(super) only: Vec<String>,
    /// The causes of a refusal come in any order: real servers walk a custom resource's fields so.
    pub(super) any_order: bool,
    /// Preparation: only the status is compared.
    pub(super) quiet: bool,
}

/// A piece of a body: a text, or a text many times over.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Piece {
    /// As it stands.
    Text(String),
    /// Repeated.
    Repeat {
        /// What to repeat.
        repeat: String,
        /// How often.
        times: usize,
    },
}

/// How far a script's requests go, and so which scripts it could disturb.
#[derive(Debug, PartialEq, Eq, Clone, Copy, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Its own namespace.
    Namespace,
    /// Custom resource definitions, some of which several scripts bring.
    Definitions,
    /// Anything.
    Server,
}

impl Script {
    /// The farthest of its requests.
    pub(super) fn reach(&self) -> Reach {
        let farthest = self.content.steps.iter().filter_map(Step::reach).max();
        farthest.unwrap_or(Reach::Namespace)
    }
}

/// What a step does.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) enum Action<'a> {
    /// A request: method, path, default content type.
    Request(&'a str, &'a str, Option<&'static str>),
    /// Open a watch.
    Watch(&'a str),
    /// Read events of a watch.
    Collect(&'a str),
    /// Poll.
    Wait(&'a str),
    /// Wait for the next second.
    Tick,
}

impl Step {
    fn reach(&self) -> Option<Reach> {
        let path = match self.action().ok()? {
            Action::Request(_, path, _) | Action::Watch(path) | Action::Wait(path) => path,
            Action::Collect(_) | Action::Tick => return None,
        };
        Some(match path {
            path if path.starts_with("${crds}") => Reach::Definitions,
            path if path.starts_with('/') => Reach::Server,
            _ => Reach::Namespace,
        })
    }

    /// The one action of this step.
    pub(super) fn action(&self) -> Result<Action<'_>> {
        const JSON: Option<&str> = Some("application/json");
        let requests = [
            (&self.get, "GET", None),
            (&self.post, "POST", JSON),
            (&self.put, "PUT", JSON),
            (&self.delete, "DELETE", JSON),
            (&self.json, "PATCH", Some("application/json-patch+json")),
            (&self.merge, "PATCH", Some("application/merge-patch+json")),
            (
                &self.strategic,
                "PATCH",
                Some("application/strategic-merge-patch+json"),
            ),
            (&self.apply, "PATCH", Some("application/apply-patch+yaml")),
        ];
        let mut actions: Vec<_> = requests
            .into_iter()
            .filter_map(|(path, method, content_type)| {
                Some(Action::Request(method, path.as_deref()?, content_type))
            })
            .collect();
        if let Some((method, path)) = self.request.as_deref().and_then(|r| r.split_once(' ')) {
            actions.push(Action::Request(method, path, None));
        }
        actions.extend(self.watch.as_deref().map(Action::Watch));
        actions.extend(self.collect.as_deref().map(Action::Collect));
        actions.extend(self.wait.as_deref().map(Action::Wait));
        if self.tick {
            actions.push(Action::Tick);
        }
        ensure!(
            actions.len() == 1,
            "a step has exactly one action, not {}",
            actions.len()
        );
        Ok(actions[0])
    }
}

/// All scripts under `folder` whose name contains `only`, sorted by name.
pub(super) fn load(folder: &Path, only: Option<&str>) -> Result<Vec<Script>> {
    let mut found = Vec::new();
    for group in scripts::sorted_entries(folder)? {
        if !group.is_dir() {
            continue;
        }
        for (file, name) in scripts::files(&group)? {
            let name = format!("{}/{name}", scripts::stem(&group));
            if only.is_none_or(|only| name.contains(only)) {
                found.push(checked(Script::read(&file, name)?)?);
            }
        }
    }
    Ok(found)
}

fn checked(script: Script) -> Result<Script> {
    for (index, step) in script.content.steps.iter().enumerate() {
        step.action()
            .with_context(|| format!("script {}, step {}", script.name, index + 1))?;
    }
    Ok(script)
}
