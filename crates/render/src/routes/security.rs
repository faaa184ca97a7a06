//! What a gateway asks of callers before it lets them through, as a `SecurityPolicy`.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

use super::objects::{EXTENSIONS_VERSION, RouteKind};

/// The name of the one issuer of tokens that a route trusts.
const PROVIDER: &str = "default";
/// The most scopes, and the most claims, that one rule takes.
const MOST: usize = 16;
/// The header by which the name of an authenticated caller reaches the backend. Callers cannot forge it: it is always set.
pub(crate) const USER_HEADER: &str = "x-authenticated-user";

/// Whose tokens are trusted, and what of them the backend is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JwtProvider {
    pub(crate) jwks: String,
    pub(crate) issuer: Option<String>,
    pub(crate) audiences: Vec<String>,
    /// Claims, each with the header that it is told in.
    pub(crate) claims_to_headers: Vec<(String, String)>,
}

/// What a token must have: all scopes, and of each claim one of the values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Principal {
    pub(crate) scopes: Vec<String>,
    pub(crate) claims: Vec<(String, Vec<String>)>,
}

/// What is asked of callers of a route.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Security {
    pub(crate) jwt: Option<JwtProvider>,
    pub(crate) principal: Principal,
    /// The only callers by name, where they come with a password.
    pub(crate) users: Vec<String>,
    pub(crate) allowed: Vec<String>,
    pub(crate) blocked: Vec<String>,
    pub(crate) api_key: Option<Value>,
    pub(crate) basic_auth: Option<Value>,
    pub(crate) cors: Option<Value>,
    /// Nobody gets through, whoever they are: what is left beside the operations that somebody listed.
    pub(crate) is_closed: bool,
}

impl Security {
    /// The policy for a route; nothing where nothing is asked.
    pub(crate) fn policy(&self, metadata: &Value, route: (RouteKind, &str)) -> Option<Value> {
        let mut spec = Map::new();
        if let Some(provider) = &self.jwt {
            spec.insert(
                "jwt".to_owned(),
                json!({ "providers": [provider.written()] }),
            );
        }
        let parts = [
            ("apiKeyAuth", &self.api_key),
            ("basicAuth", &self.basic_auth),
            ("cors", &self.cors),
            ("authorization", &self.authorization()),
        ];
        for (name, part) in parts {
            if let Some(part) = part {
                spec.insert(name.to_owned(), part.clone());
            }
        }
        if spec.is_empty() {
            return None;
        }
        spec.insert("targetRefs".to_owned(), json!([target(route)]));
        Some(json!({
            "apiVersion": EXTENSIONS_VERSION,
            "kind": "SecurityPolicy",
            "metadata": metadata,
            "spec": spec,
        }))
    }

    /// Who gets through. Those that are blocked come first, since the first rule that fits decides; where somebody is
    /// allowed, all others are not.
    fn authorization(&self) -> Option<Value> {
        let mut rules = Vec::new();
        if !self.blocked.is_empty() {
            rules.push(json!({ "action": "Deny", "principal": { "clientCIDRs": self.blocked } }));
        }
        let mut common = Map::new();
        if !self.allowed.is_empty() {
            common.insert("clientCIDRs".to_owned(), json!(self.allowed));
        }
        if !self.users.is_empty() {
            let header = json!([{ "name": USER_HEADER, "values": self.users }]);
            common.insert("headers".to_owned(), header);
        }
        let tokens = self.principal.alternatives();
        let is_limited = self.is_closed || !common.is_empty() || !tokens.is_empty();
        if !self.is_closed {
            if tokens.is_empty() && !common.is_empty() {
                rules.push(json!({ "action": "Allow", "principal": common }));
            }
            for token in tokens {
                let mut principal = common.clone();
                principal.insert("jwt".to_owned(), token);
                rules.push(json!({ "action": "Allow", "principal": principal }));
            }
        }
        if rules.is_empty() && !is_limited {
            return None;
        }
        let default = if is_limited { "Deny" } else { "Allow" };
        let mut authorization = json!({ "defaultAction": default });
        if !rules.is_empty() {
            authorization["rules"] = rules.into();
        }
        Some(authorization)
    }
}

impl JwtProvider {
    fn written(&self) -> Value {
        let mut provider = json!({ "name": PROVIDER, "remoteJWKS": { "uri": self.jwks } });
        if let Some(issuer) = &self.issuer {
            provider["issuer"] = issuer.as_str().into();
        }
        if !self.audiences.is_empty() {
            provider["audiences"] = json!(self.audiences);
        }
        if !self.claims_to_headers.is_empty() {
            let told = self.claims_to_headers.iter();
            provider["claimToHeaders"] = told
                .map(|(claim, header)| json!({ "claim": claim, "header": header }))
                .collect();
        }
        provider
    }
}

