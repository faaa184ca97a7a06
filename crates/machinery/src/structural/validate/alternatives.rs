//! Schemas inside a schema: `anyOf`, `oneOf`, `allOf` and `not`.

use serde_json::Value;

use super::{NO_FIELD, Outcome, check_strictly};
use crate::{
    field_error::FieldError,
    schema::{Constraints, NodeId, SchemaRef},
};

/// `anyOf`, `oneOf`, `allOf` and `not`.
pub(super) fn check(
    schema: SchemaRef<'_>,
    limits: &Constraints,
    value: &Value,
    old: Option<&Value>,
    path: &mut String,
) -> Outcome {
    let mut outcome = Outcome::default();
    let blame = |path: &str, rest: &str| {
        FieldError::invalid(NO_FIELD, Value::from(""), format!("{path:?} {rest}"))
    };
    let mut run = |id: NodeId| check_strictly(schema.schemas().at(id), value, old, path);
    let mut findings = Vec::new();
    if !limits.any_of.is_empty() {
        let results: Vec<Outcome> = limits.any_of.iter().map(|id| run(*id)).collect();
        match results.iter().position(Outcome::valid) {
            Some(at) => findings.push((None, results.into_iter().nth(at))),
            None => findings.push((
                Some("must validate at least one schema (anyOf)".to_owned()),
                best(results),
            )),
        }
    }
    if !limits.one_of.is_empty() {
        let mut results: Vec<Outcome> = limits.one_of.iter().map(|id| run(*id)).collect();
        let valid = results.iter().filter(|result| result.valid()).count();
        match valid {
            1 => {
                let at = results.iter().position(Outcome::valid).unwrap_or(0);
                findings.push((None, Some(results.swap_remove(at))));
            }
            0 => findings.push((
                Some("must validate one and only one schema (oneOf). Found none valid".to_owned()),
                best(results),
            )),
            many => findings.push((
                Some(format!(
                    "must validate one and only one schema (oneOf). Found {many} valid alternatives"
                )),
                None,
            )),
        }
    }
    let mut failed_all = None;
    if !limits.all_of.is_empty() {
        let results: Vec<Outcome> = limits.all_of.iter().map(|id| run(*id)).collect();
        let valid = results.iter().filter(|result| result.valid()).count();
        if valid < results.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            failed_all = Some(format!("must validate all the schemas (allOf){none}"));
        }
        findings.extend(results.into_iter().map(|result| (None, Some(result))));
    }
    let forbidden = limits.not.is_some_and(|id| run(id).valid());
    for (complaint, result) in findings {
        if let Some(rest) = complaint {
            outcome.add(blame(path, &rest));
        }
        if let Some(result) = result {
            outcome.merge(result);
        }
    }
    if let Some(rest) = failed_all {
        outcome.add(blame(path, &rest));
    }
    if forbidden {
        outcome.add(blame(path, "must not validate the schema (not)"));
    }
    outcome.matched += 1;
    outcome
}

/// The failure that matched most; the first of equals.
fn best(results: Vec<Outcome>) -> Option<Outcome> {
    results.into_iter().reduce(|best, next| {
        if next.matched > best.matched {
            next
        } else {
            best
        }
    })
}
