//! CEL.

use quadrille_expr::{Bindings, COST_LIMIT, Env, Library, Type, Value};
use serde_json::json;

pub(super) const SEEDS: &[&str] = &[
    "self.replicas <= 5 && self.name.startsWith('a')",
    "self.list.all(x, x > 1) || self.list.exists_one(y, y == 2)",
    "self.list.map(x, x * 2).filter(y, y > 3).size() == 1",
    "has(self.none) ? self.none : 'x'.format(['a', 1, 2.5])",
    "cel.bind(a, [1, 2, 3], a.sum() + a.min() - a[0])",
    "url('https://a.example.com:80/p?q=1').getHost() == 'a' && ip('10.0.0.1').family() == 4",
    "quantity('1.5Gi').isGreaterThan(quantity('10m')) && duration('1h30m') > duration('5s')",
    "timestamp('2024-01-01T00:00:00Z').getFullYear() == 2024 && self.name.matches('^a(b|c)*$')",
    "self.list.transformList(i, v, i > 1, v + i) == [4] && sets.contains([1], [1])",
    "optional.of(1).orValue(2) == self.?none.orValue(3) && {'a': 1}['a'] == 1u",
    "'%s %d'.format([self.name, 3]).split(' ').join('-').replace('a', 'b').lowerAscii() == r'\\d'",
    "base64.encode(b'abc') + string(1) + self.name.substring(1, 2) == '' && math.greatest(1, 2) > 0",
];
pub(super) const WORDS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    ",",
    ":",
    "?",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "&&",
    "||",
    "==",
    "!=",
    "<",
    "in",
    "self",
    "self.list",
    "self.name",
    "'a'",
    "\"",
    "r'",
    "b'",
    "1",
    "1u",
    "1.5",
    "null",
    "true",
    ".all(x, ",
    ".map(x, ",
    ".exists(x, ",
    ".matches('",
    "(a*)*",
    "{1000}",
    "(?i)",
    "\\p{L}",
    "dyn(",
    "int(",
    "string(",
    "[1,2,3]",
    "{'a':1}",
    "cel.bind(x, ",
    "optional.of(",
    "has(self.name)",
    "size(",
    "'é😀'",
    "\\u0000",
    "//x\n",
    " ",
];

pub(super) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let env = Env::kubernetes()
        .library(Library::Bindings)
        .variable("self", Type::Dyn);
    let Ok(program) = env.compile(text) else {
        return;
    };
    let _range = program.estimate(None);
    let data = json!({"replicas": 3, "name": "abc", "list": [1, 2, 3], "map": {"k": [1.5, null]}});
    let vars = Bindings::new().with("self", Value::json(&data, &Type::Dyn));
    let _evaluation = program.evaluate(&vars, COST_LIMIT);
}
