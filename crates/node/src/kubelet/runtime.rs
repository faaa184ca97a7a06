//! What runs containers, as the node sees it.

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;

use super::Plan;
use crate::{clock::Sleep, read::Place};

/// A pod at a runtime.
#[derive(Clone, Debug)]
pub struct PodRun {
    pub(crate) place: Place,
    /// The pod's uid.
    pub uid: Arc<str>,
    /// How it is to be run.
    pub plan: Arc<Plan>,
}

impl PodRun {
    /// The pod's namespace.
    pub fn namespace(&self) -> &str {
        &self.place.namespace
    }

    /// The pod's name.
    pub fn name(&self) -> &str {
        &self.place.name
    }

    /// A report about one of its containers.
    pub fn report(&self, container: usize, attempt: u32, news: News) -> Report {
        Report {
            place: self.place.clone(),
            uid: self.uid.clone(),
            container,
            attempt,
            news,
        }
    }
}

/// What happened to a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Its image can't be had, and why.
    PullFailed(String),
    /// It runs.
    Started,
    /// It serves, or no longer.
    Ready(bool),
    /// It ended.
    Exited {
        /// 0 is well.
        code: i32,
        /// As people read it: `Completed`, `Error`, `OOMKilled`.
        reason: &'static str,
    },
    /// Everything of the pod has ended, since that was asked for.
    PodStopped,
}

/// A report from a runtime.
#[derive(Clone, Debug)]
pub struct Report {
    pub(crate) place: Place,
    pub(crate) uid: Arc<str>,
    pub(crate) container: usize,
    pub(crate) attempt: u32,
    pub(crate) news: News,
}

/// Where a runtime sends its reports.
pub type Reports = mpsc::UnboundedSender<Report>;

/// What runs containers. Calls return at once; what comes of them is reported.
pub trait Runtime: Send + Sync + 'static {
    /// As a node shows it: `name://version`.
    fn version(&self) -> String;

    /// What a pod asks of the runtime that it cannot read, each in words.
    fn misunderstood(&self, _: &Plan) -> Vec<String> {
        Vec::new()
    }

    /// Makes a place for a pod, and gives its address. `known` is the one that it had before this process started.
    fn prepare(&self, pod: &PodRun, known: Option<&str>) -> String;

    /// Gets a container's image and starts it. `attempt` counts its starts from 0.
    fn start(&self, pod: &PodRun, container: usize, attempt: u32, reports: &Reports);

    /// Goes on with a container that was running before this process started.
    fn resume(&self, pod: &PodRun, container: usize, attempt: u32, reports: &Reports);

    /// Ends all containers of a pod; they have so long for it.
    fn stop(&self, pod: &PodRun, grace: Duration, reports: &Reports);

    /// A pod is gone, and with it everything that it had.
    fn forget(&self, uid: &str);

    /// What the runtime has to do by itself, until dropped.
    fn keep_time(&self) -> Sleep<'_>;
}
