//! Checks after typing: literals that can only fail, and literals of mixed types.

use crate::{
    check::Checked,
    issue::Issues,
    library::formatting,
    pattern,
    syntax::ast::{Ast, Id, Kind, Literal},
    ty::Type,
    value::Value,
};

/// Reports what a server reports beyond types.
pub(crate) fn validate(ast: &Ast, checked: &Checked, issues: &mut Issues) {
    let mut validator = Validator {
        ast,
        checked,
        issues,
    };
    validator.visit(ast.root, false);
}

struct Validator<'v> {
    ast: &'v Ast,
    checked: &'v Checked,
    issues: &'v mut Issues,
}

impl Validator<'_> {
    fn report(&mut self, id: Id, message: String) {
        self.issues.at(self.ast.at(id) as usize, message);
    }

    /// `exempt`: inside the arguments of `format`, where types may be mixed.
    fn visit(&mut self, id: Id, exempt: bool) {
        match self.ast.kind(id) {
            Kind::Broken | Kind::Literal(_) | Kind::Ident(_) => {}
            Kind::Select { operand, .. } => self.visit(*operand, exempt),
            Kind::Call { target, name, args } => {
                self.literal_argument(name, args);
                if &**name == "format" {
                    self.format(id, *target, args);
                }
                for arg in target.iter().chain(args) {
                    self.visit(*arg, exempt || &**name == "format");
                }
            }
            Kind::List { items, optional } => {
                if !exempt {
                    self.list(items, optional);
                }
                for item in items {
                    self.visit(*item, exempt);
                }
            }
            Kind::Map { entries } => {
                let mut first: Option<(Type, Type)> = None;
                for entry in entries {
                    if !exempt {
                        let key = self.checked.ty(entry.key).clone();
                        let value = self.inner(entry.value, entry.optional);
                        match &first {
                            None => first = Some((key, value)),
                            Some((known_key, known_value)) => {
                                self.same(entry.key, known_key, &key);
                                self.same(entry.value, known_value, &value);
                            }
                        }
                    }
                    self.visit(entry.key, exempt);
                    self.visit(entry.value, exempt);
                }
            }
            Kind::Struct { fields, .. } => {
                for field in fields {
                    self.visit(field.value, exempt);
                }
            }
            Kind::Fold(fold) => {
                for part in [
                    fold.range,
                    fold.init,
                    fold.condition,
                    fold.step,
                    fold.result,
                ] {
                    self.visit(part, exempt);
                }
            }
        }
    }

    fn inner(&self, id: Id, optional: bool) -> Type {
        let ty = self.checked.ty(id);
        let inner = if optional { ty.unwrap_optional() } else { None };
        inner.unwrap_or(ty).clone()
    }

    fn list(&mut self, items: &[Id], optional: &[bool]) {
        let mut first: Option<Type> = None;
        for (place, item) in items.iter().enumerate() {
            let ty = self.inner(*item, optional.get(place).copied().unwrap_or(false));
            match &first {
                None => first = Some(ty),
                Some(known) => {
                    let known = known.clone();
                    if !self.same(*item, &known, &ty) {
                        break;
                    }
                }
            }
        }
    }

    fn same(&mut self, id: Id, known: &Type, ty: &Type) -> bool {
        if known == ty {
            return true;
        }
        self.report(id, format!("expected type '{known}' but found '{ty}'"));
        false
    }

    /// A format text with its arguments written out: every clause must fit its argument.
    fn format(&mut self, id: Id, target: Option<Id>, args: &[Id]) {
        let (Some(target), [list]) = (target, args) else {
            return;
        };
        let (Kind::Literal(Literal::String(text)), Kind::List { items, .. }) =
            (self.ast.kind(target), self.ast.kind(*list))
        else {
            return;
        };
        let mut asked = 0;
        let mut misfit = None;
        let pieces = formatting::pieces(text, |clause| {
            let Some(clause) = clause else {
                asked += 1;
                return Ok(());
            };
            if asked > items.len() {
                return Err(format!("index {} out of range", asked - 1));
            }
            let item = items[asked - 1];
            if let Some(wrong) = self.unfit(clause.verb, item) {
                misfit = Some(wrong);
                let name = self.checked.ty(wrong).name();
                let complaint = formatting::misfit(clause.verb, name);
                return Err(format!("error during formatting: {complaint}"));
            }
            Ok(())
        });
        match pieces {
            Err(message) => self.report(misfit.unwrap_or(id), message),
            Ok(_) if items.len() > asked => {
                let message = format!(
                    "too many arguments supplied to string.format (expected {asked}, got {})",
                    items.len()
                );
                self.report(id, message);
            }
            Ok(_) => {}
        }
    }

    /// The argument, or the part of it, that a clause cannot show.
    fn unfit(&self, verb: char, id: Id) -> Option<Id> {
        use Type::{
            Bool, Bytes, Double, Duration, Dyn, Int, List, Map, Null, String, Timestamp, Uint,
        };
        let fits = match (verb, self.checked.ty(id)) {
            (_, Dyn) => true,
            ('d' | 'o', ty) => matches!(ty, Int | Uint),
            ('f' | 'e', ty) => matches!(ty, Double | String),
            ('b', ty) => matches!(ty, Int | Uint | Bool),
            ('x' | 'X', ty) => matches!(ty, Int | Uint | String | Bytes),
            (_, ty) => matches!(
                ty,
                List(_)
                    | Map(_)
                    | Int
                    | Uint
                    | Double
                    | Bool
                    | String
                    | Timestamp
                    | Bytes
                    | Duration
                    | Type::Type(_)
                    | Null
            ),
        };
        if !fits {
            return Some(id);
        }
        match self.ast.kind(id) {
            Kind::List { items, .. } if verb == 's' => {
                items.iter().find_map(|item| self.unfit('s', *item))
            }
            Kind::Map { entries } if verb == 's' => entries.iter().find_map(|entry| {
                self.unfit('s', entry.key)
                    .or_else(|| self.unfit('s', entry.value))
            }),
            _ => None,
        }
    }

    fn literal_argument(&mut self, name: &str, args: &[Id]) {
        let Some((id, Kind::Literal(literal))) = args.first().map(|id| (*id, self.ast.kind(*id)))
        else {
            return;
        };
        let value = match literal {
            Literal::String(text) => Value::text(text.clone()),
            Literal::Int(number) => Value::Int(*number),
            _ => return,
        };
        let fine = match name {
            "duration" => value.convert(&Type::Duration).is_ok(),
            "timestamp" => value.convert(&Type::Timestamp).is_ok(),
            "matches" => match &value {
                Value::String(text) => pattern::compile(text).is_ok(),
                _ => true,
            },
            _ => return,
        };
        if !fine {
            self.report(id, format!("invalid {name} argument"));
        }
    }
}
