//! YAML as API servers read it: YAML 1.1 scalars (`yes` is a boolean, `0777` is octal), keys turned into
//! strings, the first document only.

use std::{borrow::Cow, collections::HashMap};

use base64::{Engine, prelude::BASE64_STANDARD as STANDARD};
use granit_parser::{Event, Parser, ScalarStyle, Tag};

use super::{DecodeError, MAX_DEPTH, document::Node};

/// Nodes that aliases may add; more is an attack.
const ALIASED_NODES_MAX: usize = 100_000;
/// Memory for what is kept of anchors and added by aliases.
const COPIED_BYTES_MAX: usize = 64 << 20;

type Parsed<T> = Result<T, DecodeError>;

fn error(text: impl std::fmt::Display) -> DecodeError {
    DecodeError(format!("yaml: {text}"))
}

/// Parses the first document. Gives it with its keys sorted and unique, and the complaints about keys that
/// occurred twice.
pub(super) fn parse(bytes: &[u8]) -> Parsed<(Node<'static>, Vec<String>)> {
    let text = std::str::from_utf8(bytes).map_err(|_| error("invalid leading UTF-8 octet"))?;
    let mut builder = Builder::default();
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|problem| syntax(text, &problem))?;
        match event {
            Event::DocumentEnd => break,
            Event::Alias(id) => builder.alias(id)?,
            Event::Scalar(text, style, id, tag) => {
                let plain = style == ScalarStyle::Plain;
                let node = scalar(&text, plain, tag.as_deref())?;
                builder.place(node, id)?;
            }
            Event::SequenceStart(_, id, _) => builder.open(Frame::sequence(id))?,
            Event::MappingStart(_, id, _) => builder.open(Frame::mapping(id))?,
            Event::SequenceEnd | Event::MappingEnd => builder.close()?,
            _ => {}
        }
        builder.line = span.start.line();
    }
    let root = builder.root.unwrap_or(Node::Null);
    Ok((root, builder.duplicates))
}

/// The complaint in the words, and with the line number, that servers give. Their parser looks further
/// ahead than ours and counts lines from where it stands.
fn syntax(text: &str, problem: &granit_parser::ScanError) -> DecodeError {
    let line = problem.marker().line();
    let lines = text.matches('\n').count();
    let info = problem.info();
    let plain = match info.split_once(", ") {
        Some((start, rest)) if start.starts_with("while ") => rest,
        _ => info.as_str(),
    };
    let (line, words) = match plain {
        "found unknown anchor" => {
            let name = alias_name(text, problem.marker().index());
            (0, format!("unknown anchor '{name}' referenced"))
        }
        "unclosed bracket '{'" => (lines.max(1), "did not find expected ',' or '}'".to_owned()),
        "unclosed bracket '['" => (lines.max(1), "did not find expected ',' or ']'".to_owned()),
        "misplaced bracket" => (
            line.saturating_sub(1),
            "did not find expected node content".to_owned(),
        ),
        "simple key expected ':'" => (line + 1, "could not find expected ':'".to_owned()),
        "did not find expected key" | "did not find expected '-' indicator" => {
            (line.saturating_sub(1), plain.to_owned())
        }
        "unclosed quote" | "invalid indentation in multiline quoted scalar" => {
            (lines + 1, "found unexpected end of stream".to_owned())
        }
        "found a tab" => (
            line + 1,
            "found a tab character that violates indentation".to_owned(),
        ),
        _ if plain.starts_with("invalid trailing content") => (
            line.saturating_sub(1),
            "did not find expected key".to_owned(),
        ),
        _ if plain.starts_with("tabs disallowed within this context") => (
            line * usize::from(line > 1),
            "found character that cannot start any token".to_owned(),
        ),
        _ if plain.starts_with("unexpected character: `\\u{") => {
            (0, "control characters are not allowed".to_owned())
        }
        _ if plain.starts_with("unexpected character") => {
            // The first line goes without saying.
            (
                line * usize::from(line > 1),
                "found character that cannot start any token".to_owned(),
            )
        }
        other => (line * usize::from(line > 1), other.to_owned()),
    };
    match line {
        0 => error(words),
        line => error(format_args!("line {line}: {words}")),
    }
}

