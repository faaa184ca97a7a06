//! Regular expressions: Go's dialect in terms of ours, compiled once.
//!
//! Both are RE2, but they differ at the edges: Go's `\d`, `\w`, `\s` and `\b` are ASCII, a bracket inside a
//! class is a plain character, and a brace that starts no repetition stands for itself.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, RwLock},
};

use regex::Regex;

/// Compiled expressions are kept up to this many; then the memory starts afresh.
const KEPT: usize = 1_000;

type Compiled = Result<Arc<Regex>, Arc<str>>;

static COMPILED: LazyLock<RwLock<HashMap<String, Compiled>>> = LazyLock::new(RwLock::default);

/// The compiled form of a Go expression, or what is wrong with it.
pub(crate) fn compile(pattern: &str) -> Compiled {
    if let Some(known) = COMPILED
        .read()
        .ok()
        .and_then(|map| map.get(pattern).cloned())
    {
        return known;
    }
    let compiled = match Regex::new(&translate(pattern)) {
        Ok(regex) => Ok(Arc::new(regex)),
        Err(error) => Err(complaint(pattern, &error).into()),
    };
    if let Ok(mut map) = COMPILED.write() {
        if map.len() >= KEPT {
            map.clear();
        }
        map.insert(pattern.to_owned(), compiled.clone());
    }
    compiled
}

/// Roughly what Go says about an expression that does not compile.
fn complaint(pattern: &str, error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    let last = last.strip_prefix("error: ").unwrap_or(last);
    match last {
        "unclosed group" => format!("error parsing regexp: missing closing ): `{pattern}`"),
        "unopened group" => format!("error parsing regexp: unexpected ): `{pattern}`"),
        "unclosed character class" => {
            let start = pattern.find('[').unwrap_or(0);
            format!(
                "error parsing regexp: missing closing ]: `{}`",
                &pattern[start..]
            )
        }
        "repetition operator missing expression" => {
            let operator = pattern.find(['*', '+', '?']).unwrap_or(0);
            let end = operator + pattern[operator..].chars().next().map_or(0, char::len_utf8);
            format!(
                "error parsing regexp: missing argument to repetition operator: `{}`",
                &pattern[operator..end]
            )
        }
        other if other.contains("look-around") => {
            let start = pattern.find("(?").unwrap_or(0);
            let head: String = pattern[start..].chars().take(3).collect();
            format!("error parsing regexp: invalid or unsupported Perl syntax: `{head}`")
        }
        other => format!("error parsing regexp: {other}: `{pattern}`"),
    }
}

fn translate(pattern: &str) -> String {
    let letters: Vec<char> = pattern.chars().collect();
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut at = 0;
    let mut in_class = false;
    while at < letters.len() {
        let letter = letters[at];
        match letter {
            '\\' => {
                at += 1;
                let Some(&escaped) = letters.get(at) else {
                    out.push('\\');
                    break;
                };
                if escaped == 'Q' && !in_class {
                    at += 1;
                    while at < letters.len()
                        && !(letters[at] == '\\' && letters.get(at + 1) == Some(&'E'))
                    {
                        out.push_str(&regex::escape(&letters[at].to_string()));
                        at += 1;
                    }
                    at += 2;
                    continue;
                }
                escape(escaped, in_class, &mut out);
            }
            '[' if in_class => {
                if letters.get(at + 1) == Some(&':') {
                    out.push('[');
                } else {
                    out.push_str("\\[");
                }
            }
            '[' => {
                in_class = true;
                out.push('[');
                if letters.get(at + 1) == Some(&'^') {
                    at += 1;
                    out.push('^');
                }
                if letters.get(at + 1) == Some(&']') {
                    at += 1;
                    out.push_str("\\]");
                }
            }
            ']' if in_class => {
                // The end of `[:alpha:]` is not the end of the class.
                if !(at > 0
                    && letters[at - 1] == ':'
                    && out.contains("[:")
                    && is_named_class(&letters, at))
                {
                    in_class = false;
                }
                out.push(']');
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(letter);
            }
            '-' if in_class && letters.get(at + 1) == Some(&'-') => out.push_str("\\-"),
            '{' if !in_class && !is_repetition(&letters[at..]) => out.push_str("\\{"),
            other => out.push(other),
        }
        at += 1;
    }
    out
}

/// Whether the bracket at `end` closes a `[:name:]`.
fn is_named_class(letters: &[char], end: usize) -> bool {
    let mut start = end - 1;
    while start > 0 {
        start -= 1;
        match letters[start] {
            ':' => return start > 0 && letters[start - 1] == '[',
            letter if letter.is_ascii_lowercase() || letter == '^' => {}
            _ => return false,
        }
    }
    false
}

fn is_repetition(rest: &[char]) -> bool {
    let Some(end) = rest.iter().position(|letter| *letter == '}') else {
        return false;
    };
    let inner: String = rest[1..end].iter().collect();
    let (low, high) = inner.split_once(',').unwrap_or((&inner, ""));
    !low.is_empty()
        && format!("{low}{high}")
            .bytes()
            .all(|byte| byte.is_ascii_digit())
}

fn escape(letter: char, in_class: bool, out: &mut String) {
    match letter {
        'd' if in_class => out.push_str("0-9"),
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'w' if in_class => out.push_str("0-9A-Za-z_"),
        'w' => out.push_str("[0-9A-Za-z_]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        's' if in_class => out.push_str("\\t\\n\\x0c\\r "),
        's' => out.push_str("[\\t\\n\\x0c\\r ]"),
        'S' => out.push_str("[^\\t\\n\\x0c\\r ]"),
        'b' if !in_class => out.push_str("(?-u:\\b)"),
        'B' if !in_class => out.push_str("(?-u:\\B)"),
        '<' | '>' => out.push(letter),
        other => {
            out.push('\\');
            out.push(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_expressions_keep_their_meaning() {
        for (pattern, text, matches) in [
            (r"^\d+$", "12", true),
            (r"^\d+$", "١٢", false),
            (r"^[\w.-]+$", "a_b.c-d", true),
            (r"^[[:alpha:]]+$", "abc", true),
            (r"^[a[b]+$", "a[b", true),
            (r"^[]a]+$", "]a", true),
            (r"^a{$", "a{", true),
            (r"^a{2}$", "aa", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"^[a&&b]+$", "a&", true),
            (r"^\<x\>$", "<x>", true),
            (r"^[^:]+:[0-9]+$", "a:1", true),
            (r"\bfoo\b", "a foo b", true),
        ] {
            let regex = compile(pattern).unwrap();
            assert_eq!(regex.is_match(text), matches, "{pattern} on {text}");
        }
    }

    #[test]
    fn broken_expressions_are_explained() {
        assert_eq!(
            compile("a(").unwrap_err().as_ref(),
            "error parsing regexp: missing closing ): `a(`"
        );
        assert!(compile("(?=a)").is_err());
    }
}
