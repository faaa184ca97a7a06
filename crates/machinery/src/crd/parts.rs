//! The parts of a definition's spec that can be judged on their own: names, columns, scale, selectable
//! fields and conversion.

use serde_json::{Value, json};

use super::{fields, list, schema_rules, text};
use crate::{
    field_error::{FieldError, Kind},
    names::dns_1035_label,
};

/// The parts of a version that real servers judge once when all versions agree on them.
pub(super) const PARTS: [&str; 4] = [
    "schema",
    "subresources",
    "additionalPrinterColumns",
    "selectableFields",
];
const COLUMN_TYPES: &str = "boolean,date,integer,number,string";
const COLUMN_FORMATS: &str = "byte,date,date-time,double,float,int32,int64,password";
const SELECTABLE_FIELDS_MAX: usize = 8;

/// The parts of a version that `wanted` selects.
pub(super) fn check(
    version: &Value,
    path: &str,
    schema_path: &str,
    wanted: &[&str],
    status: bool,
    errors: &mut Vec<FieldError>,
) {
    let schema = version
        .pointer("/schema/openAPIV3Schema")
        .filter(|schema| schema.is_object());
    if let Some(schema) = schema.filter(|_| wanted.contains(&"schema")) {
        let at = format!("{schema_path}.openAPIV3Schema");
        schema_rules::check(schema, &at, status, errors);
    }
    if wanted.contains(&"subresources") {
        scale_errors(
            &version["subresources"]["scale"],
            &format!("{path}subresources"),
            errors,
        );
    }
    if wanted.contains(&"additionalPrinterColumns") {
        for (at, column) in list(version, "additionalPrinterColumns").iter().enumerate() {
            column_errors(
                column,
                &format!("{path}additionalPrinterColumns[{at}]"),
                errors,
            );
        }
    }
    if let Some(schema) = schema.filter(|_| wanted.contains(&"selectableFields")) {
        let fields = list(version, "selectableFields");
        selectable_errors(fields, schema, &format!("{path}selectableFields"), errors);
    }
}

/// A required text out of a list.
pub(super) fn one_of(path: &str, given: &str, allowed: &[&str], errors: &mut Vec<FieldError>) {
    if given.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !allowed.contains(&given) {
        errors.push(FieldError::not_supported(path, json!(given), allowed));
    }
}

/// Names, in the spec or accepted ones in the status.
pub(super) fn name_errors(names: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let mut check = |field: String, given: &str, mixed: bool| {
        let complaints = if mixed {
            dns_1035_label(&given.to_lowercase())
        } else {
            dns_1035_label(given)
        };
        if !complaints.is_empty() {
            let start = if mixed {
                "may have mixed case, but should otherwise match: "
            } else {
                ""
            };
            let detail = format!("{start}{}", complaints.join(","));
            errors.push(FieldError::invalid(
                format!("{path}.{field}"),
                json!(given),
                detail,
            ));
        }
    };
    for (field, mixed) in [
        ("plural", false),
        ("singular", false),
        ("kind", true),
        ("listKind", true),
    ] {
        let given = text(names, field);
        if !given.is_empty() {
            check(field.to_owned(), given, mixed);
        }
    }
    for (at, short) in list(names, "shortNames").iter().enumerate() {
        check(
            format!("shortNames[{at}]"),
            short.as_str().unwrap_or_default(),
            false,
        );
    }
    let (kind, list_kind) = (text(names, "kind"), text(names, "listKind"));
    if !kind.is_empty() && kind == list_kind {
        errors.push(FieldError::invalid(
            format!("{path}.listKind"),
            json!(list_kind),
            "kind and listKind may not be the same",
        ));
    }
    let mut check = |at: usize, given: &str| {
        let complaints = dns_1035_label(given);
        if !complaints.is_empty() {
            let field = format!("{path}.categories[{at}]");
            errors.push(FieldError::invalid(
                field,
                json!(given),
                complaints.join(","),
            ));
        }
    };
    for (at, category) in list(names, "categories").iter().enumerate() {
        check(at, category.as_str().unwrap_or_default());
    }
}

/// A path must start with a dot.
fn is_simple_path(path: &str, field: &str, errors: &mut Vec<FieldError>) -> bool {
    let fine = path.starts_with('.');
    if !fine {
        let detail = "must be a simple json path starting with .";
        errors.push(FieldError::invalid(field, json!(path), detail));
    }
    fine
}

