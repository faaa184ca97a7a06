//! Running compiled rules over an object.

use quadrille_expr::{Bindings, COST_LIMIT, Evaluation, Program, Value as ExprValue};
use serde_json::Value;

use super::{super::correlate, Checker, Compiled};
use crate::{
    field_error::{FieldError, Kind},
    schema::{Schema, SchemaRef, Type},
};

/// The longest message that an expression may make.
const MAX_MESSAGE_BYTES: usize = 5 * 1024;
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// What the rules say about an object.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// What is wrong.
    pub errors: Vec<FieldError>,
    /// What would be wrong, were it not so before.
    pub warnings: Vec<FieldError>,
}

/// Whether what a rule says can be forgiven: is there an old value to compare with, and is it the same.
#[derive(Clone, Copy)]
struct Past<'v> {
    /// The new and the old value of this place, where they can be told to belong together.
    here: Option<(&'v Value, &'v Value)>,
    /// Whether the nearest place above that could be compared is unchanged.
    above_unchanged: bool,
    is_root: bool,
}

/// One run.
pub(super) struct Judge<'s> {
    schema: &'s Schema,
    remaining: u64,
    exhausted: bool,
    judgement: Judgement,
}

impl<'s> Judge<'s> {
    pub(super) fn new(schema: &'s Schema, budget: u64) -> Self {
        Self {
            schema,
            remaining: budget,
            exhausted: false,
            judgement: Judgement::default(),
        }
    }

    pub(super) fn run(
        mut self,
        checker: &Checker,
        object: &Value,
        old: Option<&Value>,
    ) -> Judgement {
        let past = Past {
            here: old.map(|old| (object, old)),
            above_unchanged: false,
            is_root: true,
        };
        self.visit(checker, object, old, past, "");
        self.judgement
    }

