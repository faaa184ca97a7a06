//! Text in templates: names for what is told per environment, and text that means itself.

/// Parts as one word in camel case: `redis-config`, `host` become `redisConfigHost`.
pub(super) fn camel(parts: &[&str]) -> String {
    let mut word = String::new();
    for part in parts
        .iter()
        .flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric()))
        .filter(|part| !part.is_empty())
    {
        // Capitals alone are shouting: `LOG_LEVEL` is `logLevel`.
        let part = if part.chars().any(|c| c.is_ascii_lowercase()) {
            part.to_owned()
        } else {
            part.to_ascii_lowercase()
        };
        let mut letters = part.chars();
        let Some(first) = letters.next() else {
            continue;
        };
        if word.is_empty() {
            word.push(first.to_ascii_lowercase());
        } else {
            word.push(first.to_ascii_uppercase());
        }
        word.extend(letters);
    }
    if !word.starts_with(|c: char| c.is_ascii_lowercase()) {
        word.insert_str(0, "value");
    }
    word
}

/// Text in quotes, as expressions have it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Text that means itself, also where it looks like an expression.
pub(super) fn plain(text: &str) -> String {
    if text.contains("${") {
        format!("${{{}}}", quoted(text))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_names_that_can_be() {
        for (parts, word) in [
            (&["redis-config"][..], "redisConfig"),
            (&["STOCK_URL"], "stockUrl"),
            (&["Service", "name"], "serviceName"),
            (&["HTTPRoute", "hostnames"], "hTTPRouteHostnames"),
            (&["2nd"], "value2nd"),
            (&["--"], "value"),
        ] {
            assert_eq!(camel(parts), word);
        }
    }

    #[test]
    fn text_that_looks_like_an_expression_is_quoted() {
        assert_eq!(plain("a $x"), "a $x");
        assert_eq!(plain("a\n\"${x}\\"), "${\"a\\n\\\"${x}\\\\\"}");
    }
}
