//! The leaves of the grammar: names, literals, parentheses, brackets and braces.

use super::{
    ast::{Id, Kind, Literal},
    lexer::Token,
    mistakes::Inside,
    operators::Punct,
    parser::{Parser, Stop},
    unescape,
};

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Result<Id, Stop> {
        match self.peek().token {
            Token::Ident => self.named(),
            Token::Punct(Punct::Dot) if self.peek_at(1).token == Token::Ident => self.named(),
            Token::Punct(Punct::Dot) => {
                let dot = self.advance();
                let Stop = self.no_alternative(dot.start);
                self.skip();
                Ok(self.broken(dot.start))
            }
            Token::Punct(Punct::Open) => {
                self.advance();
                self.inside.push(Inside::Parentheses);
                let inner = self.expr()?;
                self.expect(Punct::Close);
                Ok(inner)
            }
            Token::Punct(Punct::OpenBracket) => self.list(),
            Token::Punct(Punct::OpenBrace) => self.map(),
            Token::Punct(Punct::Minus)
                if matches!(self.peek_at(1).token, Token::Int | Token::Float) =>
            {
                Ok(self.literal())
            }
            Token::Int
            | Token::Uint
            | Token::Float
            | Token::String
            | Token::Bytes
            | Token::True
            | Token::False
            | Token::Null => Ok(self.literal()),
            _ => self.operand_expected(),
        }
    }

    pub(super) fn literal(&mut self) -> Id {
        let negative = self.take(Punct::Minus);
        let lexeme = self.advance();
        let start = negative.map_or(lexeme.start, |minus| minus.start);
        let text = self.text_of(lexeme);
        let signed = if negative.is_some() {
            format!("-{text}")
        } else {
            text.clone()
        };
        let literal = match lexeme.token {
            Token::Int => integer(&signed)
                .map(Literal::Int)
                .ok_or("invalid int literal"),
            Token::Uint => unsigned(&text)
                .map(Literal::Uint)
                .ok_or("invalid uint literal"),
            Token::Float => match signed.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Literal::Double(number)),
                _ => Err("invalid double literal"),
            },
            Token::String => unescape::string(&text).map(|text| Literal::String(text.into())),
            Token::Bytes => unescape::bytes(&text[1..]).map(|bytes| Literal::Bytes(bytes.into())),
            Token::True => Ok(Literal::Bool(true)),
            Token::False => Ok(Literal::Bool(false)),
            _ => Ok(Literal::Null),
        };
        match literal {
            Ok(literal) => self.add(Kind::Literal(literal), start),
            Err(message) => self.report(start, message),
        }
    }
}

fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix("-0x") {
        Some(hex) => i64::from_str_radix(&format!("-{hex}"), 16).ok(),
        None => match text.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        },
    }
}

fn unsigned(text: &str) -> Option<u64> {
    let digits = &text[..text.len() - 1];
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}
