//! Pruning: fields that the schema does not know are dropped.

use serde_json::Value;

use crate::schema::{Additional, SchemaRef};

const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops unknown fields and gives their paths, sorted. `root` says that the value is a whole object, whose
/// `apiVersion`, `kind` and `metadata` are never touched.
pub fn prune(schema: SchemaRef<'_>, value: &mut Value, root: bool) -> Vec<String> {
    let mut pruner = Pruner {
        path: String::new(),
        dropped: Vec::new(),
    };
    pruner.value(Some(schema), value, root);
    pruner.dropped.sort_unstable();
    pruner.dropped.dedup();
    pruner.dropped
}

struct Pruner {
    path: String,
    dropped: Vec<String>,
}

impl Pruner {
    fn inside(&mut self, step: &str, visit: impl FnOnce(&mut Self)) {
        let before = self.path.len();
        if before > 0 && !step.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(step);
        visit(self);
        self.path.truncate(before);
    }

    fn drop_field(&mut self, name: &str) {
        if self.path.is_empty() && OBJECT_FIELDS.contains(&name) {
            return;
        }
        self.inside(name, |pruner| {
            let path = pruner.path.clone();
            pruner.dropped.push(path);
        });
    }

    /// `None` is a schema that knows nothing: maps lose all their fields.
    fn value(&mut self, schema: Option<SchemaRef<'_>>, value: &mut Value, root: bool) {
        let node = schema.map(SchemaRef::node);
        let preserve = node.is_some_and(|node| node.preserve_unknown);
        let embedded = root || node.is_some_and(|node| node.embedded_resource);
        match value {
            Value::Object(fields) => fields.retain(|name, value| {
                if embedded && OBJECT_FIELDS.contains(&name.as_str()) {
                    return true;
                }
                let Some(schema) = schema else {
                    self.drop_field(name);
                    return false;
                };
                if let Some(inner) = schema.property(name) {
                    self.inside(name, |pruner| pruner.value(Some(inner), value, false));
                    return true;
                }
                match schema.node().additional {
                    Additional::Of(id) => {
                        let inner = schema.schemas().at(id);
                        self.inside(name, |pruner| pruner.value(Some(inner), value, false));
                        true
                    }
                    Additional::Any => {
                        if !preserve {
                            self.inside(name, |pruner| pruner.value(None, value, false));
                        }
                        true
                    }
                    Additional::None if preserve => true,
                    Additional::None => {
                        self.drop_field(name);
                        false
                    }
                }
            }),
            Value::Array(entries) => {
                let items = schema.and_then(SchemaRef::items);
                // Where unknown fields are preserved, lists of unknown shape are preserved as well.
                if preserve && items.is_none() {
                    return;
                }
                for (at, entry) in entries.iter_mut().enumerate() {
                    self.inside(&format!("[{at}]"), |pruner| {
                        pruner.value(items, entry, false);
                    });
                }
            }
            _ => {}
        }
    }
}
