//! Reading paths.

use serde_json::Value;

use super::{Filter, PathError, Slice, Step};

/// Filters and unions hold paths of their own; deeper nesting than this is refused.
const NESTING_MAX: usize = 16;

type Parsed<T> = Result<T, PathError>;

fn error<T>(text: impl Into<String>) -> Parsed<T> {
    Err(PathError(text.into()))
}

/// The steps of a path without braces.
pub(super) fn steps(text: &str) -> Parsed<Vec<Step>> {
    nested(text, 0)
}

fn nested(text: &str, depth: usize) -> Parsed<Vec<Step>> {
    if depth > NESTING_MAX {
        return error("path is nested too deeply");
    }
    let mut parser = Parser {
        letters: text.chars().collect(),
        at: 0,
        depth,
        steps: Vec::new(),
    };
    parser.run()?;
    Ok(parser.steps)
}

struct Parser {
    letters: Vec<char>,
    at: usize,
    depth: usize,
    steps: Vec<Step>,
}

/// Whether a letter ends a field name.
fn ends_name(letter: char) -> bool {
    matches!(
        letter,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn starts(&self, text: &str) -> bool {
        let rest = self.letters[self.at..].iter().copied();
        rest.take(text.chars().count()).eq(text.chars())
    }

    fn run(&mut self) -> Parsed<()> {
        while let Some(letter) = self.peek() {
            if self.starts("[?(") {
                self.filter()?;
            } else if self.starts("..") {
                self.recursive()?;
            } else {
                match letter {
                    ' ' | '@' | '$' => self.at += 1,
                    '[' => self.brackets()?,
                    '"' | '\'' => self.quoted(letter)?,
                    '.' => {
                        self.at += 1;
                        self.field();
                    }
                    '+' | '-' | '0'..='9' => self.number()?,
                    _ if letter == '_' || letter.is_alphanumeric() => self.identifier()?,
                    '\r' | '\n' => return error("unclosed action"),
                    other => {
                        let code = u32::from(other);
                        return error(format!(
                            "unrecognized character in action: U+{code:04X} '{other}'"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    fn field(&mut self) {
        let mut name = String::new();
        while let Some(letter) = self.peek() {
            if letter == '\\' {
                self.at += 1;
                name.extend(self.peek());
                self.at += 1;
            } else if ends_name(letter) {
                break;
            } else {
                name.push(letter);
                self.at += 1;
            }
        }
        self.steps.push(match name.as_str() {
            "*" => Step::Wildcard,
            _ => Step::Field(name),
        });
    }

    fn recursive(&mut self) -> Parsed<()> {
        if self.steps.last() == Some(&Step::Recursive) {
            return error("invalid multiple recursive descent");
        }
        self.at += 2;
        self.steps.push(Step::Recursive);
        if self
            .peek()
            .is_some_and(|letter| letter == '_' || letter.is_alphanumeric())
        {
            self.field();
        }
        Ok(())
    }

    fn number(&mut self) -> Parsed<()> {
        let start = self.at;
        self.at += 1;
        while self
            .peek()
            .is_some_and(|letter| letter == '.' || letter.is_ascii_digit())
        {
            self.at += 1;
        }
        let text: String = self.letters[start..self.at].iter().collect();
        let constant = match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(whole), _) => Value::from(whole),
            (_, Ok(float)) => Value::from(float),
            _ => return error(format!("cannot parse number {text}")),
        };
        self.steps.push(Step::Constant(constant));
        Ok(())
    }

    fn identifier(&mut self) -> Parsed<()> {
        let start = self.at;
        while self.peek().is_some_and(|letter| !ends_name(letter)) {
            self.at += 1;
        }
        let word: String = self.letters[start..self.at].iter().collect();
        match word.as_str() {
            "true" | "false" => self.steps.push(Step::Constant(Value::from(word == "true"))),
            other => return error(format!("unrecognized identifier {other}")),
        }
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Parsed<()> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None | Some('\n') => return error("unterminated quoted string"),
                Some('\\') => {
                    self.at += 1;
                    text.extend(self.peek().map(|letter| match letter {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        other => other,
                    }));
                    self.at += 1;
                }
                Some(letter) => {
                    self.at += 1;
                    if letter == quote {
                        break;
                    }
                    text.push(letter);
                }
            }
        }
        self.steps.push(Step::Constant(Value::from(text)));
        Ok(())
    }

    fn brackets(&mut self) -> Parsed<()> {
        let start = self.at + 1;
        let length = self.letters[start..]
            .iter()
            .position(|letter| *letter == ']' || *letter == '\n');
        let Some(end) = length
            .map(|length| start + length)
            .filter(|end| self.letters[*end] == ']')
        else {
            return error("unterminated array");
        };
        let text: String = self.letters[start..end].iter().collect();
        self.at = end + 1;
        if text.contains(',') {
            let choices = text
                .split(',')
                .map(|choice| nested(&format!("[{}]", choice.trim_matches(' ')), self.depth + 1));
            self.steps
                .push(Step::Union(choices.collect::<Parsed<_>>()?));
            return Ok(());
        }
        let key = text
            .strip_prefix('\'')
            .and_then(|rest| rest.strip_suffix('\''))
            .filter(|key| !key.contains('\''));
        if let Some(key) = key {
            // A quoted key is read like a field: dots in it must be escaped.
            self.steps
                .extend(nested(&format!(".{key}"), self.depth + 1)?);
            return Ok(());
        }
        let slice = slice(&text).ok_or_else(|| PathError(format!("invalid array index {text}")))?;
        self.steps.push(Step::Slice(slice));
        Ok(())
    }

    fn filter(&mut self) -> Parsed<()> {
        self.at += 3;
        let start = self.at;
        let mut quote = None;
        loop {
            match self.peek() {
                None | Some('\n') => return error("unterminated filter"),
                Some(letter @ ('"' | '\'')) => match quote {
                    None => quote = Some(letter),
                    Some(open) if open == letter && self.letters[self.at - 1] != '\\' => {
                        quote = None;
                    }
                    Some(_) => {}
                },
                Some(')') if quote.is_none() => break,
                Some(_) => {}
            }
            self.at += 1;
        }
        let text: String = self.letters[start..self.at].iter().collect();
        self.at += 1;
        if self.peek() != Some(']') {
            return error("unclosed array expect ]");
        }
        self.at += 1;
        let inside = |text: &str| nested(text, self.depth + 1);
        let is_operator = |letter: char| matches!(letter, '!' | '<' | '>' | '=');
        let filter = match text.find(is_operator).filter(|at| *at > 0) {
            None => Filter {
                left: inside(&text)?,
                comparison: None,
            },
            Some(at) => {
                let rest = &text[at..];
                let length = rest
                    .find(|letter| !is_operator(letter))
                    .unwrap_or(rest.len());
                let comparison = (rest[..length].to_owned(), inside(&rest[length..])?);
                Filter {
                    left: inside(&text[..at])?,
                    comparison: Some(comparison),
                }
            }
        };
        self.steps.push(Step::Filter(Box::new(filter)));
        Ok(())
    }
}

fn slice(text: &str) -> Option<Slice> {
    let text = if text == "*" { ":" } else { text };
    let number = |part: &str| -> Option<Option<i64>> {
        match part {
            "" => Some(None),
            digits => digits.parse().ok().map(Some),
        }
    };
    let parts: Vec<&str> = text.split(':').collect();
    let index = parts.len() == 1;
    if parts.len() > 3 || text.is_empty() {
        return None;
    }
    let start = number(parts[0])?;
    let end = match parts.get(1) {
        Some(part) => number(part)?,
        None => Some(start? + 1),
    };
    let step = match parts.get(2) {
        Some(part) => number(part)?,
        None => None,
    };
    Some(Slice {
        start,
        end,
        index,
        step,
    })
}