fn column_errors(column: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if text(column, "name").is_empty() {
        errors.push(FieldError::required(format!("{path}.name"), ""));
    }
    let known = |list: &str, given: &str| list.split(',').any(|name| name == given);
    let ty = text(column, "type");
    let at = format!("{path}.type");
    let detail = format!("must be one of {COLUMN_TYPES}");
    if ty.is_empty() {
        errors.push(FieldError::required(at, detail));
    } else if !known(COLUMN_TYPES, ty) {
        errors.push(FieldError::invalid(at, json!(ty), detail));
    }
    let format = text(column, "format");
    if !format.is_empty() && !known(COLUMN_FORMATS, format) {
        let detail = format!("must be one of {COLUMN_FORMATS}");
        errors.push(FieldError::invalid(
            format!("{path}.format"),
            json!(format),
            detail,
        ));
    }
    let at = format!("{path}.JSONPath");
    match text(column, "jsonPath") {
        "" => errors.push(FieldError::required(at, "")),
        given => {
            is_simple_path(given, &at, errors);
        }
    }
}

fn scale_errors(scale: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if !scale.is_object() {
        return;
    }
    for (field, start, optional, detail) in [
        (
            "specReplicasPath",
            &[".spec."][..],
            false,
            "should be a json path under .spec",
        ),
        (
            "statusReplicasPath",
            &[".status."][..],
            false,
            "should be a json path under .status",
        ),
        (
            "labelSelectorPath",
            &[".spec.", ".status."][..],
            true,
            "should be a json path under either .spec or .status",
        ),
    ] {
        let at = format!("{path}.scale.{field}");
        let given = text(scale, field);
        if given.is_empty() {
            if !optional {
                errors.push(FieldError::required(at, ""));
            }
        } else if is_simple_path(given, &at, errors)
            && !start.iter().any(|start| given.starts_with(start))
        {
            errors.push(FieldError::invalid(at, json!(given), detail));
        }
    }
}

fn selectable_errors(given: &[Value], schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let mut seen: Vec<&str> = Vec::new();
    for (at, field) in given.iter().enumerate() {
        let at = format!("{path}[{at}].jsonPath");
        let json_path = text(field, "jsonPath");
        if json_path.is_empty() {
            errors.push(FieldError::required(at, ""));
            continue;
        }
        let mut blame = |detail: String| {
            errors.push(FieldError::invalid(&at, json!(json_path), detail));
        };
        let target = match fields::follow(json_path, schema, false) {
            Ok(target) => target,
            Err(why) => {
                blame(format!("is an invalid path: {why}"));
                continue;
            }
        };
        if json_path.starts_with(".metadata") {
            blame("must not point to fields in metadata".to_owned());
        }
        if !matches!(text(target, "type"), "string" | "boolean" | "integer") {
            blame("must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.".to_owned());
        }
        if seen.contains(&json_path) {
            errors.push(FieldError::duplicate(at, json!(json_path)));
        } else {
            seen.push(json_path);
        }
    }
    if seen.len() > SELECTABLE_FIELDS_MAX {
        errors.push(FieldError {
            kind: Kind::TooMany,
            field: path.to_owned(),
            value: Some(json!(seen.len())),
            detail: format!("must have at most {SELECTABLE_FIELDS_MAX} items"),
        });
    }
}

/// `spec.conversion`.
pub(super) fn conversion_errors(conversion: &Value, errors: &mut Vec<FieldError>) {
    if !conversion.is_object() {
        return;
    }
    let strategy = text(conversion, "strategy");
    one_of(
        "spec.conversion.strategy",
        strategy,
        &["None", "Webhook"],
        errors,
    );
    let webhook = &conversion["webhook"];
    let client = &webhook["clientConfig"];
    let reviews = list(webhook, "conversionReviewVersions");
    let client_path = "spec.conversion.webhookClientConfig";
    let reviews_path = "spec.conversion.conversionReviewVersions";
    if strategy == "Webhook" {
        if client.is_null() {
            let detail = "required when strategy is set to Webhook";
            errors.push(FieldError::required(client_path, detail));
        } else if client["url"].is_null() == client["service"].is_null() {
            let detail = "exactly one of url or service is required";
            errors.push(FieldError::required(client_path, detail));
        }
        if reviews.is_empty() {
            errors.push(FieldError::required(reviews_path, ""));
        } else if !reviews
            .iter()
            .any(|version| version == "v1" || version == "v1beta1")
        {
            let detail = "must include at least one of v1, v1beta1";
            errors.push(FieldError::invalid(reviews_path, json!(reviews), detail));
        }
        return;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    if !client.is_null() {
        errors.push(FieldError::forbidden(client_path, detail));
    }
    if !reviews.is_empty() {
        errors.push(FieldError::forbidden(reviews_path, detail));
    }
}
