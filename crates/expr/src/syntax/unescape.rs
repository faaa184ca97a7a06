//! What a string or bytes literal means.

const BROKEN: &str = "unable to unescape string";
const NOT_A_CHARACTER: &str = "invalid unicode code point";

/// The text between the quotes, and whether escapes count in it.
fn body(literal: &str) -> (&str, bool) {
    let raw = literal.starts_with(['r', 'R']);
    let quoted = if raw { &literal[1..] } else { literal };
    let long = quoted.len() >= 6 && (quoted.starts_with("\"\"\"") || quoted.starts_with("'''"));
    let margin = if long { 3 } else { 1 };
    (
        quoted
            .get(margin..quoted.len().saturating_sub(margin))
            .unwrap_or(""),
        raw,
    )
}

/// The meaning of a string literal.
pub(crate) fn string(literal: &str) -> Result<String, &'static str> {
    let (text, raw) = body(literal);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    if raw || !text.contains('\\') {
        return Ok(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(place) = rest.find('\\') {
        out.push_str(&rest[..place]);
        let (code, tail) = escape(&rest[place + 1..])?;
        out.push(char::from_u32(code.value()).ok_or(NOT_A_CHARACTER)?);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

/// The meaning of a bytes literal, without its `b`.
pub(crate) fn bytes(literal: &str) -> Result<Vec<u8>, &'static str> {
    let (text, raw) = body(literal);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    if raw {
        return Ok(text.into_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(place) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..place]);
        match escape(&rest[place + 1..])? {
            (Code::Unit(unit), tail) => {
                out.push(u8::try_from(unit).map_err(|_| BROKEN)?);
                rest = tail;
            }
            (Code::Character(_), _) => return Err(BROKEN),
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// What an escape stands for.
enum Code {
    /// `\x41`, `\101`, `\n`: a byte in bytes, a code point in strings.
    Unit(u32),
    /// `\u0041`: a code point, never allowed in bytes.
    Character(u32),
}

impl Code {
    fn value(&self) -> u32 {
        match self {
            Self::Unit(code) | Self::Character(code) => *code,
        }
    }
}

fn escape(text: &str) -> Result<(Code, &str), &'static str> {
    let mut letters = text.chars();
    let letter = letters
        .next()
        .ok_or("unable to unescape string, found '\\' as last character")?;
    let rest = letters.as_str();
    let simple = |code: u32| Ok((Code::Unit(code), rest));
    match letter {
        'a' => simple(7),
        'b' => simple(8),
        'f' => simple(12),
        'n' => simple(10),
        'r' => simple(13),
        't' => simple(9),
        'v' => simple(11),
        '\\' | '\'' | '"' | '`' | '?' => simple(letter.into()),
        'x' | 'X' => number(rest, 2, 16).map(|(code, rest)| (Code::Unit(code), rest)),
        'u' => number(rest, 4, 16).map(|(code, rest)| (Code::Character(code), rest)),
        'U' => number(rest, 8, 16).map(|(code, rest)| (Code::Character(code), rest)),
        '0'..='3' => number(text, 3, 8)
            .map(|(code, rest)| (Code::Unit(code), rest))
            .map_err(|_| "unable to unescape octal sequence in string"),
        _ => Err(BROKEN),
    }
}

fn number(text: &str, length: usize, radix: u32) -> Result<(u32, &str), &'static str> {
    let digits = text.get(..length).ok_or(BROKEN)?;
    let code = u32::from_str_radix(digits, radix).map_err(|_| BROKEN)?;
    Ok((code, &text[length..]))
}
