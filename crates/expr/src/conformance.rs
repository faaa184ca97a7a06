//! The language's own conformance vectors.
//!
//! The vectors are not kept here. `xtask/oracle/cel/vectors` turns the files that come with the
//! language's specification into JSON; [`run`] takes one such file. The example `conformance`
//! prints the score of a folder, and the test `conformance` asks for it when the variable
//! `CEL_VECTORS` names the folder.

mod data;

use serde_json::Value as Json;

use crate::{Bindings, COST_LIMIT, Env, Library, Options, Program};

/// How the vectors of one file went.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// As the specification wants.
    pub passed: usize,
    /// Otherwise: the name of the test and what went wrong.
    pub failed: Vec<(String, String)>,
    /// Not tried: the name of the test and what it needs that we leave out on purpose.
    pub skipped: Vec<(String, &'static str)>,
}

impl Report {
    /// How many tests there are.
    pub fn total(&self) -> usize {
        self.passed + self.failed.len() + self.skipped.len()
    }
}

/// Why a test is left out that servers do not pass either.
pub const DIFFERS_TOO: &str = "the reference implementation differs as well";

/// Runs the tests of a file.
pub fn run(file: &Json) -> Report {
    let mut report = Report::default();
    let env = Env::with(&[
        Library::Standard,
        Library::ExistsOne,
        Library::Optionals,
        Library::Strings(4),
        Library::Math,
        Library::Encoders,
        Library::Bindings,
        Library::TwoVariables,
    ])
    .options(Options {
        quoted_names: true,
        ..Options::default()
    });
    let none = Vec::new();
    for section in file["section"].as_array().unwrap_or(&none) {
        for test in section["test"].as_array().unwrap_or(&none) {
            let word = |value: &Json| value.as_str().unwrap_or_default().to_owned();
            let name = format!("{}/{}", word(&section["name"]), word(&test["name"]));
            if let Some(reason) = unsupported(file, test) {
                report.skipped.push((name, reason));
                continue;
            }
            let as_reference = AS_REFERENCE.contains(&name.as_str());
            match one(&env, test) {
                Ok(()) => report.passed += 1,
                Err(Missed::Unchecked) => {
                    report.skipped.push((name, "evaluation without checking"));
                }
                Err(Missed::Wrong(_)) if as_reference => {
                    report.skipped.push((name, DIFFERS_TOO));
                }
                Err(Missed::Wrong(reason)) => report.failed.push((name, reason)),
            }
        }
    }
    report
}

/// Tests that the reference implementation does not pass either; servers follow it, and so do we.
const AS_REFERENCE: [&str; 9] = [
    "qualified_identifier_resolution/map_key_float",
    "qualified_identifier_resolution/map_key_null",
    "qualified_identifier_resolution/map_value_repeat_key",
    "qualified_identifier_resolution/map_value_repeat_key_heterogeneous",
    "optionals/map_null_entry_no_such_key",
    "optionals/map_present_key_invalid_field",
    "value_errors/indexof_out_of_range",
    "value_errors/lastindexof_out_of_range",
    "legacy_nullable_types/null_assignable_to_abstract_parameter_candidate",
];

/// Why a test did not pass.
enum Missed {
    /// It counts on evaluation without checking.
    Unchecked,
    Wrong(String),
}

impl From<String> for Missed {
    fn from(reason: String) -> Self {
        Self::Wrong(reason)
    }
}

impl From<&str> for Missed {
    fn from(reason: &str) -> Self {
        Self::Wrong(reason.to_owned())
    }
}

/// What a test needs that this room does not have.
fn unsupported(file: &Json, test: &Json) -> Option<&'static str> {
    let whole = test.to_string();
    let name = file["name"].as_str().unwrap_or_default();
    if matches!(
        name,
        "proto2" | "proto3" | "proto2_ext" | "wrappers" | "enums"
    ) {
        return Some("protobuf messages and enums");
    }
    if name.starts_with("block_ext") || whole.contains("cel.@block") {
        return Some("cel.@block, which only optimisers write");
    }
    let expr = test["expr"].as_str().unwrap_or_default();
    let wrappers = [
        "google.protobuf.",
        "TestAllTypes",
        "NestedEnum",
        "GlobalEnum",
    ];
    let plain = expr
        .replace("google.protobuf.Timestamp", "")
        .replace("google.protobuf.Duration", "");
    if wrappers.iter().any(|word| plain.contains(word))
        || whole.contains("messageType")
        || whole.contains("\"wrapper\"")
        || expr.contains("google.protobuf.Timestamp{")
        || expr.contains("google.protobuf.Duration{")
        || expr.contains("google.protobuf.Timestamp {")
    {
        return Some("protobuf messages and enums");
    }
    if test
        .get("container")
        .is_some_and(|container| container != "")
    {
        return Some("a container of names");
    }
    if whole.contains("enumValue") {
        return Some("protobuf messages and enums");
    }
    if test["disableMacros"] == true {
        return Some("macros switched off");
    }
    None
}

fn one(env: &Env, test: &Json) -> Result<(), Missed> {
    let mut env = env.clone();
    for decl in test["typeEnv"].as_array().into_iter().flatten() {
        let name = decl["name"].as_str().unwrap_or_default();
        if let Some(ident) = decl.get("ident") {
            env = env.variable(name, data::ty(&ident["type"]));
        } else if let Some(function) = decl.get("function") {
            let signatures = data::signatures(function);
            let signatures: Vec<&str> = signatures.iter().map(String::as_str).collect();
            env = env.function(name, &signatures, |call, args| call.refuse(args));
        }
    }
    let mut vars = Bindings::new();
    for (name, bound) in test["bindings"].as_object().into_iter().flatten() {
        let value = data::value(&bound["value"]).ok_or("binding cannot be read")?;
        if !env.variables.contains_key(name) {
            env = env.variable(name, crate::Type::Dyn);
        }
        vars = vars.with(name, value);
    }
    let fails = test.get("evalError").is_some() || test.get("anyEvalErrors").is_some();
    let expr = test["expr"].as_str().unwrap_or_default();
    let program = match env.compile(expr) {
        Ok(program) => program,
        // Checking may already refuse what a dynamic evaluator would have failed at.
        Err(_) if fails => return Ok(()),
        Err(_) if test["disableCheck"] == true => return Err(Missed::Unchecked),
        Err(error) => return Err(format!("does not compile: {error}").into()),
    };
    check_type(&program, test)?;
    if test["checkOnly"] == true {
        return Ok(());
    }
    let evaluation = program.evaluate(&vars, COST_LIMIT);
    match (evaluation.result, fails) {
        (Err(_), true) => Ok(()),
        (Ok(value), true) => Err(format!("gave {value} instead of failing").into()),
        (Err(error), false) => Err(format!("failed: {error}").into()),
        (Ok(value), false) => {
            let wanted = match test.get("typedResult") {
                Some(typed) => typed["result"].clone(),
                None => test
                    .get("value")
                    .cloned()
                    .unwrap_or_else(|| serde_json::json!({"boolValue": true})),
            };
            let wanted = data::value(&wanted).ok_or("result cannot be read")?;
            if data::same(&value, &wanted) {
                return Ok(());
            }
            Err(format!("gave {value} instead of {wanted}").into())
        }
    }
}

fn check_type(program: &Program, test: &Json) -> Result<(), String> {
    let Some(wanted) = test["typedResult"].get("deducedType") else {
        return Ok(());
    };
    let (wanted, found) = (data::ty(wanted), program.result_type());
    if wanted == *found {
        return Ok(());
    }
    Err(format!("has type {found} instead of {wanted}"))
}
