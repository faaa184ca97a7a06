//! Ranges of sizes and costs. They saturate instead of overflowing.

/// From the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

impl Range {
    pub(super) const UNKNOWN: Self = Self {
        min: 0,
        max: u64::MAX,
    };
    /// Nothing yet: the union with anything is that thing.
    pub(super) const NOTHING: Self = Self {
        min: u64::MAX,
        max: 0,
    };

    pub(super) fn fixed(size: u64) -> Self {
        Self {
            min: size,
            max: size,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    pub(super) fn scaled(self, factor: f64) -> Self {
        Self {
            min: scale(self.min, factor),
            max: scale(self.max, factor),
        }
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn scale(size: u64, factor: f64) -> u64 {
    let size = size as f64;
    if size > 0.0 && factor > 0.0 && size > u64::MAX as f64 / factor {
        return u64::MAX;
    }
    (size * factor).ceil() as u64 // saturates
}

/// Sizes of the keys and values of something with parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries {
    pub(super) list: bool,
    pub(super) key: Range,
    pub(super) value: Range,
}

impl Entries {
    pub(super) fn union(one: Option<Self>, two: Option<Self>) -> Option<Self> {
        let (one, two) = (one?, two?);
        Some(Self {
            list: one.list,
            key: one.key.union(two.key),
            value: one.value.union(two.value),
        })
    }
}

/// A node as functions see it.
pub(super) struct Operand<'t> {
    pub(super) path: Vec<String>,
    pub(super) ty: &'t crate::Type,
    pub(super) size: Option<Range>,
    /// An integer literal, for functions that look at one.
    pub(super) literal: Option<i64>,
    pub(super) id: crate::syntax::ast::Id,
}

/// What a call costs and how large its result is.
pub(super) struct Estimate {
    pub(super) cost: Range,
    pub(super) size: Option<Range>,
}

impl Estimate {
    #[allow(clippy::unnecessary_wraps)] // estimators answer with what this gives
    pub(super) fn of(cost: Range) -> Option<Self> {
        Some(Self { cost, size: None })
    }

    #[allow(clippy::unnecessary_wraps)]
    pub(super) fn sized(cost: Range, size: Range) -> Option<Self> {
        Some(Self {
            cost,
            size: Some(size),
        })
    }
}
