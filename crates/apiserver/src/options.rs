//! Query parameters of requests, read once and checked.

use quadrille_machinery::{
    field_error::{FieldError, Kind},
    names,
    status::Status,
};
use serde_json::{Value, json};

use crate::policies::{Change, Operation};

/// All query parameters, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query string.
    pub(crate) fn parse(query: Option<&str>) -> Self {
        Self(
            form_urlencoded::parse(query.unwrap_or("").as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The first value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.0
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .collect()
    }

    /// A non-empty value of a parameter.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name)
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
    }

    /// A switch: absent is `None`; `false`, `0` mean no; anything else, even nothing, means yes.
    pub(crate) fn switch(&self, name: &str) -> Option<bool> {
        self.get(name)
            .map(|value| !matches!(value.to_ascii_lowercase().as_str(), "false" | "0"))
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, Status> {
        let Some(text) = self.get(name).filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            Status::bad_request(format!(
                "strconv.ParseInt: parsing {text:?}: invalid syntax"
            ))
        })
    }
}

/// How exact the client wants unknown and duplicate fields reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// Options of list and watch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) label_selector: Option<String>,
    pub(crate) field_selector: Option<String>,
    pub(crate) bookmarks: bool,
    pub(crate) resource_version: Option<String>,
    pub(crate) version_match: Option<String>,
    pub(crate) timeout_seconds: Option<i64>,
    pub(crate) limit: Option<i64>,
    pub(crate) continue_token: Option<String>,
    pub(crate) send_initial_events: Option<bool>,
}

impl ListOptions {
    pub(crate) fn read(query: &Query) -> Result<Self, Status> {
        Ok(Self {
            label_selector: query.text("labelSelector"),
            field_selector: query.text("fieldSelector"),
            bookmarks: query.switch("allowWatchBookmarks").unwrap_or(false),
            resource_version: query.text("resourceVersion"),
            version_match: query.text("resourceVersionMatch"),
            timeout_seconds: query.number("timeoutSeconds")?,
            limit: query.number("limit")?.filter(|limit| *limit > 0),
            continue_token: query.text("continue"),
            send_initial_events: query.switch("sendInitialEvents"),
        })
    }

    /// Refuses combinations that mean nothing for a list.
    pub(crate) fn check_list(&self) -> Result<(), Status> {
        let mut errors = Vec::new();
        let mut forbid = |why| errors.push(FieldError::forbidden(MATCH, why));
        if self.version_match.is_some() {
            if self.resource_version.is_none() {
                forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
            }
            if self.continue_token.is_some() {
                forbid("resourceVersionMatch is forbidden when continue is provided");
            }
        }
        match (
            self.version_match.as_deref(),
            self.resource_version.as_deref(),
        ) {
            (Some("Exact"), Some("0")) => {
                forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
            }
            (None | Some("Exact" | "NotOlderThan"), _) => {}
            (Some(other), _) => errors.push(FieldError::not_supported(
                MATCH,
                other.into(),
                &["Exact", "NotOlderThan", ""],
            )),
        }
        if self.send_initial_events.is_some() {
            errors.push(FieldError::forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            ));
        }
        refuse(&errors)
    }

    /// Refuses combinations that mean nothing for a watch.
    pub(crate) fn check_watch(&self) -> Result<(), Status> {
        let mut errors = Vec::new();
        let mut forbid = |why| errors.push(FieldError::forbidden(MATCH, why));
        let is_not_older = self.version_match.as_deref() == Some("NotOlderThan");
        if self.send_initial_events.is_some() && !is_not_older {
            forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        if self.version_match.is_some() && self.send_initial_events.is_none() {
            forbid(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            );
        }
        if let Some(other) = self.version_match.as_deref().filter(|_| !is_not_older) {
            errors.push(FieldError::not_supported(
                MATCH,
                other.into(),
                &["NotOlderThan"],
            ));
        }
        // A plain watch from the start counts as one that asks for the initial state.
        let asks_for_state = self.send_initial_events.is_none()
            && matches!(self.resource_version.as_deref(), None | Some("0"));
        if self.continue_token.is_some() && (asks_for_state || self.version_match.is_some()) {
            errors.push(FieldError::forbidden(
                MATCH,
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
        refuse(&errors)
    }
}

/// The option that most rules are about.
const MATCH: &str = "resourceVersionMatch";

fn refuse(errors: &[FieldError]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid("meta.k8s.io", "ListOptions", "", errors))
}

/// Options of create, update and patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) field_manager: Option<String>,
    pub(crate) field_validation: FieldValidation,
    /// The same in the client's words, if it said anything.
    pub(crate) field_validation_as_sent: Option<String>,
    pub(crate) force: Option<bool>,
}

impl WriteOptions {
    /// Reads them; `kind` is the options object that error messages name (`CreateOptions` …).
    pub(crate) fn read(query: &Query, kind: &str) -> Result<Self, Status> {
        let field_manager = query.text("fieldManager");
        check_field_manager(kind, field_manager.as_deref())?;
        Ok(Self {
            dry_run: dry_run(kind, &query.all("dryRun"))?,
            field_manager,
            field_validation: field_validation(kind, query.get("fieldValidation"))?,
            field_validation_as_sent: query.text("fieldValidation"),
            force: query.switch("force"),
        })
    }
}

impl WriteOptions {
    /// A change that these options go with.
    pub(crate) fn change<'a>(
        &self,
        operation: Operation,
        object: &'a Value,
        old: &'a Value,
    ) -> Change<'a> {
        let mut options = json!({});
        if self.dry_run {
            options["dryRun"] = json!(["All"]);
        }
        if let Some(manager) = &self.field_manager {
            options["fieldManager"] = json!(manager);
        }
        if let Some(validation) = &self.field_validation_as_sent {
            options["fieldValidation"] = json!(validation);
        }
        Change {
            operation,
            object,
            old,
            options,
            dry_run: self.dry_run,
        }
    }
}

/// `dryRun` has one meaning: `All`.
pub(crate) fn dry_run(kind: &str, values: &[&str]) -> Result<bool, Status> {
    if values.is_empty() {
        return Ok(false);
    }
    if values.iter().all(|value| *value == "All") {
        return Ok(true);
    }
    let shown = serde_json::Value::from(values.to_vec());
    Err(options_invalid(
        kind,
        FieldError {
            kind: Kind::NotSupported,
            field: "dryRun".to_owned(),
            value: Some(shown),
            detail: "supported values: \"All\"".to_owned(),
        },
    ))
}

fn field_validation(kind: &str, value: Option<&str>) -> Result<FieldValidation, Status> {
    match value {
        None | Some("") => Ok(FieldValidation::default()),
        Some("Ignore") => Ok(FieldValidation::Ignore),
        Some("Warn") => Ok(FieldValidation::Warn),
        Some("Strict") => Ok(FieldValidation::Strict),
        Some(other) => Err(options_invalid(
            kind,
            FieldError::not_supported(
                "fieldValidation",
                other.into(),
                &["", "Ignore", "Strict", "Warn"],
            ),
        )),
    }
}

fn check_field_manager(kind: &str, manager: Option<&str>) -> Result<(), Status> {
    let errors = names::validate_field_manager(manager.unwrap_or(""), "fieldManager");
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid("meta.k8s.io", kind, "", &errors))
}

/// 422 about an options object.
pub(crate) fn options_invalid(kind: &str, error: FieldError) -> Status {
    Status::invalid("meta.k8s.io", kind, "", &[error])
}
