//! `quad status`: a component across all environments, drawn as its pipeline.

mod draw;
mod next;
mod stage;

use std::{fmt::Write as _, time::Duration};

use kube::ResourceExt as _;
use quadrille_types::{ReleaseBinding, names::EnvironmentName};
use serde_json::{Value, json};

use self::stage::Stage;
use super::{
    named::{Name, Named},
    scene::{Scene, paths},
};
use crate::{
    arguments::{Output, TEMPLATE},
    cluster::Cluster,
    failure::Failure,
    fields, output,
    runtime::block_on,
    style::Style,
    terminal,
};

/// Show a component across all environments: release, health, address, what is pending and why.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad status cart         where it runs, and what to do next\n  quad status cart -w      go on and show what changes",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    named: Named,
    /// Go on and show what changes.
    #[arg(short, long)]
    watch: bool,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// How often to look.
const OFTEN: Duration = Duration::from_millis(500);

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        let (cluster, name) = arguments.named.find().await?;
        if arguments.watch {
            return follow(&cluster, &name, arguments.output).await;
        }
        let view = View::read(&cluster, &name).await?;
        let text = view.text(Style::of_standard_output(), width());
        output::tell(arguments.output, text.trim_end(), &view.facts())
    })
}

/// Shows it until the user ends it: in place on a terminal, elsewhere once more for each change.
async fn follow(cluster: &Cluster, name: &Name, output: Output) -> Result<(), Failure> {
    let style = Style::of_standard_output();
    let mut told = Value::Null;
    let mut drawn = 0;
    loop {
        let view = View::read(cluster, name).await?;
        let facts = view.facts();
        let is_news = facts != told;
        match output {
            Output::Json if is_news => output::say(&facts.to_string())?,
            // Ages grow although nothing happens.
            Output::Text if style.is_on() => {
                let text = view.text(style, width());
                let mut frame = String::new();
                if drawn > 0 {
                    // Writing to a text cannot fail.
                    let _ = write!(frame, "\u{1b}[{drawn}A");
                }
                drawn = text.lines().count();
                frame.push_str("\r\u{1b}[J");
                frame.push_str(&text);
                output::write(frame.as_bytes())?;
            }
            Output::Text if is_news => {
                let again = if told.is_null() { "" } else { "\n" };
                output::write(format!("{again}{}", view.text(style, None)).as_bytes())?;
            }
            _ => {}
        }
        told = facts;
        tokio::time::sleep(OFTEN).await;
    }
}

/// How wide it may be; nothing where nobody's terminal ends.
fn width() -> Option<usize> {
    terminal::of_standard_output().map(|size| size.columns)
}

/// What is shown.
struct View {
    scene: Scene,
    stages: Vec<Stage>,
}

impl View {
    async fn read(cluster: &Cluster, name: &Name) -> Result<Self, Failure> {
        let scene = Scene::read_any(cluster, name).await?;
        let releases = cluster
            .values_of_component("releases", scene.project(), &scene.name())
            .await?;
        let stages = stages(&scene, &releases)?;
        Ok(Self { scene, stages })
    }

    fn text(&self, style: Style, width: Option<usize>) -> String {
        let scene = &self.scene;
        let written = scene.component.spec.component_type.as_ref();
        let mut text = format!(
            "{}  (project {}, type {})\n",
            style.bold(&scene.name()),
            scene.project(),
            written.map_or_else(
                || scene.older.as_ref().map_or("", |older| older.kind.as_str()),
                |written| written.name.as_str()
            )
        );
        if let Some(words) = scene.trouble() {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{} {words}", style.red("✖"));
        }
        for path in paths(&scene.pipeline) {
            let stages = path.iter().filter_map(|name| self.stage(name));
            text.push('\n');
            text += &draw::pipeline(&stages.collect::<Vec<_>>(), style, width);
        }
        let known = scene.pipeline.environments();
        let others = self
            .stages
            .iter()
            .filter(|stage| !known.contains(&&stage.environment));
        for other in others {
            text.push('\n');
            text += &draw::pipeline(&[other], style, width);
        }
        text += &draw::notes(&self.stages, style);
        let next = next::of(scene);
        if !next.is_empty() {
            let _ = writeln!(text, "\n next: {}", next.join("\n       "));
        }
        text
    }

    fn stage(&self, name: &EnvironmentName) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.environment == *name)
    }

    fn facts(&self) -> Value {
        let scene = &self.scene;
        let written = scene.component.spec.component_type.as_ref();
        json!({
            "component": scene.name(),
            "project": scene.project(),
            "type": written.map(|written| &written.name).or(scene.older.as_ref().map(|older| &older.kind)),
            "trouble": scene.trouble(),
            "environments": self.stages.iter().map(Stage::facts).collect::<Value>(),
            "next": next::of(scene),
        })
    }
}

/// A stage for every environment of the pipeline, and for those where the component is bound all the same.
fn stages(scene: &Scene, releases: &[Value]) -> Result<Vec<Stage>, Failure> {
    let mut names: Vec<&EnvironmentName> = paths(&scene.pipeline).concat();
    names.extend(scene.bindings.iter().map(|bound| &bound.spec.environment));
    let mut stages: Vec<Stage> = Vec::new();
    for name in names {
        if stages.iter().any(|known| known.environment == *name) {
            continue;
        }
        let binding = scene.binding(name)?;
        let of = |binding| rendered(releases, binding);
        let mut stage = Stage::of(name, binding, binding.and_then(of));
        for other in scene.bindings_in(name).skip(1) {
            stage.beside(other, Stage::of(name, Some(other), of(other)));
        }
        stages.push(stage);
    }
    Ok(stages)
}

/// The release that a binding became.
fn rendered<'a>(releases: &'a [Value], binding: &ReleaseBinding) -> Option<&'a Value> {
    let uid = binding.uid();
    let owners = |release: &'a Value| fields::items(&release["metadata"]["ownerReferences"]).iter();
    let is_owned =
        |release: &&'a Value| owners(release).any(|owner| owner["uid"].as_str() == uid.as_deref());
    // Of what belongs to nobody, that of the environment is meant.
    let is_there = |release: &&'a Value| {
        let environment = &release["spec"]["environmentName"];
        owners(release).len() == 0 && *environment == binding.spec.environment.as_str()
    };
    let owned = releases.iter().find(is_owned);
    owned.or_else(|| releases.iter().find(is_there))
}

#[cfg(test)]
mod tests {
    use super::{
        super::scene::tests::{ready, scene},
        *,
    };

    #[test]
    fn everything_is_on_one_screen() {
        let scene = scene(vec![
            ready("development", "cart-2"),
            ready("attic", "cart-1"),
        ]);
        let stages = stages(&scene, &[]).unwrap();
        let text = View { scene, stages }.text(Style::plain(), None);
        let expected = "\
cart  (project shop, type deployment/service)

 development ──► staging ─────────► production
 cart-2          -                  -
 ● Ready         ○ Not deployed     ○ Not deployed
";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("\n attic\n cart-1\n ● Ready\n"), "{text}");
        assert!(
            text.ends_with("\n next: quad promote cart --to staging\n"),
            "{text}"
        );
    }
}
