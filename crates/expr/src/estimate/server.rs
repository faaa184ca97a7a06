//! What a Kubernetes server adds for its libraries.

use super::{
    coster::Coster,
    sizes::{Estimate, Operand, Range},
};
use crate::{Type, library::is_flat};

/// Length assumed for the pattern of a named format.
const FORMAT_PATTERN: f64 = 128.0;
/// Longest name of a format.
const FORMAT_NAME: u64 = 64;

impl Coster<'_> {
    /// The size of an operand, by its own value or by the declaration.
    pub(super) fn known(&self, operand: &Operand<'_>) -> Range {
        operand
            .size
            .or_else(|| self.declared(&operand.path))
            .unwrap_or(Range::UNKNOWN)
    }

    /// The type and size of the elements of a list.
    fn element<'t>(&self, list: &Operand<'t>) -> Option<(&'t Type, Range)> {
        let element = match list.ty {
            Type::List(list) => &list.element,
            Type::Map(map) => &map.key,
            Type::Opaque(opaque) => opaque.params.first()?,
            _ => return None,
        };
        let mut path = list.path.clone();
        let size = if path.is_empty() {
            None
        } else {
            path.push("@items".to_owned());
            self.declared(&path)
        };
        Some((element, size.unwrap_or(Range::UNKNOWN)))
    }

    pub(super) fn server(
        &self,
        function: &str,
        overload: &str,
        target: Option<&Operand<'_>>,
        args: &[Operand<'_>],
    ) -> Option<Estimate> {
        let one = Range::fixed(1);
        let address = Range { min: 4, max: 16 };
        match function {
            "check" => Estimate::of(Range::fixed(350_000)),
            _ if is_flat(function) => Estimate::of(one),
            "fieldSelector" | "labelSelector" => {
                let [arg] = args else {
                    return None;
                };
                let length = self.known(arg);
                let requirements = length.scaled(0.5).scaled(50.0);
                Estimate::of(Range::fixed(10).plus(length.scaled(0.1)).plus(requirements))
            }
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
                let target = target?;
                let size = self.known(target);
                let Some((ty, element)) = self.element(target) else {
                    return Estimate::of(size.scaled(0.1));
                };
                let text = matches!(ty, Type::String | Type::Bytes);
                let each = if text {
                    one.plus(element.scaled(0.1))
                } else {
                    one
                };
                Estimate::of(size.times(each))
            }
            "url" | "jsonpatch.escapeKey" => {
                let [arg] = args else {
                    return None;
                };
                let size = self.known(arg);
                Estimate::sized(size.scaled(0.1), size)
            }
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                let size = self.known(target?);
                Estimate::sized(size.scaled(0.1), size)
            }
            "replace" => self.replace(target?, args),
            "split" => {
                let size = self.known(target?);
                let most = args.get(1).and_then(|limit| limit.literal);
                #[allow(clippy::cast_sign_loss)] // a negative limit is a huge one, as upstream
                let max = most.map_or(size.max, |most| most as u64);
                Estimate::sized(size.scaled(0.2), Range { min: 0, max })
            }
            "join" => {
                let target = target?;
                let list = self.known(target);
                let mut size = self
                    .element(target)
                    .map_or(Range::fixed(0), |(_, each)| list.times(each));
                if let Some(separator) = args.first() {
                    let gaps = Range {
                        min: list.min.saturating_sub(1),
                        max: list.max.saturating_sub(1),
                    };
                    size = size.plus(self.known(separator).times(gaps));
                }
                Estimate::sized(size.scaled(0.1), size)
            }
            "find" | "findAll" => {
                let size = self.known(target?);
                let text = size.plus(one).scaled(0.1);
                let pattern = self.known(args.first()?).scaled(0.25);
                Estimate::sized(
                    text.times(pattern),
                    Range {
                        min: 0,
                        max: size.max,
                    },
                )
            }
            "ip" if overload == "cidr_ip" => Estimate::of(one),
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver"
            | "isSemver" => Estimate::of(self.known(args.first()?).scaled(0.1)),
            "ip.isCanonical" => Estimate::of(self.known(args.first()?).scaled(0.2)),
            "containsIP" => {
                let mut cost = address.plus(address).scaled(0.1);
                if overload == "cidr_contains_ip_string" {
                    cost = cost.plus(self.known(args.first()?).scaled(0.1));
                }
                args.first().and(Estimate::of(cost))
            }
            "containsCIDR" => {
                let mut cost = address.plus(address).scaled(0.1);
                cost = cost.plus(address.scaled(0.1)).plus(one);
                if overload == "cidr_contains_cidr_string" {
                    cost = cost.plus(self.known(args.first()?).scaled(0.1));
                }
                args.first().and(Estimate::of(cost))
            }
            "validate" => {
                let text = self.known(args.first()?).scaled(0.1);
                Estimate::of(text.scaled(FORMAT_PATTERN * 0.25))
            }
            "_==_" => equality(args),
            _ => None,
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    fn replace(&self, target: &Operand<'_>, args: &[Operand<'_>]) -> Option<Estimate> {
        let (old, new) = (self.known(args.first()?), self.known(args.get(1)?));
        let size = self.known(target);
        let mut count = Range::fixed(0);
        let mut kept = Range::fixed(0);
        if old.min == 0 {
            // An empty text to be replaced stands between all letters.
            count.max = size.max.saturating_add(1);
            kept.max = size.max;
        } else if new.max <= old.min {
            kept.max = size.max;
        } else {
            count.max = (size.max as f64 / old.min as f64).ceil() as u64;
        }
        if old.max == 0 {
            count.min = size.min.saturating_add(1);
            kept.min = size.min;
        } else if old.max <= new.min {
            kept.min = size.min;
        } else {
            count.min = (size.min as f64 / old.max as f64).ceil() as u64;
        }
        Estimate::sized(size.scaled(0.2), count.times(new).plus(kept))
    }
}

/// Equality of the values of libraries.
fn equality(args: &[Operand<'_>]) -> Option<Estimate> {
    let [left, right] = args else {
        return None;
    };
    if left.ty != right.ty {
        return None;
    }
    match left.ty {
        Type::Opaque(_) if matches!(left.ty.name(), "net.IP" | "net.CIDR") => {
            Estimate::of(Range::fixed(1))
        }
        Type::Object(object) => match object.name.as_str() {
            "kubernetes.Quantity"
            | "kubernetes.Semver"
            | "kubernetes.authorization.Authorizer"
            | "kubernetes.authorization.PathCheck"
            | "kubernetes.authorization.GroupCheck"
            | "kubernetes.authorization.ResourceCheck"
            | "kubernetes.authorization.Decision" => Estimate::of(Range::fixed(1)),
            "kubernetes.NamedFormat" => Estimate::of(
                Range {
                    min: 1,
                    max: FORMAT_NAME,
                }
                .scaled(0.1),
            ),
            "kubernetes.URL" => {
                let size = right.size.map_or(1, |size| size.max);
                Estimate::of(Range { min: 1, max: size }.scaled(0.1))
            }
            _ => None,
        },
        _ => None,
    }
}
