//! Operations that tokens are checked for.

use quadrille_types::{
    Problem,
    endpoint::{Authorization, AuthorizedApi, ClaimToHeader, HttpMethod, RestOperation},
    workload::EndpointType,
};

use super::{Listed, Reader};
use crate::routes::{Principal, paths};

/// What is listed, each with the scopes it takes, and what the backend is told.
type Found<'a> = (&'a [ClaimToHeader], Vec<(Listed, Vec<String>)>);

const METHODS: [HttpMethod; 9] = [
    HttpMethod::Get,
    HttpMethod::Head,
    HttpMethod::Post,
    HttpMethod::Put,
    HttpMethod::Delete,
    HttpMethod::Connect,
    HttpMethod::Options,
    HttpMethod::Trace,
    HttpMethod::Patch,
];

/// The method that a word means.
pub(super) fn method(word: &str) -> Result<HttpMethod, String> {
    let mut methods = METHODS.into_iter();
    methods
        .find(|method| method.as_str().eq_ignore_ascii_case(word))
        .ok_or_else(|| format!("is {word:?}, which is no method of HTTP"))
}

impl Reader<'_> {
    pub(super) fn operations<'g>(
        &self,
        given: &'g Authorization,
        field: &str,
    ) -> Result<Found<'g>, Problem> {
        let is_grpc = self.protocol == EndpointType::Grpc;
        let missing = |part: &str| {
            let words = "is not there, though apiType asks for it: give it";
            Problem::new(format!("{field}.{part}"), words)
        };
        match given.api_type {
            AuthorizedApi::Rest if !is_grpc => {
                let rest = given.rest.as_ref().ok_or_else(|| missing("rest"))?;
                let listed = rest.operations.iter().enumerate();
                let listed = listed.map(|(index, operation)| {
                    self.rest(operation, &format!("{field}.rest.operations[{index}]"))
                });
                Ok((&rest.claims_to_headers, listed.collect::<Result<_, _>>()?))
            }
            AuthorizedApi::Grpc if is_grpc => {
                let grpc = given.grpc.as_ref().ok_or_else(|| missing("grpc"))?;
                let mut listed = Vec::new();
                for (at, operation) in grpc.operations.iter().enumerate() {
                    let field = format!("{field}.grpc.operations[{at}]");
                    check_word(&operation.name, true, &format!("{field}.name"))?;
                    for (index, method) in operation.methods.iter().enumerate() {
                        let field = format!("{field}.methods[{index}]");
                        check_word(&method.name, false, &format!("{field}.name"))?;
                        check_scopes(&method.scopes, &field)?;
                        let call = Listed::Call {
                            service: operation.name.clone(),
                            method: method.name.clone(),
                        };
                        listed.push((call, method.scopes.clone()));
                    }
                }
                Ok((&grpc.claims_to_headers, listed))
            }
            AuthorizedApi::GraphQl => {
                let words = "is GraphQL, whose operations are in the body, where gateways do not look: ask for REST with \
                             no operations, which lets any valid token through, and check scopes behind";
                Err(Problem::new(format!("{field}.apiType"), words))
            }
            other => {
                let words = format!(
                    "is {}, but the endpoint speaks {}",
                    other.as_str(),
                    self.protocol.as_str()
                );
                Err(Problem::new(format!("{field}.apiType"), words))
            }
        }
    }

    fn rest(
        &self,
        operation: &RestOperation,
        field: &str,
    ) -> Result<(Listed, Vec<String>), Problem> {
        let pattern = paths::operation(self.prefix, self.base, &operation.target)
            .map_err(|words| Problem::new(format!("{field}.target"), words))?;
        check_scopes(&operation.scopes, field)?;
        let listed = Listed::Rest {
            method: operation.method,
            target: operation.target.clone(),
            pattern,
        };
        Ok((listed, operation.scopes.clone()))
    }
}

fn check_scopes(scopes: &[String], field: &str) -> Result<(), Problem> {
    let asked = Principal {
        scopes: scopes.to_vec(),
        claims: Vec::new(),
    };
    let empty = scopes.iter().any(String::is_empty);
    let empty = empty.then(|| "has an empty scope: take it away".to_owned());
    match asked.trouble().or(empty) {
        Some(words) => Err(Problem::new(format!("{field}.scopes"), words)),
        None => Ok(()),
    }
}

/// Names of gRPC services and methods are words; those of services have dots between them.
fn check_word(name: &str, may_have_dots: bool, field: &str) -> Result<(), Problem> {
    let is_word = |word: &str| {
        let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let is_name = if may_have_dots {
        name.split('.').all(is_word)
    } else {
        is_word(name)
    };
    if is_name {
        return Ok(());
    }
    let like = if may_have_dots { "shop.v1.Cart" } else { "Get" };
    Err(Problem::new(
        field,
        format!("is {name:?}, must be a name such as {like}"),
    ))
}
