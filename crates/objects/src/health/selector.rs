//! Which pods belong to a workload, as it is asked of the API.

use serde_json::Value;

use super::live::{entries, text};

/// The pods of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodSelector {
    /// The namespace they are in.
    pub namespace: String,
    /// Their labels, as `labelSelector` of a list or a watch.
    pub labels: String,
}

impl PodSelector {
    /// The pods that a workload's `spec.selector` means. There are none where it is missing, empty or
    /// not understood: an empty selector would mean every pod of the namespace, which no workload owns.
    pub(super) fn of(workload: &Value) -> Option<Self> {
        Some(Self {
            namespace: text(&workload["metadata"]["namespace"]).to_owned(),
            labels: labels(&workload["spec"]["selector"]).filter(|labels| !labels.is_empty())?,
        })
    }
}

/// A label selector in one line, in an order that does not depend on how it was written.
fn labels(selector: &Value) -> Option<String> {
    let mut terms = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        terms.push(format!("{key}={}", value.as_str()?));
    }
    for expression in entries(&selector["matchExpressions"]) {
        terms.push(term(expression)?);
    }
    terms.sort_unstable();
    terms.dedup();
    Some(terms.join(","))
}

fn term(expression: &Value) -> Option<String> {
    let key = expression["key"].as_str().filter(|key| !key.is_empty())?;
    let listed = entries(&expression["values"]).iter();
    let values = listed.map(Value::as_str).collect::<Option<Vec<_>>>()?;
    let among = |word| (!values.is_empty()).then(|| format!("{key} {word} ({})", values.join(",")));
    match text(&expression["operator"]) {
        "In" => among("in"),
        "NotIn" => among("notin"),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(selector: &Value) -> Option<String> {
        let workload = json!({"metadata": {"namespace": "shop"}, "spec": {"selector": selector}});
        let pods = PodSelector::of(&workload)?;
        assert_eq!(pods.namespace, "shop");
        Some(pods.labels)
    }

    #[test]
    fn labels_and_expressions_are_written_as_the_api_reads_them() {
        let selector = json!({
            "matchLabels": {"app": "cart", "a/b": ""},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["web", "api"]},
                {"key": "track", "operator": "NotIn", "values": ["canary"]},
                {"key": "team", "operator": "Exists"},
                {"key": "legacy", "operator": "DoesNotExist", "values": []},
            ],
        });
        assert_eq!(
            rendered(&selector).as_deref(),
            Some("!legacy,a/b=,app=cart,team,tier in (web,api),track notin (canary)")
        );
    }

    #[test]
    fn a_selector_that_means_everything_or_nothing_clear_selects_no_pods() {
        for selector in [
            json!(null),
            json!({}),
            json!({"matchLabels": {}}),
            json!({"matchLabels": {"app": 1}}),
            json!({"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}),
            json!({"matchExpressions": [{"key": "a", "operator": "Near"}]}),
            json!({"matchLabels": {"app": "cart"}, "matchExpressions": [{"operator": "Exists"}]}),
        ] {
            assert_eq!(rendered(&selector), None, "{selector}");
        }
    }
}
