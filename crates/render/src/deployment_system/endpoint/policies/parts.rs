//! Keys, passwords and pages: what gateways are told in one piece.

use quadrille_types::{
    Problem,
    endpoint::{ApiKeyAuth, BasicAuth, Cors},
};
use serde_json::{Value, json};

use crate::routes::{self, USER_HEADER};

/// Callers have a key.
pub(super) fn api_key(given: &ApiKeyAuth, field: &str) -> Result<Value, Problem> {
    if given.secret_refs.is_empty() {
        let words = "is empty: name the Secrets that have the keys";
        return Err(Problem::new(format!("{field}.secretRefs"), words));
    }
    let source = &given.key_source;
    if source.header.is_empty() {
        let words = "is empty: name the header that keys are sent in";
        return Err(Problem::new(format!("{field}.keySource.header"), words));
    }
    match source.header_auth_scheme.as_deref() {
        // A key may always come with this word before it.
        None | Some("" | "Bearer") => {}
        Some(other) => {
            let words = format!("is {other:?}, but gateways know Bearer only: take that, or none");
            let field = format!("{field}.keySource.headerAuthScheme");
            return Err(Problem::new(field, words));
        }
    }
    Ok(routes::api_keys(
        given.secret_refs.iter().map(String::as_str),
        &json!([{ "headers": [source.header] }]),
    ))
}

/// Callers have a name and a password. A gateway reads one Secret with the lines of all of them; who is in that Secret and
/// not listed gets in nowhere.
pub(super) fn basic_auth(given: &BasicAuth, field: &str) -> Result<Value, Problem> {
    let Some(first) = given.users.first() else {
        let words = "is empty: name who may come";
        return Err(Problem::new(format!("{field}.users"), words));
    };
    let other = given.users.iter().enumerate();
    let other = other
        .skip(1)
        .find(|(_, user)| user.password_from_secret != first.password_from_secret);
    if let Some((index, user)) = other {
        let words = format!(
            "is {:?}, but gateways read one Secret with the passwords of all users, and that of {} is {:?}: put all lines \
             into that one",
            user.password_from_secret, first.username, first.password_from_secret
        );
        let field = format!("{field}.users[{index}].passwordFromSecret");
        return Err(Problem::new(field, words));
    }
    if !given.header.eq_ignore_ascii_case("authorization") {
        let words = format!(
            "is {:?}, but gateways look at Authorization only",
            given.header
        );
        return Err(Problem::new(format!("{field}.header"), words));
    }
    if !given.header_auth_scheme.eq_ignore_ascii_case("basic") {
        let words = format!(
            "is {:?}, must be Basic: that is how names and passwords are sent",
            given.header_auth_scheme
        );
        return Err(Problem::new(format!("{field}.headerAuthScheme"), words));
    }
    Ok(json!({
        "users": { "name": first.password_from_secret },
        "forwardUsernameHeader": USER_HEADER,
    }))
}

/// Callers come from pages.
pub(super) fn cors(given: &Cors, field: &str) -> Result<Value, Problem> {
    let pages = routes::Pages {
        origins: &given.allow_origins,
        methods: &given.allow_methods,
        headers: &given.allow_headers,
        exposed: &given.expose_headers,
        max_age: Some(given.max_age),
        credentials: Some(given.allow_credentials),
    };
    pages.written(field)
}
