//! Syntax errors in the words of the reference parser, with its two cheap repairs: a token too
//! many is skipped, a missing one is imagined.

use super::{
    ast::Id,
    lexer::{Lexeme, Token},
    operators::Punct,
    parser::{Parser, Stop},
};

const AFTER: &str =
    "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

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
        let text: String = self.text[start..lexeme.end.max(start)].iter().collect();
        let text = text.replace([' ', '\n', '\t', '\r'], "");
        self.syntax_error(
            lexeme.start,
            &format!("no viable alternative at input '{text}'"),
        );
        Stop
    }

    /// An operand, where some other token would also do.
    pub(super) fn expr_or(&mut self, also: &[(Punct, &str)], already: bool) -> Result<Id, Stop> {
        if starts_operand(self.peek().token) || already {
            return self.expr();
        }
        let (mut close, mut question) = ("", "");
        for (punct, name) in also {
            match punct {
                Punct::Close => close = name,
                _ => question = name,
            }
        }
        let comma = |text: &str| {
            if text.is_empty() {
                String::new()
            } else {
                format!("{text}, ")
            }
        };
        let expected = format!(
            "{{'[', '{{', '(', {}'.', '-', '!', {}{AFTER}",
            comma(close),
            comma(question)
        );
        self.missing_operand(&expected)
    }

    /// What `primary` does when no operand starts here.
    pub(super) fn operand_expected(&mut self) -> Result<Id, Stop> {
        self.missing_operand(&format!("{{'[', '{{', '(', '.', '-', '!', {AFTER}"))
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
        let after_sign = matches!(
            self.previous(),
            Some(Token::Punct(Punct::Not | Punct::Minus)) if lexeme.token == Token::End
        );
        let word = if after_sign {
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
            Token::Punct(Punct::Comma) => matches!(
                self.inside.last(),
                Some(Inside::Arguments | Inside::List | Inside::MapValue)
            ),
            Token::Punct(punct) => self
                .inside
                .last()
                .is_some_and(|inside| inside.end() == punct),
            _ => false,
        }
    }

    /// A token that must come now, at the end of what `inside` says.
    pub(super) fn expect(&mut self, punct: Punct) -> Result<(), Stop> {
        self.inside.pop();
        let lexeme = self.peek();
        if lexeme.token == Token::Punct(punct) {
            self.advance();
            return Ok(());
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
            return Ok(());
        }
        let fits = match punct {
            Punct::Colon => starts_operand(lexeme.token),
            _ => self.may_follow(lexeme.token),
        };
        if fits {
            self.syntax_error(lexeme.start, &format!("missing {name} at '{shown}'"));
            return Ok(());
        }
        self.syntax_error(
            lexeme.start,
            &format!("mismatched input '{shown}' expecting {name}"),
        );
        Err(Stop)
    }

    /// The end of a list or map, where a comma would do as well.
    pub(super) fn expect_close(&mut self, punct: Punct, comma: bool) -> Result<(), Stop> {
        if comma {
            return self.expect(punct);
        }
        self.inside.pop();
        let lexeme = self.peek();
        if lexeme.token == Token::Punct(punct) {
            self.advance();
            return Ok(());
        }
        let shown = self.shown(lexeme);
        let expected = format!("{{{}, ','}}", name_of(punct));
        let next = self.peek_at(1).token;
        if next == Token::Punct(punct) && lexeme.token != Token::End {
            let message = format!("extraneous input '{shown}' expecting {expected}");
            self.syntax_error(lexeme.start, &message);
            self.advance();
            self.advance();
            return Ok(());
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
        Err(Stop)
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
