//! Random types, values of them, and expressions over them.

use serde_json::{Map, Value as Json, json};

/// Numbers that look random and are the same every time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = (mixed ^ (mixed >> 31)) % (most as u64);
        usize::try_from(number).expect("below a usize")
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// What a value can be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Text,
    Whole,
    Number,
    Truth,
    List(Box<Shape>),
    Map(Box<Shape>),
    Object(Vec<(String, Shape)>),
}

pub(crate) fn shape(dice: &mut Dice, depth: usize) -> Shape {
    let most = if depth == 0 { 4 } else { 7 };
    match dice.below(most) {
        0 => Shape::Text,
        1 => Shape::Whole,
        2 => Shape::Number,
        3 => Shape::Truth,
        4 => Shape::List(Box::new(shape(dice, depth - 1))),
        5 => Shape::Map(Box::new(shape(dice, depth - 1))),
        _ => {
            let fields = 1 + dice.below(3);
            let field = |at: usize| (format!("f{at}"), shape(dice, depth - 1));
            Shape::Object((0..fields).map(field).collect())
        }
    }
}

pub(crate) fn schema(shape: &Shape) -> Json {
    match shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Whole => json!({"type": "integer"}),
        Shape::Number => json!({"type": "number"}),
        Shape::Truth => json!({"type": "boolean"}),
        Shape::List(item) => json!({"type": "array", "items": schema(item)}),
        Shape::Map(value) => json!({"type": "object", "additionalProperties": schema(value)}),
        Shape::Object(fields) => {
            let fields: Map<String, Json> = fields
                .iter()
                .map(|(name, shape)| (name.clone(), schema(shape)))
                .collect();
            json!({"type": "object", "properties": fields})
        }
    }
}

pub(crate) fn value(dice: &mut Dice, shape: &Shape) -> Json {
    match shape {
        Shape::Text => Json::from(dice.pick(&["", "a", "12", "x-y"])),
        Shape::Whole => dice.pick(&[json!(0), json!(3), json!(-7), json!(2.0)]),
        Shape::Number => dice.pick(&[json!(1.5), json!(2), json!(-0.25)]),
        Shape::Truth => Json::from(dice.below(2) == 0),
        Shape::List(item) => (0..dice.below(3)).map(|_| value(dice, item)).collect(),
        Shape::Map(item) => {
            let count = dice.below(3);
            let entries: Map<String, Json> = (0..count)
                .map(|at| (format!("k{at}"), value(dice, item)))
                .collect();
            Json::Object(entries)
        }
        Shape::Object(fields) => {
            let entries: Map<String, Json> = fields
                .iter()
                .map(|(name, shape)| (name.clone(), value(dice, shape)))
                .collect();
            Json::Object(entries)
        }
    }
}

/// Writes expressions: usually of the type that is asked for, sometimes of another.
pub(crate) struct Writer<'w> {
    pub(crate) dice: &'w mut Dice,
    /// What can be named, and what it is.
    pub(crate) known: Vec<(String, Shape)>,
    pub(crate) loops: usize,
}