impl Principal {
    /// Why this cannot be asked; nothing where it can. Claims may be one text or a list of them, and each may be either:
    /// every combination takes a rule, so that only a few claims can be asked at once.
    pub(crate) fn trouble(&self) -> Option<String> {
        if self.scopes.len() > MOST {
            return Some(format!(
                "has {} scopes, gateways check {MOST}",
                self.scopes.len()
            ));
        }
        (self.claims.len() > 3).then(|| {
            format!(
                "asks for {} claims, gateways check 3 at once",
                self.claims.len()
            )
        })
    }

    /// The tokens that fit, one rule each; none where any token does.
    fn alternatives(&self) -> Vec<Value> {
        if self.scopes.is_empty() && self.claims.is_empty() {
            return Vec::new();
        }
        let mut combinations: Vec<Vec<Value>> = vec![Vec::new()];
        for (name, values) in &self.claims {
            let with = |kind: &'static str| {
                let claim = json!({ "name": name, "valueType": kind, "values": values });
                let longer = |known: &Vec<Value>| {
                    let mut longer = known.clone();
                    longer.push(claim.clone());
                    longer
                };
                combinations.iter().map(longer).collect::<Vec<_>>()
            };
            combinations = [with("String"), with("StringArray")].concat();
        }
        let token = |claims: Vec<Value>| {
            let mut token = json!({ "provider": PROVIDER });
            if !self.scopes.is_empty() {
                token["scopes"] = json!(self.scopes);
            }
            if !claims.is_empty() {
                token["claims"] = claims.into();
            }
            token
        };
        combinations.into_iter().map(token).collect()
    }
}

/// What a policy is about.
pub(super) fn target((kind, name): (RouteKind, &str)) -> Value {
    json!({ "group": "gateway.networking.k8s.io", "kind": kind.as_str(), "name": name })
}

/// A range of addresses as policies take it; a single address is a range of one.
pub(crate) fn range(written: &str) -> Option<String> {
    let (address, bits) = match written.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u8>().ok()?)),
        None => (written, None),
    };
    let parsed: IpAddr = address.parse().ok()?;
    let longest = if parsed.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(longest);
    (bits <= longest).then(|| format!("{address}/{bits}"))
}

/// Seconds as durations are written here: at most five digits before each unit.
pub(super) fn seconds(count: i64) -> Option<String> {
    let count = u64::try_from(count).ok()?;
    if count < 100_000 {
        return Some(format!("{count}s"));
    }
    let (hours, rest) = (count / 3600, count % 3600);
    (hours < 100_000).then(|| format!("{hours}h{}m{}s", rest / 60, rest % 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_seconds_are_written_as_policies_take_them() {
        assert_eq!(range("10.0.0.1").as_deref(), Some("10.0.0.1/32"));
        assert_eq!(range("::/0").as_deref(), Some("::/0"));
        for wrong in ["10.0.0.0/33", "ten", "10.0.0.0/x", ""] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
        assert_eq!(seconds(86_400).as_deref(), Some("86400s"));
        assert_eq!(seconds(360_061).as_deref(), Some("100h1m1s"));
        assert_eq!(seconds(-1), None);
    }

    #[test]
    fn only_blocking_somebody_leaves_the_others_in() {
        let security = Security {
            blocked: vec!["10.9.0.0/16".to_owned()],
            ..Security::default()
        };
        let written = security.authorization().unwrap();
        assert_eq!(written["defaultAction"], "Allow");
        assert_eq!(written["rules"][0]["action"], "Deny");
    }

    #[test]
    fn who_is_blocked_stays_out_whatever_their_token_allows() {
        let security = Security {
            blocked: vec!["10.9.0.0/16".to_owned()],
            allowed: vec!["10.0.0.0/8".to_owned()],
            principal: Principal {
                scopes: vec!["read".to_owned()],
                claims: Vec::new(),
            },
            ..Security::default()
        };
        let written = security.authorization().unwrap();
        assert_eq!(written["defaultAction"], "Deny");
        assert_eq!(written["rules"][0]["action"], "Deny");
        let principal = &written["rules"][1]["principal"];
        assert_eq!(principal["clientCIDRs"], json!(["10.0.0.0/8"]));
        assert_eq!(principal["jwt"]["scopes"], json!(["read"]));
    }

    #[test]
    fn a_claim_may_be_a_text_or_a_list() {
        let principal = Principal {
            scopes: Vec::new(),
            claims: vec![
                ("group".to_owned(), vec!["a".to_owned()]),
                ("team".to_owned(), vec!["b".to_owned()]),
            ],
        };
        assert_eq!(principal.alternatives().len(), 4);
    }
}
