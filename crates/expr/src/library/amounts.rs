//! Amounts of resources.

use std::{any::Any, cmp::Ordering};

use super::{Table, declare, name_types};
use crate::{
    call::Call,
    env::Env,
    error::EvalError,
    quantity::Quantity,
    ty::Type,
    value::{Opaque, Value},
};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const AMOUNTS: Table = &[
    (
        "quantity",
        quantity,
        &["string_to_quantity: (string) -> kubernetes.Quantity"],
    ),
    (
        "isQuantity",
        is_quantity,
        &["is_quantity_string: (string) -> bool"],
    ),
    (
        "sign",
        sign,
        &["quantity_sign: (kubernetes.Quantity) -> int"],
    ),
    (
        "isGreaterThan",
        is_greater,
        &["quantity_is_greater_than: kubernetes.Quantity.(kubernetes.Quantity) -> bool"],
    ),
    (
        "isLessThan",
        is_less,
        &["quantity_is_less_than: kubernetes.Quantity.(kubernetes.Quantity) -> bool"],
    ),
    (
        "compareTo",
        compare_to,
        &["quantity_compare_to: kubernetes.Quantity.(kubernetes.Quantity) -> int"],
    ),
    (
        "asApproximateFloat",
        as_float,
        &["quantity_get_float: kubernetes.Quantity.() -> double"],
    ),
    (
        "asInteger",
        as_integer,
        &["quantity_get_int: kubernetes.Quantity.() -> int"],
    ),
    (
        "isInteger",
        is_integer,
        &["quantity_is_integer: kubernetes.Quantity.() -> bool"],
    ),
    (
        "add",
        add,
        &[
            "quantity_add: kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity",
            "quantity_add_int: kubernetes.Quantity.(int) -> kubernetes.Quantity",
        ],
    ),
    (
        "sub",
        sub,
        &[
            "quantity_sub: kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity",
            "quantity_sub_int: kubernetes.Quantity.(int) -> kubernetes.Quantity",
        ],
    ),
];

impl Opaque for Quantity {
    fn type_of(&self) -> Type {
        Type::object("kubernetes.Quantity", [])
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other
            .as_any()
            .downcast_ref::<Self>()
            .is_some_and(|other| self.nanos() == other.nanos())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(super) fn install(env: &mut Env) {
    declare(env, AMOUNTS);
    name_types(
        env,
        &[(
            "kubernetes.Quantity",
            Type::object("kubernetes.Quantity", []),
        )],
    );
}

fn quantity<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::String(text)] = args else {
        return call.refuse(args);
    };
    match Quantity::parse(text) {
        Ok(Some(quantity)) => Ok(Value::opaque(quantity)),
        Ok(None) => Err(EvalError::new("quantity is too large")),
        Err(error) => Err(EvalError::new(error.to_string())),
    }
}

fn is_quantity<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(Quantity::parse(text).is_ok())),
        _ => call.refuse(args),
    }
}

fn amount(call: &Call<'_>, args: &[Value<'_>]) -> Result<Quantity, EvalError> {
    match args.first().and_then(Value::downcast::<Quantity>) {
        Some(quantity) => Ok(*quantity),
        None => call.refuse(args),
    }
}

/// The second argument: an amount or a whole number.
fn other(call: &Call<'_>, args: &[Value<'_>]) -> Result<Quantity, EvalError> {
    match args.get(1) {
        Some(Value::Int(number)) => Ok(Quantity::whole(*number)),
        Some(value) => match value.downcast::<Quantity>() {
            Some(quantity) => Ok(*quantity),
            None => call.refuse(args),
        },
        None => call.refuse(args),
    }
}

fn order(call: &Call<'_>, args: &[Value<'_>]) -> Result<Ordering, EvalError> {
    Ok(amount(call, args)?.nanos().cmp(&other(call, args)?.nanos()))
}

fn sign<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let nanos = amount(call, args)?.nanos();
    Ok(Value::Int(nanos.cmp(&0) as i64))
}

fn is_greater<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(order(call, args)?.is_gt()))
}

fn is_less<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(order(call, args)?.is_lt()))
}

fn compare_to<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Int(order(call, args)? as i64))
}

fn as_float<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Double(amount(call, args)?.approximate()))
}

fn as_integer<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    amount(call, args)?
        .integer()
        .map(Value::Int)
        .ok_or_else(|| EvalError::new("cannot convert value to integer"))
}

fn is_integer<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(amount(call, args)?.integer().is_some()))
}

fn add<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::opaque(amount(call, args)?.plus(other(call, args)?)))
}

fn sub<'a>(call: &mut Call<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::opaque(
        amount(call, args)?.plus(other(call, args)?.negated()),
    ))
}
