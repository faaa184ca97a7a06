//! The most that a container may use.

use quadrille_expr::quantity::Quantity;
use serde_json::{Map, Value, json};

use super::{error::Found, overrides::Limits};

/// The `resources` of a container; nothing where there are no limits.
pub(super) fn resources(limits: &Limits, found: &mut Found) -> Option<Value> {
    let mut written = Map::new();
    for (name, limit) in ["cpu", "memory"].into_iter().zip(limits) {
        let Some((amount, at)) = limit.as_ref().filter(|(amount, _)| !amount.is_empty()) else {
            continue;
        };
        let is_amount = Quantity::parse(amount)
            .is_ok_and(|quantity| quantity.is_none_or(|quantity| quantity.nanos() > 0));
        if !is_amount {
            found.push(at.wrong(format!(
                "is {amount:?}, must be an amount such as 500m or 256Mi"
            )));
        }
        written.insert(name.to_owned(), Value::from(amount.as_str()));
    }
    (!written.is_empty()).then(|| json!({ "limits": written }))
}
