//! What is changed about requests and answers: their headers.

use std::collections::BTreeMap;

use quadrille_types::api_class::{Mediation, Transformation};
use serde_json::{Value, json};

use super::Reader;
use crate::error::RenderError;

impl Reader<'_> {
    /// Changes as filters of a route. Gateways change headers only; what else is asked for is told.
    pub(super) fn filters(
        &self,
        mediation: &Mediation,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Value>, RenderError> {
        let sides = [
            (
                "requestTransformations",
                &mediation.request_transformations,
                "RequestHeaderModifier",
                "requestHeaderModifier",
            ),
            (
                "responseTransformations",
                &mediation.response_transformations,
                "ResponseHeaderModifier",
                "responseHeaderModifier",
            ),
        ];
        let mut filters = Vec::new();
        for (side, changes, kind, key) in sides {
            let mut modifier: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
            for (index, change) in changes.iter().enumerate() {
                let part = format!("{side}[{index}]");
                if !matches!(
                    change.kind.to_ascii_lowercase().as_str(),
                    "header" | "headers"
                ) {
                    notes.push(format!(
                        "{}.{part}.type: {:?} is not changed by gateways, only header is",
                        self.field("mediation"),
                        change.kind
                    ));
                    continue;
                }
                let (action, entries) = self.change(change, &part)?;
                modifier.entry(action).or_default().extend(entries);
            }
            if !modifier.is_empty() {
                let mut filter = json!({ "type": kind });
                filter[key] = json!(modifier);
                filters.push(filter);
            }
        }
        Ok(filters)
    }

    /// One change: what is done, and to which headers.
    fn change(
        &self,
        change: &Transformation,
        part: &str,
    ) -> Result<(&'static str, Vec<Value>), RenderError> {
        let action = match change.action.to_ascii_lowercase().as_str() {
            "add" => "add",
            "set" => "set",
            "remove" => "remove",
            other => {
                let words = format!("is {other:?}, must be add, set or remove");
                return Err(self.wrong("mediation", &format!("{part}.action"), words));
            }
        };
        let one = change.header_name.as_deref();
        let entries: Vec<Value> = if action == "remove" {
            let names = change.headers.iter().map(String::as_str).chain(one);
            names.map(Value::from).collect()
        } else {
            let value = change.header_value.as_deref().unwrap_or_default();
            let fields = change.fields.iter();
            let fields = fields.map(|(name, value)| (name.as_str(), value.as_str()));
            let all = fields.chain(one.map(|name| (name, value)));
            all.map(|(name, value)| json!({ "name": name, "value": value }))
                .collect()
        };
        let is_named = |entry: &Value| entry.get("name").unwrap_or(entry) != "";
        let has_value = |entry: &Value| entry.get("value").is_none_or(|value| value != "");
        if entries.is_empty()
            || !entries
                .iter()
                .all(|entry| is_named(entry) && has_value(entry))
        {
            let words = "must name headers, and their values where they are set or added";
            return Err(self.wrong("mediation", part, words));
        }
        Ok((action, entries))
    }
}
