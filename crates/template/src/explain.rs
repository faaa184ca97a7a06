//! What is wrong with an expression, in words for people who write templates.

use quadrille_expr::{CompileError, Issue, Type};

use crate::{
    error::shortened,
    problem::{Problem, Problems, suggest},
    variables::Variables,
};

/// What our own functions take.
const OWN: [(&str, &str); 4] = [
    ("oc_merge", "it takes two or more maps with text as keys"),
    ("oc_generate_name", "it takes texts, or one list of texts"),
    ("oc_dns_label", "it takes texts, or one list of texts"),
    ("oc_hash", "it takes one text"),
];

/// Everything that the compiler found; `path` is where the expression stands.
pub(crate) fn explain(
    variables: &Variables,
    text: &str,
    path: &str,
    error: &CompileError,
) -> Problems {
    let shown = shortened(text.trim());
    if text.trim().is_empty() {
        return Problem::new(path, "the expression is empty").into();
    }
    if error.issues().is_empty() {
        return Problem::new(path, format!("${{{shown}}}: {error}")).into();
    }
    let mut problems = Problems::default();
    for issue in error.issues() {
        let (words, remedy) = plain_words(variables, text, issue);
        let mut problem = Problem::new(path, format!("${{{shown}}}: {words}"));
        problem.remedy = remedy;
        if !problems.0.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}

fn plain_words(variables: &Variables, text: &str, issue: &Issue) -> (String, Option<String>) {
    let words = issue.message.as_str();
    let quoted = |prefix: &str| words.strip_prefix(prefix)?.split('\'').next();
    if let Some(name) = quoted("undeclared reference to '") {
        if is_called(text, name) {
            return (format!("there is no function `{name}`"), None);
        }
        let known = variables.types.keys().map(String::as_str);
        let words = format!("there is no variable `{name}` here");
        return (words, suggest(name, known));
    }
    if let Some(field) = quoted("undefined field '") {
        let owner = owner_of(text, issue, field);
        let words = match &owner {
            Some(owner) => format!("`{owner}` has no field `{field}`"),
            None => format!("there is no field `{field}`"),
        };
        let fields = owner.and_then(|owner| fields_of(variables, &owner));
        let remedy = fields.and_then(|fields| match fields.as_slice() {
            [] => Some("describe it in the schema first".to_owned()),
            known => suggest(field, known.iter().map(String::as_str)),
        });
        return (words, remedy);
    }
    if let Some(call) = words.strip_prefix("found no matching overload for '") {
        let (name, types) = call.split_once("' applied to '").unwrap_or((call, ""));
        return no_overload(name, types.trim_end_matches('\''));
    }
    if let Some(ty) = quoted("type '").filter(|_| words.ends_with("support field selection")) {
        return (format!("a value of type {ty} has no fields"), None);
    }
    if let Some(syntax) = words.strip_prefix("Syntax error: ") {
        return (syntax_words(syntax, issue), None);
    }
    (words.to_owned(), None)
}

/// What the parser stumbled over, without all that it would have taken instead.
fn syntax_words(words: &str, issue: &Issue) -> String {
    let place = match issue.line {
        ..=1 => format!("at character {}", issue.column + 1),
        line => format!("at line {line}, character {}", issue.column + 1),
    };
    let inside = |prefix: &str| {
        let rest = words.strip_prefix(prefix)?;
        Some(rest.split("' expecting").next()?.trim_end_matches('\''))
    };
    let input = inside("mismatched input '")
        .or_else(|| inside("extraneous input '"))
        .or_else(|| inside("no viable alternative at input '"))
        .or_else(|| inside("token recognition error at: '"));
    match input {
        Some("<EOF>") => "the expression ends too early".to_owned(),
        Some(input) => format!("`{input}` is not understood {place}"),
        None => format!("{words} {place}"),
    }
}

/// A call whose arguments have types that it does not take.
fn no_overload(name: &str, types: &str) -> (String, Option<String>) {
    let inner = |text: &str| -> Option<String> {
        Some(text.strip_prefix('(')?.strip_suffix(')')?.to_owned())
    };
    let types_of = |text: &str| inner(text).unwrap_or_else(|| text.to_owned());
    match name {
        "_?_:_" => {
            let words = format!(
                "`? :` needs a truth and two values of one type, not {}",
                types_of(types)
            );
            let remedy = "make both sides the same type, or put one in dyn(…)";
            (words, Some(remedy.to_owned()))
        }
        "_[_]" => (
            format!("cannot look up {} like this", types_of(types)),
            None,
        ),
        _ if !name.starts_with(|first: char| first.is_alphabetic()) => {
            let operator = name.trim_matches(['_', '@']);
            let words = format!("`{operator}` does not go with {}", types_of(types));
            let remedy = "convert one side, for example with string(…), int(…) or double(…)";
            (words, Some(remedy.to_owned()))
        }
        _ => {
            let own = OWN.iter().find(|(known, _)| *known == name);
            let words = match types.split_once(".(") {
                Some((target, rest)) => {
                    format!("there is no `{name}` for {target} with ({rest}")
                }
                None => format!("`{name}` does not take ({})", types_of(types)),
            };
            (words, own.map(|(_, takes)| (*takes).to_owned()))
        }
    }
}

/// Whether a name is called like a function somewhere in a text.
fn is_called(text: &str, name: &str) -> bool {
    text.match_indices(name)
        .any(|(at, _)| text[at + name.len()..].trim_start().starts_with('('))
}

fn is_part_of_path(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '?')
}

/// What stands before a field, when it is only names and dots.
fn owner_of(text: &str, issue: &Issue, field: &str) -> Option<String> {
    let line = usize::try_from(issue.line - 1).ok()?;
    let column = usize::try_from(issue.column).ok()?;
    let line: Vec<char> = text.split('\n').nth(line)?.chars().collect();
    let (before, after) = line.split_at(column.min(line.len()));
    // `has(a.b)` is blamed at its parenthesis.
    let path: String = if after.first() == Some(&'(') {
        let inner = after[1..].iter().skip_while(|letter| **letter == ' ');
        let inner: String = inner
            .take_while(|letter| is_part_of_path(**letter))
            .collect();
        inner.strip_suffix(field)?.trim_end_matches('.').to_owned()
    } else {
        let mut path: Vec<char> = before.to_vec();
        let start = path.iter().rposition(|letter| !is_part_of_path(*letter));
        path.drain(..start.map_or(0, |at| at + 1));
        path.into_iter().collect()
    };
    let path = path.replace('?', "");
    (!path.is_empty() && !path.starts_with('.')).then_some(path)
}

/// The fields of what a dotted name leads to.
fn fields_of(variables: &Variables, path: &str) -> Option<Vec<String>> {
    let mut steps = path.split('.');
    let mut ty = variables.types.get(steps.next()?)?.clone();
    for step in steps {
        ty = match &ty {
            Type::Object(object) => object.fields.get(step)?.ty.clone(),
            Type::Map(map) => map.value.clone(),
            _ => return None,
        };
    }
    match &ty {
        Type::Object(object) => Some(object.fields.keys().cloned().collect()),
        _ => None,
    }
}