/// The name of the alias at a place in the text.
fn alias_name(text: &str, at: usize) -> String {
    let rest = text.chars().skip(at).skip_while(|letter| *letter == '*');
    rest.take_while(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'))
        .collect()
}

struct Frame {
    anchor: usize,
    content: Content,
}

enum Content {
    Sequence(Vec<Node<'static>>),
    Mapping(Fields, Option<String>),
}

/// The fields of a mapping as they come, each once.
#[derive(Default)]
struct Fields {
    list: Vec<(Cow<'static, str>, Node<'static>)>,
    /// Where each one is.
    places: HashMap<Cow<'static, str>, usize>,
}

impl Fields {
    fn push(&mut self, name: Cow<'static, str>, node: Node<'static>) {
        self.places.insert(name.clone(), self.list.len());
        self.list.push((name, node));
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Node<'static>> {
        let place = *self.places.get(name)?;
        self.list.get_mut(place).map(|field| &mut field.1)
    }

    /// `<<: *base` adds the fields that are not there.
    fn merge(&mut self, node: Node<'static>) -> Parsed<()> {
        match node {
            Node::Object(more) => {
                for (name, node) in more {
                    if !self.places.contains_key(&name) {
                        self.push(name, node);
                    }
                }
                Ok(())
            }
            Node::Array(maps) => maps.into_iter().try_for_each(|map| self.merge(map)),
            _ => Err(error(
                "map merge requires map or sequence of maps as the value",
            )),
        }
    }
}

impl Frame {
    fn sequence(anchor: usize) -> Self {
        let content = Content::Sequence(Vec::new());
        Self { anchor, content }
    }

    fn mapping(anchor: usize) -> Self {
        let content = Content::Mapping(Fields::default(), None);
        Self { anchor, content }
    }
}

#[derive(Default)]
struct Builder {
    frames: Vec<Frame>,
    root: Option<Node<'static>>,
    anchors: HashMap<usize, Node<'static>>,
    /// Nodes that aliases have added.
    aliased: usize,
    /// Bytes that were copied.
    copied: usize,
    duplicates: Vec<String>,
    line: usize,
}

impl Builder {
    fn open(&mut self, frame: Frame) -> Parsed<()> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(error(format_args!("exceeded max depth of {MAX_DEPTH}")));
        }
        self.frames.push(frame);
        Ok(())
    }

    fn close(&mut self) -> Parsed<()> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let node = match frame.content {
            Content::Sequence(entries) => Node::Array(entries),
            Content::Mapping(Fields { mut list, .. }, _) => {
                list.sort_by(|a, b| a.0.cmp(&b.0));
                Node::Object(list)
            }
        };
        self.place(node, frame.anchor)
    }

    fn alias(&mut self, id: usize) -> Parsed<()> {
        let Some(node) = self.anchors.get(&id) else {
            return Err(error("anchor value contains itself"));
        };
        let (nodes, bytes) = size(node);
        self.aliased += nodes;
        self.copied += bytes;
        let is_too_much = self.aliased > ALIASED_NODES_MAX || self.copied > COPIED_BYTES_MAX;
        if is_too_much || self.frames.len() + depth(node) > MAX_DEPTH {
            return Err(excessive());
        }
        let node = node.clone();
        self.place(node, 0)
    }

    /// Puts a finished node into its container.
    fn place(&mut self, node: Node<'static>, anchor: usize) -> Parsed<()> {
        if anchor > 0 {
            self.copied += size(&node).1;
            if self.copied > COPIED_BYTES_MAX {
                return Err(excessive());
            }
            self.anchors.insert(anchor, node.clone());
        }
        let line = self.line;
        match self.frames.last_mut().map(|frame| &mut frame.content) {
            None => self.root = Some(node),
            Some(Content::Sequence(entries)) => entries.push(node),
            Some(Content::Mapping(fields, pending)) => match pending.take() {
                None => *pending = Some(key(node)?),
                Some(key) if key == "<<" => fields.merge(node)?,
                Some(key) => match fields.get_mut(&key) {
                    Some(known) => {
                        *known = node;
                        self.duplicates
                            .push(format!("line {line}: key {key:?} already set in map"));
                    }
                    None => fields.push(key.into(), node),
                },
            },
        }
        Ok(())
    }
}

fn excessive() -> DecodeError {
    error("document contains excessive aliasing")
}

