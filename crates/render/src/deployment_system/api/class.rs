//! The rules of a class for one audience: those for everybody, with those for the audience over them.

mod mediation;

use quadrille_types::{
    Problem,
    api_class::{Authentication, ClassRateLimit, RestPolicies, RestPolicy, Security as Written},
    go_duration,
};
use serde_json::{Map, Value, json};

use super::ApiInputs;
use crate::{
    error::RenderError,
    routes::{
        Audience, JwtProvider, Limit, Pages, Principal, Security, Traffic, Way, api_keys, range,
    },
};

/// What a class asks of callers.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) security: Security,
    pub(super) traffic: Traffic,
    /// What is changed about requests and answers.
    pub(super) filters: Vec<Value>,
    /// The one listener that they must come by.
    pub(super) listener: Option<i32>,
}

/// A class while it is read.
struct Reader<'a> {
    inputs: &'a ApiInputs<'a>,
    audience: Audience,
    policies: &'a RestPolicies,
}

impl Rules {
    pub(super) fn read(
        inputs: &ApiInputs<'_>,
        way: &Way<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self, RenderError> {
        let Some(policies) = &inputs.class_spec.rest_policy else {
            return Ok(Self::default());
        };
        let reader = Reader {
            inputs,
            audience: way.audience,
            policies,
        };
        let policy = reader.merged()?;
        let mut rules = Self::default();
        if let Some(limit) = &policy.rate_limit {
            rules.traffic.limits.push(reader.limit(limit, notes)?);
        }
        if let Some(breaker) = policy.circuit_breaker.filter(|breaker| breaker.enabled) {
            let parts = [
                ("maxConnections", breaker.max_connections),
                ("maxPendingRequests", breaker.max_pending_requests),
                ("maxParallelRequests", breaker.max_parallel_requests),
                ("maxParallelRetries", breaker.max_parallel_retries),
            ];
            let mut written = Map::new();
            for (name, most) in parts {
                let Some(most) = most else { continue };
                if most < 0 {
                    let words = format!("is {most}, must not be negative");
                    return Err(reader.wrong("circuitBreaker", name, words));
                }
                written.insert(name.to_owned(), most.into());
            }
            rules.traffic.circuit_breaker = Some(Value::Object(written));
        }
        if let Some(authentication) = &policy.authentication {
            reader.authentication(authentication, &mut rules.security)?;
        }
        if let Some(cors) = &policy.cors {
            let pages = Pages {
                origins: &cors.allow_origins,
                methods: &cors.allow_methods,
                headers: &cors.allow_headers,
                exposed: &cors.expose_headers,
                max_age: cors.max_age,
                credentials: None,
            };
            let written = pages.written(&reader.field("cors"));
            let written = written.map_err(|problem| reader.failed(problem))?;
            rules.security.cors = Some(written);
        }
        if let Some(security) = &policy.security {
            rules.listener = reader.security(security, way, &mut rules.security)?;
        }
        if let Some(mediation) = &policy.mediation {
            rules.filters = reader.filters(mediation, notes)?;
        }
        Ok(rules)
    }
}

impl Reader<'_> {
    /// The rules for everybody with those for the audience over them: single fields are replaced, and so are whole lists.
    fn merged(&self) -> Result<RestPolicy, RenderError> {
        let over = self.own();
        let written = |policy: Option<&RestPolicy>| {
            let policy = policy.cloned().unwrap_or_default();
            serde_json::to_value(policy).expect("rules are plain JSON")
        };
        let mut merged = written(self.policies.defaults.as_ref());
        merge(&mut merged, written(over));
        serde_json::from_value(merged).map_err(|error| {
            let problem = Problem::new("spec.restPolicy", format!("cannot be merged: {error}"));
            self.failed(problem)
        })
    }

    fn own(&self) -> Option<&RestPolicy> {
        match self.audience {
            Audience::Public => self.policies.public.as_ref(),
            Audience::Organization => self.policies.organization.as_ref(),
        }
    }

    /// Where a section is written: with the rules for the audience if they have it, else with those for everybody.
    fn field(&self, section: &str) -> String {
        let own = self
            .own()
            .map(|own| serde_json::to_value(own).unwrap_or_default());
        let whose = if own.is_some_and(|own| own.get(section).is_some()) {
            self.audience.as_str()
        } else {
            "defaults"
        };
        format!("spec.restPolicy.{whose}.{section}")
    }

    fn failed(&self, problem: Problem) -> RenderError {
        RenderError::field(format!("APIClass {}", self.inputs.class), problem)
    }

    fn wrong(&self, section: &str, part: &str, words: impl Into<String>) -> RenderError {
        self.failed(Problem::new(
            format!("{}.{part}", self.field(section)),
            words,
        ))
    }

