//! A running `quad up` that ends with the test.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::quad::command;

/// No test waits longer than this for something that should happen.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) struct Instance {
    child: Child,
    pub(crate) ready: Value,
    log: PathBuf,
}

impl Instance {
    /// Starts `quad up -o json --port 0` with more arguments and waits until it says that it is ready.
    pub(crate) fn start(home: &Path, arguments: &[&str]) -> Self {
        Self::begin(
            home,
            command(home).args(["up", "-o", "json"]).args(arguments),
        )
    }

    /// The same on nothing, with everything in the log that we ever write there.
    pub(crate) fn start_loud(home: &Path) -> Self {
        let rooms = "apiserver controllers engine planes render store node objects template cli";
        let ours: Vec<String> = rooms
            .split(' ')
            .map(|room| format!("quadrille_{room}=trace"))
            .collect();
        let mut command = command(home);
        command
            .env("RUST_LOG", format!("info,quad=trace,{}", ours.join(",")))
            .args(["up", "-o", "json", "--ephemeral", "-v", "-v"]);
        Self::begin(home, &mut command)
    }

    fn begin(home: &Path, command: &mut Command) -> Self {
        let log = home.join("quad.log");
        let mut child = command
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(lines.next()));
        let Ok(Some(Ok(line))) = receiver.recv_timeout(DEADLINE) else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("not ready: {}", fs::read_to_string(&log).unwrap());
        };
        Self {
            child,
            ready: serde_json::from_str(&line).unwrap(),
            log,
        }
    }

    /// Starts on a folder `data` in the home.
    pub(crate) fn start_on_data(home: &Path) -> Self {
        Self::start(home, &["--data-dir", home.join("data").to_str().unwrap()])
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.ready[field].as_str().unwrap()
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        PathBuf::from(self.text("kubeconfig"))
    }

    /// What it said on standard error.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < DEADLINE, "still runs: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// A client with the written kubeconfig.
    pub(crate) async fn client(&self) -> kube::Client {
        let kubeconfig = kube::config::Kubeconfig::read_from(self.kubeconfig()).unwrap();
        let config = kube::Config::from_custom_kubeconfig(
            kubeconfig,
            &kube::config::KubeConfigOptions::default(),
        )
        .await
        .unwrap();
        kube::Client::try_from(config).unwrap()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
