//! Tables as servers send them, for people to read.

use serde_json::Value;

use crate::{fields, style::Style};

/// Rows of a server's tables.
pub(crate) struct Table {
    is_wide: bool,
    shows_namespace: bool,
    /// Stands before every name, so that it can be pasted: `environment/`.
    prefix: String,
    columns: Vec<Column>,
    rows: Vec<Row>,
    widths: Vec<usize>,
    revision: String,
}

struct Column {
    name: String,
    is_date: bool,
    is_shown: bool,
}

/// An object's cells, as the server sent them: ages grow while they are looked at.
struct Row {
    /// Which object it is.
    namespace: String,
    name: String,
    cells: Vec<Value>,
}

impl Table {
    /// An empty one.
    pub(crate) fn new(is_wide: bool, shows_namespace: bool) -> Self {
        Self {
            is_wide,
            shows_namespace,
            prefix: String::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            widths: Vec::new(),
            revision: String::new(),
        }
    }

    /// The same with something before every name.
    pub(crate) fn prefixed(mut self, prefix: String) -> Self {
        self.prefix = prefix;
        self
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many lines it has.
    pub(crate) fn height(&self) -> usize {
        self.rows.len() + 1
    }

    /// The newest revision that was told, to watch from.
    pub(crate) fn revision(&self) -> &str {
        &self.revision
    }

    /// Forgets the rows: they are read anew.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Takes in a table: what is known is replaced, what is new comes last.
    pub(crate) fn take(&mut self, table: &Value) {
        for row in self.read(table) {
            match self.find(&row) {
                Some(index) => self.rows[index] = row,
                None => self.rows.push(row),
            }
        }
    }

    /// Takes out what a table names.
    pub(crate) fn remove(&mut self, table: &Value) {
        for row in self.read(table) {
            if let Some(index) = self.find(&row) {
                self.rows.remove(index);
            }
        }
    }

    /// Takes in a table, and gives the lines that look different now, with the widths of before.
    pub(crate) fn news(&mut self, table: &Value, style: Style) -> String {
        let mut rows = self.read(table);
        rows.retain(|row| {
            let known = self.find(row).map(|index| &self.rows[index]);
            !known.is_some_and(|known| self.looks(known) == self.looks(row))
        });
        let lines = rows.iter().map(|row| self.line(&self.shown(row), style));
        let lines = lines.collect();
        self.take(table);
        lines
    }

    /// What can be seen of a row, whatever the time.
    fn looks<'a>(&self, row: &'a Row) -> Vec<&'a Value> {
        let cells = row.cells.iter().zip(&self.columns);
        let seen = cells.filter(|(_, column)| column.is_shown && !column.is_date);
        seen.map(|(cell, _)| cell).collect()
    }

    fn find(&self, row: &Row) -> Option<usize> {
        let is_same = |known: &Row| known.name == row.name && known.namespace == row.namespace;
        self.rows.iter().position(is_same)
    }

    fn read(&mut self, table: &Value) -> Vec<Row> {
        let columns = fields::items(&table["columnDefinitions"]);
        if !columns.is_empty() {
            self.columns = columns.iter().map(|column| self.column(column)).collect();
        }
        self.note(fields::text(&table["metadata"], "resourceVersion"));
        let rows = fields::items(&table["rows"]).iter();
        let rows = rows.map(|row| Row {
            namespace: fields::namespace(&row["object"]).to_owned(),
            name: fields::name(&row["object"]).to_owned(),
            cells: fields::items(&row["cells"]).to_vec(),
        });
        rows.collect()
    }

    /// Remembers a revision, if there is one.
    pub(crate) fn note(&mut self, revision: &str) {
        if !revision.is_empty() {
            revision.clone_into(&mut self.revision);
        }
    }

    fn column(&self, column: &Value) -> Column {
        let is_wide = column["priority"].as_i64().unwrap_or_default() > 0;
        Column {
            name: fields::text(column, "name").to_uppercase(),
            is_date: column["type"] == "date",
            is_shown: self.is_wide || !is_wide,
        }
    }

    /// The cells that are shown, as text.
    fn shown(&self, row: &Row) -> Vec<String> {
        let namespace = self.shows_namespace.then(|| row.namespace.clone());
        let cells = row.cells.iter().zip(&self.columns).enumerate();
        let shown =
            cells
                .filter(|(_, (_, column))| column.is_shown)
                .map(|(index, (cell, column))| {
                    let prefix = if index == 0 { &*self.prefix } else { "" };
                    format!("{prefix}{}", said(cell, column.is_date))
                });
        namespace.into_iter().chain(shown).collect()
    }

    fn head(&self) -> Vec<String> {
        let namespace = self.shows_namespace.then(|| "NAMESPACE".to_owned());
        let names = self.columns.iter().filter(|column| column.is_shown);
        let names = names.map(|column| column.name.clone());
        namespace.into_iter().chain(names).collect()
    }

    /// Everything, with its head.
    pub(crate) fn text(&mut self, style: Style) -> String {
        let head = self.head();
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| self.shown(row)).collect();
        self.widths = widths(std::iter::once(&head).chain(&rows));
        let lines: String = rows.iter().map(|row| self.line(row, style)).collect();
        format!(
            "{}{lines}",
            line(&head, &self.widths, |_, padded| padded.to_owned())
        )
    }

    fn line(&self, row: &[String], style: Style) -> String {
        let head = self.head();
        line(row, &self.widths, |index, padded| {
            let column = head.get(index).map_or("", String::as_str);
            style.cell(column, padded.trim_end(), padded)
        })
    }
}

