//! Addresses and ports that services get from the cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

use parking_lot::Mutex;
use quadrille_machinery::{field_error::FieldError, status::Status};
use quadrille_store::{ReadError, Store};
use rand::Rng;
use serde_json::{Value, json};

use crate::{resource::Resource, rest::Request};

/// The first address of the service range, 10.96.0.0/16.
const BASE: u32 = u32::from_be_bytes([10, 96, 0, 0]);
/// How many addresses the range has.
const SIZE: u32 = 1 << 16;
/// The address of the `kubernetes` service.
pub(crate) const KUBERNETES_IP: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 1);
/// Node ports.
const NODE_PORTS: std::ops::Range<u16> = 30_000..32_768;
/// How many records are read at a time.
const CHUNK: usize = 500;

/// What is taken.
#[derive(Debug, Default)]
struct Taken {
    addresses: BTreeSet<Ipv4Addr>,
    ports: BTreeMap<u16, usize>,
}

/// The allocator of service addresses and node ports.
#[derive(Debug, Default)]
pub(crate) struct Services {
    taken: Mutex<Taken>,
}

/// Addresses and ports that a write has taken; given back unless the write succeeds.
pub(crate) struct Reservation<'a> {
    services: &'a Services,
    addresses: Vec<Ipv4Addr>,
    ports: Vec<u16>,
    /// What the old object had and the new one has no more.
    freed_addresses: Vec<Ipv4Addr>,
    freed_ports: Vec<u16>,
    kept: bool,
}

impl Reservation<'_> {
    /// The write happened.
    pub(crate) fn keep(mut self) {
        self.kept = true;
        let mut taken = self.services.taken.lock();
        for address in &self.freed_addresses {
            taken.addresses.remove(address);
        }
        for port in &self.freed_ports {
            release_port(&mut taken, *port);
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut taken = self.services.taken.lock();
        for address in &self.addresses {
            taken.addresses.remove(address);
        }
        for port in &self.ports {
            release_port(&mut taken, *port);
        }
    }
}

fn release_port(taken: &mut Taken, port: u16) {
    if let Some(count) = taken.ports.get_mut(&port) {
        *count -= 1;
        if *count == 0 {
            taken.ports.remove(&port);
        }
    }
}

fn addresses(service: &Value) -> Vec<Ipv4Addr> {
    let single = service["spec"]["clusterIP"].as_str().into_iter();
    let list = service["spec"]["clusterIPs"]
        .as_array()
        .into_iter()
        .flatten();
    let mut all: Vec<Ipv4Addr> = single
        .chain(list.filter_map(Value::as_str))
        .filter_map(|text| text.parse().ok())
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn ports(service: &Value) -> Vec<u16> {
    let listed = service["spec"]["ports"].as_array().into_iter().flatten();
    let health = &service["spec"]["healthCheckNodePort"];
    listed
        .map(|port| &port["nodePort"])
        .chain([health])
        .filter_map(|port| u16::try_from(port.as_u64()?).ok())
        .filter(|port| *port > 0)
        .collect()
}

impl Services {
    /// Reads what stored services have.
    pub(crate) fn load(store: &Store) -> Result<Self, ReadError> {
        let services = Self::default();
        let mut after = None;
        loop {
            let page = store.list(b"services/", after.as_deref(), CHUNK, None)?;
            let mut taken = services.taken.lock();
            for record in &page.records {
                let Ok(service) = serde_json::from_slice::<Value>(&record.value) else {
                    continue;
                };
                taken.addresses.extend(addresses(&service));
                for port in ports(&service) {
                    *taken.ports.entry(port).or_default() += 1;
                }
            }
            drop(taken);
            match page.records.last() {
                Some(last) if page.more => after = Some(last.key.clone()),
                _ => return Ok(services),
            }
        }
    }

    /// Gives a service what it asks for, and refuses what others have.
    pub(crate) fn reserve<'a>(
        &'a self,
        request: &Request,
        old: Option<&Value>,
        new: &mut Value,
    ) -> Result<Reservation<'a>, Status> {
        let mut reservation = Reservation {
            services: self,
            addresses: Vec::new(),
            ports: Vec::new(),
            freed_addresses: Vec::new(),
            freed_ports: Vec::new(),
            kept: false,
        };
        if !is_service(&request.resource) || !request.subresource().is_empty() {
            return Ok(reservation);
        }
        let name = new["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let refuse = |error| Status::invalid("", "Service", &name, &[error]);
        let mut taken = self.taken.lock();
        assign_address(&mut taken, &mut reservation, old, new).map_err(refuse)?;
        assign_ports(&mut taken, &mut reservation, old, new).map_err(refuse)?;
        drop(taken);
        let before = old.map(addresses).unwrap_or_default();
        let after = addresses(new);
        reservation.freed_addresses = before
            .into_iter()
            .filter(|address| !after.contains(address))
            .collect();
        let mut remaining = ports(new);
        for port in old.map(ports).unwrap_or_default() {
            match remaining.iter().position(|kept| *kept == port) {
                Some(at) => {
                    remaining.swap_remove(at);
                }
                None => reservation.freed_ports.push(port),
            }
        }
        Ok(reservation)
    }

    /// Takes back what a deleted service had.
    pub(crate) fn release(&self, resource: &Resource, service: &Value) {
        if !is_service(resource) {
            return;
        }
        let mut taken = self.taken.lock();
        for address in addresses(service) {
            taken.addresses.remove(&address);
        }
        for port in ports(service) {
            release_port(&mut taken, port);
        }
    }
}

