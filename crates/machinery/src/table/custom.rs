//! Tables of custom resources: a name, and the columns that the definition asks for.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::human;
use crate::{
    crd::PrinterColumn,
    jsonpath::{self, JsonPath},
};

/// The columns of a custom resource, ready to fill rows.
#[derive(Clone, Debug)]
pub struct CustomTable {
    columns: Vec<(PrinterColumn, JsonPath)>,
    /// Whether the columns are those of a definition that names none; they are described by prose that is
    /// not ours.
    is_default: bool,
}

impl CustomTable {
    /// The table of these columns; without any there is the age. A column whose path cannot be read ends
    /// the list, as it does on real servers.
    pub fn new(columns: &[PrinterColumn]) -> Self {
        let age = PrinterColumn {
            name: "Age".to_owned(),
            ty: "date".to_owned(),
            format: String::new(),
            description: String::new(),
            priority: 0,
            json_path: ".metadata.creationTimestamp".to_owned(),
        };
        let is_default = columns.is_empty();
        let columns = if is_default {
            std::slice::from_ref(&age)
        } else {
            columns
        };
        let columns = columns
            .iter()
            .map_while(|column| Some((column.clone(), JsonPath::parse(&column.json_path).ok()?)))
            .collect();
        Self {
            columns,
            is_default,
        }
    }

    /// The `columnDefinitions` of the Table.
    pub fn definitions(&self) -> Vec<Value> {
        let name = json!({
            "name": "Name",
            "type": "string",
            "format": "name",
            "description": "",
            "priority": 0,
        });
        let column = |(column, _): &(PrinterColumn, JsonPath)| {
            let description = match column.description.as_str() {
                "" if self.is_default => String::new(),
                "" => format!(
                    "Custom resource definition column (in JSONPath format): {}",
                    column.json_path
                ),
                given => given.to_owned(),
            };
            json!({
                "name": column.name,
                "type": column.ty,
                "format": column.format,
                "description": description,
                "priority": column.priority,
            })
        };
        std::iter::once(name)
            .chain(self.columns.iter().map(column))
            .collect()
    }

    /// The cells of one object.
    pub fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let name = object
            .pointer("/metadata/name")
            .cloned()
            .unwrap_or_default();
        let cell = |(column, path): &(PrinterColumn, JsonPath)| {
            let found = path.find(object).unwrap_or_default();
            found
                .first()
                .map_or(Value::Null, |value| cell(&column.ty, value, now))
        };
        std::iter::once(name)
            .chain(self.columns.iter().map(cell))
            .collect()
    }
}

fn cell(ty: &str, value: &Value, now: Timestamp) -> Value {
    match (ty, value) {
        ("string", value) => Value::from(jsonpath::text(value)),
        ("integer", Value::Number(number)) if number.is_f64() => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "cells of whole numbers are cut off"
            )]
            let whole = number.as_f64().unwrap_or_default() as i64;
            Value::from(whole)
        }
        ("integer" | "number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(text)) => match text.parse::<Timestamp>() {
            Ok(then) => Value::from(human::duration(now.as_second() - then.as_second())),
            Err(_) => Value::from("<invalid>"),
        },
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_those_of_a_real_server() {
        let case: Value =
            serde_json::from_str(include_str!("../../tests/cases/custom_table.json")).unwrap();
        let definition =
            json!({"spec": {"versions": [{"additionalPrinterColumns": case["columns"]}]}});
        let table = CustomTable::new(&crate::crd::columns(&definition["spec"]["versions"][0]));
        let definitions = table.definitions();
        let wanted = case["headers"].as_array().unwrap();
        // The words about the first column are prose that we do not repeat.
        assert_eq!(definitions[1..], wanted[1..]);
        let now: Timestamp = "2026-11-15T10:00:00Z".parse().unwrap();
        for row in case["rows"].as_array().unwrap() {
            let cells = table.cells(&row["object"], now);
            for (at, (cell, wanted)) in cells
                .iter()
                .zip(row["cells"].as_array().unwrap())
                .enumerate()
            {
                assert_eq!(cell, wanted, "{}", definitions[at]["name"]);
            }
        }
    }

    #[test]
    fn without_columns_there_is_the_age() {
        let table = CustomTable::new(&[]);
        let object =
            json!({"metadata": {"name": "a", "creationTimestamp": "2026-11-15T10:00:00Z"}});
        let now: Timestamp = "2026-11-15T10:05:32Z".parse().unwrap();
        assert_eq!(table.cells(&object, now), [json!("a"), json!("5m32s")]);
        assert_eq!(table.definitions()[1]["name"], "Age");
    }
}
