//! Tokens of CEL, longest match first.

use super::operators::Punct;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    End,
    Punct(Punct),
    In,
    True,
    False,
    Null,
    Int,
    Uint,
    Float,
    String,
    Bytes,
    Ident,
    /// An identifier in backquotes.
    Quoted,
}

/// A token and where it stands, in code points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Text that starts no token, as one message each.
pub(crate) struct Unrecognised {
    pub(crate) at: usize,
    pub(crate) text: String,
}

/// All tokens of a text, ending with [`Token::End`].
pub(crate) fn tokens(text: &[char]) -> (Vec<Lexeme>, Vec<Unrecognised>) {
    let mut lexer = Lexer {
        text,
        errors: Vec::new(),
        found: Vec::new(),
    };
    lexer.run();
    (lexer.found, lexer.errors)
}

struct Lexer<'t> {
    text: &'t [char],
    found: Vec<Lexeme>,
    errors: Vec<Unrecognised>,
}

impl Lexer<'_> {
    fn peek(&self, at: usize) -> char {
        self.text.get(at).copied().unwrap_or('\0')
    }

    fn run(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            match self.peek(at) {
                '\t' | ' ' | '\r' | '\n' | '\u{c}' => at += 1,
                '/' if self.peek(at + 1) == '/' => {
                    while at < self.text.len() && self.peek(at) != '\n' {
                        at += 1;
                    }
                }
                _ => match self.token(at) {
                    Ok((token, end)) => {
                        self.found.push(Lexeme {
                            token,
                            start: at,
                            end,
                        });
                        at = end;
                    }
                    Err(failed) => {
                        let end = (failed + 1).min(self.text.len());
                        let text = self.text[at..end].iter().collect();
                        self.errors.push(Unrecognised { at, text });
                        at = end;
                    }
                },
            }
        }
        self.found.push(Lexeme {
            token: Token::End,
            start: at,
            end: at,
        });
    }

    /// The longest token at a place, or the place of the character that fits none.
    fn token(&self, at: usize) -> Result<(Token, usize), usize> {
        let first = self.peek(at);
        if let Some(found) = self.string(at)? {
            return Ok(found);
        }
        match first {
            'A'..='Z' | 'a'..='z' | '_' => Ok(self.word(at)),
            '0'..='9' => Ok(self.number(at)),
            '.' if self.peek(at + 1).is_ascii_digit() => Ok(self.number(at)),
            '`' => self.quoted(at),
            _ => match Punct::at(first, self.peek(at + 1)) {
                Ok((punct, length)) => Ok((Token::Punct(punct), at + length)),
                Err(ahead) => Err(at + ahead),
            },
        }
    }

    fn word(&self, at: usize) -> (Token, usize) {
        let mut end = at;
        while self.peek(end).is_ascii_alphanumeric() || self.peek(end) == '_' {
            end += 1;
        }
        let word: String = self.text[at..end].iter().collect();
        let token = match word.as_str() {
            "in" => Token::In,
            "true" => Token::True,
            "false" => Token::False,
            "null" => Token::Null,
            _ => Token::Ident,
        };
        (token, end)
    }

    fn digits(&self, mut at: usize) -> usize {
        while self.peek(at).is_ascii_digit() {
            at += 1;
        }
        at
    }

    fn exponent(&self, at: usize) -> Option<usize> {
        if !matches!(self.peek(at), 'e' | 'E') {
            return None;
        }
        let sign = usize::from(matches!(self.peek(at + 1), '+' | '-'));
        let end = self.digits(at + 1 + sign);
        (end > at + 1 + sign).then_some(end)
    }

    fn number(&self, at: usize) -> (Token, usize) {
        if self.peek(at) == '0' && self.peek(at + 1) == 'x' {
            let mut end = at + 2;
            while self.peek(end).is_ascii_hexdigit() {
                end += 1;
            }
            if end > at + 2 {
                return self.maybe_unsigned(end);
            }
        }
        let whole = self.digits(at);
        if self.peek(whole) == '.' && self.peek(whole + 1).is_ascii_digit() {
            let end = self.digits(whole + 1);
            return (Token::Float, self.exponent(end).unwrap_or(end));
        }
        match self.exponent(whole) {
            Some(end) => (Token::Float, end),
            None => self.maybe_unsigned(whole),
        }
    }

    fn maybe_unsigned(&self, end: usize) -> (Token, usize) {
        match self.peek(end) {
            'u' | 'U' => (Token::Uint, end + 1),
            _ => (Token::Int, end),
        }
    }

    fn quoted(&self, at: usize) -> Result<(Token, usize), usize> {
        let mut end = at + 1;
        while self.peek(end).is_ascii_alphanumeric()
            || matches!(self.peek(end), '_' | '.' | '-' | '/' | ' ')
        {
            end += 1;
        }
        if self.peek(end) == '`' && end > at + 1 {
            Ok((Token::Quoted, end + 1))
        } else {
            Err(end)
        }
    }

    /// A string or bytes literal, if a quote follows the prefix at this place.
    fn string(&self, at: usize) -> Result<Option<(Token, usize)>, usize> {
        let mut open = at;
        let mut token = Token::String;
        let mut raw = false;
        if matches!(self.peek(open), 'b' | 'B') {
            token = Token::Bytes;
            open += 1;
        }
        if matches!(self.peek(open), 'r' | 'R') {
            raw = true;
            open += 1;
        }
        let quote = self.peek(open);
        if !matches!(quote, '"' | '\'') {
            return Ok(None);
        }
        let long = self.peek(open + 1) == quote && self.peek(open + 2) == quote;
        let found = if long {
            self.long_string(open, quote, raw)
        } else {
            Err(0)
        };
        match found.or_else(|far| {
            self.short_string(open, quote, raw)
                .map_err(|near| near.max(far))
        }) {
            Ok(end) => Ok(Some((token, end))),
            // A prefix without its string is an identifier.
            Err(_) if open > at => Ok(None),
            Err(failed) => Err(failed),
        }
    }

    fn long_string(&self, open: usize, quote: char, raw: bool) -> Result<usize, usize> {
        let mut at = open + 3;
        while at < self.text.len() {
            if (0..3).all(|ahead| self.peek(at + ahead) == quote) {
                return Ok(at + 3);
            }
            at = if self.peek(at) == '\\' && !raw {
                self.escape(at)?
            } else {
                at + 1
            };
        }
        Err(at)
    }

    fn short_string(&self, open: usize, quote: char, raw: bool) -> Result<usize, usize> {
        let mut at = open + 1;
        while at < self.text.len() {
            match self.peek(at) {
                '\n' | '\r' => return Err(at),
                letter if letter == quote => return Ok(at + 1),
                '\\' if !raw => at = self.escape(at)?,
                _ => at += 1,
            }
        }
        Err(at)
    }

    /// The end of an escape sequence that starts with the backslash at this place.
    fn escape(&self, at: usize) -> Result<usize, usize> {
        let (length, radix) = match self.peek(at + 1) {
            'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`' => (0, 8),
            '0'..='3' => (2, 8),
            'x' | 'X' => (2, 16),
            'u' => (4, 16),
            'U' => (8, 16),
            _ => return Err(at + 1),
        };
        for digit in at + 2..at + 2 + length {
            if !self.peek(digit).is_digit(radix) {
                return Err(digit);
            }
        }
        Ok(at + 2 + length)
    }
}
