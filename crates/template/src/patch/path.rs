//! Paths of patches: a JSON pointer whose steps may also pick elements of a list.

use std::fmt;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A field of an object.
    Key(String),
    /// An element of a list.
    Index(usize),
    /// Behind the last element of a list.
    End,
    /// Every element of a list.
    Every,
    /// Elements of a list in which a field is equal to a text.
    Where(Vec<String>, String),
}

impl Step {
    /// Whether it may stand for several places.
    pub(crate) fn picks(&self) -> bool {
        matches!(self, Self::Every | Self::Where(..))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(name) => write!(out, "/{}", name.replace('~', "~0").replace('/', "~1")),
            Self::Index(index) => write!(out, "/{index}"),
            Self::End => out.write_str("/-"),
            Self::Every => out.write_str("[*]"),
            Self::Where(field, value) => write!(out, "[?(@.{}=='{value}')]", field.join(".")),
        }
    }
}

/// Why a path cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It does not begin with a slash.
    #[error("a path begins with `/`, and names a field")]
    NoSlash,
    /// A bracket that is not understood.
    #[error("`{0}` is no index; write [0], [*], [-] or [?(@.field=='value')]")]
    Bracket(String),
}

/// Reads a path.
pub(crate) fn parse(path: &str) -> Result<Vec<Step>, PathError> {
    let rest = path.strip_prefix('/').ok_or(PathError::NoSlash)?;
    let mut steps = Vec::new();
    for segment in rest.split('/') {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        segment_steps(&segment, &mut steps)?;
    }
    Ok(steps)
}

fn segment_steps(segment: &str, steps: &mut Vec<Step>) -> Result<(), PathError> {
    let (name, mut rest) = match segment.find('[') {
        Some(at) if segment.ends_with(']') => segment.split_at(at),
        _ => (segment, ""),
    };
    if !name.is_empty() || rest.is_empty() {
        steps.push(match name {
            "-" => Step::End,
            name => index(name).unwrap_or_else(|| Step::Key(name.to_owned())),
        });
    }
    while let Some(inner) = rest.strip_prefix('[') {
        let length = bracket_length(inner).ok_or_else(|| PathError::Bracket(rest.to_owned()))?;
        let (inner, after) = inner.split_at(length);
        steps.push(bracket(inner).ok_or_else(|| PathError::Bracket(format!("[{inner}]")))?);
        rest = &after[1..];
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err(PathError::Bracket(rest.to_owned()))
    }
}

fn index(text: &str) -> Option<Step> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| Step::Index(text.parse().unwrap_or(usize::MAX)))
}

/// Bytes up to the closing bracket, not counting those in quotes.
fn bracket_length(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ']') => return Some(at),
            _ => {}
        }
    }
    None
}

fn bracket(inner: &str) -> Option<Step> {
    match inner {
        "*" => return Some(Step::Every),
        "-" => return Some(Step::End),
        _ => {}
    }
    if let Some(step) = index(inner) {
        return Some(step);
    }
    let test = inner.strip_prefix("?(@.")?.strip_suffix(')')?;
    let (field, value) = test.split_once("==")?;
    let value = value.trim();
    let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let value = quoted('\'').or_else(|| quoted('"'))?;
    let field: Vec<String> = field.trim().split('.').map(str::to_owned).collect();
    let named = field.iter().all(|name| !name.is_empty());
    named.then(|| Step::Where(field, value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Step {
        Step::Key(name.to_owned())
    }

    #[test]
    fn paths_read_as_written() {
        let steps = parse("/spec/containers[?(@.name=='main')]/env/-").unwrap();
        let main = Step::Where(vec!["name".into()], "main".into());
        let wanted = [key("spec"), key("containers"), main, key("env"), Step::End];
        assert_eq!(steps, wanted);
        assert_eq!(
            parse("/a~1b~0c/0/[*]/x[1][-]").unwrap(),
            [
                key("a/b~c"),
                Step::Index(0),
                Step::Every,
                key("x"),
                Step::Index(1),
                Step::End
            ]
        );
    }

    #[test]
    fn filters_may_hold_brackets_slashes_and_nested_fields() {
        let steps = parse(r#"/a[?(@.b.c=="x]~1y")]"#).unwrap();
        let wanted = Step::Where(vec!["b".into(), "c".into()], "x]/y".into());
        assert_eq!(steps[1], wanted);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        assert_eq!(parse("spec"), Err(PathError::NoSlash));
        for wrong in [
            "/a[x]",
            "/a[?(@.b!='c')]",
            "/a[?(b=='c')]",
            "/a[1]x]",
            "/a[?(@.='c')]",
        ] {
            assert!(
                matches!(parse(wrong), Err(PathError::Bracket(_))),
                "{wrong}"
            );
        }
    }
}
