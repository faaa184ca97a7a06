//! What is known of a running pod, and what follows from it: which containers to start, and when to look again.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    Restart,
    runtime::{News, PodRun},
};
use crate::{
    clock::after,
    read::{int, list, text, time},
};

/// The first pause before a container is started again, and the longest.
const FIRST_BACKOFF: Duration = Duration::from_secs(10);
const LONGEST_BACKOFF: Duration = Duration::from_mins(5);
/// A container that ran for so long is not taken for one that crashes.
const FORGIVEN: Duration = Duration::from_mins(10);
/// How long a failed pull is shown as such before it is shown as put off.
const PULL_SHOWN: Duration = Duration::from_secs(2);

/// How a container ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    pub(super) code: i32,
    pub(super) reason: Arc<str>,
    pub(super) started: Timestamp,
    pub(super) finished: Timestamp,
}

/// What a container does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Nothing yet.
    Waiting,
    /// The runtime was asked to start it.
    Starting,
    /// Its image could not be had.
    PullFailed {
        at: Timestamp,
        why: Arc<str>,
    },
    Running {
        since: Timestamp,
        is_ready: bool,
    },
    Exited(Exit),
}

/// What is known of a container.
#[derive(Clone, Debug)]
pub(super) struct ContainerFacts {
    pub(super) doing: Doing,
    pub(super) last: Option<Exit>,
    pub(super) restarts: u32,
    /// Crashes, or failed pulls, in a row.
    pub(super) failures: u32,
    /// Why its image could not be had the last time, until it can be.
    pub(super) unpulled: Option<Arc<str>>,
    /// Starts that the runtime was asked for.
    attempts: u32,
}

/// Whether a pod is being stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopping {
    No,
    Asked,
    Done,
}

/// A truth and since when it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Since {
    pub(super) is_so: bool,
    pub(super) at: Timestamp,
}

/// What is known of a pod.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) pod: PodRun,
    pub(super) ip: Box<str>,
    pub(super) started: Timestamp,
    pub(super) containers: Box<[ContainerFacts]>,
    pub(super) stopping: Stopping,
    /// Since when it is initialized, its containers are ready, and it is ready.
    pub(super) since: [Option<Since>; 2],
    /// The digest of the status that was written last.
    pub(super) told: u64,
    /// What it can't start without, and is not there.
    pub(super) missing: Option<Box<str>>,
}

impl Facts {
    /// A pod that is new here.
    pub(super) fn new(pod: PodRun, ip: String, now: Timestamp) -> Self {
        let container = ContainerFacts {
            doing: Doing::Waiting,
            last: None,
            restarts: 0,
            failures: 0,
            unpulled: None,
            attempts: 0,
        };
        Self {
            containers: vec![container; pod.plan.containers.len()].into(),
            pod,
            ip: ip.into(),
            started: now,
            stopping: Stopping::No,
            since: [None; 2],
            told: 0,
            missing: None,
        }
    }

    /// A pod that was here before this process started, as its status remembers it.
    pub(super) fn remembered(pod: PodRun, ip: String, status: &Value, now: Timestamp) -> Self {
        let mut facts = Self::new(pod, ip, time(&status["startTime"]).unwrap_or(now));
        let plan = facts.pod.plan.clone();
        for (known, container) in facts.containers.iter_mut().zip(&plan.containers) {
            let field = if container.is_init {
                "initContainerStatuses"
            } else {
                "containerStatuses"
            };
            let told = list(&status[field]);
            let Some(told) = told
                .iter()
                .find(|told| text(&told["name"]) == &*container.name)
            else {
                continue;
            };
            known.restarts = u32::try_from(int(&told["restartCount"])).unwrap_or(0);
            known.failures = known.restarts;
            known.attempts = known.restarts;
            known.last = exit(&told["lastState"]["terminated"]);
            if let Some(since) = time(&told["state"]["running"]["startedAt"]) {
                known.attempts += 1;
                let is_ready = told["ready"] == true;
                known.doing = Doing::Running { since, is_ready };
            } else if let Some(exit) = exit(&told["state"]["terminated"]) {
                known.doing = Doing::Exited(exit);
            } else if let Some(last) = known.last.clone() {
                known.doing = Doing::Exited(last);
            }
        }
        facts
    }

    /// A pod that was here before this process started and is known to run well: nothing of it is to be told.
    pub(super) fn well(pod: PodRun, ip: String, since: Timestamp) -> Self {
        let mut facts = Self::new(pod, ip, since);
        for known in &mut facts.containers {
            known.attempts = 1;
            known.doing = Doing::Running {
                since,
                is_ready: true,
            };
        }
        let well = Since {
            is_so: true,
            at: since,
        };
        facts.since = [Some(well); 2];
        facts
    }

    /// Containers that run, with the number of their start: a runtime goes on with them.
    pub(super) fn running(&self) -> Vec<(usize, u32)> {
        let numbered = self.containers.iter().enumerate();
        numbered
            .filter(|(_, container)| matches!(container.doing, Doing::Running { .. }))
            .map(|(at, container)| (at, container.attempts.saturating_sub(1)))
            .collect()
    }