    fn schema_of(&self, checker: &Checker) -> SchemaRef<'s> {
        self.schema.root().schemas().at(checker.node)
    }

    fn visit(
        &mut self,
        checker: &Checker,
        value: &Value,
        old: Option<&Value>,
        past: Past<'_>,
        path: &str,
    ) {
        if value.is_null() || self.exhausted {
            return;
        }
        // A null was no value to compare with.
        let old = old.filter(|old| !old.is_null());
        self.check_here(checker, value, old, past, path);
        for alternative in &checker.all_of {
            // Nothing is forgiven in alternatives unless all around them is unchanged.
            let past = Past { here: None, ..past };
            self.visit(alternative, value, old, past, path);
        }
        let schema = self.schema_of(checker);
        match value {
            Value::Array(entries) => {
                let Some(items) = &checker.items else { return };
                let list_type = &schema.node().list_type;
                for (at, entry) in entries.iter().enumerate() {
                    let before = correlate::entry(list_type, entry, old);
                    let known = past
                        .here
                        .and_then(|(_, old)| correlate::entry(list_type, entry, Some(old)));
                    let past = Self::below(past, schema, known.map(|old| (entry, old)));
                    self.visit(items, entry, before, past, &format!("{path}[{at}]"));
                }
            }
            Value::Object(fields) => self.visit_fields(checker, fields, old, past, path),
            _ => {}
        }
    }

    fn visit_fields(
        &mut self,
        checker: &Checker,
        fields: &serde_json::Map<String, Value>,
        old: Option<&Value>,
        past: Past<'_>,
        path: &str,
    ) {
        let schema = self.schema_of(checker);
        for (name, value) in fields {
            let before = old.and_then(|old| old.get(name));
            let known = past.here.and_then(|(_, old)| old.get(name));
            let inner = || {
                let invisible = past.is_root && matches!(name.as_str(), "apiVersion" | "kind");
                if invisible {
                    return Past {
                        here: None,
                        above_unchanged: false,
                        is_root: false,
                    };
                }
                let followed = correlate::field(schema, name).and(known);
                Self::below(past, schema, followed.map(|old| (value, old)))
            };
            if let Some(additional) = &checker.additional {
                let past = inner();
                let path = format!("{path}[{name}]");
                self.visit(additional, value, before, past, &path);
            }
            let own = checker
                .properties
                .iter()
                .find(|(field, _)| **field == **name);
            if let Some((_, property)) = own {
                let past = inner();
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                self.visit(property, value, before, past, &path);
            }
        }
    }

    /// The past of a part, from that of the whole.
    fn below<'v>(
        past: Past<'v>,
        schema: SchemaRef<'_>,
        here: Option<(&'v Value, &'v Value)>,
    ) -> Past<'v> {
        let above_unchanged = match past.here {
            Some((new, old)) => !past.is_root && correlate::is_unchanged(schema, new, old),
            None => past.above_unchanged,
        };
        Past {
            here,
            above_unchanged,
            is_root: false,
        }
    }

    fn check_here(
        &mut self,
        checker: &Checker,
        value: &Value,
        old: Option<&Value>,
        past: Past<'_>,
        path: &str,
    ) {
        if checker.rules.is_empty() {
            return;
        }
        let schema = self.schema_of(checker);
        if self.remaining == 0 {
            return self.give_up(path, schema, OUT_OF_BUDGET);
        }
        let this = ExprValue::json(value, &checker.ty);
        let before = old.map(|old| ExprValue::json(old, &checker.ty));
        for compiled in &checker.rules {
            let place = Place {
                path,
                schema,
                value,
                past,
            };
            self.check_rule(compiled, &this, before.as_ref(), &place);
            if self.exhausted {
                return;
            }
        }
    }

    fn check_rule(
        &mut self,
        compiled: &Compiled,
        this: &ExprValue<'_>,
        before: Option<&ExprValue<'_>>,
        place: &Place<'_, '_>,
    ) {
        let rule = &compiled.rule;
        let program = match &compiled.program {
            None => return,
            Some(Err(problem)) => {
                self.complain(place, format!("rule compile error: {problem}"));
                return;
            }
            Some(Ok(program)) => program,
        };
        let optional = rule.optional_old_self == Some(true);
        if compiled.uses_old_self && before.is_none() && !optional {
            return;
        }
        let mut plain = Bindings::new().with("self", this.clone());
        if let Some(old) = before {
            plain = plain.with("oldSelf", old.clone());
        }
        let vars = if optional {
            let old = before.map_or(ExprValue::Optional(None), |old| {
                ExprValue::some(old.clone())
            });
            plain.clone().with("oldSelf", old)
        } else {
            plain.clone()
        };
        let Some(result) = self.evaluate(program, &vars) else {
            return self.give_up(place.path, place.schema, OUT_OF_BUDGET);
        };
        let said = rule
            .message
            .as_deref()
            .filter(|message| !message.is_empty())
            .unwrap_or(&rule.rule)
            .trim();
        match result {
            Ok(ExprValue::Bool(true)) => {}
            Err(error) => {
                let text = error.to_string();
                if text.starts_with("no such overload") {
                    self.complain(place, format!("'{text}': call arguments did not match a supported operator, function or macro signature for rule: {said}"));
                } else if error.is_limit() {
                    let why = format!(
                        "'{text}': no further validation rules will be run due to call cost exceeds limit for rule: {said}"
                    );
                    self.give_up(place.path, place.schema, &why);
                } else {
                    self.complain(place, format!("{text} evaluating rule: {said}"));
                }
            }
            // Messages see the old value as it is, even where the rule sees it as an option.
            Ok(_) => self.report(compiled, &plain, place, said),
        }
    }

    /// Runs a program within the budget; `None` when the budget is spent.
    fn evaluate<'v>(
        &mut self,
        program: &Program,
        vars: &Bindings<'v>,
    ) -> Option<Result<ExprValue<'v>, quadrille_expr::EvalError>> {
        let Evaluation { result, cost } = program.evaluate(vars, COST_LIMIT);
        if cost > self.remaining {
            return None;
        }
        self.remaining -= cost;
        Some(result)
    }

    /// Reports a rule that is not kept.
    fn report(
        &mut self,
        compiled: &Compiled,
        vars: &Bindings<'_>,
        place: &Place<'_, '_>,
        said: &str,
    ) {
        let rule = &compiled.rule;
        let path = match &compiled.field_path {
            Some(below) if place.path.is_empty() => below.clone(),
            Some(below) => format!("{}.{below}", place.path),
            None => place.path.to_owned(),
        };
        let forgiven = !compiled.uses_old_self && place.is_unchanged();
        let mut detail = None;
        if let Some(Ok(program)) = &compiled.message {
            match self.message(program, rule.message_expression.as_deref(), vars) {
                Ok(message) => detail = message,
                Err(why) => {
                    let error = FieldError::invalid(shown(&path), place.kind(), why);
                    self.add(error, forgiven);
                    self.exhausted = true;
                    return;
                }
            }
        }
        let detail = detail.unwrap_or_else(|| match rule.message.as_deref() {
            Some(message) if !message.is_empty() => message.trim().to_owned(),
            _ => format!("failed rule: {said}"),
        });
        let composite = matches!(place.schema.node().ty, Some(Type::Object | Type::Array));
        let value = (!composite).then(|| place.value.clone());
        let field = shown(&path);
        let error = match rule.reason.as_deref() {
            Some("FieldValueForbidden") => FieldError::forbidden(field, detail),
            Some("FieldValueRequired") => FieldError::required(field, detail),
            Some("FieldValueDuplicate") => FieldError {
                kind: Kind::Duplicate,
                field,
                value,
                detail: String::new(),
            },
            _ => FieldError {
                kind: Kind::Invalid,
                field,
                value,
                detail,
            },
        };
        self.add(error, forgiven);
    }

    /// The message that an expression makes; none if it fails in a way that only the rule's author cares
    /// about, an error if it ends everything.
    fn message(
        &mut self,
        program: &Program,
        text: Option<&str>,
        vars: &Bindings<'_>,
    ) -> Result<Option<String>, String> {
        let Some(result) = self.evaluate(program, vars) else {
            return Err("messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run".to_owned());
        };
        match result {
            Err(error) if error.is_limit() => Err(format!(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression: {:?}",
                text.unwrap_or_default()
            )),
            Err(_) => Ok(None),
            Ok(value) => {
                let ExprValue::String(message) = value else {
                    return Ok(None);
                };
                let message = message.trim();
                let fits = !message.is_empty()
                    && message.len() <= MAX_MESSAGE_BYTES
                    && !message.contains('\n');
                Ok(fits.then(|| message.to_owned()))
            }
        }
    }

    fn complain(&mut self, place: &Place<'_, '_>, detail: String) {
        let error = FieldError::invalid(shown(place.path), place.kind(), detail);
        self.judgement.errors.push(error);
    }

    fn give_up(&mut self, path: &str, schema: SchemaRef<'_>, why: &str) {
        let kind = Value::from(type_word(schema));
        let error = FieldError::invalid(shown(path), kind, why);
        self.judgement.errors.push(error);
        self.exhausted = true;
    }

    fn add(&mut self, error: FieldError, forgiven: bool) {
        if forgiven {
            self.judgement.warnings.push(error);
        } else {
            self.judgement.errors.push(error);
        }
    }
}

/// Where a rule is checked.
struct Place<'p, 'v> {
    path: &'p str,
    schema: SchemaRef<'p>,
    value: &'p Value,
    past: Past<'v>,
}

impl Place<'_, '_> {
    fn kind(&self) -> Value {
        Value::from(type_word(self.schema))
    }

    fn is_unchanged(&self) -> bool {
        match self.past.here {
            Some((new, old)) => {
                !self.past.is_root && correlate::is_unchanged(self.schema, new, old)
            }
            None => self.past.above_unchanged,
        }
    }
}

fn shown(path: &str) -> String {
    match path {
        "" => super::super::validate::NO_FIELD.to_owned(),
        path => path.to_owned(),
    }
}

fn type_word(schema: SchemaRef<'_>) -> &'static str {
    match schema.node().ty {
        Some(Type::Object) => "object",
        Some(Type::Array) => "array",
        Some(Type::String) => "string",
        Some(Type::Integer) => "integer",
        Some(Type::Number) => "number",
        Some(Type::Boolean) => "boolean",
        None => "",
    }
}
