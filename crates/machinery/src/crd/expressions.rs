//! The rules (`x-kubernetes-validations`) of a definition: do they compile, and can they become too expensive?

use serde_json::{Value, json};

use crate::{
    field_error::{FieldError, Kind},
    go_text,
    schema::{Additional, Constraints, ListType, NodeId, Rule, SchemaRef, Type},
    structural::{self, Compiled},
};

/// What one rule may cost at most, by the estimate.
const RULE_LIMIT: u64 = 10_000_000;
/// What all rules of a schema may cost together.
const SCHEMA_LIMIT: u64 = 100_000_000;
/// How many times a value can stand in one request is bounded by the request's size.
const MAX_REQUEST_BYTES: u64 = 3 * 1024 * 1024;

/// Checks all rules of a version's schema, which is a valid one otherwise.
pub(super) fn check(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let built = structural::schema(Some(schema));
    let mut check = Check {
        total: 0,
        expensive: Vec::new(),
        errors: Vec::new(),
    };
    let place = Place {
        path: path.to_owned(),
        is_object: true,
        times: Some(1),
        uncorrelated: None,
    };
    check.visit(built.root(), &place);
    errors.append(&mut check.errors);
    if check.total > SCHEMA_LIMIT {
        for (path, _) in check.expensive {
            let why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            errors.push(FieldError::forbidden(path, why));
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.push(FieldError::forbidden(
            path,
            too_expensive(what, check.total, SCHEMA_LIMIT),
        ));
    }
}

/// A place in a schema.
struct Place {
    path: String,
    is_object: bool,
    /// How often a value of this place can be in an object; `None` if nothing bounds it.
    times: Option<u64>,
    /// The list around this place whose entries can't be told apart, if there is one.
    uncorrelated: Option<String>,
}

struct Check {
    total: u64,
    /// The most expensive expressions, dearest first.
    expensive: Vec<(String, u64)>,
    errors: Vec<FieldError>,
}

impl Check {
    fn visit(&mut self, schema: SchemaRef<'_>, place: &Place) {
        let node = schema.node();
        let times = match (place.times, contained(schema)) {
            (Some(times), Some(most)) => Some(times.saturating_mul(most)),
            _ => None,
        };
        let below = |id: NodeId, path: String, uncorrelated: Option<String>| {
            let inner = schema.schemas().at(id);
            let place = Place {
                path,
                is_object: inner.node().embedded_resource,
                times,
                uncorrelated,
            };
            (inner, place)
        };
        if let Additional::Of(id) = node.additional {
            let path = format!("{}.additionalProperties", place.path);
            let (inner, place) = below(id, path, place.uncorrelated.clone());
            self.visit(inner, &place);
        }
        for (name, id) in &node.properties {
            // What every object has brings no rules.
            let own = place.is_object && matches!(&**name, "apiVersion" | "kind" | "metadata");
            if !own {
                let path = format!("{}.properties[{name}]", place.path);
                let (inner, place) = below(*id, path, place.uncorrelated.clone());
                self.visit(inner, &place);
            }
        }
        if let Some(id) = node.items {
            let uncorrelated = match node.list_type {
                ListType::Map(_) => place.uncorrelated.clone(),
                ListType::Atomic | ListType::Set => Some(place.path.clone()),
            };
            let path = format!("{}.items", place.path);
            let (inner, place) = below(id, path, uncorrelated);
            self.visit(inner, &place);
        }
        self.check_rules(schema, place);
    }

    fn check_rules(&mut self, schema: SchemaRef<'_>, place: &Place) {
        let constraints = schema.node().constraints.as_deref();
        let rules = constraints.map_or(&[][..], |Constraints { rules, .. }| rules);
        if rules.is_empty() {
            return;
        }
        let path = format!("{}.x-kubernetes-validations", place.path);
        let Some(decl) = structural::declare(schema, place.is_object) else {
            let why = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
            self.errors.push(FieldError {
                kind: Kind::Internal,
                field: path,
                value: None,
                detail: why.to_owned(),
            });
            return;
        };
        let decl = decl.named("selfType");
        let fitting = MAX_REQUEST_BYTES / (decl.smallest() + 1);
        let times = place.times.unwrap_or(fitting);
        for (at, compiled) in structural::compile(rules, schema, &decl).iter().enumerate() {
            self.check_rule(compiled, &format!("{path}[{at}]"), times, place);
        }
    }

    fn check_rule(&mut self, compiled: &Compiled, path: &str, times: u64, place: &Place) {
        let rule = &compiled.rule;
        let at = format!("{path}.rule");
        self.count(
            "estimated rule cost",
            &at,
            compiled.max_cost.saturating_mul(times),
        );
        if let Some(Err(why)) = &compiled.program {
            self.errors.push(refused(&at, rule, why));
        }
        match &compiled.message {
            Some(Err(why)) => {
                let at = format!("{path}.messageExpression");
                self.errors.push(refused(&at, rule, why));
            }
            Some(Ok(_)) => {
                let at = format!("{path}.messageExpression");
                let cost = compiled.message_max_cost;
                self.count("estimated messageExpression cost", &at, cost);
            }
            None => {}
        }
        if compiled.uses_old_self {
            if let Some(within) = &place.uncorrelated {
                let why = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {within}"
                );
                self.errors
                    .push(FieldError::invalid(at, json!(rule.rule), why));
            }
        } else if let Some(optional) = rule.optional_old_self {
            let at = format!("{path}.optionalOldSelf");
            let why = "may not be set if oldSelf is not used in rule";
            self.errors
                .push(FieldError::invalid(at, json!(optional), why));
        }
    }

    /// Adds to the bill.
    fn count(&mut self, what: &str, path: &str, cost: u64) {
        if cost > RULE_LIMIT {
            self.errors.push(FieldError::forbidden(
                path,
                too_expensive(what, cost, RULE_LIMIT),
            ));
        }
        self.total = self.total.saturating_add(cost);
        if cost < SCHEMA_LIMIT / 100 {
            return;
        }
        self.expensive.push((path.to_owned(), cost));
        self.expensive.sort_by(|(_, a), (_, b)| b.cmp(a));
        self.expensive.truncate(4);
    }
}

