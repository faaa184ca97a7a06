//! Addresses of the internet.

use std::{any::Any, net::IpAddr};

use super::{Table, address_text, declare, name_types};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    ty::Type,
    value::{Opaque, Value, number},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const ADDRESSES: Table = &[
    ("ip", ip, &["string_to_ip: (string) -> net.IP"]),
    (
        "ip.isCanonical",
        is_canonical,
        &["ip_is_canonical: (string) -> bool"],
    ),
    ("isIP", is_ip, &["is_ip: (string) -> bool"]),
    ("family", family, &["ip_family: net.IP.() -> int"]),
    (
        "isUnspecified",
        is_unspecified,
        &["ip_is_unspecified: net.IP.() -> bool"],
    ),
    (
        "isLoopback",
        is_loopback,
        &["ip_is_loopback: net.IP.() -> bool"],
    ),
    (
        "isLinkLocalMulticast",
        is_link_local_multicast,
        &["ip_is_link_local_multicast: net.IP.() -> bool"],
    ),
    (
        "isLinkLocalUnicast",
        is_link_local_unicast,
        &["ip_is_link_local_unicast: net.IP.() -> bool"],
    ),
    (
        "isGlobalUnicast",
        is_global_unicast,
        &["ip_is_global_unicast: net.IP.() -> bool"],
    ),
    ("string", to_text, &["ip_to_string: (net.IP) -> string"]),
];

/// An address as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address(pub(super) IpAddr);

impl Opaque for Address {
    fn type_of(&self) -> Type {
        Type::opaque("net.IP", Vec::new())
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn size(&self) -> u64 {
        if self.0.is_ipv4() { 4 } else { 16 }
    }
}

pub(super) fn install(env: &mut Env) {
    declare(env, ADDRESSES);
    name_types(env, &[("net.IP", Type::opaque("net.IP", Vec::new()))]);
}

/// Reads an address; zones and addresses of one family inside the other are refused.
pub(super) fn parse(text: &str) -> Result<IpAddr, EvalError> {
    let address = text.parse::<IpAddr>();
    if address.is_err()
        && let Some((address, zone)) = text.split_once('%')
        && !zone.is_empty()
        && address.parse::<std::net::Ipv6Addr>().is_ok()
    {
        let message = format!(
            "IP address {} with zone value is not allowed",
            number::quote(text)
        );
        return Err(EvalError::new(message));
    }
    let Ok(address) = address else {
        return Err(EvalError::new(format!(
            "IP Address {} parse error during conversion from string: {}",
            number::quote(text),
            address_text::complaint(text)
        )));
    };
    if matches!(address, IpAddr::V6(six) if six.to_ipv4_mapped().is_some()) {
        let quoted = number::quote(text);
        return Err(EvalError::new(format!(
            "IPv4-mapped IPv6 address {quoted} is not allowed"
        )));
    }
    Ok(address)
}

fn ip<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => Ok(Value::opaque(Address(parse(text)?))),
        _ => call.refuse(args),
    }
}

fn is_ip<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(parse(text).is_ok())),
        _ => call.refuse(args),
    }
}

fn is_canonical<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(parse(text)?.to_string() == **text)),
        _ => call.refuse(args),
    }
}

fn address(call: &Call<'_>, args: &[Value<'_>]) -> Result<IpAddr, EvalError> {
    match args.first().and_then(Value::downcast::<Address>) {
        Some(address) => Ok(address.0),
        None => call.refuse(args),
    }
}

fn to_text<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::from(address(call, args)?.to_string()))
}

fn family<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Int(if address(call, args)?.is_ipv4() {
        4
    } else {
        6
    }))
}

fn is_unspecified<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(address(call, args)?.is_unspecified()))
}

fn is_loopback<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(address(call, args)?.is_loopback()))
}

fn link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.octets()[..3] == [224, 0, 0],
        IpAddr::V6(six) => six.segments()[0] & 0xff0f == 0xff02,
    }
}

fn link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_link_local(),
        IpAddr::V6(six) => six.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_link_local_multicast<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(link_local_multicast(address(call, args)?)))
}

fn is_link_local_unicast<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(link_local_unicast(address(call, args)?)))
}

fn is_global_unicast<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let address = address(call, args)?;
    let broadcast = matches!(address, IpAddr::V4(four) if four.is_broadcast());
    let special = address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || link_local_unicast(address)
        || broadcast;
    Ok(Value::Bool(!special))
}
