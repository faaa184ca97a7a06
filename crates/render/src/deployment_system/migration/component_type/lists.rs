//! Variables, volumes and mounts: the workload's part of each by an expression, the rest as it is.

use serde_json::{Map, Value, json};

use super::Inputs;
use crate::deployment_system::migration::{
    own_parts::LISTS,
    unify::{Differences, Each},
    words::quoted,
};

/// The way from a file of the workload to the name of its volume: the path, hashed.
const PATH: &str = "file.mountPath + \"/\" + file.name";

/// What stands in the type for what the workload says.
pub(super) struct Lists {
    /// The container's fields.
    container: Vec<(&'static str, String)>,
    /// The volumes of the pod.
    volumes: String,
    /// Parameters of the type.
    pub(super) parameters: Map<String, Value>,
    /// What the component gives them.
    pub(super) values: Map<String, Value>,
    /// What makes the files of the workload.
    pub(super) files: Option<Value>,
}

impl Lists {
    pub(super) fn make(inputs: &Inputs<'_>, differences: &mut Differences) -> Self {
        let mut made = Self {
            container: Vec::new(),
            volumes: String::new(),
            parameters: Map::new(),
            values: Map::new(),
            files: None,
        };
        made.command(inputs, differences);
        let says = inputs.says;
        let map = inputs.file_map_name(differences);
        let env = says.env.then(|| "configurations.configs.envs".to_owned());
        let mounts = format!(
            "configurations.configs.files.map(file, {PATH}).map(path, {{\"name\": {}, \"mountPath\": path, \"subPath\": \
             \"content\"}})",
            volume("path")
        );
        let volumes = format!(
            "configurations.configs.files.map(file, {PATH}).map(path, {}).map(volume, {{\"name\": volume, \"configMap\": \
             {{\"name\": oc_generate_name({map}, volume)}}}})",
            volume("path")
        );
        let files = |own: String| says.files.then_some(own);
        for (index, own) in [env, files(mounts), files(volumes)].into_iter().enumerate() {
            let more = (index == 0).then(|| "dependencies.toContainerEnvs()".to_owned());
            let expression = made.list(inputs, index, own, more, differences);
            if index == 2 {
                made.volumes = expression;
            } else {
                made.container.push((LISTS[index], expression));
            }
        }
        made.files = says.files.then(|| {
            json!({
                "id": "files",
                "forEach": "${configurations.configs.files}",
                "var": "file",
                "template": {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {
                        "name": format!("${{oc_generate_name({map}, {})}}", volume(PATH)),
                        "namespace": "${metadata.namespace}",
                    },
                    "data": { "content": "${file.value}" },
                },
            })
        });
        made
    }

    /// The image, the command and its arguments: the workload's, unless an environment has others.
    fn command(&mut self, inputs: &Inputs<'_>, differences: &mut Differences) {
        let first = &inputs.running[0].own;
        let each: Each = inputs
            .running
            .iter()
            .map(|one| (one.own.image != first.image).then(|| json!(one.own.image)))
            .collect();
        let image = if each.iter().all(Option::is_none) {
            "workload.container.image".to_owned()
        } else {
            differences.tell("image", &each);
            "environmentConfigs.?image.orValue(workload.container.image)".to_owned()
        };
        self.container.push(("image", format!("${{{image}}}")));
        for field in ["command", "args"] {
            let list = |index: usize| {
                let own = &inputs.running[index].own;
                if field == "args" {
                    &own.args
                } else {
                    &own.command
                }
            };
            let each: Each = (0..inputs.running.len())
                .map(|index| (list(index) != list(0)).then(|| json!(list(index))))
                .collect();
            let expression = if each.iter().all(Option::is_none) {
                format!("workload.container.?{field}")
            } else {
                differences.tell(field, &each);
                // An environment that has none says so with an empty list.
                format!(
                    "optional.ofNonZeroValue(environmentConfigs.?{field}.or(workload.container.?{field}).orValue([]))"
                )
            };
            self.container.push((field, format!("${{{expression}}}")));
        }
    }

    /// A list: what comes before the workload's part, that part, and what comes after it.
    fn list(
        &mut self,
        inputs: &Inputs<'_>,
        index: usize,
        own: Option<String>,
        more: Option<String>,
        differences: &mut Differences,
    ) -> String {
        let name = LISTS[index];
        let before: Each = inputs
            .cuts
            .iter()
            .map(|cut| Some(json!(cut.left[index].before)))
            .collect();
        let after: Each = inputs
            .cuts
            .iter()
            .map(|cut| Some(json!(cut.left[index].after)))
            .collect();
        let before = self.rest(&format!("{name}Before"), &before, differences);
        let after = self.rest(name, &after, differences);
        let parts: Vec<String> = [before, own, after, more].into_iter().flatten().collect();
        format!("${{optional.ofNonZeroValue({})}}", parts.join(" + "))
    }

    /// What is not the workload's: said once by the component where it is the same everywhere, else per environment.
    fn rest(&mut self, name: &str, each: &Each, differences: &mut Differences) -> Option<String> {
        let first = each.first().cloned().flatten()?;
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        if each.iter().flatten().all(is_empty) {
            return None;
        }
        if each.iter().all(|value| value.as_ref() == Some(&first)) {
            let shape = json!({ "type": "array", "items": { "type": "object" }, "default": [] });
            self.parameters.insert(name.to_owned(), shape);
            self.values.insert(name.to_owned(), first);
            return Some(format!("parameters.{name}"));
        }
        differences.tell(name, each);
        Some(format!("environmentConfigs.{name}"))
    }

    /// Files carry the labels of what reads them.
    pub(super) fn label_files(&mut self, runs: &Value) {
        if let Some(files) = &mut self.files {
            files["template"]["metadata"]["labels"] = runs["metadata"]["labels"].clone();
        }
    }

    /// Puts what is said into the template of what runs.
    pub(super) fn put(&self, template: &mut Value, way: &str, container: &str) {
        let Some(Value::Object(pod)) = template.pointer_mut(&format!("{way}/spec")) else {
            return;
        };
        pod.insert("volumes".to_owned(), self.volumes.as_str().into());
        let containers = pod.get_mut("containers").and_then(Value::as_array_mut);
        let mut containers = containers.into_iter().flatten();
        if let Some(found) = containers.find(|one| one["name"] == container) {
            for (field, expression) in &self.container {
                found[*field] = expression.as_str().into();
            }
        }
    }
}

impl Inputs<'_> {
    /// The first parts of the name of a file's `ConfigMap`, as an expression has them.
    fn file_map_name(&self, differences: &mut Differences) -> String {
        let first = &self.running[0].parts;
        if !self.says.files || self.running.iter().all(|one| one.parts == *first) {
            let parts: Vec<String> = first.iter().map(|part| quoted(part)).collect();
            return parts.join(", ");
        }
        // Only bindings are called otherwise in each environment, and theirs is the only part.
        let each: Each = self
            .running
            .iter()
            .map(|one| one.parts.first().map(|part| json!(part)))
            .collect();
        let name = differences.name(&[vec!["binding"]], &each);
        format!("environmentConfigs.{name}")
    }
}

/// The name of the volume of a file: the last eight digits of a name made of its path are the path's hash.
fn volume(path: &str) -> String {
    format!(
        "\"filemount-\" + oc_generate_name({path}).substring(oc_generate_name({path}).size() - 8)"
    )
}
