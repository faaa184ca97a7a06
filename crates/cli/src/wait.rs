//! `quad wait`: until an object is ready, or gone.

use std::time::{Duration, Instant};

use quadrille_types::conditions::ConditionType;
use serde_json::{Value, json};

use crate::{
    arguments::{Output, TEMPLATE},
    failure::Failure,
    fields,
    nearest::nearest,
    object::{Named, Target},
    output, patience,
    progress::Progress,
    runtime::block_on,
};

/// Wait until an object has a condition (Ready, if nothing else is asked for) or is gone.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad wait release cart                      until it is Ready\n  quad wait environment staging --for gone    until it is gone",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    object: Named,
    /// A condition such as `Ready` or `ResourcesApplied`, or `gone`.
    #[arg(long = "for", value_name = "CONDITION", default_value = "Ready")]
    condition: String,
    /// How long to wait: seconds, or 5m.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = patience::parse)]
    timeout: Duration,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// How often to look.
const OFTEN: Duration = Duration::from_millis(200);

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let target = arguments.object.find().await?;
        let Target {
            cluster,
            kind,
            name,
            path,
        } = &target;
        let wanted = wanted(&arguments.condition, kind.is_ours())?;
        let called = kind.called(name);
        let deadline = Instant::now() + arguments.timeout;
        let mut progress = Progress::start();
        loop {
            let words = match (cluster.get(path).await?, &wanted) {
                (None, Wanted::Gone) => break,
                (None, _) => "it does not exist yet".to_owned(),
                (Some(object), Wanted::Gone) => match fields::waits_for(&object) {
                    "" => "it is still there".to_owned(),
                    words => words.to_owned(),
                },
                (Some(object), Wanted::Condition(condition)) => match judge(&object, condition) {
                    Ok(()) => break,
                    Err(words) => words,
                },
            };
            progress.show(&format!("{called}: {words}"));
            if Instant::now() > deadline {
                let what = format!("{called} is not {wanted} yet");
                return Err(Failure::not_yet(what).saying(words).next(format!(
                    "Look closer: quad describe {} {name} -n {}",
                    kind.word(),
                    cluster.namespace,
                )));
            }
            tokio::time::sleep(OFTEN).await;
        }
        progress.clear();
        let facts = json!({ "object": called, "is": wanted.to_string() });
        output::tell(arguments.output, &format!("{called} is {wanted}"), &facts)
    })
}

/// What is waited for.
enum Wanted {
    Gone,
    Condition(String),
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Gone => "gone",
            Self::Condition(condition) => condition,
        })
    }
}

/// What a word means. Our own kinds have certain conditions; nobody should wait for another one.
fn wanted(word: &str, is_ours: bool) -> Result<Wanted, Failure> {
    if word.eq_ignore_ascii_case("gone") {
        return Ok(Wanted::Gone);
    }
    let known = || ConditionType::ALL.iter().map(|known| known.as_str());
    if let Some(known) = known().find(|known| known.eq_ignore_ascii_case(word)) {
        return Ok(Wanted::Condition(known.to_owned()));
    }
    if !is_ours {
        return Ok(Wanted::Condition(word.to_owned()));
    }
    let failure = Failure::usage(format!("there is no condition {word:?}"));
    Err(match nearest(word, known().chain(["gone"])) {
        Some(near) => failure.next(format!("Did you mean {near}?")),
        None => failure.next("See the conditions of an object: quad describe KIND NAME"),
    })
}

/// Whether a condition holds for what is asked for now, or what it says instead.
fn judge(object: &Value, condition: &str) -> Result<(), String> {
    let Some(found) = fields::condition(object, condition) else {
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

    #[test]
    fn a_mistyped_condition_is_not_waited_for() {
        let said = |word, is_ours| wanted(word, is_ours).map(|wanted| wanted.to_string());
        assert_eq!(said("ready", true).unwrap(), "Ready");
        assert_eq!(said("Complete", false).unwrap(), "Complete");
        assert_eq!(said("GONE", true).unwrap(), "gone");
        let refused = said("Redy", true).unwrap_err().to_string();
        assert!(refused.contains("Did you mean Ready?"), "{refused}");
    }
}
