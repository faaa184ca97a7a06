//! Paths, and operations as patterns.
//!
//! Other tools compute the same patterns, so quoting and cleaning are fixed to the byte: a path is cleaned as Go's `path`
//! does it, and quoted as Go's `regexp` does it.

use regex::Regex;

/// The longest path or pattern that a route takes.
const LONGEST: usize = 1024;

/// These letters stand for parts that vary while a path is cleaned and quoted; no path has them.
fn marks() -> impl Iterator<Item = char> {
    '\u{E000}'..='\u{F8FF}'
}

/// An operation as a pattern over whole paths, and what a matching path is replaced by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) regex: String,
    pub(crate) substitution: String,
}

/// Parts joined into one rooted path: no empty parts, no `.`, and `..` takes away the part before it.
pub(crate) fn joined(parts: &[&str]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for piece in parts.iter().flat_map(|part| part.split('/')) {
        match piece {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            piece => kept.push(piece),
        }
    }
    format!("/{}", kept.join("/"))
}

/// Why a path cannot be a prefix that routes match; nothing where it can.
pub(crate) fn trouble(path: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-/._~!$&'()*+,;=:@%".contains(c);
    if let Some(odd) = path.chars().find(|c| !allowed(*c)) {
        return Some(format!(
            "has {odd:?} in it: take letters, digits and -._~!$&'()*+,;=:@ only, and write others as %XX"
        ));
    }
    let lower = path.to_ascii_lowercase();
    if lower.contains("%2f") {
        return Some("has %2f in it, which gateways do not take: write /".to_owned());
    }
    let percents = path.match_indices('%');
    let is_code = |at: usize| {
        let code = path.as_bytes().get(at + 1..at + 3);
        code.is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
    };
    if percents.into_iter().any(|(at, _)| !is_code(at)) {
        return Some("has a % without two hexadecimal digits after it: write %25".to_owned());
    }
    too_long(path)
}

fn too_long(text: &str) -> Option<String> {
    (text.len() > LONGEST).then(|| {
        format!(
            "makes a path of {} characters, gateways take {LONGEST}",
            text.len()
        )
    })
}

/// An operation below a prefix as a pattern. Its target has `{name}` for a part that varies, or `{name:pattern}` for one
/// that must look like something. What is behind the prefix is kept.
pub(crate) fn operation(prefix: &str, base: &str, target: &str) -> Result<Pattern, String> {
    let (marked, patterns) = read(target)?;
    let prefix = match joined(&[prefix]).as_str() {
        "/" => String::new(),
        prefix => quoted(prefix),
    };
    let rest = joined(&[base, &marked]);
    let found = if rest == "/" {
        // With and without a slash at the end it is the same place.
        Pattern {
            regex: format!("^{prefix}/?$"),
            substitution: "/".to_owned(),
        }
    } else {
        let rest = patterns
            .iter()
            .zip(marks())
            .fold(quoted(&rest), |rest, (pattern, mark)| {
                rest.replace(mark, pattern)
            });
        Pattern {
            regex: format!("^{prefix}({rest})$"),
            substitution: r"\1".to_owned(),
        }
    };
    if let Some(words) = too_long(&found.regex) {
        return Err(words);
    }
    Regex::new(&found.regex).map_err(|error| reason(&error))?;
    Ok(found)
}

/// The same pattern over a path with its query, which is what rate limits look at.
pub(crate) fn with_query(pattern: &Pattern) -> String {
    let open = pattern.regex.strip_suffix('$').unwrap_or(&pattern.regex);
    format!(r"{open}(\?.*)?$")
}

/// Takes the parts that vary out of a target: a mark for each, and the pattern that it stands for.
fn read(target: &str) -> Result<(String, Vec<String>), String> {
    let mut marked = String::new();
    let mut patterns = Vec::new();
    let mut rest = target;
    while let Some(start) = rest.find(['{', '}']) {
        marked.push_str(&rest[..start]);
        if rest[start..].starts_with('}') {
            return Err(format!("is {target:?}, where a }} closes nothing"));
        }
        let end = closing(&rest[start..])
            .ok_or_else(|| format!("is {target:?}, where a {{ is never closed"))?;
        patterns.push(pattern_of(&rest[start + 1..start + end])?);
        let mark = marks().nth(patterns.len() - 1);
        marked.push(mark.ok_or_else(|| format!("is {target:?}, where too much varies"))?);
        rest = &rest[start + end + 1..];
    }
    marked.push_str(rest);
    Ok((marked, patterns))
}

/// Where the brace closes that the text starts with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn pattern_of(varying: &str) -> Result<String, String> {
    match varying.split_once(':') {
        None => Ok("[^/]+".to_owned()),
        Some((name, pattern)) => {
            Regex::new(pattern).map_err(|error| {
                format!(
                    "has a pattern for {name} that does not compile: {}",
                    reason(&error)
                )
            })?;
            Ok(format!("(?:{pattern})"))
        }
    }
}

/// The last line of what the compiler of patterns says: the others draw the place.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Text as a pattern that matches only it.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_and_always_rooted() {
        for (parts, expected) in [
            (&["", ""][..], "/"),
            (&["shop", "/cart/", "api//v1/"], "/shop/cart/api/v1"),
            (&["/shop/cart", ""], "/shop/cart"),
            (&["/a/./b/../c"], "/a/c"),
            (&["/..", "x"], "/x"),
        ] {
            assert_eq!(joined(parts), expected, "{parts:?}");
        }
    }

    #[test]
    fn operations_keep_what_is_behind_the_prefix() {
        let regex = |base: &str, target: &str| {
            operation("/shop/cart", base, target).map(|found| found.regex)
        };
        assert_eq!(
            regex("/api/v1", "/items/{id}").unwrap(),
            "^/shop/cart(/api/v1/items/[^/]+)$"
        );
        assert_eq!(
            regex("", "/a.b/{id:[0-9]{2}}").unwrap(),
            r"^/shop/cart(/a\.b/(?:[0-9]{2}))$"
        );
        assert_eq!(operation("/", "", "/x").unwrap().regex, "^(/x)$");
    }

    #[test]
    fn patterns_that_do_not_compile_are_told() {
        for (target, words) in [
            ("/items/{id:[0-9}", "does not compile"),
            ("/items/{id:a)(b}", "does not compile"),
            ("/items/{id", "never closed"),
            ("/items/id}", "closes nothing"),
        ] {
            let told = operation("/", "", target).unwrap_err();
            assert!(told.contains(words), "{target}: {told}");
        }
    }

    #[test]
    fn a_path_that_gateways_refuse_is_told() {
        assert_eq!(trouble("/shop/cart-1/a%20b"), None);
        for path in ["/a b", "/a%2Fb", "/a%2", "/ü", "/a?b"] {
            assert!(trouble(path).is_some(), "{path}");
        }
        assert!(trouble(&"/a".repeat(600)).is_some());
    }
}