fn is_service(resource: &Resource) -> bool {
    resource.is_built_in() && resource.group.is_empty() && resource.plural == "services"
}

fn assign_address(
    taken: &mut Taken,
    reservation: &mut Reservation<'_>,
    old: Option<&Value>,
    new: &mut Value,
) -> Result<(), FieldError> {
    if new["spec"]["type"] == "ExternalName" {
        return Ok(());
    }
    let wanted = new["spec"]["clusterIP"].as_str().unwrap_or("").to_owned();
    if wanted == "None" {
        return Ok(());
    }
    if wanted.is_empty() {
        let address = free_address(taken).ok_or_else(|| {
            FieldError::invalid(
                "spec.clusterIPs",
                json!([""]),
                "failed to allocate IP 10.96.0.0: range is full",
            )
        })?;
        taken.addresses.insert(address);
        reservation.addresses.push(address);
        new["spec"]["clusterIP"] = json!(address.to_string());
        new["spec"]["clusterIPs"] = json!([address.to_string()]);
        return Ok(());
    }
    let Ok(address) = wanted.parse::<Ipv4Addr>() else {
        return Ok(());
    };
    if old.is_some_and(|old| addresses(old).contains(&address)) {
        return Ok(());
    }
    let number = u32::from(address);
    if !(BASE..BASE + SIZE).contains(&number) {
        return Err(FieldError::invalid(
            "spec.clusterIPs",
            json!([wanted]),
            format!(
                "failed to allocate IP {wanted}: the provided network does not match the current range"
            ),
        ));
    }
    if !taken.addresses.insert(address) {
        return Err(FieldError::invalid(
            "spec.clusterIPs",
            json!([wanted]),
            format!("failed to allocate IP {wanted}: provided IP is already allocated"),
        ));
    }
    reservation.addresses.push(address);
    Ok(())
}

fn free_address(taken: &Taken) -> Option<Ipv4Addr> {
    let start = rand::rng().random_range(256..SIZE - 1);
    (0..SIZE - 2)
        .map(|step| Ipv4Addr::from(BASE + 1 + (start + step) % (SIZE - 2)))
        .find(|address| !taken.addresses.contains(address))
}

fn assign_ports(
    taken: &mut Taken,
    reservation: &mut Reservation<'_>,
    old: Option<&Value>,
    new: &mut Value,
) -> Result<(), FieldError> {
    let wants_ports = match new["spec"]["type"].as_str() {
        Some("NodePort") => true,
        Some("LoadBalancer") => new["spec"]["allocateLoadBalancerNodePorts"] != json!(false),
        _ => false,
    };
    let before = old.map(ports).unwrap_or_default();
    let listed = new.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
    let Some(listed) = listed else {
        return Ok(());
    };
    let mut mine: BTreeSet<u16> = BTreeSet::new();
    for (at, port) in listed.iter_mut().enumerate() {
        let wanted = port["nodePort"]
            .as_u64()
            .and_then(|port| u16::try_from(port).ok());
        match wanted.filter(|port| *port > 0) {
            Some(wanted) if before.contains(&wanted) || mine.contains(&wanted) => {
                mine.insert(wanted);
            }
            Some(wanted) => {
                let field = format!("spec.ports[{at}].nodePort");
                if !NODE_PORTS.contains(&wanted) {
                    return Err(FieldError::invalid(
                        field,
                        json!(wanted),
                        "provided port is not in the valid range. The range of valid ports is 30000-32767",
                    ));
                }
                if taken.ports.contains_key(&wanted) {
                    return Err(FieldError::invalid(
                        field,
                        json!(wanted),
                        "provided port is already allocated",
                    ));
                }
                *taken.ports.entry(wanted).or_default() += 1;
                reservation.ports.push(wanted);
                mine.insert(wanted);
            }
            None if wants_ports => {
                let start = rand::rng().random_range(NODE_PORTS);
                let span = NODE_PORTS.end - NODE_PORTS.start;
                let free = (0..span)
                    .map(|step| NODE_PORTS.start + (start - NODE_PORTS.start + step) % span)
                    .find(|port| !taken.ports.contains_key(port))
                    .ok_or_else(|| {
                        FieldError::invalid(
                            format!("spec.ports[{at}].nodePort"),
                            json!(0),
                            "failed to allocate a nodePort: range is full",
                        )
                    })?;
                *taken.ports.entry(free).or_default() += 1;
                reservation.ports.push(free);
                mine.insert(free);
                port["nodePort"] = json!(free);
            }
            None => {}
        }
    }
    Ok(())
}
