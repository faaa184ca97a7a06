//! Rules as they stand in real custom resource definitions and policies.

use quadrille_expr::{
    Answer, Bindings, COST_LIMIT, Decl, Env, EvalError, Field, Fields, Host, ListKind, Map,
    Question, Type, Value,
};
use serde_json::{Value as Json, json};

fn field(name: &str, ty: Type) -> (String, Field) {
    (
        name.to_owned(),
        Field {
            name: name.to_owned(),
            ty,
        },
    )
}

/// The spec of something like a deployment.
fn spec_type() -> Type {
    let port = Type::object(
        "spec.ports.@idx",
        [field("port", Type::Int), field("protocol", Type::String)],
    );
    let mut dashed = field("min-ready", Type::Int);
    "min__dash__ready".clone_into(&mut dashed.0);
    Type::object(
        "spec",
        [
            field("replicas", Type::Int),
            field("maxReplicas", Type::Int),
            field("image", Type::String),
            field("ports", Type::list(port)),
            field("labels", Type::map(Type::String, Type::String)),
            field("tags", Type::list_of(Type::String, ListKind::Set)),
            field("percent", Type::Dyn),
            field("started", Type::Timestamp),
            dashed,
        ],
    )
}

fn spec() -> Json {
    json!({
        "replicas": 3,
        "maxReplicas": 5,
        "image": "registry.example/app:1.2",
        "ports": [{"port": 80, "protocol": "TCP"}, {"port": 443}],
        "labels": {"app": "web", "tier": "front"},
        "tags": ["a", "b"],
        "percent": "50%",
        "started": "2024-05-06T07:08:09Z",
        "min-ready": 10
    })
}

fn judge(rule: &str, data: &Json) -> Result<(String, u64), String> {
    let env = Env::kubernetes().variable("self", spec_type());
    let program = env.compile(rule).map_err(|error| error.to_string())?;
    let vars = Bindings::new().with("self", Value::json(data, &spec_type()));
    let evaluation = program.evaluate(&vars, COST_LIMIT);
    match evaluation.result {
        Ok(value) => Ok((value.to_string(), evaluation.cost)),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn rules_hold_or_not_at_the_price_that_a_server_asks() {
    for (rule, outcome, cost) in [
        ("self.replicas <= self.maxReplicas", "true", 5),
        ("self.replicas > 3 && self.maxReplicas < 10", "false", 3),
        (
            "has(self.image) && !self.image.endsWith(':latest')",
            "true",
            7,
        ),
        ("has(self.nothing) || true", "true", 0),
        (
            "self.ports.all(p, p.port > 0 && p.port < 65536)",
            "true",
            21,
        ),
        (
            "self.ports.exists(p, has(p.protocol) && p.protocol == 'TCP')",
            "true",
            14,
        ),
        ("self.ports.map(p, p.port) == [80, 443]", "true", 32),
        ("self.labels.exists(k, self.labels[k] == 'web')", "true", 14),
        ("self.tags == ['b', 'a']", "true", 3),
        ("size(self.tags + ['b', 'c']) == 3", "true", 5),
        (
            "type(self.percent) == string && self.percent.endsWith('%')",
            "true",
            7,
        ),
        (
            "self.started < timestamp('2025-01-01T00:00:00Z')",
            "true",
            3,
        ),
        ("self.min__dash__ready == 10", "true", 3),
        ("quantity('1Gi').isGreaterThan(quantity('1G'))", "true", 3),
        ("self.?labels.?team.orValue('none') == 'none'", "true", 3),
        (
            "self.ports.all(i, p, self.ports.indexOf(p) == i)",
            "true",
            23,
        ),
    ] {
        if rule.contains("nothing") {
            assert!(
                judge(rule, &spec())
                    .unwrap_err()
                    .contains("undefined field 'nothing'")
            );
            continue;
        }
        assert_eq!(
            judge(rule, &spec()),
            Ok((outcome.to_owned(), cost)),
            "{rule}"
        );
    }
}

#[test]
fn what_is_absent_fails_with_its_name() {
    let empty = json!({});
    assert_eq!(
        judge("self.replicas > 1", &empty),
        Err("no such key: replicas".to_owned())
    );
    assert_eq!(judge("has(self.replicas)", &empty).unwrap().0, "false");
    assert_eq!(
        judge("self.ports[5].port == 1", &spec()),
        Err("index out of bounds: 5".to_owned())
    );
    assert_eq!(
        judge("self.replicas / 0 == 1", &spec()),
        Err("division by zero".to_owned())
    );
    let null = json!({"replicas": null});
    assert_eq!(judge("has(self.replicas)", &null).unwrap().0, "false");
}

#[test]
fn all_mistakes_are_told_at_once() {
    let report = judge("self.foo == 1 && bar && self.image == 2", &spec()).unwrap_err();
    let expected = "\
ERROR: <input>:1:5: undefined field 'foo'
 | self.foo == 1 && bar && self.image == 2
 | ....^
ERROR: <input>:1:18: undeclared reference to 'bar' (in container '')
 | self.foo == 1 && bar && self.image == 2
 | .................^
ERROR: <input>:1:36: found no matching overload for '_==_' applied to '(string, int)'
 | self.foo == 1 && bar && self.image == 2
 | ...................................^";
    assert_eq!(report, expected);
}

#[test]
fn constants_that_can_only_fail_are_told_apart() {
    let error = Env::kubernetes().compile("int('x') == 1").unwrap_err();
    assert!(error.is_instantiation());
    let error = Env::kubernetes()
        .compile("duration('x') == duration('1s')")
        .unwrap_err();
    assert!(!error.is_instantiation());
    assert!(
        error
            .to_string()
            .starts_with("ERROR: <input>:1:10: invalid duration argument")
    );
}

#[test]
fn estimates_grow_with_the_bounds() {
    let decl = |most: u64| {
        let item = Decl::scalar(Type::String, 2).at_most(100);
        let list = Decl::list(item, ListKind::Plain).at_most(most);
        Decl::object([("items".to_owned(), "items".to_owned(), list)], 2).named("selfType")
    };
    let most = |bound: u64| {
        let decl = decl(bound);
        let env = Env::kubernetes().variable("self", decl.ty());
        let program = env
            .compile("self.items.all(x, x.startsWith('ab'))")
            .unwrap();
        program.estimate(Some(&decl)).max
    };
    // Per element: two for the condition, two for what is collected, one for the prefix.
    assert_eq!(most(10), 53);
    assert_eq!(most(1000), 5003);
    assert_eq!(most(u64::MAX), u64::MAX);
}

struct OnlyReaders;

impl Host for OnlyReaders {
    fn authorize(&self, question: &Question) -> Answer {
        Answer {
            allowed: question.verb == "get" && question.namespace == "shop",
            reason: format!("{} {}", question.verb, question.resource),
            error: None,
        }
    }
}

#[test]
fn questions_about_permission_reach_the_host() {
    let env = Env::kubernetes().variable("authorizer", Question::authorizer_type());
    let vars = Bindings::new()
        .with("authorizer", Question::authorizer())
        .asking(&OnlyReaders);
    let ask = |verb: &str| {
        let check = format!(
            "authorizer.group('apps').resource('deployments').namespace('shop').check('{verb}')"
        );
        let program = env.compile(&format!("{check}.allowed()")).unwrap();
        let evaluation = program.evaluate(&vars, COST_LIMIT);
        (evaluation.result.unwrap().to_string(), evaluation.cost)
    };
    assert_eq!(ask("get"), ("true".to_owned(), 350_005));
    assert_eq!(ask("delete"), ("false".to_owned(), 350_005));
}

/// Variables of a policy: each an expression, computed when it is first looked at.
#[derive(Debug)]
struct Computed {
    asked: std::sync::Mutex<Vec<String>>,
}

impl Fields for Computed {
    fn field<'a>(&'a self, name: &str) -> Option<Result<Value<'a>, EvalError>> {
        self.asked.lock().expect("one thread").push(name.to_owned());
        match name {
            "total" => Some(Ok(Value::Int(12))),
            "broken" => Some(Err(EvalError::new("division by zero"))),
            _ => None,
        }
    }
}

