//! Syntax errors in the words of the reference parser, with its two cheap repairs: a token too
//! many is skipped, a missing one is imagined.

use super::{
    ast::Id,
    lexer::{Lexeme, Token},
    operators::Punct,
    parser::{Parser, Stop},
};

/// Tokens that an operand may begin with, as the reference lists them.
const AFTER: &str =
    "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/// An operand, or one of some signs.
fn operand_or(also: &[Punct]) -> String {
    use Punct::{
        Close, CloseBrace, CloseBracket, Comma, Dot, Minus, Not, Open, OpenBrace, OpenBracket,
        Question,
    };
    let mut out = String::from("{");
    for (punct, name) in [
        (OpenBracket, "'['"),
        (CloseBracket, "']'"),
        (OpenBrace, "'{'"),
        (CloseBrace, "'}'"),
        (Open, "'('"),
        (Close, "')'"),
        (Dot, "'.'"),
        (Comma, "','"),
        (Minus, "'-'"),
        (Not, "'!'"),
        (Question, "'?'"),
    ] {
        if starts_operand(Token::Punct(punct)) || also.contains(&punct) {
            out.push_str(name);
            out.push_str(", ");
        }
    }
    out + AFTER
}

impl Parser<'_> {
    pub(super) fn syntax_error(&mut self, at: usize, message: &str) {
        // One report until a token fits again, as the reference does.
        if std::mem::replace(&mut self.recovering, true) {
            return;
        }
        self.issues.at(at, format!("Syntax error: {message}"));
    }

    fn shown(&self, lexeme: Lexeme) -> String {
        match lexeme.token {
            Token::End => "<EOF>".to_owned(),
            _ => self
                .text_of(lexeme)
                .replace('\n', "\\n")
                .replace('\r', "\\r")
                .replace('\t', "\\t"),
        }
    }

    /// The token at hand fits no way to go on; the text quoted runs from `start`.
    pub(super) fn no_alternative(&mut self, start: usize) -> Stop {
        let lexeme = self.peek();
        let known = |at: &usize| !self.gaps.iter().any(|gap| gap.contains(at));
        let end = if lexeme.token == Token::End {
            lexeme.start
        } else {
            lexeme.end
        };
        let quoted = (start..end.max(start)).filter(known);
        let text: String = quoted.filter_map(|at| self.text.get(at)).collect();
        let text = text
            .trim_end()
            .replace('\n', "\\n")
            .replace('\r', "\\r")
            .replace('\t', "\\t");
        self.syntax_error(
            lexeme.start,
            &format!("no viable alternative at input '{text}'"),
        );
        Stop
    }

    /// An operand, where some other token would also do. `None` when that token came after one
    /// too many.
    pub(super) fn expr_or(&mut self, also: &[Punct]) -> Result<Option<Id>, Stop> {
        let lexeme = self.peek();
        if starts_operand(lexeme.token) {
            return self.expr().map(Some);
        }
        let next = self.peek_at(1).token;
        if lexeme.token != Token::End && also.iter().any(|punct| next == Token::Punct(*punct)) {
            let shown = self.shown(lexeme);
            let expected = operand_or(also);
            let message = format!("extraneous input '{shown}' expecting {expected}");
            self.syntax_error(lexeme.start, &message);
            self.advance();
            return Ok(None);
        }
        self.missing_operand(&operand_or(also)).map(Some)
    }

    /// What `primary` does when no operand starts here.
    pub(super) fn operand_expected(&mut self) -> Result<Id, Stop> {
        self.missing_operand(&operand_or(&[]))
    }

    fn missing_operand(&mut self, expected: &str) -> Result<Id, Stop> {
        let lexeme = self.peek();
        let shown = self.shown(lexeme);
        if lexeme.token != Token::End && starts_operand(self.peek_at(1).token) {
            self.syntax_error(
                lexeme.start,
                &format!("extraneous input '{shown}' expecting {expected}"),
            );
            self.advance();
            return self.expr();
        }
        let after_not = self.previous() == Some(Token::Punct(Punct::Not));
        let word = if after_not && lexeme.token == Token::End {
            "extraneous"
        } else {
            "mismatched"
        };
        self.syntax_error(
            lexeme.start,
            &format!("{word} input '{shown}' expecting {expected}"),
        );
        // The operand is imagined; what stands here may still be an operator.
        Ok(self.broken(lexeme.start))
    }

    /// The name of a field; `None` after a report.
    pub(super) fn field_name(&mut self, also: &str) -> Option<Lexeme> {
        let lexeme = self.peek();
        let named = |token: Token| matches!(token, Token::Ident | Token::Quoted);
        if named(lexeme.token) {
            return Some(self.advance());
        }
        let shown = self.shown(lexeme);
        let next = self.peek_at(1).token;
        let extra = lexeme.token != Token::End && named(next);
        let word = if extra { "extraneous" } else { "mismatched" };
        let message =
            format!("{word} input '{shown}' expecting {{{also}IDENTIFIER, ESC_IDENTIFIER}}");
        self.syntax_error(lexeme.start, &message);
        if !extra {
            return None;
        }
        self.advance();
        Some(self.advance())
    }

    /// After a mistake: on to a token that something around here can go on with.
    pub(super) fn skip(&mut self) {
        let recovering = self.recovering;
        while !self.may_follow_anything(self.peek().token) {
            self.advance();
        }
        self.recovering = recovering;
    }

    fn may_follow_anything(&self, token: Token) -> bool {
        self.ends_anything(token) || self.may_follow(token)
    }

    /// Whether something around here ends with a token.
    fn ends_anything(&self, token: Token) -> bool {
        match token {
            Token::End => true,
            Token::Punct(Punct::Comma) => self.inside.iter().any(|inside| inside.takes_comma()),
            Token::Punct(punct) => self.inside.iter().any(|inside| inside.end() == punct),
            _ => false,
        }
    }

    pub(super) fn expect_end(&mut self) -> Result<(), Stop> {
        let lexeme = self.peek();
        if lexeme.token == Token::End {
            return Ok(());
        }
        let shown = self.shown(lexeme);
        let word = if self.peek_at(1).token == Token::End {
            "extraneous"
        } else {
            "mismatched"
        };
        self.syntax_error(
            lexeme.start,
            &format!("{word} input '{shown}' expecting <EOF>"),
        );
        Err(Stop)
    }

    /// Whether a token may follow a whole operand here.
    fn may_follow(&self, token: Token) -> bool {
        match token {
            Token::End => self.inside.is_empty(),
            Token::In
            | Token::Punct(
                Punct::Dot | Punct::OpenBracket | Punct::And | Punct::Or | Punct::Question,
            ) => true,
            Token::Punct(punct) if punct.arithmetic().is_some() || punct.relation().is_some() => {
                true
            }
            Token::Punct(Punct::Comma) => self
                .inside
                .last()
                .is_some_and(|inside| inside.takes_comma()),
            Token::Punct(punct) => self
                .inside
                .last()
                .is_some_and(|inside| inside.end() == punct),
            _ => false,
        }
    }

    /// A token that must come now, at the end of what `inside` says.
    pub(super) fn expect(&mut self, punct: Punct) {
        self.inside.pop();
        let lexeme = self.peek();
        if lexeme.token == Token::Punct(punct) {
            self.advance();
            return;
        }
        let shown = self.shown(lexeme);
        let name = name_of(punct);
        if self.peek_at(1).token == Token::Punct(punct) && lexeme.token != Token::End {
            self.syntax_error(
                lexeme.start,
                &format!("extraneous input '{shown}' expecting {name}"),
            );
            self.advance();
            self.advance();
            return;
        }
        let fits = match punct {
            Punct::Colon => starts_operand(lexeme.token),
            _ => self.may_follow(lexeme.token),
        };
        if fits {
            self.syntax_error(lexeme.start, &format!("missing {name} at '{shown}'"));
            return;
        }
        self.syntax_error(
            lexeme.start,
            &format!("mismatched input '{shown}' expecting {name}"),
        );
        if punct == Punct::Colon {
            // No operator can save a choice or an entry without its second half.
            let recovering = self.recovering;
            while !self.ends_anything(self.peek().token) {
                self.advance();
            }
            self.recovering = recovering;
        } else {
            self.skip();
        }
    }

    /// The end of a list or map, where a comma would do as well.
    pub(super) fn expect_close(&mut self, punct: Punct, comma: bool) {
        if comma {
            self.expect(punct);
            return;
        }
        self.inside.pop();
        let lexeme = self.peek();
        if lexeme.token == Token::Punct(punct) {
            self.advance();
            return;
        }
        let shown = self.shown(lexeme);
        let expected = format!("{{{}, ','}}", name_of(punct));
        let next = self.peek_at(1).token;
        if next == Token::Punct(punct) && lexeme.token != Token::End {
            let message = format!("extraneous input '{shown}' expecting {expected}");
            self.syntax_error(lexeme.start, &message);
            self.advance();
            self.advance();
            return;
        }
        let word = if next == Token::Punct(Punct::Comma) {
            "extraneous"
        } else {
            "mismatched"
        };
        self.syntax_error(
            lexeme.start,
            &format!("{word} input '{shown}' expecting {expected}"),
        );
        self.skip();
    }
}

/// What an operand stands in, and so what may come after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    Parentheses,
    Arguments,
    Index,
    List,
    MapKey,
    MapValue,
    Choice,
}

impl Inside {
    fn takes_comma(self) -> bool {
        matches!(self, Self::Arguments | Self::List | Self::MapValue)
    }

    fn end(self) -> Punct {
        match self {
            Self::Parentheses | Self::Arguments => Punct::Close,
            Self::Index | Self::List => Punct::CloseBracket,
            Self::MapValue => Punct::CloseBrace,
            Self::MapKey | Self::Choice => Punct::Colon,
        }
    }
}

/// Whether an expression may begin with this token.
pub(super) fn starts_operand(token: Token) -> bool {
    match token {
        Token::End | Token::In | Token::Quoted => false,
        Token::Punct(punct) => matches!(
            punct,
            Punct::OpenBracket
                | Punct::OpenBrace
                | Punct::Open
                | Punct::Dot
                | Punct::Minus
                | Punct::Not
        ),
        _ => true,
    }
}

fn name_of(punct: Punct) -> &'static str {
    match punct {
        Punct::CloseBracket => "']'",
        Punct::CloseBrace => "'}'",
        Punct::Close => "')'",
        _ => "':'",
    }
}
