//! What `quad up` says.

use std::{path::Path, time::Duration};

use kube::Client;
use serde_json::json;

use super::first_look::FirstLook;
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
    /// Says where it is and what to do next. People also see what the controllers make of it; scripts don't wait.
    pub(crate) async fn say(&self, output: Output, client: &Client) -> Result<(), Failure> {
        if output == Output::Json {
            return output::say(&self.json().to_string());
        }
        let style = Style::of_standard_output();
        output::write(self.beginning(style).as_bytes())?;
        let look = if self.has_controllers {
            FirstLook::at(client).await
        } else {
            FirstLook::default()
        };
        output::write(self.end(style, &look).as_bytes())
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
    fn end(&self, style: Style, look: &FirstLook) -> String {
        let lines = look.lines();
        let lines: String = lines
            .iter()
            .map(|(name, is_good, said)| line(style, *is_good, name, said))
            .collect();
        let export = style.bold(&format!("export KUBECONFIG={}", pasted(self.kubeconfig)));
        let end = if self.folder.is_temporary() {
            "Ctrl-C stops it, and all data is gone."
        } else {
            "Ctrl-C stops it; your data stays. `quad up --ephemeral` keeps none."
        };
        let first = if look.is_good() {
            "kubectl apply -f samples/hello.yaml\n       \
             quad get releases          quad tree release hello-web          kubectl get pods -A"
        } else {
            "quad get organizations     quad get environments -A            kubectl get pods -A"
        };
        format!("{lines}\nNext:  {export}\n       {first}\n{end}\n")
    }
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
