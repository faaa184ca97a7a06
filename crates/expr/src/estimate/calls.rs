//! What calls cost.

use super::{
    coster::Coster,
    sizes::{Entries, Estimate, Operand, Range},
};
use crate::{
    check::Reference,
    syntax::ast::{Id, Kind},
};

impl Coster<'_> {
    pub(super) fn call(&mut self, id: Id, target: Option<Id>, args: &[Id]) -> Range {
        let Some(Reference::Function { name, overloads }) = self.program.checked.reference(id)
        else {
            return Range::fixed(0);
        };
        if &**name == "dyn"
            && let [arg] = args
        {
            let cost = self.cost(*arg);
            self.copy_sizes(id, *arg);
            return cost.plus(Range::fixed(1));
        }
        let costs: Vec<Range> = args.iter().map(|arg| self.cost(*arg)).collect();
        let operands: Vec<Operand<'_>> = args.iter().map(|arg| self.operand(*arg)).collect();
        let mut sum = Range::fixed(0);
        // A target that was only the front of a function's name is no operand.
        let method = matches!(self.kind(id), Kind::Call { name: written, .. } if written == name);
        let target = match target.filter(|_| method) {
            Some(target) => {
                sum = self.cost(target);
                Some(self.operand(target))
            }
            None => None,
        };
        let declared = self.program.functions.get(&**name);
        let ids: Vec<&str> = overloads
            .iter()
            .filter_map(|place| declared.and_then(|all| all.get(*place)))
            .map(|overload| &*overload.id)
            .collect();
        let mut cost = Range::NOTHING;
        let mut size: Option<Range> = None;
        for overload in ids {
            let estimate = self.function(id, name, overload, target.as_ref(), &operands, &costs);
            cost = cost.union(estimate.cost);
            if let Some(found) = estimate.size {
                size = Some(size.map_or(found, |size| size.union(found)));
            }
            if let Some(container) = args.first() {
                let step = match overload {
                    "index_list" => Some("@items"),
                    "index_map" => Some("@values"),
                    _ => None,
                };
                if let Some(step) = step {
                    size = self.entries_of(*container).map(|entries| entries.value);
                    self.set_path(id, *container, step);
                }
            }
            size = size.or_else(|| self.size(id));
        }
        self.set_size(id, size);
        sum.plus(cost)
    }

    fn function(
        &mut self,
        id: Id,
        name: &str,
        overload: &str,
        target: Option<&Operand<'_>>,
        args: &[Operand<'_>],
        costs: &[Range],
    ) -> Estimate {
        let all = costs
            .iter()
            .fold(Range::fixed(0), |sum, cost| sum.plus(*cost));
        let known = self.containers(overload, target, args);
        if let Some(estimate) = known {
            return Estimate {
                cost: estimate.cost.plus(all),
                size: estimate.size,
            };
        }
        if let Some(estimate) = self.server(name, overload, target, args) {
            return Estimate {
                cost: estimate.cost.plus(all),
                size: estimate.size,
            };
        }
        self.standard(id, overload, target, args, costs, all)
            .unwrap_or(Estimate {
                cost: all.plus(Range::fixed(1)),
                size: None,
            })
    }

    fn standard(
        &mut self,
        id: Id,
        overload: &str,
        target: Option<&Operand<'_>>,
        args: &[Operand<'_>],
        costs: &[Range],
        all: Range,
    ) -> Option<Estimate> {
        let size = |operand: &Operand<'_>| operand.size.unwrap_or(Range::UNKNOWN);
        let one = Range::fixed(1);
        match overload {
            "string_format" => Estimate::of(size(target?).scaled(0.1).plus(all)),
            "string_to_bytes" => {
                let size = size(args.first()?);
                let result = Range {
                    min: size.min,
                    max: size.max.wrapping_mul(4),
                };
                Estimate::sized(size.scaled(0.1).plus(all), result)
            }
            "bytes_to_string" => {
                let size = size(args.first()?);
                let result = Range {
                    min: size.min / 4,
                    max: size.max,
                };
                Estimate::sized(size.scaled(0.1).plus(all), result)
            }
            "strings_quote" => {
                let size = size(args.first()?);
                let result = Range {
                    min: size.min.wrapping_add(2),
                    max: size.max.wrapping_mul(2).wrapping_add(2),
                };
                Estimate::sized(size.scaled(0.1).plus(all), result)
            }
            "starts_with_string" | "ends_with_string" => {
                Estimate::of(size(args.first()?).scaled(0.1).plus(all))
            }
            "in_list" => Estimate::of(size(args.get(1)?).scaled(1.0).plus(all)),
            "matches_string" => {
                let text = size(target?).plus(one).scaled(0.1);
                Estimate::of(text.times(size(args.first()?).scaled(0.25)).plus(all))
            }
            "contains_string" => {
                let text = size(target?).scaled(0.1);
                Estimate::of(text.times(size(args.first()?).scaled(0.1)).plus(all))
            }
            "logical_or" | "logical_and" => {
                let (left, right) = (*costs.first()?, *costs.get(1)?);
                Estimate::of(Range {
                    min: left.min,
                    max: left.plus(right).max,
                })
            }
            "conditional" => {
                let (yes, no) = (args.get(1)?, args.get(2)?);
                let entries = Entries::union(self.entries_of(yes.id), self.entries_of(no.id));
                self.set_entries(id, entries);
                let branches = costs.get(1)?.union(*costs.get(2)?);
                Estimate::sized(costs.first()?.plus(branches), size(yes).union(size(no)))
            }
            "add_string" | "add_bytes" | "add_list" => {
                let (left, right) = (args.first()?, args.get(1)?);
                let result = size(left).plus(size(right));
                let entries = Entries::union(self.entries_of(left.id), self.entries_of(right.id));
                self.set_entries(id, entries);
                let cost = if overload == "add_list" {
                    one
                } else {
                    result.scaled(0.1)
                };
                Estimate::sized(cost.plus(all), result)
            }
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals" => {
                let most = size(args.first()?).max.min(size(args.get(1)?).max);
                let range = Range {
                    min: u64::from(most > 0),
                    max: most,
                };
                Estimate::of(range.scaled(0.1).plus(all))
            }
            _ => None,
        }
    }
}
