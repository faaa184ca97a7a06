//! Answers CEL questions line by line, in the notation of the oracle (`xtask/oracle/cel`). With
//! `--against <oracle>` both are asked, and what differs is printed.

use std::{
    io::{BufRead as _, ErrorKind, Write as _},
    process::{Command, Stdio},
};

use quadrille_expr::{
    Bindings, COST_LIMIT, Decl, Env, Library, List, Map, Moment, Type, Value, escape,
};
use serde_json::{Value as Json, json};

fn main() -> std::io::Result<()> {
    let questions: Vec<String> = std::io::stdin()
        .lock()
        .lines()
        .collect::<Result<Vec<_>, _>>()?
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| question(line))
        .collect();
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("--against") {
        return compare(&questions, &args.next().unwrap_or_default());
    }
    let mut out = std::io::stdout().lock();
    for question in &questions {
        writeln!(out, "{}", answer(question))?;
    }
    Ok(())
}

/// A line is a request in JSON, or an expression alone.
fn question(line: &str) -> String {
    match serde_json::from_str::<Json>(line) {
        Ok(Json::Object(_)) => line.to_owned(),
        _ => json!({"expr": line}).to_string(),
    }
}

fn answer(question: &str) -> Json {
    match serde_json::from_str::<Json>(question) {
        Ok(request) => respond(&request),
        Err(error) => json!({"program": error.to_string()}),
    }
}

/// Asks the oracle the same questions and prints where the answers differ.
fn compare(questions: &[String], oracle: &str) -> std::io::Result<()> {
    let mut child = Command::new(oracle)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let text = questions.join("\n") + "\n";
    let input = child.stdin.take();
    let writer =
        std::thread::spawn(move || input.map(|mut input| input.write_all(text.as_bytes())));
    let replies = std::io::BufReader::new(child.stdout.take().ok_or(ErrorKind::BrokenPipe)?);
    let mut same = 0;
    for (question, reply) in questions.iter().zip(replies.lines()) {
        let wanted: Json = serde_json::from_str(&reply?)?;
        let found = answer(question);
        let refused = wanted.get("compile").is_some() || wanted.get("program").is_some();
        let parts: &[&str] = if refused {
            &["compile", "program"]
        } else {
            &[
                "compile", "program", "type", "result", "error", "cost", "estimate",
            ]
        };
        let differing: Vec<&&str> = parts
            .iter()
            .filter(|part| wanted.get(**part) != found.get(**part))
            .collect();
        if differing.is_empty() {
            same += 1;
            continue;
        }
        println!("{question}");
        for part in differing {
            println!("  {part}: {} and not {}", wanted[*part], found[*part]);
        }
    }
    let _ = writer.join();
    child.wait()?;
    println!("{same} of {} answers are the same", questions.len());
    Ok(())
}

fn respond(request: &Json) -> Json {
    let text = request["expr"].as_str().unwrap_or_default();
    let mut env = Env::kubernetes();
    if request["env"] == "ext" {
        env = env
            .library(Library::Math)
            .library(Library::Encoders)
            .library(Library::JsonPatch);
    }
    let mut vars = Bindings::new();
    let mut sizes = None;
    let none = serde_json::Map::new();
    for (name, variable) in request["vars"].as_object().unwrap_or(&none) {
        if let Some(schema) = variable.get("schema") {
            let Some(decl) = declaration(schema) else {
                return json!({"program": "schema without a type"});
            };
            let decl = decl.named("selfType");
            let ty = decl.ty();
            env = env.variable(name, ty.clone());
            vars = vars.with(name, Value::json(&variable["value"], &ty));
            sizes = Some(decl);
            continue;
        }
        let ty = Type::parse(variable["type"].as_str().unwrap_or("dyn"));
        vars = vars.with(name, typed(&variable["value"], &ty));
        env = env.variable(name, ty);
    }
    let program = match env.compile(text) {
        Ok(program) => program,
        Err(error) if error.is_instantiation() => {
            return json!({"program": error.to_string(), "cost": 0});
        }
        Err(error) => return json!({"compile": error.to_string(), "cost": 0}),
    };
    let evaluation = program.evaluate(&vars, COST_LIMIT);
    let estimate = program.estimate(sizes.as_ref());
    let mut answer = json!({
        "type": program.result_type().to_string(),
        "cost": evaluation.cost,
        "estimate": [estimate.min, estimate.max],
    });
    match evaluation.result {
        Ok(value) => answer["result"] = json!(show(&value)),
        Err(error) => answer["error"] = json!(error.to_string()),
    }
    answer
}

