//! Names of fields as expressions write them.

const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether a name can stand in an expression as it is.
pub fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next();
    first.is_some_and(|first| first == '_' || first.is_ascii_alphabetic())
        && letters.all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
        && !RESERVED.contains(&name)
}

/// The name of a field inside expressions, if it can have one.
///
/// Letters, digits and `_` stay, a few signs get names (`-` is `__dash__`), and words of the
/// language are put between underscores.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("__") {
            out.push_str("__underscores__");
            rest = after;
            continue;
        }
        match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => out.push(letter),
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            _ => return None,
        }
        rest = &rest[letter.len_utf8()..];
    }
    Some(out)
}

/// Every name by which a field can be written in an expression: escaped, and as it is where the grammar lets a word of
/// the language follow a dot.
pub fn spellings(name: &str) -> impl Iterator<Item = String> {
    let is_word = RESERVED.contains(&name) && !["true", "false", "null", "in"].contains(&name);
    escape(name)
        .into_iter()
        .chain(is_word.then(|| name.to_owned()))
}

/// The name of a field in the data, from its name inside expressions.
pub fn unescape(escaped: &str) -> Option<String> {
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = rest.find("__") {
        let inner = rest[at + 2..].split('_').next().unwrap_or("");
        let closed = !inner.is_empty() && rest[at + 2 + inner.len()..].starts_with("__");
        if !closed {
            // No sequence starts here; it may one letter later.
            let next = at + 1;
            out.push_str(&rest[..next]);
            rest = &rest[next..];
            continue;
        }
        out.push_str(&rest[..at]);
        out.push_str(match inner {
            "underscores" => "__",
            "dot" => ".",
            "dash" => "-",
            "slash" => "/",
            word if RESERVED.contains(&word) && word.len() + 4 == escaped.len() => word,
            _ => return None,
        });
        rest = &rest[at + inner.len() + 4..];
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for (name, escaped) in [
            ("namespace", "__namespace__"),
            ("a-b", "a__dash__b"),
            ("a.b/c", "a__dot__b__slash__c"),
            ("a__b", "a__underscores__b"),
            ("plain_name", "plain_name"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(escaped));
            assert_eq!(unescape(escaped).as_deref(), Some(name));
        }
        let spelt = |name| spellings(name).collect::<Vec<_>>();
        assert_eq!(spelt("var"), ["__var__", "var"]);
        assert_eq!(spelt("in"), ["__in__"]);
        assert_eq!(spelt("a-b"), ["a__dash__b"]);
        assert_eq!(escape("1a"), None);
        assert_eq!(escape("ü"), None);
        assert_eq!(unescape("__what__"), None);
        assert_eq!(unescape("x__int__y"), None);
    }
}