impl Writer<'_> {
    pub(crate) fn of(&mut self, wanted: &Shape, depth: usize) -> String {
        if self.dice.below(12) == 0 {
            let other = shape(self.dice, 1);
            return self.of(&other, depth.saturating_sub(1));
        }
        let named: Vec<String> = self
            .known
            .iter()
            .filter(|(_, shape)| shape == wanted)
            .map(|(name, _)| name.clone())
            .collect();
        if !named.is_empty() && self.dice.below(3) > 0 {
            return self.dice.pick(&named);
        }
        if depth == 0 {
            return self.literal(wanted);
        }
        if self.dice.below(6) == 0 {
            let truth = self.of(&Shape::Truth, depth - 1);
            let (one, two) = (self.of(wanted, depth - 1), self.of(wanted, depth - 1));
            return format!("({truth} ? {one} : {two})");
        }
        match wanted {
            Shape::Text => self.text(depth),
            Shape::Whole => self.whole(depth),
            Shape::Number => {
                let (one, two) = (self.of(wanted, depth - 1), self.of(wanted, depth - 1));
                let sign = self.dice.pick(&["+", "-", "*"]);
                format!("({one} {sign} {two})")
            }
            Shape::Truth => self.truth(depth),
            Shape::List(item) => self.list(item, depth),
            Shape::Map(_) | Shape::Object(_) => self.literal(wanted),
        }
    }

    fn literal(&mut self, wanted: &Shape) -> String {
        match wanted {
            Shape::Text => self.dice.pick(&["'a'", "''", "'x-y'"]).to_owned(),
            Shape::Whole => self.dice.pick(&["0", "1", "42"]).to_owned(),
            Shape::Number => self.dice.pick(&["0.5", "2.0"]).to_owned(),
            Shape::Truth => self.dice.pick(&["true", "false"]).to_owned(),
            Shape::List(item) => format!("[{}]", self.literal(item)),
            Shape::Map(item) => format!("{{'k': {}}}", self.literal(item)),
            Shape::Object(_) => "{'f0': 1, 'f1': 'x'}".to_owned(),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        match self.dice.below(6) {
            0 => {
                let (one, two) = (
                    self.of(&Shape::Text, depth - 1),
                    self.of(&Shape::Text, depth - 1),
                );
                format!("({one} + {two})")
            }
            1 => format!("string({})", self.of(&Shape::Whole, depth - 1)),
            2 => format!("{}.upperAscii()", self.of(&Shape::Text, depth - 1)),
            3 => {
                let list = self.of(&Shape::List(Box::new(Shape::Text)), depth - 1);
                format!("{list}.join('-')")
            }
            4 => {
                let (one, two) = (
                    self.of(&Shape::Text, depth - 1),
                    self.of(&Shape::Text, depth - 1),
                );
                format!("oc_generate_name({one}, {two})")
            }
            _ => format!("oc_hash({})", self.of(&Shape::Text, depth - 1)),
        }
    }

    fn whole(&mut self, depth: usize) -> String {
        match self.dice.below(3) {
            0 => {
                let (one, two) = (
                    self.of(&Shape::Whole, depth - 1),
                    self.of(&Shape::Whole, depth - 1),
                );
                let sign = self.dice.pick(&["+", "-", "*", "/", "%"]);
                format!("({one} {sign} {two})")
            }
            1 => {
                let list = shape(self.dice, 1);
                format!("size({})", self.of(&Shape::List(Box::new(list)), depth - 1))
            }
            _ => format!("int({})", self.of(&Shape::Number, depth - 1)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        let simple = self.dice.pick(&[Shape::Text, Shape::Whole, Shape::Number]);
        match self.dice.below(6) {
            0 => {
                let (one, two) = (self.of(&simple, depth - 1), self.of(&simple, depth - 1));
                let sign = self.dice.pick(&["==", "!=", "<", ">="]);
                format!("({one} {sign} {two})")
            }
            1 => {
                let (one, two) = (
                    self.of(&Shape::Truth, depth - 1),
                    self.of(&Shape::Truth, depth - 1),
                );
                let sign = self.dice.pick(&["&&", "||"]);
                format!("({one} {sign} {two})")
            }
            2 => format!("!{}", self.of(&Shape::Truth, depth - 1)),
            3 => {
                let list = self.of(&Shape::List(Box::new(simple.clone())), depth - 1);
                format!("({} in {list})", self.of(&simple, depth - 1))
            }
            4 => {
                let list = self.of(&Shape::List(Box::new(simple.clone())), depth - 1);
                let test = self.inside(&simple, |writer| writer.of(&Shape::Truth, depth - 1));
                format!("{list}.all({}, {})", test.0, test.1)
            }
            _ => {
                let name = self.dice.below(self.known.len().max(1));
                match self.known.get(name) {
                    Some((name, _)) if name.contains('.') => format!("has({name})"),
                    _ => "true".to_owned(),
                }
            }
        }
    }

    fn list(&mut self, item: &Shape, depth: usize) -> String {
        let list = Shape::List(Box::new(item.clone()));
        match self.dice.below(5) {
            0 => format!(
                "({} + {})",
                self.of(&list, depth - 1),
                self.of(&list, depth - 1)
            ),
            1 => {
                let from = shape(self.dice, 0);
                let range = self.of(&Shape::List(Box::new(from.clone())), depth - 1);
                let made = self.inside(&from, |writer| writer.of(item, depth - 1));
                format!("{range}.map({}, {})", made.0, made.1)
            }
            2 => {
                let range = self.of(&list, depth - 1);
                let test = self.inside(item, |writer| writer.of(&Shape::Truth, depth - 1));
                format!("{range}.filter({}, {})", test.0, test.1)
            }
            3 => {
                let from = shape(self.dice, 0);
                let range = self.of(&Shape::Map(Box::new(from.clone())), depth - 1);
                let made = self.inside(&from, |writer| writer.of(item, depth - 1));
                format!("{range}.transformList(key, {}, {})", made.0, made.1)
            }
            _ => format!("{}.distinct()", self.of(&list, depth - 1)),
        }
    }

    /// Something that sees one more variable.
    fn inside(
        &mut self,
        shape: &Shape,
        write: impl FnOnce(&mut Self) -> String,
    ) -> (String, String) {
        let name = format!("v{}", self.loops);
        self.loops += 1;
        self.known.push((name.clone(), shape.clone()));
        let written = write(self);
        self.known.pop();
        (name, written)
    }
}

/// Everything that can be named in values of a shape.
pub(crate) fn names(path: &str, shape: &Shape, into: &mut Vec<(String, Shape)>) {
    into.push((path.to_owned(), shape.clone()));
    if let Shape::Object(fields) = shape {
        for (name, field) in fields {
            names(&format!("{path}.{name}"), field, into);
        }
    }
}
