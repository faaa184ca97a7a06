//! What an API becomes: a route for each level that it is exposed to, under the rules of its class.
//!
//! A Service's binding has several, an API's binding one; both end here. Where no level is given, nobody beyond the project
//! is let in, and the rules of a level are always those of its route.

mod class;

use std::collections::BTreeSet;

use quadrille_types::{
    ApiClassSpec, Problem,
    api::{ExposeLevel, RestApi, RestBackend, ServiceApi},
    names::generate,
    release::TargetPlane,
    workload::EndpointType,
};
use serde_json::Value;

use self::class::Rules;
use super::endpoint::Claim;
use crate::{
    error::RenderError,
    plan::Planned,
    policy,
    routes::{
        Audience, Backend, Exposure, Match, Place, Route, RouteKind, Rule, Way, paths, rewritten,
    },
};

/// What an API is rendered from.
#[derive(Clone, Copy, Debug)]
pub struct ApiInputs<'a> {
    /// Whose it is, for messages, such as `ServiceBinding cart`.
    pub whose: &'a str,
    /// Where it is written there, such as `spec.apis.cart-api`.
    pub field: &'a str,
    /// The name of the binding.
    pub binding: &'a str,
    /// The name of the API.
    pub api: &'a str,
    /// What is asked of it.
    pub spec: &'a ServiceApi,
    /// The name of the class.
    pub class: &'a str,
    /// Its rules.
    pub class_spec: &'a ApiClassSpec,
    /// Where it is.
    pub place: Place<'a>,
    /// What others have claimed before it.
    pub taken: &'a [Claim],
}

/// What an API becomes.
pub fn plan(inputs: &ApiInputs<'_>) -> Result<Exposure, RenderError> {
    let mut exposure = Exposure::default();
    let Some(rest) = inputs.rest()? else {
        exposure.notes.push(format!(
            "{}.type: no routes are made of {:?}, only of REST",
            inputs.field, inputs.spec.protocol
        ));
        return Ok(exposure);
    };
    let audiences = inputs.audiences(rest)?;
    if audiences.is_empty() {
        return Ok(exposure);
    }
    let written = inputs.backend(rest)?;
    let base = paths::joined(&[written.base_path.as_deref().unwrap_or_default()]);
    let backend = Backend::Service {
        name: inputs.place.service.to_owned(),
        port: written.port,
    };
    let mut ways = Vec::new();
    for audience in audiences {
        let way = inputs.place.way(audience)?;
        inputs.open(&way, &backend, &base, &mut exposure)?;
        ways.push(way);
    }
    let name = generate::name_within(
        generate::LABEL_LIMIT,
        &[inputs.binding, inputs.api, "ingress"],
    );
    let port = policy::listening(written.port, EndpointType::Rest);
    let doors = inputs.place.doors(inputs.metadata(&name), &ways, port);
    exposure.objects.push(named(name, doors));
    Ok(exposure)
}

/// The addresses that an API claims.
pub fn claims(inputs: &ApiInputs<'_>) -> Result<Vec<Claim>, RenderError> {
    let Some(rest) = inputs.rest()? else {
        return Ok(Vec::new());
    };
    let own = format!("API {}", inputs.api);
    let by = if inputs.whose == own {
        own
    } else {
        format!("{} {own}", inputs.whose)
    };
    let mut claims = Vec::new();
    for audience in inputs.audiences(rest)? {
        let way = inputs.place.way(audience)?;
        let base = inputs.backend(rest)?.base_path.as_deref();
        claims.push(Claim {
            address: inputs.claimed(&way, base.unwrap_or_default()),
            by: by.clone(),
        });
    }
    Ok(claims)
}