/// How wide each column must be.
pub(crate) fn widths<'a>(rows: impl IntoIterator<Item = &'a Vec<String>>) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths
}

/// A line of a table. What is drawn around a cell does not count for its width.
pub(crate) fn line(
    row: &[String],
    widths: &[usize],
    draw: impl Fn(usize, &str) -> String,
) -> String {
    let mut line = String::new();
    let last = row.iter().rposition(|cell| !cell.is_empty());
    for (index, cell) in row.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
        if Some(index) == last {
            line.push_str(&draw(index, cell));
        } else {
            let width = widths.get(index).copied().unwrap_or_default();
            line.push_str(&draw(index, &format!("{cell:<width$}")));
            line.push_str("   ");
        }
    }
    format!("{line}\n")
}

fn said(cell: &Value, is_date: bool) -> String {
    match cell {
        Value::Null => "<none>".to_owned(),
        Value::String(text) if is_date => crate::age::since(text).unwrap_or_else(|| text.clone()),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(rows: &[(&str, Value)]) -> Value {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(name, ready)| {
                json!({
                    "cells": [name, ready, "x"],
                    "object": { "metadata": { "namespace": "acme", "name": name } },
                })
            })
            .collect();
        json!({
            "metadata": { "resourceVersion": "7" },
            "columnDefinitions": [
                { "name": "Name", "type": "string", "priority": 0 },
                { "name": "Ready", "type": "string", "priority": 0 },
                { "name": "More", "type": "string", "priority": 1 },
            ],
            "rows": rows,
        })
    }

    #[test]
    fn columns_are_aligned_and_wide_ones_are_left_out() {
        let sent = table(&[("a-long-name", json!("True")), ("b", json!(null))]);
        let mut shown = Table::new(false, false);
        shown.take(&sent);
        assert_eq!(
            shown.text(Style::plain()),
            "NAME          READY\na-long-name   True\nb             <none>\n"
        );
        assert_eq!(shown.revision(), "7");
        let mut wide = Table::new(true, true).prefixed("env/".to_owned());
        wide.take(&sent);
        assert_eq!(
            wide.text(Style::plain()).lines().nth(1),
            Some("acme        env/a-long-name   True     x")
        );
    }

    #[test]
    fn a_watch_changes_rows_in_place() {
        let mut shown = Table::new(false, false);
        shown.take(&table(&[("a", json!("True")), ("b", json!("True"))]));
        shown.take(&table(&[("a", json!("False")), ("c", json!("True"))]));
        shown.remove(&table(&[("b", json!("True"))]));
        assert_eq!(
            shown.text(Style::plain()),
            "NAME   READY\na      False\nc      True\n"
        );
        assert_eq!(shown.height(), 3);
        let style = Style::plain();
        assert_eq!(shown.news(&table(&[("a", json!("False"))]), style), "");
        assert_eq!(
            shown.news(&table(&[("a", json!("True"))]), style),
            "a      True\n"
        );
    }
}
