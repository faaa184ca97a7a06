//! Components with what they declare, and who is to reach whom because of it: by the words of the declaration alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    given::{component, document, platform},
    world::Port,
};

pub(crate) const PROJECTS: [&str; 3] = ["p0", "p1", "p2"];
/// Few, so that endpoints meet on them.
pub(crate) const TARGETS: [i32; 3] = [53, 8080, 9090];
pub(crate) const VISIBILITIES: [&str; 4] = ["project", "namespace", "internal", "external"];
/// Places outside: what is written, the name and an address of somebody there.
pub(crate) const PLACES: [(&str, Option<&str>, &str); 4] = [
    ("api.example.com", Some("api.example.com"), "198.51.100.1"),
    ("*.example.org", Some("www.example.org"), "198.51.100.2"),
    ("203.0.113.0/24", None, "203.0.113.77"),
    ("2001:db8::/32", None, "2001:db8::1"),
];
/// Somebody outside whom nothing above means.
pub(crate) const NOBODY: [(Option<&str>, &str); 2] = [
    (Some("a.b.example.org"), "198.51.100.3"),
    (None, "192.0.2.1"),
];

#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) kind: &'static str,
    pub(crate) target: i32,
    pub(crate) visibility: Vec<&'static str>,
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) project: usize,
    pub(crate) endpoints: Vec<Endpoint>,
    /// Component, endpoint, visibility: numbers that wrap around what there is.
    pub(crate) needs: Vec<(usize, usize, usize)>,
    /// Place and port.
    pub(crate) outside: Vec<(usize, i32, &'static str)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) is_cilium: bool,
    pub(crate) enforced: [bool; 3],
    pub(crate) parts: Vec<Part>,
}

impl Endpoint {
    fn port(&self) -> Port {
        let transport = if self.kind == "UDP" { "UDP" } else { "TCP" };
        Port {
            number: self.target,
            transport,
        }
    }

    fn sees(&self, words: &[&str]) -> bool {
        self.visibility.iter().any(|word| words.contains(word))
    }
}

impl Case {
    /// What a component needs of others: the component, its endpoint, and by which way.
    fn needs(&self, part: &Part) -> Vec<(usize, usize, &'static str)> {
        let found = part.needs.iter().filter_map(|(who, which, way)| {
            let who = who % self.parts.len();
            let endpoints = self.parts[who].endpoints.len();
            let which = which.checked_rem(endpoints)?;
            Some((who, which, VISIBILITIES[*way]))
        });
        found.collect()
    }

    /// Standard policies cannot name hosts: whoever must not be refused leaves them out.
    fn outside(&self, part: &Part) -> Vec<(usize, i32, &'static str)> {
        let can_name = self.is_cilium || !self.enforced[part.project];
        let mut places = part.outside.clone();
        places.retain(|(place, _, _)| can_name || PLACES[*place].0.contains('/'));
        places
    }

    pub(crate) fn documents(&self) -> Vec<Value> {
        let mut documents = platform(self.is_cilium);
        for (project, enforced) in PROJECTS.iter().zip(self.enforced) {
            let asked = if enforced {
                json!({ "openchoreo.dev/cell-egress": "enforce" })
            } else {
                json!({})
            };
            let spec = json!({ "deploymentPipelineRef": "default" });
            documents.push(document("Project", project, &asked, &spec));
        }
        for (number, part) in self.parts.iter().enumerate() {
            let endpoints: BTreeMap<String, Value> = part
                .endpoints
                .iter()
                .enumerate()
                .map(|(at, endpoint)| {
                    let written = json!({
                        "type": endpoint.kind, "port": 1000 + at, "targetPort": endpoint.target,
                        "visibility": endpoint.visibility,
                    });
                    (format!("e{at}"), written)
                })
                .collect();
            let needs: Vec<Value> = self
                .needs(part)
                .into_iter()
                .map(|(who, which, way)| {
                    json!({
                        "project": PROJECTS[self.parts[who].project], "component": format!("c{who}"),
                        "name": format!("e{which}"), "visibility": way, "optional": true, "envBindings": {},
                    })
                })
                .collect();
            let outside: Vec<Value> = self
                .outside(part)
                .into_iter()
                .map(|(place, port, transport)| {
                    let written = PLACES[place].0;
                    let field = if written.contains('/') {
                        "cidr"
                    } else {
                        "host"
                    };
                    json!({ field: written, "ports": [{ "port": port, "protocol": transport }] })
                })
                .collect();
            documents.extend(component(
                PROJECTS[part.project],
                &format!("c{number}"),
                &json!(endpoints),
                &json!({ "endpoints": needs, "external": outside }),
            ));
        }
        documents
    }

    /// Whether a component lets somebody in, by what its endpoints say.
    fn lets_in(&self, to: usize, from: Who, port: Port) -> bool {
        let at_port = self.parts[to].endpoints.iter();
        at_port
            .filter(|endpoint| endpoint.port() == port)
            .any(|endpoint| match from {
                Who::Component(from) => {
                    self.parts[from].project == self.parts[to].project
                        || endpoint.sees(&["namespace"])
                }
                Who::Gateway => endpoint.sees(&["internal", "external"]),
                Who::Names | Who::Place(_) | Who::Nobody(_) => false,
            })
    }

    /// Whether a component gets out to somebody, by what it declared.
    fn lets_out(&self, from: usize, to: Who, port: Port) -> bool {
        let own = &self.parts[from];
        if !self.enforced[own.project] {
            return true;
        }
        let by_gateway = |way: &str| ["internal", "external"].contains(&way);
        let mut needs = self.needs(own).into_iter();
        match to {
            Who::Component(to) if self.parts[to].project == own.project => true,
            Who::Component(to) => needs.any(|(who, which, way)| {
                who == to && !by_gateway(way) && self.parts[to].endpoints[which].port() == port
            }),
            Who::Gateway => needs.any(|(_, _, way)| by_gateway(way)),
            Who::Names => port.number == 53,
            Who::Place(to) => self
                .outside(own)
                .contains(&(to, port.number, port.transport)),
            Who::Nobody(_) => false,
        }
    }

    pub(crate) fn declares(&self, from: Who, to: Who, port: Port) -> bool {
        let is_let_out = match from {
            Who::Component(from) => self.lets_out(from, to, port),
            _ => true,
        };
        let is_let_in = match to {
            Who::Component(to) => self.lets_in(to, from, port),
            _ => true,
        };
        is_let_out && is_let_in
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Component(usize),
    Gateway,
    Names,
    Place(usize),
    Nobody(usize),
}
