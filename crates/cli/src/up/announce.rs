//! What `quad up` says.

use std::{path::Path, time::Duration};

use serde_json::json;

use super::{first_look::FirstLook, sample::Outcome};
use crate::{
    arguments::Output,
    data_folder::{DataFolder, pasted, shown},
    failure::Failure,
    output,
    style::Style,
    version::VERSION,
};

/// Everything is up.
pub(crate) struct Ready<'a> {
    pub(crate) url: &'a str,
    pub(crate) folder: &'a DataFolder,
    pub(crate) kubeconfig: &'a Path,
    pub(crate) took: Duration,
    /// How many kinds of ours are installed.
    pub(crate) kinds: usize,
    /// Whether controllers run here too.
    pub(crate) has_controllers: bool,
    /// Whether pods run here, simulated as they are.
    pub(crate) has_node: bool,
}

impl Ready<'_> {
    /// Says to people where it is, at once.
    pub(crate) fn begin(&self, output: Output) -> Result<(), Failure> {
        match output {
            Output::Json => Ok(()),
            Output::Text => {
                let style = Style::of_standard_output();
                output::write(self.beginning(style).as_bytes())
            }
        }
    }

    /// Says what the controllers made of it and what to do next; to scripts, that all is there.
    pub(crate) fn finish(
        &self,
        output: Output,
        look: &FirstLook,
        sample: &[Outcome],
    ) -> Result<(), Failure> {
        match output {
            Output::Json => output::say(&self.json().to_string()),
            Output::Text => {
                let style = Style::of_standard_output();
                output::write(self.end(style, look, sample).as_bytes())
            }
        }
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "ready": true,
            "version": VERSION,
            "url": self.url,
            "kubeconfig": self.kubeconfig,
            "context": quadrille_apiserver::serve::kubeconfig::CONTEXT,
            "dataDir": self.folder.path(),
            "controllers": self.has_controllers,
            "pods": if self.has_node { "simulated" } else { "none" },
            "ephemeral": self.folder.is_temporary(),
            "pid": std::process::id(),
            "startMilliseconds": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// What is known at once.
    fn beginning(&self, style: Style) -> String {
        let data = if self.folder.is_temporary() {
            "in memory".to_owned()
        } else {
            shown(self.folder.path())
        };
        let api = format!("{:<32}  {:.1} s", self.url, self.took.as_secs_f64());
        let controllers = if self.has_controllers {
            format!("{} kinds of openchoreo.dev", self.kinds)
        } else {
            "none here: run quad-controller".to_owned()
        };
        let pods = if self.has_node {
            "simulated: they start, run and end, and no container does"
        } else {
            "none run here"
        };
        [
            format!(
                "{}   data {data}\n",
                style.bold(&format!("Quadrille {VERSION}"))
            ),
            line(style, true, "API", &api),
            line(style, self.has_controllers, "controllers", &controllers),
            line(style, self.has_node, "pods", pods),
        ]
        .concat()
    }

    /// What the controllers saw, and what to do next.
    fn end(&self, style: Style, look: &FirstLook, sample: &[Outcome]) -> String {
        let lines = look.lines();
        let lines: String = lines
            .iter()
            .map(|(name, is_good, said)| line(style, *is_good, name, said))
            .collect();
        let outcomes: String = sample.iter().map(|one| outcome(style, one)).collect();
        let urls = urls(sample);
        let export = style.bold(&format!("export KUBECONFIG={}", pasted(self.kubeconfig)));
        let end = if self.folder.is_temporary() {
            "Ctrl-C stops it, and all data is gone."
        } else {
            "Ctrl-C stops it; your data stays. `quad up --ephemeral` keeps none."
        };
        let first = match sample.first() {
            Some(Outcome { component, .. }) => format!(
                "quad status {component}          quad promote {component} --to staging          kubectl get components"
            ),
            None if look.is_good() => "quad deploy greeter -f samples/greeter\n       \
                 quad status greeter        quad get components                 kubectl get pods -A"
                .to_owned(),
            None => {
                "quad get organizations     quad get environments -A            kubectl get pods -A"
                    .to_owned()
            }
        };
        format!("{lines}{outcomes}{urls}\nNext:  {export}\n       {first}\n{end}\n")
    }
}

/// Where the sample can be reached.
fn urls(sample: &[Outcome]) -> String {
    let urls: Vec<&str> = sample
        .iter()
        .flat_map(|one| &one.urls)
        .map(String::as_str)
        .collect();
    if urls.is_empty() {
        return String::new();
    }
    let urls = urls.join("\n   ");
    format!("\n   {urls}\n   (simulated pods don't answer)\n")
}

/// What became of a component of the sample: trouble is told in lines of its own.
fn outcome(style: Style, outcome: &Outcome) -> String {
    if outcome.is_good {
        return line(style, true, &outcome.component, &outcome.words);
    }
    let mut words = outcome.words.lines();
    let first = words.next().unwrap_or_default();
    let mut text = format!(" {} {:<14} {first}\n", style.red("✖"), outcome.component);
    for more in words {
        text.extend(["                  ", more.trim_start(), "\n"]);
    }
    text
}

/// A line of the first screen.
fn line(style: Style, is_good: bool, name: &str, said: &str) -> String {
    let mark = if is_good {
        style.green("✔")
    } else {
        "-".to_owned()
    };
    format!(" {mark} {name:<14} {said}\n")
}

/// Waits for something that is quick as a rule; says so when it is not.
pub(crate) async fn patiently<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut seconds = 0_u32;
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(Duration::from_secs(1)) => {
                seconds += 1;
                eprintln!("starting … {seconds} s (after a crash the data is checked first)");
            }
        }
    }
}

/// Somebody wants an end.
pub(crate) fn stopping() {
    tracing::info!(target: "quad", "stopping: requests may finish, watches end (again: stop at once)");
}

/// It ended as it should.
pub(crate) fn stopped(folder: &DataFolder) {
    if folder.is_temporary() {
        tracing::info!(target: "quad", "stopped; nothing was kept");
    } else {
        tracing::info!(target: "quad", "stopped; data is in {}", shown(folder.path()));
    }
}

/// It ended because somebody insisted.
pub(crate) fn cut() {
    tracing::warn!(target: "quad", "stopped at once; acknowledged writes are kept");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_of_a_sample_is_told_with_its_cause() {
        let told = Outcome {
            component: "greeter".to_owned(),
            is_good: false,
            words: "greeter-1 is Degraded in development\n    container main: ImagePullBackOff\n  Look closer: x".to_owned(),
            urls: Vec::new(),
        };
        assert_eq!(
            outcome(Style::plain(), &told),
            " ✖ greeter        greeter-1 is Degraded in development\n                  \
             container main: ImagePullBackOff\n                  Look closer: x\n"
        );
    }
}
