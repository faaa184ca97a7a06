//! The parts of what runs that its workload says, cut out of the objects: the image, the command, variables and files. What
//! is left is the type's business.

use quadrille_types::names::generate;
use serde_json::{Map, Value};

use super::{pods, running::Running};

/// Lists of a container or pod that the workload has a part in.
pub(super) const LISTS: [&str; 3] = ["env", "volumeMounts", "volumes"];

/// The objects of an environment, without what the workload says.
pub(super) struct Cut {
    /// The objects.
    pub(super) objects: Vec<Value>,
    /// What is left of each of [`LISTS`].
    pub(super) left: [Left; 3],
}

/// What is left of a list, without the workload's own part.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Left {
    /// What comes before the workload's part.
    pub(super) before: Vec<Value>,
    /// What comes after it.
    pub(super) after: Vec<Value>,
}

/// What the workload says, beside its image and command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Says {
    pub(super) env: bool,
    pub(super) files: bool,
}

/// The name of the volume of a file of its own.
fn volume(path: &str) -> String {
    format!("filemount-{}", generate::hash(path))
}

/// Cuts out what the workload says. Nothing where the lists do not have it in one piece, as it was written.
pub(super) fn cut(running: &Running, says: Says) -> Option<Cut> {
    let own = &running.own;
    let files: Vec<String> = own.files.iter().map(|(path, _)| volume(path)).collect();
    let files = if says.files { files } else { Vec::new() };
    let env = own.env.iter().map(|(key, _)| key.clone());
    let env: Vec<String> = if says.env { env.collect() } else { Vec::new() };
    let mut objects = running.objects.clone();
    let maps: Vec<String> = files.iter().map(|file| map_name(running, file)).collect();
    objects.retain(|object| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        object["kind"] != "ConfigMap" || !maps.iter().any(|map| map == name)
    });
    let mut left = [Left::default(), Left::default(), Left::default()];
    for object in &mut objects {
        let Some(way) = pods::way(object) else {
            continue;
        };
        let Some(Value::Object(pod)) = object.pointer_mut(&format!("{way}/spec")) else {
            continue;
        };
        left[2] = take(pod, LISTS[2], &files)?;
        let containers = pod.get_mut("containers").and_then(Value::as_array_mut);
        let mut containers = containers.into_iter().flatten();
        let container = containers.find(|one| one["name"] == *running.container);
        let Some(container) = container.and_then(Value::as_object_mut) else {
            continue;
        };
        left[0] = take(container, LISTS[0], &env)?;
        left[1] = take(container, LISTS[1], &files)?;
        for field in ["image", "command", "args"] {
            container.remove(field);
        }
    }
    Some(Cut { objects, left })
}

/// The `ConfigMap` of a file of its own.
fn map_name(running: &Running, volume: &str) -> String {
    let mut parts: Vec<&str> = running.parts.iter().map(String::as_str).collect();
    parts.push(volume);
    generate::name(&parts)
}

/// Takes a list away; what is left is told, if it has these names in one piece.
fn take(fields: &mut Map<String, Value>, list: &str, own: &[String]) -> Option<Left> {
    let Some(Value::Array(entries)) = fields.remove(list) else {
        return own.is_empty().then(Left::default);
    };
    let named = |entry: &Value, name: &String| entry["name"] == *name.as_str();
    let begin = match own.first() {
        None => 0,
        Some(first) => entries.iter().position(|entry| named(entry, first))?,
    };
    let end = begin + own.len();
    let piece = entries.get(begin..end)?;
    let is_whole = piece
        .iter()
        .zip(own)
        .all(|(entry, name)| named(entry, name));
    is_whole.then(|| Left {
        before: entries[..begin].to_vec(),
        after: entries[end..].to_vec(),
    })
}