/// A structural schema as a declaration: the little that the comparison needs.
fn declaration(schema: &Json) -> Option<Decl> {
    const REQUEST: u64 = 3 << 20;
    let bound = |name: &str| schema[name].as_u64();
    if schema["x-kubernetes-int-or-string"] == true {
        let most = bound("maxLength").map_or(REQUEST - 2, |length| length * 4);
        return Some(Decl::scalar(Type::Dyn, 1).at_most(most));
    }
    Some(match schema["type"].as_str()? {
        "array" => {
            let items = declaration(&schema["items"])?;
            let most = bound("maxItems").unwrap_or((REQUEST - 2) / (items.smallest() + 1));
            let keys = schema["x-kubernetes-list-map-keys"].as_array().map(|keys| {
                keys.iter()
                    .filter_map(|key| key.as_str().map(str::to_owned))
                    .collect()
            });
            let kind = match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => quadrille_expr::ListKind::Set,
                Some("map") => quadrille_expr::ListKind::Keyed(keys.unwrap_or_default()),
                _ => quadrille_expr::ListKind::Plain,
            };
            Decl::list(items, kind).at_most(most)
        }
        "object" if schema["additionalProperties"].is_object() => {
            let values = declaration(&schema["additionalProperties"])?;
            let most = bound("maxProperties").unwrap_or((REQUEST - 2) / (values.smallest() + 6));
            Decl::map(values).at_most(most)
        }
        "object" => {
            let required: Vec<&str> = schema["required"]
                .as_array()
                .map(|names| names.iter().filter_map(Json::as_str).collect())
                .unwrap_or_default();
            let mut smallest = 2;
            let mut fields = Vec::new();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let Some(field) = declaration(property) else {
                    continue;
                };
                if required.contains(&name.as_str()) && property.get("default").is_none() {
                    smallest += name.len() as u64 + field.smallest() + 4;
                }
                if let Some(escaped) = escape(name) {
                    fields.push((escaped, name.clone(), field));
                }
            }
            Decl::object(fields, smallest)
        }
        "string" => match schema["format"].as_str() {
            Some("byte") => {
                let most = bound("maxLength").unwrap_or(REQUEST - 2);
                Decl::scalar(Type::Bytes, 2).at_most(most)
            }
            Some("duration") => Decl::scalar(Type::Duration, 3).at_most(32),
            Some("date") => Decl::scalar(Type::Timestamp, 12).at_most(12),
            Some("date-time") => Decl::scalar(Type::Timestamp, 21).at_most(32),
            _ => {
                let longest = schema["enum"].as_array().map(|values| {
                    values
                        .iter()
                        .filter_map(Json::as_str)
                        .map(str::len)
                        .max()
                        .unwrap_or(0) as u64
                });
                let most = bound("maxLength").map(|length| length * 4).or(longest);
                Decl::scalar(Type::String, 2).at_most(most.unwrap_or(REQUEST - 2))
            }
        },
        "boolean" => Decl::scalar(Type::Bool, 4),
        "number" => Decl::scalar(Type::Double, 1),
        "integer" => Decl::scalar(Type::Int, 1),
        _ => return None,
    })
}

fn typed<'a>(json: &'a Json, ty: &Type) -> Value<'a> {
    match (json, ty) {
        (Json::String(text), Type::Bytes) => Value::bytes(text.as_bytes()),
        (Json::String(text), Type::Timestamp) => {
            Moment::parse(text).map_or(Value::Null, Value::Timestamp)
        }
        _ => Value::json(json, ty),
    }
}

fn show(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => format!("{number}u"),
        Value::Double(_) => format!("double({value})"),
        Value::String(text) => json!(**text).to_string(),
        Value::Bytes(bytes) => bytes
            .iter()
            .fold("b".to_owned(), |text, byte| format!("{text}{byte:02x}")),
        Value::Timestamp(moment) => format!("timestamp({})", moment.utc()),
        Value::Duration(nanos) => format!("duration({nanos})"),
        Value::Type(ty) => format!("type({})", ty.name()),
        Value::Optional(None) => "optional.none".to_owned(),
        Value::Optional(Some(inner)) => format!("optional({})", show(inner)),
        Value::Map(map) => show_map(map),
        Value::List(list) => show_list(list),
        Value::Opaque(opaque) => format!("other({})", opaque.type_of().name()),
    }
}

fn show_map(map: &Map<'_>) -> String {
    let mut parts: Vec<String> = map
        .iter()
        .map(|(key, value)| format!("{}: {}", show(&key), show(&value)))
        .collect();
    parts.sort();
    format!("{{{}}}", parts.join(", "))
}

fn show_list(list: &List<'_>) -> String {
    let parts: Vec<String> = list.iter().map(|item| show(&item)).collect();
    format!("[{}]", parts.join(", "))
}
