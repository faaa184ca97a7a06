//! `quad history`: what ran where and when, who asked for it and who agreed.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use quadrille_types::{names::EnvironmentName, release_binding::Ran};
use serde_json::{Value, json};

use super::{named::Named, scene::Scene, standing::history};
use crate::{
    age,
    arguments::{Output, TEMPLATE},
    failure::Failure,
    output,
    runtime::block_on,
    table,
};

/// Show what ran where and when, who asked for it and who agreed; the newest first.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad history cart                      in all environments\n  quad history cart --env production     in one",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    named: Named,
    /// Only this environment.
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    environment: Option<String>,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// Something that ran somewhere.
type Entry<'a> = (&'a EnvironmentName, &'a Ran);

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let (cluster, name) = arguments.named.find().await?;
        let scene = Scene::read_any(&cluster, &name).await?;
        let only = match &arguments.environment {
            Some(typed) => Some(scene.environment(typed)?),
            None => None,
        };
        let entries = entries(&scene, only.as_ref());
        if arguments.output == Output::Json {
            let all: Value = entries.iter().map(facts).collect();
            return output::say(&all.to_string());
        }
        if entries.is_empty() {
            output::aside(&format!("Nothing of {} ever ran.", scene.name()));
            return Ok(());
        }
        output::write(text(&entries).as_bytes())
    })
}

/// Everything that ran, the newest first.
fn entries<'a>(scene: &'a Scene, only: Option<&EnvironmentName>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = scene
        .bindings
        .iter()
        // What began in the same second goes back along the pipeline.
        .rev()
        .filter(|binding| only.is_none_or(|only| *only == binding.spec.environment))
        .flat_map(|binding| {
            let ran = history(binding).iter();
            ran.map(|ran| (&binding.spec.environment, ran))
        })
        .collect();
    // Within an environment they are in order already, also where two began in the same second.
    entries.sort_by_key(|(_, ran)| std::cmp::Reverse(moment(ran.since.as_ref())));
    entries
}

fn moment(time: Option<&Time>) -> Option<Timestamp> {
    time.map(|time| time.0)
}

fn text(entries: &[Entry<'_>]) -> String {
    let head = [
        "SINCE",
        "ENVIRONMENT",
        "RELEASE",
        "WAS READY",
        "ASKED BY",
        "APPROVED BY",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|(environment, ran)| {
        let who = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            ago(ran.since.as_ref()),
            environment.to_string(),
            ran.release_name.clone(),
            if ran.ready_at.is_some() { "yes" } else { "no" }.to_owned(),
            who(&ran.requested_by),
            who(&ran.approved_by),
        ]
    }));
    let widths = table::widths(&rows);
    rows.iter()
        .map(|row| table::line(row, &widths, |_, cell| cell.to_owned()))
        .collect()
}

/// How long ago, as people say it.
pub(crate) fn ago(time: Option<&Time>) -> String {
    let since = time.and_then(|time| age::since(&time.0.to_string()));
    since.map_or_else(|| "-".to_owned(), |since| format!("{since} ago"))
}

fn facts((environment, ran): &Entry<'_>) -> Value {
    json!({
        "environment": environment,
        "release": ran.release_name,
        "since": ran.since,
        "readyAt": ran.ready_at,
        "requestedBy": ran.requested_by,
        "approvedBy": ran.approved_by,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::scene::tests::{binding, scene},
        *,
    };

    #[test]
    fn what_ran_is_told_over_all_environments_in_the_order_of_time() {
        let ran = |release: &str, minute: u32| json!({ "releaseName": release, "since": format!("2026-11-16T06:{minute:02}:00Z") });
        let development = json!({ "history": [ran("cart-2", 30), ran("cart-1", 10)] });
        let staging = json!({ "history": [ran("cart-1", 20)] });
        let scene = scene(vec![
            binding("development", "cart-2", &development),
            binding("staging", "cart-1", &staging),
        ]);
        let told = |only: Option<&EnvironmentName>| -> Vec<String> {
            let entries = entries(&scene, only);
            let told = entries.iter();
            told.map(|(place, ran)| format!("{} {place}", ran.release_name))
                .collect()
        };
        assert_eq!(
            told(None),
            ["cart-2 development", "cart-1 staging", "cart-1 development"]
        );
        assert_eq!(told(Some(&"staging".into())), ["cart-1 staging"]);
        let text = text(&entries(&scene, None));
        assert!(text.starts_with("SINCE"), "{text}");
        assert_eq!(text.lines().count(), 4);
    }
}
