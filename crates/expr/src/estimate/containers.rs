//! Functions on lists and sets, whose libraries bring their own prices.

use super::{
    coster::Coster,
    sizes::{Estimate, Operand, Range},
};

impl Coster<'_> {
    #[allow(clippy::cast_precision_loss)] // factors are small
    pub(super) fn containers(
        &self,
        overload: &str,
        target: Option<&Operand<'_>>,
        args: &[Operand<'_>],
    ) -> Option<Estimate> {
        match (overload, target, args) {
            ("list_sets_contains_list" | "list_sets_intersects_list", _, [one, two]) => {
                Estimate::of(self.known(one).times(self.known(two)).scaled(1.0).plus(ONE))
            }
            ("list_sets_equivalent_list", _, [one, two]) => {
                Estimate::of(self.known(one).times(self.known(two)).scaled(2.0).plus(ONE))
            }
            ("list_slice", Some(list), [start, end]) => {
                let size = self.known(list);
                let (start, end) = (whole(start, 0), whole(end, size.max));
                made(1.0, Range::fixed(end.wrapping_sub(start)))
            }
            ("lists_range", None, [count]) => made(1.0, Range::fixed(whole(count, u64::MAX))),
            ("list_reverse" | "list_flatten", Some(list), []) => made(1.0, self.known(list)),
            ("list_flatten_int", Some(list), [depth]) => {
                made(whole(depth, u64::MAX) as f64, self.known(list))
            }
            ("list_distinct", Some(list), []) => made(2.0, self.squared(list)),
            (sort, Some(list), []) if sort.ends_with("_sort") => {
                made(comparing(sort), self.squared(list))
            }
            (sort, Some(_), [keys]) if sort.ends_with("_sortByAssociatedKeys") => {
                made(comparing(sort), self.squared(keys))
            }
            _ => None,
        }
    }

    fn squared(&self, list: &Operand<'_>) -> Range {
        let size = self.known(list);
        size.times(size)
    }
}

const ONE: Range = Range { min: 1, max: 1 };

/// A call that makes a list.
fn made(factor: f64, size: Range) -> Option<Estimate> {
    Estimate::sized(size.scaled(factor).plus(ONE).plus(Range::fixed(10)), size)
}

/// The price of comparing two elements: more for text.
fn comparing(overload: &str) -> f64 {
    let text = overload.starts_with("list_string_") || overload.starts_with("list_bytes_");
    if text { 2.1 } else { 2.0 }
}

/// An integer literal, or what to assume for anything else.
fn whole(operand: &Operand<'_>, otherwise: u64) -> u64 {
    match operand.literal {
        Some(number) => u64::try_from(number).unwrap_or(0),
        None => otherwise,
    }
}
