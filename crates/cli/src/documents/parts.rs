//! Takes a text apart into its documents, and reads each as a Kubernetes server does: `0400` is a file's mode, and a
//! key that is given twice is a mistake.

use quadrille_machinery::decode::{self, DecodeError, strict_message};
use serde_json::Value;

/// What is wrong with a document, and in which line it begins.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) line: usize,
    pub(super) words: String,
}

/// A document that was read.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) value: Value,
    /// The line in which it begins.
    pub(super) line: usize,
    pub(super) text: &'a str,
}

/// All documents; empty ones are left out.
pub(super) fn read(text: &str) -> Result<Vec<Part<'_>>, Unreadable> {
    if text.trim_start().starts_with('{')
        && let Ok(values) = serde_json::Deserializer::from_str(text)
            .into_iter()
            .collect::<Result<Vec<Value>, _>>()
    {
        let part = |value| Part {
            value,
            line: 1,
            text,
        };
        return Ok(values.into_iter().map(part).collect());
    }
    let mut read = Vec::new();
    for (line, text) in parts(text) {
        let value = value(text).map_err(|words| Unreadable { line, words })?;
        if !value.is_null() {
            read.push(Part { value, line, text });
        }
    }
    Ok(read)
}

fn value(text: &str) -> Result<Value, String> {
    let has_content = |line: &str| !(line.trim().is_empty() || line.trim_start().starts_with('#'));
    if !text.lines().any(has_content) {
        return Ok(Value::Null);
    }
    let decoded = decode::yaml(text.as_bytes()).map_err(|DecodeError(words)| words)?;
    if decoded.duplicates.is_empty() {
        Ok(decoded.value)
    } else {
        Err(strict_message(&decoded.duplicates))
    }
}

/// The text between lines that begin with `---`, each with the number of its first line.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let (mut begin, mut first_line, mut offset) = (0, 1, 0);
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let is_border = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        if is_border {
            parts.push((first_line, &text[begin..offset]));
            begin = offset + 3;
            first_line = number;
        }
        offset += line.len();
    }
    parts.push((first_line, &text[begin..]));
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(text: &str) -> Result<Vec<Value>, Unreadable> {
        Ok(read(text)?.into_iter().map(|part| part.value).collect())
    }

    #[test]
    fn documents_are_told_apart_and_empty_ones_left_out() {
        let text = "# only words\n---\na: 1\n--- # more\nb: '---'\n---\n\n";
        assert_eq!(
            values(text).unwrap(),
            [json!({"a": 1}), json!({"b": "---"})]
        );
        assert_eq!(values("--- {a: 1}\n").unwrap(), [json!({"a": 1})]);
        assert_eq!(values("{\"a\": 1}\n{\"b\": 2}").unwrap().len(), 2);
        assert_eq!(values("{a: 1}").unwrap(), [json!({"a": 1})]);
    }

    #[test]
    fn numbers_and_words_are_what_a_server_takes_them_for() {
        let text = "mode: 0400\nanswer: yes\nquoted: 'yes'\nversion: 1.10\n";
        let read = values(text).unwrap().remove(0);
        assert_eq!(read["mode"], 256);
        assert_eq!(read["answer"], true);
        assert_eq!(read["quoted"], "yes");
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        let wrong = values("a: 1\n---\nb: [\n").unwrap_err();
        assert_eq!(wrong.line, 2);
        let twice = values("a: 1\na: 2\n").unwrap_err();
        assert!(twice.words.contains("already set"), "{}", twice.words);
    }
}
