//! A definition and its values in one document, and all that comes of it.

use std::collections::BTreeSet;

use quadrille_template::{
    BindingSource, Blueprint, Budget, COMPONENT_MACROS, Candidate, Context, DERIVED, Definition,
    KindRule, Language, Limits, OperationSource, PatchSource, PostRuleSource, Problems,
    RemoveSource, ResourceSource, RuleSource, Section, TargetSource, Variables,
};
use serde_json::{Map, Value as Json, json};

/// An object on its way.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    plane: String,
    object: Json,
}

impl Candidate for Rendered {
    fn plane(&self) -> &str {
        &self.plane
    }

    fn object(&self) -> &Json {
        &self.object
    }

    fn object_mut(&mut self) -> &mut Json {
        &mut self.object
    }
}

/// Names as tests can read them.
pub(crate) fn language() -> Language {
    Language::new(|limit, parts| format!("{}-{limit}", parts.join("-"))).macros(COMPONENT_MACROS)
}

fn list<'j>(value: &'j Json, name: &str) -> &'j [Json] {
    value
        .get(name)
        .and_then(Json::as_array)
        .map_or(&[], Vec::as_slice)
}

fn text<'j>(value: &'j Json, name: &str) -> Option<&'j str> {
    value.get(name).and_then(Json::as_str)
}

fn plane(value: &Json) -> &str {
    text(value, "targetPlane").unwrap_or("dataplane")
}

fn target(value: &Json) -> TargetSource<'_> {
    let target = &value["target"];
    TargetSource {
        group: text(target, "group").unwrap_or_default(),
        version: text(target, "version").unwrap_or_default(),
        kind: text(target, "kind").unwrap_or_default(),
        condition: text(target, "where"),
    }
}

fn section<'j>(input: &'j Json, name: &str) -> Option<Section<'j>> {
    input[name].get("openAPIV3Schema").map(|schema| Section {
        path: format!("spec.{name}.openAPIV3Schema"),
        schema,
    })
}

/// The definition of a document. A lone `template` is a value with expressions in it.
fn definition<'d>(
    input: &'d Json,
    variables: &'d Variables,
    forbidden: &'d [&'d str],
) -> Definition<'d> {
    let path = |name: &str, at: usize| format!("spec.{name}[{at}]");
    let mut definition = Definition::new(variables);
    definition.parameters = section(input, "parameters");
    definition.environment_configs = section(input, "environmentConfigs");
    for (at, rule) in list(input, "rules").iter().enumerate() {
        definition.rules.push(RuleSource {
            path: path("rules", at),
            rule: text(rule, "rule").unwrap_or_default(),
            message: text(rule, "message").unwrap_or_default(),
        });
    }
    for (at, resource) in list(input, "resources").iter().enumerate() {
        definition.resources.push(ResourceSource {
            path: path("resources", at),
            id: text(resource, "id").unwrap_or_default(),
            plane: plane(resource),
            include_when: text(resource, "includeWhen"),
            for_each: text(resource, "forEach"),
            var: text(resource, "var"),
            template: &resource["template"],
        });
    }
    for (at, patch) in list(input, "patches").iter().enumerate() {
        let operations = list(patch, "operations").iter();
        definition.patches.push(PatchSource {
            path: path("patches", at),
            plane: plane(patch),
            target: target(patch),
            for_each: text(patch, "forEach"),
            var: text(patch, "var"),
            operations: operations
                .map(|operation| OperationSource {
                    op: text(operation, "op").unwrap_or_default(),
                    path: text(operation, "path").unwrap_or_default(),
                    value: operation.get("value"),
                })
                .collect(),
        });
    }
    for (at, remove) in list(input, "removes").iter().enumerate() {
        definition.removes.push(RemoveSource {
            path: path("removes", at),
            plane: plane(remove),
            target: target(remove),
            for_each: text(remove, "forEach"),
            var: text(remove, "var"),
        });
    }
    for (at, rule) in list(input, "postRules").iter().enumerate() {
        definition.post_rules.push(PostRuleSource {
            path: path("postRules", at),
            plane: plane(rule),
            when: text(rule, "when"),
            for_each: text(rule, "forEach"),
            var: text(rule, "var"),
            target: target(rule),
            must_match: rule["target"]["mustMatch"].as_bool().unwrap_or(true),
            rule: text(rule, "rule").unwrap_or_default(),
            message: text(rule, "message").unwrap_or_default(),
        });
    }
    if let Some(value) = input.get("template") {
        definition.bindings.push(BindingSource {
            path: "template".to_owned(),
            value,
        });
    }
    definition.kinds = KindRule {
        required: text(&input["kinds"], "required"),
        forbidden,
    };
    definition.namespace = text(input, "namespace");
    definition
}

fn words(problems: &Problems) -> Json {
    problems.0.iter().map(ToString::to_string).collect()
}

