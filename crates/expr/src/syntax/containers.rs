//! Lists, maps and objects that are written out.

use super::{
    ast::{Entry, FieldInit, Id, Kind},
    mistakes::{Inside, starts_operand},
    operators::Punct,
    parser::{Parser, Stop},
};

impl Parser<'_> {
    fn element_starts(&self) -> bool {
        self.is(Punct::Question) || starts_operand(self.peek().token)
    }

    pub(super) fn list(&mut self) -> Result<Id, Stop> {
        let open = self.advance();
        let (mut items, mut optional) = (Vec::new(), Vec::new());
        let mut comma = true;
        self.inside.push(Inside::List);
        while !self.is(Punct::CloseBracket) {
            if self.is(Punct::Comma) {
                if items.is_empty() {
                    self.advance();
                }
                break;
            }
            if !items.is_empty() && !self.element_starts() {
                break;
            }
            let mark = self.take(Punct::Question);
            if let Some(mark) = mark.filter(|_| !self.syntax.optionals) {
                self.report(mark.start, "unsupported syntax '?'");
            }
            optional.push(mark.is_some());
            if items.is_empty() && mark.is_none() {
                let also = [Punct::CloseBracket, Punct::Comma, Punct::Question];
                match self.expr_or(&also)? {
                    Some(item) => items.push(item),
                    None => {
                        optional.pop();
                        continue;
                    }
                }
            } else {
                items.push(self.expr()?);
            }
            comma = self.take(Punct::Comma).is_some();
            if !comma {
                break;
            }
        }
        self.expect_close(Punct::CloseBracket, comma);
        Ok(self.add(Kind::List { items, optional }, open.start))
    }

    pub(super) fn map(&mut self) -> Result<Id, Stop> {
        let open = self.advance();
        let mut entries = Vec::new();
        let mut comma = true;
        self.inside.push(Inside::MapValue);
        while !self.is(Punct::CloseBrace) {
            if self.is(Punct::Comma) {
                if entries.is_empty() {
                    self.advance();
                }
                break;
            }
            if !entries.is_empty() && !self.element_starts() {
                break;
            }
            let mark = self.take(Punct::Question);
            if let Some(mark) = mark.filter(|_| !self.syntax.optionals) {
                self.report(mark.start, "unsupported syntax '?'");
            }
            self.inside.push(Inside::MapKey);
            let key = if entries.is_empty() && mark.is_none() {
                let also = [Punct::CloseBrace, Punct::Comma, Punct::Question];
                match self.expr_or(&also)? {
                    Some(key) => key,
                    None => {
                        self.inside.pop();
                        continue;
                    }
                }
            } else {
                self.expr()?
            };
            self.expect(Punct::Colon);
            let value = self.expr()?;
            entries.push(Entry {
                key,
                value,
                optional: mark.is_some(),
            });
            comma = self.take(Punct::Comma).is_some();
            if !comma {
                break;
            }
        }
        self.expect_close(Punct::CloseBrace, comma);
        Ok(self.add(Kind::Map { entries }, open.start))
    }

    pub(super) fn fields(&mut self, name: &str) -> Result<Id, Stop> {
        let open = self.advance();
        let mut fields = Vec::new();
        let mut comma = true;
        self.inside.push(Inside::MapValue);
        while !self.is(Punct::CloseBrace) {
            let optional = self.take(Punct::Question).is_some();
            let also = if optional { "" } else { "'}', ',', '?', " };
            let Some(lexeme) = self.field_name(also) else {
                self.skip();
                break;
            };
            let field = self.text_of(lexeme).trim_matches('`').to_owned();
            let colon = self.peek();
            self.inside.push(Inside::MapKey);
            self.expect(Punct::Colon);
            let value = self.expr()?;
            let at = u32::try_from(colon.start).unwrap_or(u32::MAX);
            fields.push(FieldInit {
                at,
                name: field.into(),
                value,
                optional,
            });
            comma = self.take(Punct::Comma).is_some();
            if !comma {
                break;
            }
        }
        self.expect_close(Punct::CloseBrace, comma);
        Ok(self.add(
            Kind::Struct {
                name: name.into(),
                fields,
            },
            open.start,
        ))
    }
}
