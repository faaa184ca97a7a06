//! `quad wait`: until an object is ready, or gone.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{
    arguments::TEMPLATE,
    failure::Failure,
    object::{Named, Target},
    output,
    runtime::block_on,
};

/// Wait until an object has a condition (Ready, if nothing else is asked for) or is gone.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad wait release cart                     until it is Ready\n  quad wait environment staging --for gone    until it is gone",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    object: Named,
    /// A condition such as `Ready` or `ResourcesApplied`, or `gone`.
    #[arg(long = "for", value_name = "CONDITION", default_value = "Ready")]
    condition: String,
    /// How long to wait, in seconds.
    #[arg(long, default_value_t = 300)]
    timeout: u64,
}

/// How often to look.
const OFTEN: Duration = Duration::from_millis(200);

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let Target {
            cluster,
            kind,
            path,
        } = arguments.object.find().await?;
        let name = &arguments.object.name;
        let called = kind.called(name);
        let is_end = arguments.condition.eq_ignore_ascii_case("gone");
        let deadline = Instant::now() + Duration::from_secs(arguments.timeout);
        let mut said = String::new();
        loop {
            let object = cluster.get(&path).await?;
            let words = match &object {
                None if is_end => return output::say(&format!("{called} is gone")),
                None => "it does not exist yet".to_owned(),
                Some(_) if is_end => "it is still there".to_owned(),
                Some(object) => match judge(object, &arguments.condition) {
                    Ok(()) => {
                        return output::say(&format!("{called} is {}", arguments.condition));
                    }
                    Err(words) => words,
                },
            };
            if words != said {
                output::aside(&format!("  {called}: {words}"));
                said = words;
            }
            if Instant::now() > deadline {
                let what = format!("{called} is not {} yet", arguments.condition);
                return Err(Failure::not_yet(what).next(said).next(format!(
                    "Look closer: quad describe {} {name}",
                    kind.kind().to_lowercase(),
                )));
            }
            tokio::time::sleep(OFTEN).await;
        }
    })
}

/// Whether a condition holds for what is asked for now, or what it says instead.
fn judge(object: &Value, condition: &str) -> Result<(), String> {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let of_type = |one: &&Value| {
        let name = one["type"].as_str().unwrap_or_default();
        name.eq_ignore_ascii_case(condition)
    };
    let Some(found) = conditions.find(of_type) else {
        return Err(format!("nothing is said about {condition} yet"));
    };
    let generation = &object["metadata"]["generation"];
    let is_stale =
        !found["observedGeneration"].is_null() && found["observedGeneration"] != *generation;
    if is_stale {
        return Err("its last change was not looked at yet".to_owned());
    }
    if found["status"] == "True" {
        return Ok(());
    }
    Err(found["message"].as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_condition_of_an_older_generation_does_not_count() {
        let object = |generation: i64, status: &str| {
            json!({
                "metadata": { "generation": 2 },
                "status": { "conditions": [{
                    "type": "Ready", "status": status, "message": "waits", "observedGeneration": generation,
                }]},
            })
        };
        assert_eq!(judge(&object(2, "True"), "ready"), Ok(()));
        assert_eq!(judge(&object(2, "False"), "Ready"), Err("waits".to_owned()));
        assert!(judge(&object(1, "True"), "Ready").is_err());
        assert!(judge(&object(2, "True"), "Synced").is_err());
    }
}
