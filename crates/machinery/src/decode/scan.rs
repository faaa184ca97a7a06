//! A JSON parser with the grammar, the limits and the complaints of Go's.
//!
//! It does not recurse, so that no input can exhaust the stack.

use std::borrow::Cow;

use super::{DecodeError, MAX_DEPTH, document::Node};

type Parsed<T> = Result<T, DecodeError>;

fn error(text: impl Into<String>) -> DecodeError {
    DecodeError(text.into())
}

/// A byte as Go quotes it in syntax errors.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\\' => "'\\\\'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        0x07 => "'\\a'".to_owned(),
        0x08 => "'\\b'".to_owned(),
        0x0b => "'\\v'".to_owned(),
        0x0c => "'\\f'".to_owned(),
        0..=0x1f | 0x7f => format!("'\\x{byte:02x}'"),
        0x80..=0x9f | 0xad => format!("'\\u{byte:04x}'"),
        other => format!("'{}'", char::from(other)),
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A container under construction.
enum Frame<'a> {
    Array(Vec<Node<'a>>),
    Object(Vec<(Cow<'a, str>, Node<'a>)>, Cow<'a, str>),
}

/// What the next token of a container's content gives.
enum Step<'a> {
    Value(Node<'a>),
    Open(Frame<'a>),
}

impl<'a> Scanner<'a> {
    fn skip_blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The complaint about the byte at the cursor.
    fn unexpected(&self, context: &str) -> DecodeError {
        match self.peek() {
            None => error("unexpected end of JSON input"),
            Some(byte) => error(format!("invalid character {} {context}", quoted(byte))),
        }
    }

    fn literal(&mut self, word: &'static str, node: Node<'a>) -> Parsed<Node<'a>> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.unexpected(&format!(
                    "in literal {word} (expecting '{}')",
                    char::from(expected)
                )));
            }
            self.at += 1;
        }
        Ok(node)
    }

    fn digits(&mut self, context: &str) -> Parsed<()> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.unexpected(context));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Parsed<Node<'a>> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Ok(Node::Number(String::from_utf8_lossy(
            &self.bytes[start..self.at],
        )))
    }

    /// A string; the cursor is on its opening quote.
    fn string(&mut self) -> Parsed<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        let mut owned: Option<Vec<u8>> = None;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let text = owned.get_or_insert_with(|| self.bytes[start..self.at].to_vec());
                    let mut taken = std::mem::take(text);
                    self.escape(&mut taken)?;
                    owned = Some(taken);
                }
                Some(byte) if byte >= 0x20 => {
                    if let Some(text) = &mut owned {
                        text.push(byte);
                    }
                    self.at += 1;
                }
                _ => return Err(self.unexpected("in string literal")),
            }
        }
        let end = self.at;
        self.at += 1;
        // Bytes that are no UTF-8 become replacement characters, as in Go.
        Ok(match owned {
            None => String::from_utf8_lossy(&self.bytes[start..end]),
            Some(text) => String::from_utf8_lossy(&text).into_owned().into(),
        })
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Parsed<()> {
        self.at += 1;
        let letter = match self.peek() {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => {
                self.at += 1;
                let first = self.hex()?;
                let letter = self.surrogate(first)?;
                text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.at += 1;
        text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn hex(&mut self) -> Parsed<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// The character of an escape: half of a surrogate pair alone is a replacement character.
    fn surrogate(&mut self, first: u32) -> Parsed<char> {
        const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;
        if !(0xd800..0xe000).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(REPLACEMENT));
        }
        if first >= 0xdc00 || !self.bytes[self.at..].starts_with(b"\\u") {
            return Ok(REPLACEMENT);
        }
        let before = self.at;
        self.at += 2;
        let second = self.hex()?;
        if !(0xdc00..0xe000).contains(&second) {
            self.at = before;
            return Ok(REPLACEMENT);
        }
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        Ok(char::from_u32(code).unwrap_or(REPLACEMENT))
    }

    /// The start of a value.
    fn value(&mut self) -> Parsed<Step<'a>> {
        self.skip_blanks();
        Ok(match self.peek() {
            Some(b'{') => {
                self.at += 1;
                self.skip_blanks();
                if self.peek() == Some(b'}') {
                    self.at += 1;
                    Step::Value(Node::Object(Vec::new()))
                } else {
                    let key = self.key()?;
                    Step::Open(Frame::Object(Vec::new(), key))
                }
            }
            Some(b'[') => {
                self.at += 1;
                self.skip_blanks();
                if self.peek() == Some(b']') {
                    self.at += 1;
                    Step::Value(Node::Array(Vec::new()))
                } else {
                    Step::Open(Frame::Array(Vec::new()))
                }
            }
            Some(b'"') => Step::Value(Node::String(self.string()?)),
            Some(b't') => Step::Value(self.literal("true", Node::Bool(true))?),
            Some(b'f') => Step::Value(self.literal("false", Node::Bool(false))?),
            Some(b'n') => Step::Value(self.literal("null", Node::Null)?),
            Some(b'-' | b'0'..=b'9') => Step::Value(self.number()?),
            _ => return Err(self.unexpected("looking for beginning of value")),
        })
    }

    /// A key and its colon.
    fn key(&mut self) -> Parsed<Cow<'a, str>> {
        self.skip_blanks();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let key = self.string()?;
        self.skip_blanks();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok(key)
    }

    /// Puts a finished value into its container; gives the container when that is finished too.
    fn place(&mut self, node: Node<'a>, frames: &mut Vec<Frame<'a>>) -> Parsed<Option<Node<'a>>> {
        let Some(mut frame) = frames.pop() else {
            return Ok(Some(node));
        };
        self.skip_blanks();
        let next = self.peek();
        match &mut frame {
            Frame::Array(entries) => {
                entries.push(node);
                match next {
                    Some(b',') => self.at += 1,
                    Some(b']') => {
                        self.at += 1;
                        return Ok(Some(Node::Array(std::mem::take(entries))));
                    }
                    _ => return Err(self.unexpected("after array element")),
                }
            }
            Frame::Object(fields, key) => {
                fields.push((std::mem::take(key), node));
                match next {
                    Some(b',') => {
                        self.at += 1;
                        *key = self.key()?;
                    }
                    Some(b'}') => {
                        self.at += 1;
                        return Ok(Some(Node::Object(std::mem::take(fields))));
                    }
                    _ => return Err(self.unexpected("after object key:value pair")),
                }
            }
        }
        frames.push(frame);
        Ok(None)
    }
}

/// The complaint about one bracket too many.
fn too_deep(frame: Option<&Frame<'_>>) -> DecodeError {
    let bracket = match frame {
        Some(Frame::Object(..)) => '{',
        _ => '[',
    };
    error(format!("invalid character '{bracket}' exceeded max depth"))
}

/// Parses one JSON text.
pub(super) fn parse(bytes: &[u8]) -> Parsed<Node<'_>> {
    let mut scanner = Scanner { bytes, at: 0 };
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let root = 'document: loop {
        let mut done = match scanner.value()? {
            Step::Value(node) => node,
            Step::Open(frame) => {
                frames.push(frame);
                if frames.len() > MAX_DEPTH {
                    return Err(too_deep(frames.last()));
                }
                continue;
            }
        };
        loop {
            let outermost = frames.is_empty();
            match scanner.place(done, &mut frames)? {
                Some(node) if outermost => break 'document node,
                Some(node) => done = node,
                None => break,
            }
        }
    };
    scanner.skip_blanks();
    if scanner.at < bytes.len() {
        return Err(scanner.unexpected("after top-level value"));
    }
    Ok(root)
}
