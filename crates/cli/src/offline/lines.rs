//! In which line of a document a field is written: good enough to open an editor there. YAML in block style is
//! followed by its indentation; what is written in one line is that line.

/// The line of a field, counted from 1; that of the nearest parent if the field itself is not written.
pub(crate) fn line_of(text: &str, path: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let (mut at, mut end, mut found) = (0, lines.len(), 1);
    for step in steps(path) {
        let hit = match &step {
            Step::Key(key) => find_key(&lines[at..end], key),
            Step::Item(index) => find_item(&lines[at..end], *index),
        };
        let Some((offset, length)) = hit else {
            break;
        };
        found = at + offset + 1;
        // An item's first key is in the item's own line, a key's values are below it.
        end = at + offset + length;
        at += offset + usize::from(matches!(step, Step::Key(_)));
    }
    found
}

enum Step {
    Key(String),
    Item(usize),
}

fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let (key, items) = part.split_once('[').unwrap_or((part, ""));
        if !key.is_empty() {
            steps.push(Step::Key(key.to_owned()));
        }
        for item in items.split('[') {
            if let Ok(index) = item.trim_end_matches(']').parse() {
                steps.push(Step::Item(index));
            }
        }
    }
    steps
}

/// How far a line is indented; a dash counts as space before the key that it carries.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '-']).len()
}

fn is_content(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#')
}

/// The first line with a key at the outermost indentation, and how many lines belong to it.
fn find_key(lines: &[&str], key: &str) -> Option<(usize, usize)> {
    let content = |line: &&&str| is_content(line);
    let outer = lines
        .iter()
        .filter(content)
        .map(|line| indent(line))
        .min()?;
    let is_it = |line: &&str| {
        let rest = line.trim_start_matches([' ', '-']);
        let rest = rest.trim_start_matches(['"', '\'']);
        indent(line) == outer
            && is_content(line)
            && rest
                .strip_prefix(key)
                .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
    };
    let at = lines.iter().position(is_it)?;
    Some((
        at,
        extent(&lines[at..], |line| {
            indent(line) > outer
                || line.trim_start().starts_with("- ")
                    && line.len() - line.trim_start().len() >= outer
        }),
    ))
}

/// The line where an item of a list begins, and how many lines belong to it.
fn find_item(lines: &[&str], index: usize) -> Option<(usize, usize)> {
    let dash = |line: &str| line.trim_start().starts_with("- ") || line.trim() == "-";
    let space = |line: &str| line.len() - line.trim_start().len();
    let outer = lines
        .iter()
        .find(|line| is_content(line) && dash(line))
        .map(|line| space(line))?;
    let items = lines.iter().enumerate();
    let mut items =
        items.filter(|(_, line)| is_content(line) && dash(line) && space(line) == outer);
    let (at, _) = items.nth(index)?;
    Some((at, extent(&lines[at..], |line| space(line) > outer)))
}

/// How many lines belong to the first one.
fn extent(lines: &[&str], belongs: impl Fn(&str) -> bool) -> usize {
    let more = lines.iter().skip(1);
    1 + more
        .take_while(|line| !is_content(line) || belongs(line))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
apiVersion: v1
# a word
spec:
  resources:
    - id: one
      template: {kind: A}
    - id: two
      template:
        metadata:
          name: x
  traits:
  - name: t
    parameters:
      size: 1
";

    #[test]
    fn fields_and_items_are_found_and_parents_of_what_is_not_there() {
        for (path, line) in [
            ("apiVersion", 1),
            ("spec.resources", 4),
            ("spec.resources[0].id", 5),
            ("spec.resources[0].template.kind", 6),
            ("spec.resources[1].template.metadata.name", 10),
            ("spec.resources[1].template.spec", 8),
            ("spec.resources[7]", 4),
            ("spec.traits[0].parameters.size", 14),
            ("nothing", 1),
        ] {
            assert_eq!(line_of(TEXT, path), line, "{path}");
        }
    }
}
