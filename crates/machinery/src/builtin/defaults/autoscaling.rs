//! Defaults of the horizontal pod autoscaler, version 2.

use serde_json::{Map, Value, json};

use crate::builtin::fields::{count, object, object_or_new, unset};

type Object = Map<String, Value>;

/// Without metrics it looks at the processor; a behaviour is completed on both sides.
pub(super) fn spec(spec: &mut Object) {
    if count(spec, "metrics") == 0 {
        let metric = json!([{
            "type": "Resource",
            "resource": {
                "name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 80},
            },
        }]);
        spec.insert("metrics".into(), metric);
    }
    if let Some(behavior) = object(spec, "behavior") {
        let up = json!({
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                {"type": "Pods", "value": 4, "periodSeconds": 15},
                {"type": "Percent", "value": 100, "periodSeconds": 15},
            ],
        });
        let down = json!({
            "selectPolicy": "Max",
            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
        });
        complete(object_or_new(behavior, "scaleUp"), &up);
        complete(object_or_new(behavior, "scaleDown"), &down);
    }
}

fn complete(rules: &mut Object, defaults: &Value) {
    for (name, value) in defaults.as_object().into_iter().flatten() {
        if unset(rules, name) {
            rules.insert(name.clone(), value.clone());
        }
    }
}
