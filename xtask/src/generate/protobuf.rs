//! The data file for reading protobuf: which number is which field, in every message that a built-in kind
//! reaches. Source are the `.proto` files beside the API types.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::Value;

use super::Generated;

const PATH: &str = "crates/apiserver/kinds/protobuf.txt";

/// One field: number, JSON name (`-`: its fields are the parent's), form (`*` list, `%` map) and type.
struct Field {
    number: u32,
    name: String,
    form: &'static str,
    ty: String,
}

type Messages = BTreeMap<String, Vec<Field>>;

/// The generated file, from the folders of the modules and the data file of the built-in kinds.
pub(super) fn generate(modules: &[PathBuf], kinds: &str) -> anyhow::Result<Generated> {
    let kinds: Value = serde_json::from_str(kinds).context("read the data of built-in kinds")?;
    let definitions = kinds["definitions"].as_array().context("definitions")?;
    let mut messages = Messages::new();
    for module in modules {
        for file in proto_files(module)? {
            let text = fs::read_to_string(&file)?;
            read(&text, &mut messages).with_context(|| format!("read {}", file.display()))?;
        }
    }
    let mut roots = Vec::new();
    let mut packages = BTreeSet::new();
    for definition in definitions {
        let name = proto_name(definition["n"].as_str().unwrap_or_default());
        if let Some(fields) = messages.get_mut(&name) {
            name_as_json(fields, &definition["p"]);
            if let [group, version, _] = definition["g"].as_array().map_or(&[][..], Vec::as_slice) {
                let package = name.rsplit_once('.').map_or("", |(package, _)| package);
                // Kinds of `meta` are in every group version; readers look there last.
                if !package.ends_with(".meta.v1") {
                    packages.insert((text(group), text(version), package.to_owned()));
                }
                roots.push(name);
            }
        }
    }
    Ok(Generated {
        path: PATH.to_owned(),
        content: layout(&packages, &reached(&messages, roots)?, &messages)?.into_bytes(),
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// `io.k8s.api.apps.v1.X` of OpenAPI is `k8s.io.api.apps.v1.X` of protobuf.
fn proto_name(openapi: &str) -> String {
    let rest = openapi.strip_prefix("io.k8s.").unwrap_or(openapi);
    format!("k8s.io.{}", rest.replace('-', "_"))
}

fn proto_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(proto_files(&path)?);
        } else if path
            .file_name()
            .is_some_and(|name| name == "generated.proto")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads one file. They are all written by the same tool, in the same few forms.
fn read(text: &str, messages: &mut Messages) -> anyhow::Result<()> {
    let mut package = String::new();
    let mut message: Option<String> = None;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("package ") {
            rest.trim_end_matches(';').clone_into(&mut package);
        } else if let Some(rest) = line.strip_prefix("message ") {
            let name = format!("{package}.{}", rest.trim_end_matches(" {"));
            messages.insert(name.clone(), Vec::new());
            message = Some(name);
        } else if line == "}" {
            message = None;
        } else if let Some(name) = &message
            && let Some(field) = field(line, &package)?
        {
            messages.entry(name.clone()).or_default().push(field);
        }
    }
    Ok(())
}

/// `optional T name = 1;`, `repeated T name = 1;` or `map<string, T> name = 1;`.
fn field(line: &str, package: &str) -> anyhow::Result<Option<Field>> {
    let (form, rest) = if let Some(rest) = line.strip_prefix("optional ") {
        ("", rest)
    } else if let Some(rest) = line.strip_prefix("repeated ") {
        ("*", rest)
    } else if let Some(rest) = line.strip_prefix("map<string, ") {
        ("%", rest)
    } else {
        return Ok(None);
    };
    let rest = rest.trim_end_matches(';').replace('>', "");
    let [ty, name, "=", number] = rest.split_whitespace().collect::<Vec<_>>()[..] else {
        bail!("not a field: {line}");
    };
    let ty = match ty {
        "string" => "s".to_owned(),
        "bool" => "b".to_owned(),
        "bytes" => "y".to_owned(),
        "int32" | "int64" => "i".to_owned(),
        "double" => "d".to_owned(),
        message if message.starts_with('.') => message[1..].to_owned(),
        message if message.starts_with(|c: char| c.is_ascii_uppercase()) => {
            format!("{package}.{message}")
        }
        other => bail!("a type that nobody expected: {other}"),
    };
    Ok(Some(Field {
        number: number.parse()?,
        name: name.to_owned(),
        form,
        ty,
    }))
}

/// Gives fields the names that JSON has. A message under a name that JSON does not know is embedded there.
fn name_as_json(fields: &mut [Field], properties: &Value) {
    for field in fields {
        if properties.get(&field.name).is_some() || properties.is_null() {
            continue;
        }
        let dashed = dashed(&field.name);
        let dollar = format!("${}", field.name);
        if properties.get(&dashed).is_some() {
            field.name = dashed;
        } else if properties.get(&dollar).is_some() {
            field.name = dollar;
        } else if field.ty.len() > 1 && field.form.is_empty() {
            "-".clone_into(&mut field.name);
        }
    }
}

/// `xKubernetesListType` is `x-kubernetes-list-type`.
fn dashed(name: &str) -> String {
    let mut dashed = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            dashed.push('-');
        }
        dashed.push(letter.to_ascii_lowercase());
    }
    dashed
}

fn reached(messages: &Messages, roots: Vec<String>) -> anyhow::Result<BTreeSet<String>> {
    let mut reached = BTreeSet::new();
    let mut open = roots;
    while let Some(name) = open.pop() {
        let fields = messages
            .get(&name)
            .with_context(|| format!("no message {name}"))?;
        if reached.insert(name) {
            let referred = fields.iter().filter(|field| field.ty.len() > 1);
            open.extend(referred.map(|field| field.ty.clone()));
        }
    }
    Ok(reached)
}

/// `@group/version package` per group version, then `message number name type …` per message.
fn layout(
    packages: &BTreeSet<(String, String, String)>,
    reached: &BTreeSet<String>,
    messages: &Messages,
) -> anyhow::Result<String> {
    let mut out = String::new();
    for (group, version, package) in packages {
        writeln!(out, "@{group}/{version} {package}")?;
    }
    for name in reached {
        out.push_str(name);
        let package = name.rsplit_once('.').map_or("", |(package, _)| package);
        for Field {
            number,
            name,
            form,
            ty,
        } in &messages[name]
        {
            // Messages of the same package go by their last name.
            let local = ty
                .strip_prefix(package)
                .and_then(|rest| rest.strip_prefix('.'));
            let ty = local.filter(|rest| !rest.contains('.')).unwrap_or(ty);
            write!(out, " {number} {name} {form}{ty}")?;
        }
        out.push('\n');
    }
    Ok(out)
}
