//! Where expressions stand in a text: `${…}` with balanced braces and quoted strings.

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// Taken as it is.
    Text(&'t str),
    /// What stands between `${` and `}`.
    Expression(&'t str),
}

/// An expression has another one inside, outside of quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`${{` inside an expression: expressions don't nest; use the value directly, or put it in quotes if it is text"
)]
pub(crate) struct Nested;

/// The parts of a text in order. An expression that is never closed is plain text.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Nested> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = expression_length(&rest[start + 2..])? else {
            break;
        };
        if start > 0 {
            pieces.push(Piece::Text(&rest[..start]));
        }
        let (inner, after) = rest[start + 2..].split_at(length);
        pieces.push(Piece::Expression(inner));
        rest = &after[1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// The expression of a text that is nothing else, but for blanks around it.
pub(crate) fn standalone(text: &str) -> Result<Option<&str>, Nested> {
    Ok(match pieces(text.trim())?.as_slice() {
        [Piece::Expression(inner)] => Some(inner),
        _ => None,
    })
}

/// Bytes up to the closing brace, if there is one.
fn expression_length(text: &str) -> Result<Option<usize>, Nested> {
    let bytes = text.as_bytes();
    let (mut depth, mut quote, mut at) = (0_usize, None, 0);
    while let Some(byte) = bytes.get(at) {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(*byte),
            (None, b'$') if bytes.get(at + 1) == Some(&b'{') => return Err(Nested),
            (None, b'{') => depth += 1,
            (None, b'}') if depth == 0 => return Ok(Some(at)),
            (None, b'}') => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{Piece::*, *};

    #[test]
    fn expressions_end_at_their_own_brace() {
        let found = pieces("a ${ {'x': '}'}.x } b${c}").unwrap();
        let wanted = [
            Text("a "),
            Expression(" {'x': '}'}.x "),
            Text(" b"),
            Expression("c"),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_never_closed_is_text() {
        assert_eq!(pieces("a ${b").unwrap(), [Text("a ${b")]);
        assert_eq!(pieces("${'a}").unwrap(), [Text("${'a}")]);
        assert_eq!(pieces("$a {b}").unwrap(), [Text("$a {b}")]);
        assert_eq!(pieces("${a} ${b").unwrap(), [Expression("a"), Text(" ${b")]);
    }

    #[test]
    fn quotes_hide_braces_and_escapes_hide_quotes() {
        assert_eq!(
            standalone(r#" ${"\"}" + '${x}'} "#).unwrap(),
            Some(r#""\"}" + '${x}'"#)
        );
        assert_eq!(pieces("${a + ${b}}"), Err(Nested));
    }

    #[test]
    fn only_a_lone_expression_stands_alone() {
        assert_eq!(standalone("\n ${a} ").unwrap(), Some("a"));
        assert_eq!(standalone("${a}${b}").unwrap(), None);
        assert_eq!(standalone("x").unwrap(), None);
    }
}