    /// Takes in what a runtime reports.
    pub(super) fn hear(&mut self, container: usize, attempt: u32, news: News, now: Timestamp) {
        if news == News::PodStopped {
            self.stopping = Stopping::Done;
            return;
        }
        let Some(known) = self.containers.get_mut(container) else {
            return;
        };
        // A report about an earlier start says nothing about this one.
        if known.attempts != attempt + 1 {
            return;
        }
        match (news, &mut known.doing) {
            (News::Started, Doing::Starting) => {
                known.unpulled = None;
                known.doing = Doing::Running {
                    since: now,
                    is_ready: false,
                };
            }
            (News::PullFailed(why), Doing::Starting) => {
                let why: Arc<str> = why.into();
                known.failures += 1;
                known.unpulled = Some(Arc::clone(&why));
                known.doing = Doing::PullFailed { at: now, why };
            }
            (News::Ready(ready), Doing::Running { is_ready, .. }) => *is_ready = ready,
            (News::Exited { code, reason }, Doing::Running { since, .. }) => {
                let started = *since;
                if now >= after(started, FORGIVEN) {
                    known.failures = 0;
                }
                known.failures += 1;
                known.doing = Doing::Exited(Exit {
                    code,
                    reason: reason.into(),
                    started,
                    finished: now,
                });
            }
            _ => {}
        }
    }

    /// Whether a container that ended is started again.
    pub(super) fn restarts(&self, at: usize) -> bool {
        let container = &self.pod.plan.containers[at];
        let Doing::Exited(exit) = &self.containers[at].doing else {
            return false;
        };
        if container.is_sidecar {
            return true;
        }
        match self.pod.plan.restart {
            Restart::Never => false,
            Restart::Always if !container.is_init => true,
            _ => exit.code != 0,
        }
    }

    /// When a container is started again, if it waits for that.
    pub(super) fn restart_at(&self, at: usize) -> Option<Timestamp> {
        let known = &self.containers[at];
        match &known.doing {
            Doing::Exited(exit) if self.restarts(at) => Some(match known.failures {
                0 | 1 => exit.finished,
                failures => after(exit.finished, backoff(failures - 2)),
            }),
            Doing::PullFailed { at, .. } => {
                Some(after(*at, backoff(known.failures.saturating_sub(1))))
            }
            _ => None,
        }
    }

    /// The pause that a container is in, if any.
    pub(super) fn pause(&self, at: usize) -> Duration {
        let failures = self.containers[at].failures;
        backoff(failures.saturating_sub(2))
    }

    /// The containers to start now, and when to look again. They count as starting from here on.
    pub(super) fn step(&mut self, now: Timestamp) -> (Vec<(usize, u32)>, Option<Timestamp>) {
        let mut starts = Vec::new();
        let mut wake: Option<Timestamp> = None;
        let mut later = |at: Timestamp| wake = Some(wake.map_or(at, |known| known.min(at)));
        for at in 0..self.containers.len() {
            let container = &self.pod.plan.containers[at];
            let (is_init, is_sidecar) = (container.is_init, container.is_sidecar);
            let due = match &self.containers[at].doing {
                Doing::Waiting => Some(now),
                Doing::Exited(_) | Doing::PullFailed { .. } => self.restart_at(at),
                Doing::Starting | Doing::Running { .. } => None,
            };
            if let Doing::PullFailed { at: failed, .. } = &self.containers[at].doing {
                let turns = after(*failed, PULL_SHOWN);
                if turns > now {
                    later(turns);
                }
            }
            match due {
                Some(due) if due <= now => {
                    let known = &mut self.containers[at];
                    if let Doing::Exited(exit) = &known.doing {
                        known.last = Some(exit.clone());
                        known.restarts += 1;
                    }
                    known.doing = Doing::Starting;
                    starts.push((at, known.attempts));
                    known.attempts += 1;
                }
                Some(due) => later(due),
                None => {}
            }
            let is_passed = match &self.containers[at].doing {
                Doing::Exited(exit) => exit.code == 0 && !is_sidecar,
                Doing::Running { .. } => is_sidecar,
                _ => false,
            };
            if is_init && !is_passed {
                break;
            }
        }
        (starts, wake)
    }

    /// Whether all init containers are done, or started where they stay.
    pub(super) fn is_initialized(&self) -> bool {
        let both = self.pod.plan.containers.iter().zip(&self.containers);
        both.filter(|(container, _)| container.is_init)
            .all(|(container, known)| match &known.doing {
                Doing::Exited(exit) => exit.code == 0 || container.is_sidecar,
                Doing::Running { .. } => container.is_sidecar,
                _ => container.is_sidecar && known.restarts > 0,
            })
    }

    /// Whether a failed pull is shown as put off by now.
    pub(super) fn is_put_off(at: Timestamp, now: Timestamp) -> bool {
        now >= after(at, PULL_SHOWN)
    }
}

fn backoff(times: u32) -> Duration {
    (FIRST_BACKOFF * 2_u32.saturating_pow(times.min(8))).min(LONGEST_BACKOFF)
}

fn exit(state: &Value) -> Option<Exit> {
    Some(Exit {
        code: i32::try_from(state["exitCode"].as_i64()?).unwrap_or(1),
        reason: text(&state["reason"]).into(),
        started: time(&state["startedAt"]).unwrap_or_default(),
        finished: time(&state["finishedAt"]).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
