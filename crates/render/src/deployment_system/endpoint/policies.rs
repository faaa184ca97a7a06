//! The policies of an audience, read into what is asked of callers: of everybody, and for single operations.
//!
//! A policy that cannot be kept is an error, never left out: an endpoint that asks for tokens must not be open.

mod operations;
mod parts;

use quadrille_types::{
    Problem,
    endpoint::{EndpointPolicy, HttpMethod, OAuth2, RateLimits},
    workload::EndpointType,
};

use crate::routes::{
    JwtProvider, Limit, Principal, Security, Traffic, paths, paths::Pattern, unit,
};

/// What is asked of callers.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Of whoever asks for what is not listed.
    pub(super) security: Security,
    /// What is listed.
    pub(super) operations: Vec<Operation>,
    /// How often they may come.
    pub(super) traffic: Traffic,
}

/// An operation that callers need something for.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) listed: Listed,
    pub(super) security: Security,
}

/// Which operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Listed {
    /// A method and a path.
    Rest {
        method: HttpMethod,
        target: String,
        pattern: Pattern,
    },
    /// A method of a gRPC service.
    Call { service: String, method: String },
}

/// What policies are read with.
pub(super) struct Reader<'a> {
    /// The path of their list.
    pub(super) field: String,
    pub(super) protocol: EndpointType,
    pub(super) prefix: &'a str,
    pub(super) base: &'a str,
    /// Where the keys are that tokens are checked with.
    pub(super) jwks: Option<&'a str>,
    pub(super) environment: &'a str,
}

/// What tokens are asked for by one policy.
struct Tokens {
    provider: JwtProvider,
    claims: Principal,
    /// What is listed, each with the scopes it takes.
    listed: Vec<(Listed, Vec<String>)>,
}

