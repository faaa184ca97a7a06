//! Tables of built-in kinds are those of a real server: `builtin/tables.jsonl` holds objects and the rows that
//! kube-apiserver 1.36.3 printed for them.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may; its helpers too

use jiff::Timestamp;
use quadrille_machinery::table::builtin::{columns, row, row_conditions};
use serde_json::{Value, json};

const RECORDED: &str = include_str!("builtin/tables.jsonl");

/// Cells that depend on when the recording was made.
fn is_relative(column: &str) -> bool {
    matches!(column, "Age" | "Last Seen" | "First Seen" | "Last Schedule")
}

/// `2 (5y ago)` becomes `2 (ago)`.
fn without_span(cell: &Value) -> Value {
    match cell.as_str().and_then(|text| text.split_once(" (")) {
        Some((count, rest)) if rest.ends_with(" ago)") => json!(format!("{count} (ago)")),
        _ => cell.clone(),
    }
}

#[test]
fn rows_are_printed_as_by_a_real_server() {
    let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
    let mut different = Vec::new();
    let mut checked = 0;
    for line in RECORDED.lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let object = &recorded["object"];
        let kind = object["kind"].as_str().unwrap();
        let titles = columns(kind);
        let ours: Vec<Value> = titles
            .iter()
            .map(|column| json!([column.name, column.ty, column.format, column.priority]))
            .collect();
        if recorded["columns"] != json!(ours) {
            different.push(format!("{kind}: {} / {}", recorded["columns"], json!(ours)));
        }
        let cells = row(kind, object, now);
        let expected = recorded["cells"].as_array().unwrap();
        let mut same = cells.len() == expected.len();
        for (at, (cell, expected)) in cells.iter().zip(expected).enumerate() {
            let relative = titles.get(at).is_none_or(|column| is_relative(column.name));
            same &= relative || without_span(cell) == without_span(expected);
        }
        if !same {
            different.push(format!(
                "{kind} {}\n real: {}\n ours: {}",
                object["metadata"]["name"],
                recorded["cells"],
                json!(cells)
            ));
        }
        let conditions = row_conditions(kind, object).unwrap_or_default();
        assert_eq!(conditions, recorded["conditions"], "{kind}");
        checked += 1;
    }
    assert!(checked > 100, "only {checked} recordings");
    assert!(
        different.is_empty(),
        "{}\n{}",
        different.len(),
        different.join("\n")
    );
}
