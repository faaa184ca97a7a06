//! Stages side by side, with arrows between them; one below the other where the terminal is too narrow.

use super::stage::Stage;
use crate::{chain::history::ago, style::Style};

/// The least between two columns: room for an arrow.
const GAP: usize = 5;

/// A way through the pipeline.
pub(super) fn pipeline(stages: &[&Stage], style: Style, width: Option<usize>) -> String {
    let columns: Vec<Vec<Cell>> = stages.iter().map(|stage| cells(stage, style)).collect();
    let widths: Vec<usize> = columns
        .iter()
        .map(|cells| cells.iter().map(Cell::width).max().unwrap_or_default())
        .collect();
    let total = 1 + widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    if width.is_some_and(|width| width < total) {
        return below(stages, style);
    }
    let height = columns.iter().map(Vec::len).max().unwrap_or_default();
    let mut text = String::new();
    for row in 0..height {
        let mut line = " ".to_owned();
        for (index, (cells, width)) in columns.iter().zip(&widths).enumerate() {
            let is_last = index + 1 == columns.len();
            let cell = cells.get(row);
            line += cell.map_or("", |cell| cell.drawn.as_str());
            let used = cell.map_or(0, Cell::width);
            if is_last {
                break;
            }
            let left = width + GAP - used;
            let filler = match row {
                0 => format!(" {}► ", "─".repeat(left - 3)),
                _ => " ".repeat(left),
            };
            line.push_str(&filler);
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// One below the other.
fn below(stages: &[&Stage], style: Style) -> String {
    let mut text = String::new();
    for (index, stage) in stages.iter().enumerate() {
        let arrow = if index == 0 { " " } else { "► " };
        for (row, cell) in cells(stage, style).iter().enumerate() {
            let lead = if row == 0 { arrow } else { "   " };
            text.extend([lead, &cell.drawn, "\n"]);
        }
    }
    text
}

/// Text, and how it is drawn.
struct Cell {
    plain: String,
    drawn: String,
}

impl Cell {
    fn plain(text: String) -> Self {
        Self {
            drawn: text.clone(),
            plain: text,
        }
    }

    fn width(&self) -> usize {
        self.plain.chars().count()
    }
}

fn cells(stage: &Stage, style: Style) -> Vec<Cell> {
    let name = stage.environment.to_string();
    let count = stage.healthy.as_deref().map(|count| format!(" {count}"));
    let count = count
        .filter(|_| stage.release.is_some())
        .unwrap_or_default();
    let mut cells = vec![
        Cell {
            drawn: style.bold(&name),
            plain: name,
        },
        Cell::plain(stage.release.clone().unwrap_or_else(|| "-".to_owned())),
        Cell {
            plain: format!("● {}{count}", stage.health),
            drawn: format!("{}{count}", style.health(stage.health)),
        },
    ];
    if stage.since.is_some() && stage.release.is_some() {
        cells.push(Cell::plain(ago(stage.since.as_ref())));
    }
    cells
}

/// What is pending and why, and where the component can be reached.
pub(super) fn notes(stages: &[Stage], style: Style) -> String {
    let width = stages
        .iter()
        .map(|stage| stage.environment.as_str().chars().count())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for (lines, mark) in [
        (collected(stages, |stage| &stage.notes), true),
        (collected(stages, |stage| &stage.urls), false),
    ] {
        if !lines.is_empty() {
            text.push('\n');
        }
        for (name, words) in lines {
            let mark = if mark {
                format!("{} ", style.yellow("!"))
            } else {
                "  ".to_owned()
            };
            let line = format!(" {mark}{name:<width$}  {words}\n");
            text.push_str(&line);
        }
    }
    text
}

fn collected<'a>(
    stages: &'a [Stage],
    of: impl Fn(&'a Stage) -> &'a Vec<String>,
) -> Vec<(&'a str, &'a str)> {
    stages
        .iter()
        .flat_map(|stage| {
            let words = of(stage).iter();
            words.map(|words| (stage.environment.as_str(), words.as_str()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(environment: &str, release: &str, health: &'static str) -> Stage {
        Stage {
            release: Some(release.to_owned()),
            health,
            healthy: Some("5/5".to_owned()),
            ..Stage::empty(environment.into())
        }
    }

    #[test]
    fn stages_stand_side_by_side_and_below_each_other_where_there_is_no_room() {
        let (one, other) = (
            stage("development", "greeter-7c9f4d", "Ready"),
            stage("staging", "greeter-51be02", "Progressing"),
        );
        let wide = pipeline(&[&one, &other], Style::plain(), Some(80));
        assert_eq!(
            wide,
            " development ─────► staging\n greeter-7c9f4d     greeter-51be02\n ● Ready 5/5        ◐ Progressing 5/5\n"
        );
        let narrow = pipeline(&[&one, &other], Style::plain(), Some(30));
        assert_eq!(
            narrow,
            " development\n   greeter-7c9f4d\n   ● Ready 5/5\n► staging\n   greeter-51be02\n   ◐ Progressing 5/5\n"
        );
    }

    #[test]
    fn what_is_pending_comes_before_addresses() {
        let mut one = stage("development", "a", "Ready");
        one.urls.push("http://x".to_owned());
        let mut other = stage("live", "a", "Ready");
        other.notes.push("waits".to_owned());
        assert_eq!(
            notes(&[one, other], Style::plain()),
            "\n ! live         waits\n\n   development  http://x\n"
        );
        assert_eq!(notes(&[], Style::plain()), "");
    }
}