impl ApiInputs<'_> {
    fn wrong(&self, field: &str, words: impl Into<String>) -> RenderError {
        RenderError::field(
            self.whose,
            Problem::new(format!("{}.{field}", self.field), words),
        )
    }

    fn rest(&self) -> Result<Option<&RestApi>, RenderError> {
        if !self.spec.protocol.eq_ignore_ascii_case("rest") {
            return Ok(None);
        }
        let rest = self.spec.rest.as_ref();
        let missing = || {
            let words = "is not there, though type asks for it: give its backend and exposeLevels";
            self.wrong("rest", words)
        };
        rest.map(Some).ok_or_else(missing)
    }

    fn backend<'r>(&self, rest: &'r RestApi) -> Result<&'r RestBackend, RenderError> {
        let missing = || self.wrong("rest.backend", "is not there: give its port");
        let backend = rest.backend.as_ref().ok_or_else(missing)?;
        if !(1..=65535).contains(&backend.port) {
            let words = format!("is {}, must be from 1 to 65535", backend.port);
            return Err(self.wrong("rest.backend.port", words));
        }
        Ok(backend)
    }

    fn audiences(&self, rest: &RestApi) -> Result<BTreeSet<Audience>, RenderError> {
        let mut audiences = BTreeSet::new();
        for (index, word) in rest.expose_levels.iter().enumerate() {
            let level = ExposeLevel::read(word).ok_or_else(|| {
                let words = format!("is {word:?}, must be Project, Organization or Public");
                self.wrong(&format!("rest.exposeLevels[{index}]"), words)
            })?;
            audiences.extend(Audience::of_level(level));
        }
        Ok(audiences)
    }

    fn path(&self, base: &str) -> String {
        paths::joined(&[self.place.project, self.place.component, base])
    }

    fn claimed(&self, way: &Way<'_>, base: &str) -> String {
        let host = self.place.shared_host(way);
        format!("{} {host}{}", way.audience.gateway(), self.path(base))
    }

    fn metadata(&self, name: &str) -> Value {
        self.place.metadata(name, &[])
    }

    /// The name of an object for an audience.
    fn name(&self, audience: Audience, kind: Option<&str>) -> String {
        let mut parts = vec![self.binding, self.api, audience.as_str()];
        parts.extend(kind);
        generate::name_within(generate::LABEL_LIMIT, &parts)
    }

    /// Opens the API to an audience.
    fn open(
        &self,
        way: &Way<'_>,
        backend: &Backend,
        base: &str,
        exposure: &mut Exposure,
    ) -> Result<(), RenderError> {
        let claimed = self.claimed(way, base);
        if let Some(other) = self.taken.iter().find(|other| other.address == claimed) {
            let words = format!(
                "leads to {claimed}, which {} has already: give another basePath",
                other.by
            );
            return Err(self.wrong("rest.backend.basePath", words));
        }
        let path = self.path(base);
        if let Some(words) = paths::trouble(&path) {
            return Err(self.wrong("rest.backend.basePath", words));
        }
        let rules = Rules::read(self, way, &mut exposure.notes)?;
        let host = self.place.shared_host(way);
        let name = self.name(way.audience, Some("httproute"));
        let mut filters = vec![rewritten(base, backend)];
        filters.extend(rules.filters);
        let route = Route {
            kind: RouteKind::Http,
            metadata: self.metadata(&name),
            parent: way.parent(rules.listener),
            host: Some(&host),
            rule: Rule {
                matched: Match::Prefix(path.clone()),
                filters,
                backend,
            },
        };
        let target = (RouteKind::Http, name.as_str());
        let security_name = self.name(way.audience, None);
        let security = rules
            .security
            .policy(&self.metadata(&security_name), target);
        let traffic_name = self.name(way.audience, Some("btp"));
        let traffic = rules
            .traffic
            .policy(&self.metadata(&traffic_name), &[target]);
        let objects = &mut exposure.objects;
        objects.push(named(name.clone(), route.object()));
        objects.extend(security.map(|policy| named(security_name, policy)));
        objects.extend(traffic.map(|policy| named(traffic_name, policy)));
        exposure
            .addresses
            .push(way.address(EndpointType::Rest, &host, &path));
        Ok(())
    }
}

/// An object whose id is its name.
fn named(id: String, object: Value) -> Planned {
    Planned {
        id,
        plane: TargetPlane::Data,
        object,
    }
}

#[cfg(test)]
mod tests;