impl Reader<'_> {
    pub(super) fn read(
        &self,
        policies: &[EndpointPolicy],
        notes: &mut Vec<String>,
    ) -> Result<Asked, Problem> {
        let mut common = Security::default();
        let mut traffic = Traffic::default();
        let mut tokens = Vec::new();
        for (index, policy) in policies.iter().enumerate() {
            let field = format!("{}[{index}]", self.field);
            let spec = &policy.policy_spec;
            match policy.kind.as_str() {
                "oauth2" => {
                    let given = given(spec.oauth2.as_ref(), &field, "oauth2")?;
                    tokens.push(self.tokens(given, &format!("{field}.policySpec.oauth2.jwt"))?);
                }
                "api-key" => {
                    let given = given(spec.api_key_auth.as_ref(), &field, "apiKeyAuth")?;
                    let part = parts::api_key(given, &format!("{field}.policySpec.apiKeyAuth"))?;
                    once(&mut common.api_key, part, &field)?;
                }
                "basic-auth" => {
                    let given = given(spec.basic_auth.as_ref(), &field, "basicAuth")?;
                    let part = parts::basic_auth(given, &format!("{field}.policySpec.basicAuth"))?;
                    once(&mut common.basic_auth, part, &field)?;
                    let users = given.users.iter();
                    common.users = users.map(|user| user.username.clone()).collect();
                }
                "cors" => {
                    let given = given(spec.cors.as_ref(), &field, "cors")?;
                    let part = parts::cors(given, &format!("{field}.policySpec.cors"))?;
                    once(&mut common.cors, part, &field)?;
                }
                "rate-limit" => {
                    let given = given(spec.rate_limit.as_ref(), &field, "rateLimit")?;
                    let at = format!("{field}.policySpec.rateLimit");
                    traffic.limits.extend(self.limits(given, &at)?);
                }
                "mediation" => notes.push(format!(
                    "{field}: mediation has no settings, and nothing comes of it"
                )),
                other => {
                    let words = format!(
                        "is {other:?}, must be oauth2, api-key, basic-auth, rate-limit, cors or mediation"
                    );
                    return Err(Problem::new(format!("{field}.type"), words));
                }
            }
        }
        if let Some(words) = traffic.trouble() {
            return Err(Problem::new(self.field.as_str(), words));
        }
        self.put_together(&common, traffic, tokens)
    }

    /// Listed operations take their own tokens; what is not listed takes what the policies without a list ask for, and is
    /// closed where all of them have one.
    fn put_together(
        &self,
        common: &Security,
        traffic: Traffic,
        tokens: Vec<Tokens>,
    ) -> Result<Asked, Problem> {
        let mut asked = Asked {
            security: common.clone(),
            operations: Vec::new(),
            traffic,
        };
        asked.security.is_closed = !tokens.is_empty();
        for policy in tokens {
            if policy.listed.is_empty() {
                asked.security.is_closed = false;
                asked
                    .security
                    .principal
                    .claims
                    .extend(policy.claims.claims.clone());
            }
            for (listed, scopes) in policy.listed {
                let is_known = |known: &Operation| known.listed == listed;
                if asked.operations.iter().any(is_known) {
                    let words = format!("lists {} twice: once is enough", called(&listed));
                    return Err(Problem::new(self.field.as_str(), words));
                }
                let mut security = common.clone();
                security.jwt = Some(policy.provider.clone());
                security.principal = policy.claims.clone();
                security.principal.scopes = scopes;
                asked.operations.push(Operation { listed, security });
            }
            asked.security.jwt.get_or_insert(policy.provider);
        }
        if let Some(words) = asked.security.principal.trouble() {
            return Err(Problem::new(self.field.as_str(), words));
        }
        Ok(asked)
    }

    fn tokens(&self, given: &OAuth2, field: &str) -> Result<Tokens, Problem> {
        let Some(jwks) = self.jwks else {
            let words = format!(
                "asks for tokens, but environment {} does not say by which keys they are checked: give it \
                 spec.gateway.security.remoteJwks.uri",
                self.environment
            );
            return Err(Problem::new(field, words));
        };
        let claims = given.jwt.claims.iter().enumerate();
        let claims = claims.map(|(index, claim)| {
            if claim.key.is_empty() || claim.values.is_empty() {
                let words = "needs a key, and values of which one must be there";
                return Err(Problem::new(format!("{field}.claims[{index}]"), words));
            }
            Ok((claim.key.clone(), claim.values.clone()))
        });
        let principal = Principal {
            scopes: Vec::new(),
            claims: claims.collect::<Result<_, _>>()?,
        };
        if let Some(words) = principal.trouble() {
            return Err(Problem::new(format!("{field}.claims"), words));
        }
        let (told, listed) =
            self.operations(&given.jwt.authorization, &format!("{field}.authorization"))?;
        let told = told.iter();
        Ok(Tokens {
            provider: JwtProvider {
                jwks: jwks.to_owned(),
                claims_to_headers: told
                    .map(|told| (told.name.clone(), told.header.clone()))
                    .collect(),
                ..JwtProvider::default()
            },
            claims: principal,
            listed,
        })
    }

    fn limits(&self, given: &RateLimits, field: &str) -> Result<Vec<Limit>, Problem> {
        let limit = |written: &quadrille_types::endpoint::RateLimit, field: &str, operation| {
            let unit = unit(&written.time_unit).ok_or_else(|| {
                let words = format!(
                    "is {:?}, must be Second, Minute, Hour or Day",
                    written.time_unit
                );
                Problem::new(format!("{field}.timeUnit"), words)
            })?;
            if let Some(words) = Limit::trouble(written.request_limit) {
                return Err(Problem::new(format!("{field}.requestLimit"), words));
            }
            Ok(Limit {
                requests: written.request_limit,
                unit,
                operation,
            })
        };
        let mut limits = Vec::new();
        for (index, one) in given.operation_level.rest.iter().enumerate() {
            let field = format!("{field}.operationLevel.rest[{index}]");
            if self.protocol == EndpointType::Grpc {
                let words = "is about a path, and gRPC has none: limit the endpoint as a whole";
                return Err(Problem::new(field, words));
            }
            let method = operations::method(&one.method)
                .map_err(|words| Problem::new(format!("{field}.method"), words))?;
            let pattern = paths::operation(self.prefix, self.base, &one.target)
                .map_err(|words| Problem::new(format!("{field}.target"), words))?;
            let operation = (method.as_str().to_owned(), paths::with_query(&pattern));
            limits.push(limit(&one.limit, &field, Some(operation))?);
        }
        let whole = limit(&given.api_level, &format!("{field}.apiLevel"), None)?;
        limits.push(whole);
        Ok(limits)
    }
}

/// The part of a policy that its type names.
fn given<'a, T>(part: Option<&'a T>, field: &str, name: &str) -> Result<&'a T, Problem> {
    part.ok_or_else(|| {
        Problem::new(
            format!("{field}.policySpec.{name}"),
            "is not there, though the policy's type asks for it: give it, or take the policy away",
        )
    })
}

/// Puts a part in a place where there can be only one.
fn once<T>(place: &mut Option<T>, part: T, field: &str) -> Result<(), Problem> {
    if place.replace(part).is_some() {
        let words = "is a second policy of its type: one is enough";
        return Err(Problem::new(format!("{field}.type"), words));
    }
    Ok(())
}

fn called(listed: &Listed) -> String {
    match listed {
        Listed::Rest { method, target, .. } => format!("{} {target}", method.as_str()),
        Listed::Call { service, method } => format!("{service}/{method}"),
    }
}
