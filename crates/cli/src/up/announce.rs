//! What `quad up` says.

use std::{path::Path, time::Duration};

use serde_json::json;

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
    /// Says where it is and what to do next.
    pub(crate) fn say(&self, output: Output) -> Result<(), Failure> {
        match output {
            Output::Text => output::write(self.text(Style::of_standard_output()).as_bytes()),
            Output::Json => output::say(&self.json().to_string()),
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

    fn text(&self, style: Style) -> String {
        let tick = style.green("✔");
        let (data, end) = if self.folder.is_temporary() {
            (
                "in memory".to_owned(),
                "Ctrl-C stops it, and all data is gone.".to_owned(),
            )
        } else {
            (
                shown(self.folder.path()),
                "Ctrl-C stops it; your data stays. `quad up --ephemeral` keeps none.".to_owned(),
            )
        };
        format!(
            "{title}   data {data}\n \
             {tick} API            {url:<32}  {took:.1} s\n \
             {tick} kinds          {kinds} of openchoreo.dev\n\
             {controllers}\
             {pods}\
             \n\
             Next:  {export}\n       \
             kubectl get namespaces\n       \
             kubectl apply -f samples/platform/quadrille.yaml && kubectl get releases -A\n\
             {end}\n",
            title = style.bold(&format!("Quadrille {VERSION}")),
            url = self.url,
            took = self.took.as_secs_f64(),
            kinds = self.kinds,
            controllers = if self.has_controllers {
                format!(" {tick} controllers    releases, data planes\n")
            } else {
                " - controllers    none here: run quad-controller\n".to_owned()
            },
            pods = if self.has_node {
                format!(
                    " {tick} pods           simulated: they start, run and end, and no container does\n"
                )
            } else {
                " - pods           none run here\n".to_owned()
            },
            export = style.bold(&format!("export KUBECONFIG={}", pasted(self.kubeconfig))),
        )
    }
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
