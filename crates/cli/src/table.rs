//! Tables as servers send them, for people to read.

use serde_json::Value;

/// Rows of a server's tables.
pub(crate) struct Table {
    is_wide: bool,
    shows_namespace: bool,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
    revision: String,
}

struct Column {
    name: String,
    is_date: bool,
    is_shown: bool,
}

impl Table {
    /// An empty one.
    pub(crate) fn new(is_wide: bool, shows_namespace: bool) -> Self {
        Self {
            is_wide,
            shows_namespace,
            columns: Vec::new(),
            rows: Vec::new(),
            widths: Vec::new(),
            revision: String::new(),
        }
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The revision of the list, to watch from.
    pub(crate) fn revision(&self) -> &str {
        &self.revision
    }

    /// Takes in a table.
    pub(crate) fn take(&mut self, table: &Value) {
        let rows = self.read(table);
        self.rows.extend(rows);
    }

    /// The lines of a table with the widths of before, as a watch brings it.
    pub(crate) fn lines_of(&mut self, table: &Value) -> String {
        let rows = self.read(table);
        rows.iter().map(|row| self.line(row)).collect()
    }

    fn read(&mut self, table: &Value) -> Vec<Vec<String>> {
        if let Some(columns) = table["columnDefinitions"].as_array() {
            self.columns = columns.iter().map(|column| self.column(column)).collect();
        }
        if let Some(revision) = table["metadata"]["resourceVersion"].as_str() {
            revision.clone_into(&mut self.revision);
        }
        let rows = table["rows"].as_array().into_iter().flatten();
        rows.map(|row| self.row(row)).collect()
    }

    fn column(&self, column: &Value) -> Column {
        let is_wide = column["priority"].as_i64().unwrap_or_default() > 0;
        Column {
            name: column["name"].as_str().unwrap_or_default().to_uppercase(),
            is_date: column["type"] == "date",
            is_shown: self.is_wide || !is_wide,
        }
    }

    fn row(&self, row: &Value) -> Vec<String> {
        let cells = row["cells"].as_array().into_iter().flatten();
        let namespace = &row["object"]["metadata"]["namespace"];
        let namespace = self
            .shows_namespace
            .then(|| namespace.as_str().unwrap_or_default().to_owned());
        let shown = cells
            .zip(&self.columns)
            .filter(|(_, column)| column.is_shown)
            .map(|(cell, column)| said(cell, column.is_date));
        namespace.into_iter().chain(shown).collect()
    }

    /// Everything, with its head.
    pub(crate) fn text(&mut self) -> String {
        let namespace = self.shows_namespace.then(|| "NAMESPACE".to_owned());
        let names = self.columns.iter().filter(|column| column.is_shown);
        let head: Vec<String> = namespace
            .into_iter()
            .chain(names.map(|column| column.name.clone()))
            .collect();
        self.widths = vec![0; head.len()];
        for row in std::iter::once(&head).chain(&self.rows) {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let rows: String = self.rows.iter().map(|row| self.line(row)).collect();
        format!("{}{rows}", self.line(&head))
    }

    fn line(&self, row: &[String]) -> String {
        let mut line = String::new();
        for (index, cell) in row.iter().enumerate() {
            let width = self.widths.get(index).copied().unwrap_or_default();
            line.push_str(cell);
            if index + 1 < row.len() {
                let rest = width.saturating_sub(cell.chars().count()) + 3;
                line.extend(std::iter::repeat_n(' ', rest));
            }
        }
        format!("{}\n", line.trim_end())
    }
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

    #[test]
    fn columns_are_aligned_and_wide_ones_are_left_out() {
        let table = json!({
            "metadata": { "resourceVersion": "7" },
            "columnDefinitions": [
                { "name": "Name", "type": "string", "priority": 0 },
                { "name": "Ready", "type": "string", "priority": 0 },
                { "name": "More", "type": "string", "priority": 1 },
            ],
            "rows": [
                { "cells": ["a-long-name", "True", "x"], "object": { "metadata": { "namespace": "acme" } } },
                { "cells": ["b", null, "y"], "object": { "metadata": { "namespace": "acme" } } },
            ],
        });
        let mut shown = Table::new(false, false);
        shown.take(&table);
        assert_eq!(
            shown.text(),
            "NAME          READY\na-long-name   True\nb             <none>\n"
        );
        assert_eq!(shown.revision(), "7");
        let mut wide = Table::new(true, true);
        wide.take(&table);
        assert!(
            wide.text()
                .starts_with("NAMESPACE   NAME          READY    MORE\nacme        a-long-name")
        );
    }
}
