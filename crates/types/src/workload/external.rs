//! What a workload needs outside of the cluster.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{problem::Problem, schema};

/// Something outside of the cluster that a workload talks to. Where what leaves a cell is enforced, it reaches nothing else
/// out there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    ("has(self.host) != has(self.cidr)", "give either host or cidr"),
])))]
pub struct ExternalDependency {
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub name: Option<String>,
    /// A host name; `*.` at its start stands for any one label.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(
            pattern = r"^(\*\.)?([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
        )
    )]
    pub host: Option<String>,
    /// A range of addresses, such as `203.0.113.0/24`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 3, max = 43),
        regex(pattern = r"^[0-9a-fA-F.:]+/[0-9]{1,3}$")
    )]
    pub cidr: Option<String>,
    /// The ports there.
    #[schemars(length(min = 1, max = 50))]
    pub ports: Vec<ExternalPort>,
}

/// A port outside of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalPort {
    /// Its number.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// What it carries; TCP where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["TCP", "UDP"]))]
    pub protocol: Option<String>,
}

/// Something outside of the cluster, as everybody else sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Where it is.
    pub place: Place,
    /// Its ports: number and `TCP` or `UDP`.
    pub ports: Vec<(i32, &'static str)>,
}

/// A place outside of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Whatever has this name; `*.` at its start stands for any one label.
    Host(String),
    /// A range of addresses, written the usual way.
    Range(String),
}

impl ExternalDependency {
    pub(super) fn resolve(&self, field: &str) -> Result<Outside, Problem> {
        let place = match (&self.host, &self.cidr) {
            (Some(host), None) => {
                let wrong = |words| Problem::new(format!("{field}.host"), words);
                Place::Host(host_name(host).map_err(wrong)?)
            }
            (None, Some(range)) => {
                let wrong = |words| Problem::new(format!("{field}.cidr"), words);
                Place::Range(network(range).map_err(wrong)?)
            }
            (Some(_), Some(_)) => {
                return Err(Problem::new(
                    field,
                    "has both host and cidr: only one can be meant",
                ));
            }
            (None, None) => {
                return Err(Problem::new(
                    field,
                    "has neither host nor cidr: give one of them",
                ));
            }
        };
        if self.ports.is_empty() {
            return Err(Problem::new(
                format!("{field}.ports"),
                "is empty: name the ports that are used",
            ));
        }
        let ports = self.ports.iter().enumerate();
        let ports = ports.map(|(index, port)| port.resolve(&format!("{field}.ports[{index}]")));
        Ok(Outside {
            place,
            ports: ports.collect::<Result<_, _>>()?,
        })
    }
}

impl ExternalPort {
    fn resolve(&self, field: &str) -> Result<(i32, &'static str), Problem> {
        if !(1..=65535).contains(&self.port) {
            return Err(Problem::new(
                format!("{field}.port"),
                format!("is {}, must be from 1 to 65535", self.port),
            ));
        }
        match self.protocol.as_deref() {
            None | Some("TCP") => Ok((self.port, "TCP")),
            Some("UDP") => Ok((self.port, "UDP")),
            Some(other) => Err(Problem::new(
                format!("{field}.protocol"),
                format!("is {other:?}, must be TCP or UDP"),
            )),
        }
    }
}

/// A name that can be outside of a cluster.
fn host_name(written: &str) -> Result<String, String> {
    if let Ok(address) = written.parse::<IpAddr>() {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        return Err(format!(
            "is the address {address}: give cidr: {address}/{bits} instead"
        ));
    }
    let labels: Vec<&str> = written
        .strip_prefix("*.")
        .unwrap_or(written)
        .split('.')
        .collect();
    let is_label = |label: &&str| {
        let inner =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        (1..=63).contains(&label.len())
            && label.chars().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if written.len() > 253 || labels.len() < 2 || !labels.iter().all(is_label) {
        return Err(format!(
            "is {written:?}, must be a full host name in lower case, such as api.example.com or *.example.com"
        ));
    }
    if matches!(labels.as_slice(), [.., "svc"] | [.., "cluster", "local"]) {
        return Err(format!(
            "is {written:?}, which is within the cluster: name the component among dependencies.endpoints"
        ));
    }
    Ok(written.to_owned())
}

/// A range of addresses that starts where it says.
fn network(written: &str) -> Result<String, String> {
    let shape =
        || format!("is {written:?}, must be a range such as 203.0.113.0/24 or 2001:db8::/32");
    let (address, bits) = written.split_once('/').ok_or_else(shape)?;
    let is_number = !bits.is_empty() && bits.bytes().all(|digit| digit.is_ascii_digit());
    let address: IpAddr = address.parse().map_err(|_| shape())?;
    let bits: u32 = bits.parse().ok().filter(|_| is_number).ok_or_else(shape)?;
    let start = match address {
        IpAddr::V4(address) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or_default();
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or_default();
            IpAddr::V6((address.to_bits() & mask).into())
        }
        _ => return Err(shape()),
    };
    if start != address {
        let all = if address.is_ipv4() { 32 } else { 128 };
        return Err(format!(
            "is {written:?}, which starts within its range: give {start}/{bits}, or {address}/{all} for it alone"
        ));
    }
    Ok(format!("{start}/{bits}"))
}

#[cfg(test)]
mod tests;