/// The variables of a document: described by a schema, or only named by the context.
pub(crate) fn variables(input: &Json) -> Result<Variables, Problems> {
    match input.get("variables") {
        Some(schema) => language().variables(schema),
        None => {
            let names = input["context"].as_object().map(Map::keys);
            let names: Vec<&str> = names.into_iter().flatten().map(String::as_str).collect();
            Ok(language().untyped(&names))
        }
    }
}

/// Everything that comes of a document.
pub(crate) fn run(input: &Json) -> Json {
    let variables = match variables(input) {
        Ok(variables) => variables,
        Err(problems) => return json!({"problems": words(&problems)}),
    };
    let forbidden: Vec<&str> = list(&input["kinds"], "forbidden")
        .iter()
        .filter_map(Json::as_str)
        .collect();
    let blueprint = match Blueprint::compile(&definition(input, &variables, &forbidden)) {
        Ok(blueprint) => blueprint,
        Err(problems) => return json!({"problems": words(&problems)}),
    };
    let mut came = Map::new();
    let mut resolved = Vec::new();
    for (name, schema) in [
        ("parameters", blueprint.parameters()),
        ("environmentConfigs", blueprint.environment_configs()),
    ] {
        let given = input[name].get("values");
        let unknown = given.map(|given| schema.unknown(given)).unwrap_or_default();
        if !unknown.is_empty() {
            came.insert(format!("{name}Unknown"), words(&Problems(unknown)));
        }
        match schema.resolve(given) {
            Ok(values) => resolved.push((name, values)),
            Err(problems) => {
                came.insert(name.to_owned(), words(&problems));
                return Json::Object(came);
            }
        }
    }
    let show = |word: &str| list(input, "show").iter().any(|entry| entry == word);
    if show("resolved") {
        came.insert("resolved".to_owned(), resolved[0].1.clone());
    }
    if show("jsonSchema") {
        came.insert(
            "jsonSchema".to_owned(),
            blueprint.parameters().json_schema(),
        );
    }
    if show("outline") {
        let rows = blueprint.parameters().outline();
        let row = |row: &quadrille_template::Row| {
            let required = if row.required { " (required)" } else { "" };
            let default = row.default.as_ref().map(|value| format!(" = {value}"));
            let words = row.description.as_ref().map(|words| format!("  {words}"));
            let (default, words) = (default.unwrap_or_default(), words.unwrap_or_default());
            format!("{}: {}{default}{required}{words}", row.path, row.ty)
        };
        came.insert("outline".to_owned(), rows.iter().map(row).collect());
    }
    if show("derived") {
        let fields = COMPONENT_MACROS.iter().map(|one| one.field);
        let read: BTreeSet<&str> = fields
            .filter(|field| blueprint.reads().field(DERIVED, field))
            .collect();
        came.insert("derived".to_owned(), read.into_iter().collect());
    }
    let limits = Limits {
        steps: input["limits"]["steps"].as_u64().unwrap_or(5_000_000),
        ..Limits::default()
    };
    let budget = Budget::new(limits);
    let mut context = Context::new(&budget);
    for (name, value) in input["context"].as_object().into_iter().flatten() {
        context = context.with(name.as_str(), value);
    }
    for (name, values) in &resolved {
        context = context.with(*name, values);
    }
    let failed = blueprint.check_rules(&context);
    if !failed.is_empty() {
        let failed = failed.iter().map(ToString::to_string).collect();
        came.insert("rules".to_owned(), failed);
        return Json::Object(came);
    }
    if let Err(error) = render(input, &blueprint, &context, &mut came) {
        came.insert("error".to_owned(), Json::from(error.to_string()));
    }
    Json::Object(came)
}

fn render(
    input: &Json,
    blueprint: &Blueprint,
    context: &Context<'_>,
    came: &mut Map<String, Json>,
) -> Result<(), quadrille_template::RenderError> {
    for template in blueprint.bindings() {
        came.insert("rendered".to_owned(), template.render(context)?);
    }
    let mut objects: Vec<Rendered> = list(input, "given")
        .iter()
        .map(|object| Rendered {
            plane: "dataplane".to_owned(),
            object: object.clone(),
        })
        .collect();
    for resource in blueprint.resources() {
        for object in resource.render(context)? {
            objects.push(Rendered {
                plane: resource.plane().to_owned(),
                object,
            });
        }
    }
    for patch in blueprint.patches() {
        patch.apply(context, &mut objects)?;
    }
    for remove in blueprint.removes() {
        remove.apply(context, &mut objects)?;
    }
    let failed: Vec<Json> = blueprint
        .post_rules()
        .iter()
        .flat_map(|rule| rule.check(context, &objects))
        .map(|failure| Json::from(failure.to_string()))
        .collect();
    if !failed.is_empty() {
        came.insert("postRules".to_owned(), Json::Array(failed));
    }
    let has_objects = !blueprint.resources().is_empty() || input.get("given").is_some();
    if has_objects {
        let objects = objects
            .into_iter()
            .map(|rendered| rendered.object)
            .collect();
        came.insert("objects".to_owned(), objects);
    }
    Ok(())
}
