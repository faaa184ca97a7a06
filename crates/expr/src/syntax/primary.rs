//! The leaves of the grammar: names, literals, parentheses, brackets and braces.

use super::{
    ast::Id,
    lexer::Token,
    mistakes::Inside,
    operators::Punct,
    parser::{Parser, Stop},
};

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Result<Id, Stop> {
        match self.peek().token {
            Token::Ident => self.named(),
            Token::Punct(Punct::Dot) if self.peek_at(1).token == Token::Ident => self.named(),
            Token::Punct(Punct::Dot) => {
                let dot = self.advance();
                Err(self.no_alternative(dot.start))
            }
            Token::Punct(Punct::Open) => {
                self.advance();
                self.inside.push(Inside::Parentheses);
                let inner = self.expr()?;
                self.expect(Punct::Close)?;
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
}