/// How many values of a place's parts there can be for one value of it; `None` if nothing bounds them.
fn contained(schema: SchemaRef<'_>) -> Option<u64> {
    let node = schema.node();
    let unlimited = Constraints::default();
    let limits = node.constraints.as_deref().unwrap_or(&unlimited);
    let bound = |limit: Option<i64>| limit.map(|most| u64::try_from(most).unwrap_or(0));
    match node.ty {
        Some(Type::Object) if node.additional != Additional::None => bound(limits.max_properties),
        Some(Type::Array) => bound(limits.max_items),
        _ => Some(1),
    }
}

/// A rule that does not compile, shown as Go shows its own structure.
fn refused(path: &str, rule: &Rule, why: &str) -> FieldError {
    let text = |value: Option<&String>| go_text::json(value.map_or("", String::as_str));
    let reason = rule
        .reason
        .as_ref()
        .filter(|reason| !reason.is_empty())
        .map_or(Value::Null, |reason| json!(reason));
    let optional = rule.optional_old_self.map_or(Value::Null, Value::Bool);
    let shown = format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{reason},\"FieldPath\":{},\"OptionalOldSelf\":{optional}}}",
        go_text::json(&rule.rule),
        text(rule.message.as_ref()),
        text(rule.message_expression.as_ref()),
        text(rule.field_path.as_ref()),
    );
    FieldError {
        kind: Kind::Invalid,
        field: path.to_owned(),
        value: None,
        detail: format!("{shown}: {why}"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with a few digits")]
fn too_expensive(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}
