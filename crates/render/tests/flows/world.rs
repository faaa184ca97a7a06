//! A plane with everything that was rendered for it.

use std::{collections::BTreeMap, net::IpAddr};

use quadrille_render::{Documents, Renderer};
use serde_json::Value;

use crate::{
    cilium,
    selector::{Labels, fields},
    standard,
};

/// The environment of these tests.
pub(crate) const ENVIRONMENT: &str = "development";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Ingress,
    Egress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Port {
    pub(crate) number: i32,
    pub(crate) transport: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) struct Pod {
    pub(crate) namespace: String,
    pub(crate) labels: Labels,
    pub(crate) address: IpAddr,
}

/// Who can talk to whom.
#[derive(Clone, Debug)]
pub(crate) enum Party {
    Pod(Pod),
    Outside {
        name: Option<&'static str>,
        address: IpAddr,
    },
}

impl Party {
    pub(crate) fn address(&self) -> IpAddr {
        match self {
            Self::Pod(Pod { address, .. }) | Self::Outside { address, .. } => *address,
        }
    }

    pub(crate) fn outside(name: Option<&'static str>, address: &str) -> Self {
        let address = address.parse().unwrap();
        Self::Outside { name, address }
    }
}

/// Namespaces, policies, and a pod of every component.
#[derive(Debug, Default)]
pub(crate) struct World {
    namespaces: BTreeMap<String, Labels>,
    policies: Vec<Value>,
    components: BTreeMap<String, Pod>,
    pods: u8,
}

impl World {
    /// What becomes of all components, and of the cells that they are in.
    pub(crate) fn render(renderer: &Renderer, documents: Vec<Value>) -> Result<Self, String> {
        let mut projects: Vec<String> = documents
            .iter()
            .filter(|document| document["kind"] == "Component")
            .map(|component| {
                component["spec"]["owner"]["projectName"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        projects.sort();
        projects.dedup();
        let documents = Documents::read(documents).map_err(|error| error.to_string())?;
        let mut world = Self::default();
        for project in projects {
            let cell = documents.cell(&project, ENVIRONMENT);
            for planned in cell.map_err(|error| error.to_string())? {
                world.take(None, planned.object);
            }
        }
        for component in documents.components() {
            let plan = documents.plan(renderer, component, ENVIRONMENT);
            for planned in plan.map_err(|error| error.to_string())?.objects {
                world.take(Some(component), planned.object);
            }
        }
        Ok(world)
    }

    /// The cell of a project, what is exposed of it, and a pod of a component there with the labels of its policies.
    pub(crate) fn exposed(project: &str, component: &str, documents: Vec<Value>) -> Self {
        let documents = Documents::read(documents).unwrap();
        let mut world = Self::default();
        for planned in documents.cell(project, ENVIRONMENT).unwrap() {
            world.take(None, planned.object);
        }
        for (_, exposure) in documents.exposures() {
            for planned in exposure.unwrap().objects {
                let spec = &planned.object["spec"];
                let pods = [&spec["podSelector"], &spec["endpointSelector"]];
                let selector = pods.into_iter().find(|selector| selector.is_object());
                if let Some(selector) = selector {
                    let namespace = planned.object["metadata"]["namespace"].as_str().unwrap();
                    let pod = world.mk_pod(namespace, labels(&selector["matchLabels"]));
                    world.components.insert(component.to_owned(), pod);
                }
                world.take(None, planned.object);
            }
        }
        world
    }

    fn take(&mut self, component: Option<&str>, object: Value) {
        match (object["kind"].as_str().unwrap(), component) {
            ("Namespace", _) => {
                let name = object["metadata"]["name"].as_str().unwrap();
                self.add_namespace(name, labels(&object["metadata"]["labels"]));
            }
            ("NetworkPolicy" | "CiliumNetworkPolicy", _) => self.policies.push(object),
            ("Deployment", Some(component)) => {
                let namespace = object["metadata"]["namespace"].as_str().unwrap();
                let labels = labels(&object["spec"]["template"]["metadata"]["labels"]);
                let pod = self.mk_pod(namespace, labels);
                self.components.insert(component.to_owned(), pod);
            }
            _ => {}
        }
    }

    /// Every namespace carries its name as a label: servers see to that.
    pub(crate) fn add_namespace(&mut self, name: &str, mut labels: Labels) {
        labels.insert("kubernetes.io/metadata.name".to_owned(), name.to_owned());
        self.namespaces.insert(name.to_owned(), labels);
    }

    pub(crate) fn mk_pod(&mut self, namespace: &str, labels: Labels) -> Pod {
        self.pods += 1;
        Pod {
            namespace: namespace.to_owned(),
            labels,
            address: IpAddr::from([10, 244, 0, self.pods]),
        }
    }

    /// A pod of nobody's, in a namespace that has these labels.
    pub(crate) fn stranger(
        &mut self,
        namespace: &str,
        of_namespace: &[(&str, &str)],
        of_pod: &[(&str, &str)],
    ) -> Party {
        let owned = |labels: &[(&str, &str)]| {
            let owned = labels.iter();
            owned
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect()
        };
        self.add_namespace(namespace, owned(of_namespace));
        Party::Pod(self.mk_pod(namespace, owned(of_pod)))
    }

    /// A pod of nobody's in the cell of a component.
    pub(crate) fn beside(&mut self, component: &str) -> Party {
        let cell = self.components[component].namespace.clone();
        Party::Pod(self.mk_pod(&cell, Labels::new()))
    }

    pub(crate) fn component(&self, name: &str) -> Party {
        Party::Pod(self.components[name].clone())
    }

    pub(crate) fn namespace(&self, name: &str) -> &Labels {
        &self.namespaces[name]
    }

    /// Whether somebody gets through to somebody: out of the one and into the other.
    pub(crate) fn allows(&self, from: &Party, to: &Party, port: Port) -> bool {
        self.lets(from, Direction::Egress, to, port)
            && self.lets(to, Direction::Ingress, from, port)
    }

    fn lets(&self, party: &Party, direction: Direction, peer: &Party, port: Port) -> bool {
        // What is outside has its own walls.
        let Party::Pod(pod) = party else {
            return true;
        };
        let is_cilium = |policy: &Value| policy["kind"] == "CiliumNetworkPolicy";
        let closing: Vec<&Value> = self
            .policies
            .iter()
            .filter(|policy| {
                if is_cilium(policy) {
                    cilium::closes(policy, pod, direction, self)
                } else {
                    standard::closes(policy, pod, direction)
                }
            })
            .collect();
        let reads_names = closing.iter().any(|policy| cilium::reads_names(policy));
        closing.is_empty()
            || closing.iter().any(|policy| {
                if is_cilium(policy) {
                    cilium::allows(policy, direction, peer, port, reads_names, self)
                } else {
                    standard::allows(policy, direction, peer, port, self)
                }
            })
    }
}

fn labels(written: &Value) -> Labels {
    fields(written)
        .map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned()))
        .collect()
}