    /// A limit whose window is no unit of time counts in the next longer one, as often in all.
    fn limit(
        &self,
        written: &ClassRateLimit,
        notes: &mut Vec<String>,
    ) -> Result<Limit, RenderError> {
        const UNITS: [(&str, u64); 4] = [
            ("Second", 1),
            ("Minute", 60),
            ("Hour", 3600),
            ("Day", 86_400),
        ];
        if let Some(words) = Limit::trouble(written.requests) {
            return Err(self.wrong("rateLimit", "requests", words));
        }
        let wrong = |words: &str| {
            let words = format!("is {:?}, {words}", written.window);
            self.wrong("rateLimit", "window", words)
        };
        let days = written
            .window
            .strip_suffix('d')
            .and_then(|days| days.parse::<u64>().ok());
        let seconds = match days {
            Some(days) => days.checked_mul(86_400),
            None => go_duration::parse(&written.window)
                .filter(|window| window.subsec_nanos() == 0)
                .map(|window| window.as_secs()),
        };
        let seconds = seconds
            .filter(|seconds| *seconds > 0)
            .ok_or_else(|| wrong("must be a time such as 1s, 1m, 1h or 1d"))?;
        let fits = UNITS.into_iter().find(|(_, length)| length % seconds == 0);
        let (unit, length) = fits.ok_or_else(|| {
            wrong("must be a second, a minute, an hour, a day, or a part that divides one")
        })?;
        let times = i64::try_from(length / seconds).unwrap_or(i64::MAX);
        let requests = written.requests.saturating_mul(times);
        if let Some(words) = Limit::trouble(requests) {
            return Err(self.wrong("rateLimit", "requests", words));
        }
        if times > 1 {
            notes.push(format!(
                "{}: gateways count by the {}: {} within {} become {requests} within that",
                self.field("rateLimit"),
                unit.to_lowercase(),
                written.requests,
                written.window
            ));
        }
        Ok(Limit {
            requests,
            unit,
            operation: None,
        })
    }

    fn authentication(
        &self,
        written: &Authentication,
        security: &mut Security,
    ) -> Result<(), RenderError> {
        let class = self.inputs.class;
        match written.kind.as_str() {
            "jwt" | "oauth2" => {
                security.jwt = Some(self.provider(written)?);
                let scopes = written.oauth2.as_ref().map(|oauth2| oauth2.scopes.clone());
                security.principal = Principal {
                    scopes: scopes.unwrap_or_default(),
                    claims: Vec::new(),
                };
                if let Some(words) = security.principal.trouble() {
                    return Err(self.wrong("authentication", "oauth2.scopes", words));
                }
            }
            "apikey" => {
                let source = written.apikey.clone().unwrap_or_default();
                let header = source.header.map(|name| json!({ "headers": [name] }));
                let parameter = source.query_param.map(|name| json!({ "params": [name] }));
                let sources: Vec<Value> = header.into_iter().chain(parameter).collect();
                if sources.is_empty() {
                    let words = "must say where keys are sent: give header, queryParam or both";
                    return Err(self.wrong("authentication", "apikey", words));
                }
                let secret = format!("{class}-api-keys");
                security.api_key = Some(api_keys([secret.as_str()].into_iter(), &sources.into()));
            }
            "basic" => {
                security.basic_auth =
                    Some(json!({ "users": { "name": format!("{class}-basic-auth") } }));
            }
            other => {
                let words = format!("is {other:?}, must be jwt, apikey, oauth2 or basic");
                return Err(self.wrong("authentication", "type", words));
            }
        }
        Ok(())
    }

    /// Whose tokens are trusted: whom the class names, or else whom the environment does.
    fn provider(&self, written: &Authentication) -> Result<JwtProvider, RenderError> {
        if let Some(jwt) = &written.jwt {
            return Ok(JwtProvider {
                jwks: jwt.jwks.clone(),
                issuer: Some(jwt.issuer.clone()).filter(|issuer| !issuer.is_empty()),
                audiences: jwt.audience.clone(),
                claims_to_headers: Vec::new(),
            });
        }
        let gateway = self.inputs.place.environment_spec.gateway.as_ref();
        let security = gateway.and_then(|gateway| gateway.security.as_ref());
        let jwks = security.and_then(|security| security.remote_jwks.as_ref());
        match jwks {
            Some(jwks) if written.kind == "oauth2" => Ok(JwtProvider {
                jwks: jwks.uri.clone(),
                ..JwtProvider::default()
            }),
            _ => {
                let words = "is not there, so that nobody can say which tokens are valid: give jwks and issuer";
                Err(self.wrong("authentication", "jwt", words))
            }
        }
    }

    /// Where callers may come from; gives the one listener that they must come by.
    fn security(
        &self,
        written: &Written,
        way: &Way<'_>,
        security: &mut Security,
    ) -> Result<Option<i32>, RenderError> {
        let ranges = |list: &[String], name: &str| {
            let written = list.iter().enumerate();
            let ranges = written.map(|(index, text)| {
                range(text).ok_or_else(|| {
                    let words = format!("is {text:?}, must be addresses such as 10.0.0.0/8");
                    self.wrong("security", &format!("{name}[{index}]"), words)
                })
            });
            ranges.collect::<Result<Vec<_>, _>>()
        };
        security.allowed = ranges(&written.allowed_ips, "allowedIPs")?;
        security.blocked = ranges(&written.blocked_ips, "blockedIPs")?;
        let oldest = written.min_tls_version.as_deref().unwrap_or_default();
        let oldest = oldest
            .trim_start_matches("TLS")
            .trim_start_matches(['v', '_']);
        // Gateways take nothing older than 1.2, whatever a route says.
        if !matches!(oldest, "" | "1.0" | "1.1" | "1.2") {
            let words = format!(
                "is {:?}, which is for a gateway as a whole to ask, not for an API: ask it of gateway {}, and take 1.2 here",
                written.min_tls_version.as_deref().unwrap_or_default(),
                way.gateway.name
            );
            return Err(self.wrong("security", "minTLSVersion", words));
        }
        if written.require_tls != Some(true) {
            return Ok(None);
        }
        match (&way.gateway.https, &way.gateway.http) {
            (Some(_), None) => Ok(None),
            (Some(listener), Some(_)) => Ok(Some(listener.port)),
            (None, _) => {
                let words = format!(
                    "is true, but gateway {} has no https listener",
                    way.gateway.name
                );
                Err(self.wrong("security", "requireTLS", words))
            }
        }
    }
}

/// Puts one value over another: objects field by field, all else as a whole.
fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (name, value) in over {
                merge(base.entry(name).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}