/// How many nodes there are, and what they take in memory.
fn size(node: &Node<'_>) -> (usize, usize) {
    let own = (1, size_of::<Node<'_>>());
    let add = |sum: (usize, usize), more: (usize, usize)| (sum.0 + more.0, sum.1 + more.1);
    match node {
        Node::Null | Node::Bool(_) => own,
        Node::Number(text) | Node::String(text) => (own.0, own.1 + text.len()),
        Node::Array(entries) => entries.iter().map(size).fold(own, add),
        Node::Object(fields) => fields
            .iter()
            .map(|(name, node)| add(size(node), (0, size_of::<Cow<'_, str>>() + name.len())))
            .fold(own, add),
    }
}

fn depth(node: &Node<'_>) -> usize {
    match node {
        Node::Array(entries) => 1 + entries.iter().map(depth).max().unwrap_or(0),
        Node::Object(fields) => 1 + fields.iter().map(|(_, n)| depth(n)).max().unwrap_or(0),
        _ => 0,
    }
}

fn key(node: Node<'static>) -> Parsed<String> {
    match node {
        Node::String(text) | Node::Number(text) => Ok(text.into_owned()),
        Node::Bool(value) => Ok(value.to_string()),
        Node::Null => Err(DecodeError(
            "unsupported map key of type: %!s(<nil>), key: <nil>".to_owned(),
        )),
        _ => Err(error("invalid map key")),
    }
}

fn scalar(text: &str, plain: bool, tag: Option<&Tag>) -> Parsed<Node<'static>> {
    let string = || Node::String(text.to_owned().into());
    let known = tag.and_then(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:"));
    match known.as_deref() {
        Some("str") => Ok(string()),
        Some("binary") => binary(text),
        Some(_) => resolve(text),
        None if plain && tag.is_none() => resolve(text),
        None => Ok(string()),
    }
}

/// `!!binary` is base64; what it holds becomes a string.
fn binary(text: &str) -> Parsed<Node<'static>> {
    let plain: String = text.split_whitespace().collect();
    let bytes = STANDARD
        .decode(plain)
        .map_err(|_| error("!!binary value contains invalid base64 data"))?;
    Ok(Node::String(
        String::from_utf8_lossy(&bytes).into_owned().into(),
    ))
}

/// The YAML 1.1 meaning of a plain scalar.
fn resolve(text: &str) -> Parsed<Node<'static>> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Node::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Node::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Node::Bool(false)
        }
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Err(DecodeError("json: unsupported value: +Inf".to_owned()));
        }
        "-.inf" | "-.Inf" | "-.INF" => {
            return Err(DecodeError("json: unsupported value: -Inf".to_owned()));
        }
        ".nan" | ".NaN" | ".NAN" => {
            return Err(DecodeError("json: unsupported value: NaN".to_owned()));
        }
        other => match number(other) {
            Some(number) => Node::Number(number.into()),
            None => Node::String(other.to_owned().into()),
        },
    })
}

fn number(text: &str) -> Option<String> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) || is_timestamp(text) {
        return None;
    }
    let plain = text.replace('_', "");
    if let Some(whole) = integer(&plain) {
        return Some(whole);
    }
    if !float_shaped(&plain) {
        return None;
    }
    let float: f64 = plain.parse().ok()?;
    float.is_finite().then(|| crate::go_text::float(float))
}

/// An integer in decimal, or with a prefix that says otherwise; a leading zero means octal.
fn integer(plain: &str) -> Option<String> {
    let negative = plain.starts_with('-');
    let digits = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(hex) = lower.strip_prefix("0x") {
        (16, hex)
    } else if let Some(octal) = lower.strip_prefix("0o") {
        (8, octal)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        (2, binary)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    let value = if negative { -magnitude } else { magnitude };
    let fits = value >= i128::from(i64::MIN) && value <= i128::from(u64::MAX);
    fits.then(|| value.to_string())
}

fn float_shaped(text: &str) -> bool {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fine = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && all_digits(fraction),
        None => !mantissa.is_empty() && all_digits(mantissa),
    };
    let exponent_fine = exponent.is_none_or(|text| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && all_digits(digits)
    });
    mantissa_fine && exponent_fine
}

/// Dates stay strings.
fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 4 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-'
}