#[test]
fn variables_are_computed_only_when_they_are_needed() {
    let variables = Type::object(
        "variables",
        [field("total", Type::Int), field("broken", Type::Int)],
    );
    let env = Env::kubernetes()
        .variable("variables", variables)
        .variable("authorizer.requestResource", Type::Bool);
    let computed = Computed {
        asked: std::sync::Mutex::new(Vec::new()),
    };
    let vars = Bindings::new()
        .with("variables", Value::Map(Map::Lazy(&computed)))
        .with("authorizer.requestResource", true);
    let run = |text: &str| {
        let program = env.compile(text).unwrap();
        let result = program.evaluate(&vars, COST_LIMIT).result;
        result.map_or_else(|error| error.to_string(), |value| value.to_string())
    };
    assert_eq!(run("variables.total > 10 || variables.broken > 1"), "true");
    assert_eq!(*computed.asked.lock().unwrap(), ["total"]);
    assert_eq!(run("variables.broken > 1"), "division by zero");
    assert_eq!(run("authorizer.requestResource"), "true");
}

#[test]
fn functions_of_ones_own_take_part() {
    let env = Env::kubernetes().variable("n", Type::Int).function(
        "double_of",
        &["double_of_int: (int) -> int"],
        |_, args| match args {
            [Value::Int(number)] => Ok(Value::Int(number * 2)),
            _ => Err(quadrille_expr::EvalError::new("what is this?")),
        },
    );
    let program = env.compile("double_of(n) + 1").unwrap();
    let evaluation = program.evaluate(&Bindings::new().with("n", 20), COST_LIMIT);
    assert_eq!(evaluation.result.unwrap().to_string(), "41");
    assert!(program.uses("n") && !program.uses("m"));
    assert!(
        env.compile("double_of('a')")
            .unwrap_err()
            .to_string()
            .contains("no matching overload")
    );
}

#[test]
fn programs_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<quadrille_expr::Program>();
    shared::<Env>();
    shared::<Value<'static>>();
}
