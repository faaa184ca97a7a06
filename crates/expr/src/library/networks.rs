//! Networks: an address and how many of its bits count.

use std::{any::Any, net::IpAddr};

use super::{
    Table, address_text,
    addresses::{self, Address},
    declare, name_types,
};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    ty::Type,
    value::{Opaque, Value, number},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const NETWORKS: Table = &[
    ("cidr", cidr, &["string_to_cidr: (string) -> net.CIDR"]),
    ("isCIDR", is_cidr, &["is_cidr: (string) -> bool"]),
    (
        "containsIP",
        contains_ip,
        &[
            "cidr_contains_ip_string: net.CIDR.(string) -> bool",
            "cidr_contains_ip_ip: net.CIDR.(net.IP) -> bool",
        ],
    ),
    (
        "containsCIDR",
        contains_cidr,
        &[
            "cidr_contains_cidr_string: net.CIDR.(string) -> bool",
            "cidr_contains_cidr: net.CIDR.(net.CIDR) -> bool",
        ],
    ),
    ("ip", ip, &["cidr_ip: net.CIDR.() -> net.IP"]),
    ("masked", masked, &["cidr_masked: net.CIDR.() -> net.CIDR"]),
    (
        "prefixLength",
        prefix_length,
        &["cidr_prefix_length: net.CIDR.() -> int"],
    ),
    ("string", to_text, &["cidr_to_string: (net.CIDR) -> string"]),
];

/// A network as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    fn show(self) -> String {
        format!("{}/{}", self.address, self.bits)
    }

    fn masked(self) -> IpAddr {
        mask(self.address, self.bits)
    }

    fn contains(self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && mask(address, self.bits) == self.masked()
    }
}

fn mask(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(four) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((four.to_bits() & mask).into())
        }
        IpAddr::V6(six) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((six.to_bits() & mask).into())
        }
    }
}

impl Opaque for Network {
    fn type_of(&self) -> Type {
        Type::opaque("net.CIDR", Vec::new())
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn size(&self) -> u64 {
        u64::from(self.bits).div_ceil(8)
    }
}

pub(super) fn install(env: &mut Env) {
    declare(env, NETWORKS);
    name_types(env, &[("net.CIDR", Type::opaque("net.CIDR", Vec::new()))]);
}

fn parse(text: &str) -> Result<Network, EvalError> {
    let quoted = number::quote(text);
    let refuse = |why: String| {
        EvalError::new(format!(
            "network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix({quoted}): {why}"
        ))
    };
    let Some((address, bits)) = text.rsplit_once('/') else {
        return Err(refuse("no '/'".to_owned()));
    };
    let Ok(parsed) = address.parse::<IpAddr>() else {
        return Err(refuse(address_text::complaint(address)));
    };
    let plain = !bits.is_empty()
        && bits.bytes().all(|byte| byte.is_ascii_digit())
        && !(bits.len() > 1 && bits.starts_with('0'));
    let most = if parsed.is_ipv4() { 32 } else { 128 };
    let Some(bits) = bits.parse::<u32>().ok().filter(|_| plain) else {
        return Err(refuse(format!(
            "bad bits after slash: {}",
            number::quote(bits)
        )));
    };
    let Some(bits) = u8::try_from(bits).ok().filter(|bits| *bits <= most) else {
        return Err(refuse("prefix length out of range".to_owned()));
    };
    if matches!(parsed, IpAddr::V6(six) if six.to_ipv4_mapped().is_some()) {
        return Err(EvalError::new(format!(
            "network address parse error during conversion from string: IPv4-mapped IPv6 address {quoted} is not allowed"
        )));
    }
    Ok(Network {
        address: parsed,
        bits,
    })
}

fn network(call: &Call<'_>, args: &[Value<'_>]) -> Result<Network, EvalError> {
    match args.first().and_then(Value::downcast::<Network>) {
        Some(network) => Ok(*network),
        None => call.refuse(args),
    }
}

fn cidr<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => Ok(Value::opaque(parse(text)?)),
        _ => call.refuse(args),
    }
}

fn is_cidr<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(parse(text).is_ok())),
        _ => call.refuse(args),
    }
}

fn contains_ip<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let network = network(call, args)?;
    let address = match args.get(1) {
        // A text that is no address is no overload: the reference loses the reason.
        Some(Value::String(text)) => {
            addresses::parse(text).map_err(|_| EvalError::no_overload())?
        }
        Some(other) => match other.downcast::<Address>() {
            Some(address) => address.0,
            None => return call.refuse(args),
        },
        None => return call.refuse(args),
    };
    Ok(Value::Bool(network.contains(address)))
}

fn contains_cidr<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let outer = network(call, args)?;
    let inner = match args.get(1) {
        Some(Value::String(text)) => parse(text)?,
        Some(other) => match other.downcast::<Network>() {
            Some(network) => *network,
            None => return call.refuse(args),
        },
        None => return call.refuse(args),
    };
    Ok(Value::Bool(
        outer.bits <= inner.bits && outer.contains(inner.address),
    ))
}

fn ip<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::opaque(Address(network(call, args)?.address)))
}

fn masked<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let network = network(call, args)?;
    Ok(Value::opaque(Network {
        address: network.masked(),
        ..network
    }))
}

fn prefix_length<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Int(network(call, args)?.bits.into()))
}

fn to_text<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::from(network(call, args)?.show()))
}
