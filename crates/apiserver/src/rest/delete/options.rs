//! `DeleteOptions`: what a delete may ask for.

use quadrille_machinery::{field_error::FieldError, status::Status};
use serde_json::{Value, json};

use super::{super::Request, FOREGROUND, ORPHAN, mark::finalizers};
use crate::{
    accept::{self, BodyFormat},
    body,
    options::{Query, dry_run, options_invalid},
    policies::{Change, Operation},
    quirks,
};

/// What becomes of dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Orphan,
    Background,
    Foreground,
}

/// `DeleteOptions`.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(super) grace_seconds: Option<i64>,
    pub(super) propagation: Option<Propagation>,
    pub(super) orphan_dependents: Option<bool>,
    pub(super) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    pub(crate) dry_run: bool,
}

impl DeleteOptions {
    /// Reads them from the body, or else from the query.
    pub(crate) fn read(request: &Request) -> Result<Self, Status> {
        if request.body.is_empty() {
            return Self::from_query(&request.query);
        }
        Self::from_value(&parse_body(request)?)
    }

    /// Reads them from an object; null means none.
    pub(crate) fn from_value(options: &Value) -> Result<Self, Status> {
        let dry: Vec<&str> = options["dryRun"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let preconditions = &options["preconditions"];
        Self {
            grace_seconds: options["gracePeriodSeconds"].as_i64(),
            propagation: propagation(options["propagationPolicy"].as_str())?,
            orphan_dependents: options["orphanDependents"].as_bool(),
            uid: text(&preconditions["uid"]),
            resource_version: text(&preconditions["resourceVersion"]),
            dry_run: dry_run("DeleteOptions", &dry)?,
        }
        .checked()
    }

    fn from_query(query: &Query) -> Result<Self, Status> {
        Self {
            grace_seconds: query.number("gracePeriodSeconds")?,
            propagation: propagation(query.text("propagationPolicy").as_deref())?,
            orphan_dependents: query.switch("orphanDependents"),
            dry_run: dry_run("DeleteOptions", &query.all("dryRun"))?,
            ..Self::default()
        }
        .checked()
    }

    fn checked(self) -> Result<Self, Status> {
        if self.propagation.is_some() && self.orphan_dependents.is_some() {
            let error = FieldError::invalid(
                "propagationPolicy",
                json!(self.propagation.map(Propagation::name)),
                "orphanDependents and deletionPropagation cannot be both set",
            );
            return Err(options_invalid("DeleteOptions", error));
        }
        Ok(self)
    }

    /// The change that these options go with: the end of an object.
    pub(super) fn change<'a>(&self, object: &'a Value) -> Change<'a> {
        let mut options = json!({});
        if let Some(seconds) = self.grace_seconds {
            options["gracePeriodSeconds"] = json!(seconds);
        }
        if let Some(propagation) = self.propagation {
            options["propagationPolicy"] = json!(propagation.name());
        }
        if let Some(orphan) = self.orphan_dependents {
            options["orphanDependents"] = json!(orphan);
        }
        for (field, wanted) in [
            ("uid", &self.uid),
            ("resourceVersion", &self.resource_version),
        ] {
            if let Some(wanted) = wanted {
                options["preconditions"][field] = json!(wanted);
            }
        }
        if self.dry_run {
            options["dryRun"] = json!(["All"]);
        }
        Change {
            operation: Operation::Delete,
            object: &Value::Null,
            old: object,
            options,
            dry_run: self.dry_run,
        }
    }

    /// What becomes of dependents, by request or by the kind's default.
    pub(super) fn propagation(&self, request: &Request, object: &Value) -> Propagation {
        if let Some(chosen) = self.propagation {
            return chosen;
        }
        match self.orphan_dependents {
            Some(true) => return Propagation::Orphan,
            Some(false) => return Propagation::Background,
            None => {}
        }
        let finalizers = finalizers(object);
        if finalizers.iter().any(|name| name == ORPHAN) {
            return Propagation::Orphan;
        }
        if finalizers.iter().any(|name| name == FOREGROUND) {
            return Propagation::Foreground;
        }
        if quirks::orphans_by_default(&request.resource) {
            return Propagation::Orphan;
        }
        Propagation::Background
    }
}

impl Propagation {
    fn name(self) -> &'static str {
        match self {
            Self::Orphan => "Orphan",
            Self::Background => "Background",
            Self::Foreground => "Foreground",
        }
    }
}

fn propagation(text: Option<&str>) -> Result<Option<Propagation>, Status> {
    Ok(Some(match text {
        None | Some("") => return Ok(None),
        Some("Orphan") => Propagation::Orphan,
        Some("Background") => Propagation::Background,
        Some("Foreground") => Propagation::Foreground,
        Some(other) => {
            let error = FieldError::not_supported(
                "propagationPolicy",
                other.into(),
                &["Foreground", "Background", "Orphan", "nil"],
            );
            return Err(options_invalid("DeleteOptions", error));
        }
    }))
}

fn parse_body(request: &Request) -> Result<Value, Status> {
    use quadrille_machinery::decode;
    let format = accept::body_format(&request.headers)?;
    let decoded = match format {
        BodyFormat::Json => decode::json(&request.body),
        BodyFormat::Yaml => decode::yaml(&request.body),
    };
    let value = decoded
        .map_err(|error| {
            Status::bad_request(match format {
                BodyFormat::Json => format!("couldn't get version/kind; json parse error: {error}"),
                BodyFormat::Yaml => error.to_string(),
            })
        })?
        .value;
    if !value.is_object() {
        return Err(Status::bad_request(
            "the body of a delete must be a DeleteOptions object",
        ));
    }
    let kind = value["kind"].as_str().unwrap_or("");
    if !matches!(kind, "" | "DeleteOptions") {
        let version = value["apiVersion"].as_str().unwrap_or("");
        return Err(Status::bad_request(body::not_registered(kind, version)));
    }
    Ok(value)
}
