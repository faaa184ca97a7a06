//! The parser of the string form of label selectors.

use super::{Operator, Requirement, SelectorError};
use crate::{field_error::FieldError, names::qualified_name};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    End,
    Close,
    Comma,
    Not,
    DoubleEquals,
    Equals,
    Greater,
    Identifier,
    In,
    Less,
    NotEquals,
    NotIn,
    Open,
    Unknown,
}

impl Token {
    /// `in` and `notin` are plain words wherever no operator is expected.
    fn as_word(self) -> Self {
        match self {
            Self::In | Self::NotIn => Self::Identifier,
            other => other,
        }
    }
}

fn known(symbol: &str) -> Option<Token> {
    Some(match symbol {
        ")" => Token::Close,
        "," => Token::Comma,
        "!" => Token::Not,
        "==" => Token::DoubleEquals,
        "=" => Token::Equals,
        ">" => Token::Greater,
        "<" => Token::Less,
        "!=" => Token::NotEquals,
        "(" => Token::Open,
        "in" => Token::In,
        "notin" => Token::NotIn,
        _ => return None,
    })
}

fn special(letter: char) -> bool {
    matches!(letter, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

fn blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n')
}

/// Splits the text into tokens; the last one is always [`Token::End`].
fn scan(text: &str) -> Vec<(Token, &str)> {
    // A NUL ends the text, as it does in real servers.
    let mut rest = text.split('\0').next().unwrap_or_default();
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start_matches(blank);
        let Some(first) = rest.chars().next() else {
            tokens.push((Token::End, ""));
            return tokens;
        };
        let (token, length) = if special(first) {
            symbol(rest)
        } else {
            let end = rest.find(|letter| special(letter) || blank(letter));
            let length = end.unwrap_or(rest.len());
            (known(&rest[..length]).unwrap_or(Token::Identifier), length)
        };
        tokens.push((token, &rest[..length]));
        rest = &rest[length..];
    }
}

/// The longest known symbol at the start; all symbols are one or two ASCII characters.
fn symbol(rest: &str) -> (Token, usize) {
    for length in [2, 1] {
        if let Some(token) = rest.get(..length).and_then(known) {
            return (token, length);
        }
    }
    (Token::Unknown, 1)
}

struct Parser<'a> {
    tokens: Vec<(Token, &'a str)>,
    at: usize,
}

type Parsed<T> = Result<T, String>;

impl<'a> Parser<'a> {
    fn peek(&self) -> (Token, &'a str) {
        let (token, text) = self.tokens[self.at.min(self.tokens.len() - 1)];
        (token.as_word(), text)
    }

    fn next(&mut self) -> (Token, &'a str) {
        let found = self.peek();
        self.at += 1;
        found
    }

    fn next_operator(&mut self) -> (Token, &'a str) {
        let found = self.tokens[self.at.min(self.tokens.len() - 1)];
        self.at += 1;
        found
    }

    fn requirement(&mut self) -> Parsed<Requirement> {
        let (mut token, mut key) = self.next();
        let negated = token == Token::Not;
        if negated {
            (token, key) = self.next();
        }
        if token != Token::Identifier {
            return Err(format!("found '{key}', expected: identifier"));
        }
        let complaints = qualified_name(key);
        if !complaints.is_empty() {
            let error = FieldError::invalid("<nil>", key.into(), complaints.join("; "));
            return Err(error.to_string());
        }
        let alone = matches!(self.peek().0, Token::End | Token::Comma);
        let (operator, values) = match (negated, alone) {
            (true, _) => (Operator::DoesNotExist, Vec::new()),
            (false, true) => (Operator::Exists, Vec::new()),
            (false, false) => self.comparison()?,
        };
        Requirement::new(key, operator, values).map_err(|error| error.0)
    }

    fn comparison(&mut self) -> Parsed<(Operator, Vec<String>)> {
        let (token, text) = self.next_operator();
        let operator = match token {
            Token::In => Operator::In,
            Token::NotIn => Operator::NotIn,
            Token::Equals => Operator::Equals,
            Token::DoubleEquals => Operator::DoubleEquals,
            Token::NotEquals => Operator::NotEquals,
            Token::Greater => Operator::GreaterThan,
            Token::Less => Operator::LessThan,
            _ => {
                return Err(format!(
                    "found '{text}', expected: in, notin, =, ==, !=, gt, lt"
                ));
            }
        };
        let mut values = if matches!(operator, Operator::In | Operator::NotIn) {
            self.set()?
        } else {
            vec![self.exact()?]
        };
        values.sort_unstable();
        values.dedup();
        Ok((operator, values))
    }

    fn set(&mut self) -> Parsed<Vec<String>> {
        let (token, text) = self.next();
        if token != Token::Open {
            return Err(format!("found '{text}' expected: '('"));
        }
        let (token, text) = self.peek();
        match token {
            Token::Identifier | Token::Comma => {
                let values = self.identifiers()?;
                self.next();
                Ok(values)
            }
            Token::Close => {
                self.next();
                Ok(vec![String::new()])
            }
            _ => Err(format!("found '{text}', expected: ',', ')' or identifier")),
        }
    }

    /// Values up to (not including) the closing parenthesis; empty ones count.
    fn identifiers(&mut self) -> Parsed<Vec<String>> {
        let mut values = Vec::new();
        loop {
            let (token, text) = self.next();
            match token {
                Token::Identifier => {
                    values.push(text.to_owned());
                    match self.peek() {
                        (Token::Comma, _) => {}
                        (Token::Close, _) => return Ok(values),
                        (_, text) => return Err(format!("found '{text}', expected: ',' or ')'")),
                    }
                }
                Token::Comma => {
                    if values.is_empty() {
                        values.push(String::new());
                    }
                    match self.peek().0 {
                        Token::Close => {
                            values.push(String::new());
                            return Ok(values);
                        }
                        Token::Comma => values.push(String::new()),
                        _ => {}
                    }
                }
                _ => return Err(format!("found '{text}', expected: ',', or identifier")),
            }
        }
    }

    fn exact(&mut self) -> Parsed<String> {
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Ok(String::new());
        }
        match self.next() {
            (Token::Identifier, text) => Ok(text.to_owned()),
            (_, text) => Err(format!("found '{text}', expected: identifier")),
        }
    }
}

/// All requirements of a selector, in the order in which they are written.
pub(super) fn requirements(text: &str) -> Result<Vec<Requirement>, SelectorError> {
    let mut parser = Parser {
        tokens: scan(text),
        at: 0,
    };
    let mut found = Vec::new();
    loop {
        match parser.peek() {
            (Token::End, _) => return Ok(found),
            (Token::Identifier | Token::Not, _) => {}
            (_, text) => {
                return Err(SelectorError(format!(
                    "found '{text}', expected: !, identifier, or 'end of string'"
                )));
            }
        }
        let requirement = parser
            .requirement()
            .map_err(|error| SelectorError(format!("unable to parse requirement: {error}")))?;
        found.push(requirement);
        match parser.next() {
            (Token::End, _) => return Ok(found),
            (Token::Comma, _) => {
                let (token, text) = parser.peek();
                if !matches!(token, Token::Identifier | Token::Not) {
                    return Err(SelectorError(format!(
                        "found '{text}', expected: identifier after ','"
                    )));
                }
            }
            (_, text) => {
                return Err(SelectorError(format!(
                    "found '{text}', expected: ',' or 'end of string'"
                )));
            }
        }
    }
}
