//! Containers that exist only in words: they start, serve, and end as their pod's annotations say.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    net::Ipv4Addr,
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{
    Plan, Restart,
    plan::ANNOTATION_PREFIX,
    runtime::{News, PodRun, Report, Reports, Runtime},
};
use crate::clock::{Clock, Sleep, after};

/// What containers do when nobody says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// How long they take to start.
    pub start: Duration,
    /// How long those of jobs take to finish.
    pub job: Duration,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            start: Duration::ZERO,
            job: Duration::from_secs(1),
        }
    }
}

/// A runtime that runs nothing.
pub struct Simulated {
    clock: Arc<dyn Clock>,
    habits: Habits,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    number: u64,
    pending: BTreeMap<(Timestamp, u64), (Report, Reports)>,
    addresses: HashMap<Arc<str>, u32>,
    used: HashSet<u32>,
    last: u32,
}

/// Addresses of pods: 10.244.0.0/14 has room for a quarter of a million.
const NETWORK: u32 = 0x0AF4_0000;
const ADDRESSES: u32 = 1 << 18;

/// How one container behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Behaviour {
    pull_error: Option<Box<str>>,
    start: Duration,
    /// Nothing if it never becomes ready.
    ready: Option<Duration>,
    /// When it ends, and how.
    exit: Option<(Duration, i32)>,
}

/// Why an image cannot be pulled by anybody: no host ends in `.invalid`, which is reserved for that.
fn unresolvable(image: &str) -> Option<String> {
    let host = image.split_once('/')?.0;
    let name = host.split(':').next().unwrap_or(host);
    (name == "invalid" || name.ends_with(".invalid"))
        .then(|| format!("{image}: lookup {name}: no such host"))
}

impl Behaviour {
    /// What the annotations ask of a container at its so-many-th start.
    fn of(plan: &Plan, container: usize, attempt: u32, habits: Habits) -> Self {
        let ask = |name: &str| plan.annotations.get(name).map(|value| &**value);
        let time = |name: &str| ask(name).and_then(duration);
        let is_init = plan
            .containers
            .get(container)
            .is_some_and(|container| container.is_init && !container.is_sidecar);
        let mut behaviour = Self {
            pull_error: ask("pull-error").map(Into::into).or_else(|| {
                let container = plan.containers.get(container)?;
                unresolvable(&container.image).map(Into::into)
            }),
            start: time("start-after").unwrap_or(habits.start),
            ready: match ask("ready-after") {
                Some("never") => None,
                _ => Some(time("ready-after").unwrap_or_default()),
            },
            exit: None,
        };
        if is_init {
            behaviour.exit = Some((Duration::ZERO, 0));
            return behaviour;
        }
        let code = ask("exit-code").and_then(|code| code.parse().ok());
        let exits = time("exit-after").map(|wait| (wait, code.unwrap_or(0)));
        let ends = plan.is_job && plan.restart != Restart::Always;
        behaviour.exit = exits
            .or_else(|| code.map(|code| (Duration::ZERO, code)))
            .or_else(|| ends.then_some((habits.job, 0)));
        let crashes = match ask("crash") {
            Some("true") => true,
            Some(times) => times.parse().is_ok_and(|times: u32| attempt < times),
            None => false,
        };
        if crashes {
            let wait = time("exit-after").unwrap_or_default();
            behaviour.exit = Some((wait, code.filter(|code| *code != 0).unwrap_or(1)));
        }
        behaviour
    }
}

impl Simulated {
    /// A runtime that goes by a clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::with(clock, Habits::default())
    }

    /// A runtime whose containers have habits of their own.
    pub fn with(clock: Arc<dyn Clock>, habits: Habits) -> Self {
        Self {
            clock,
            habits,
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    fn later(&self, wait: Duration, report: Report, reports: &Reports) {
        if wait.is_zero() {
            send(reports, report);
            return;
        }
        let at = after(self.clock.now(), wait);
        let mut state = self.state.lock();
        state.number += 1;
        let number = state.number;
        state
            .pending
            .insert((at, number), (report, reports.clone()));
        drop(state);
        self.changed.notify_one();
    }

    /// What a running container does from here on.
    fn run(
        &self,
        pod: &PodRun,
        container: usize,
        attempt: u32,
        start: Duration,
        reports: &Reports,
    ) {
        let behaviour = Behaviour::of(&pod.plan, container, attempt, self.habits);
        if let Some((wait, code)) = behaviour.exit {
            let reason = if code == 0 { "Completed" } else { "Error" };
            let news = News::Exited { code, reason };
            let ready_first = behaviour.ready.filter(|ready| *ready < wait);
            if let Some(ready) = ready_first {
                self.later(
                    start + ready,
                    pod.report(container, attempt, News::Ready(true)),
                    reports,
                );
            }
            self.later(start + wait, pod.report(container, attempt, news), reports);
        } else if let Some(ready) = behaviour.ready {
            self.later(
                start + ready,
                pod.report(container, attempt, News::Ready(true)),
                reports,
            );
        }
    }
}

/// Whoever listened is gone: then nobody needs to hear it.
fn send(reports: &Reports, report: Report) {
    if let Err(unheard) = reports.send(report) {
        tracing::trace!(report = ?unheard.0, "nobody listens");
    }
}

impl Runtime for Simulated {
    fn version(&self) -> String {
        concat!("simulated://", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn misunderstood(&self, plan: &Plan) -> Vec<String> {
        let mistakes = plan.annotations.iter().filter_map(|(name, value)| {
            let wanted = mistake_in(name, value)?;
            Some(format!(
                "annotation {ANNOTATION_PREFIX}{name} is {value:?} and has no effect: {wanted}"
            ))
        });
        mistakes.collect()
    }

    fn prepare(&self, pod: &PodRun, known: Option<&str>) -> String {
        let mut state = self.state.lock();
        let known = known.and_then(|text| text.parse::<Ipv4Addr>().ok());
        let known = known.map(|address| u32::from(address).wrapping_sub(NETWORK));
        let number = match known.filter(|number| *number < ADDRESSES) {
            Some(number) => number,
            None => loop {
                state.last = state.last % (ADDRESSES - 2) + 1;
                let number = state.last;
                if !state.used.contains(&number) {
                    break number;
                }
            },
        };
        state.used.insert(number);
        state.addresses.insert(pod.uid.clone(), number);
        Ipv4Addr::from(NETWORK + number).to_string()
    }

    fn start(&self, pod: &PodRun, container: usize, attempt: u32, reports: &Reports) {
        let behaviour = Behaviour::of(&pod.plan, container, attempt, self.habits);
        if let Some(error) = &behaviour.pull_error {
            let news = News::PullFailed(error.to_string());
            self.later(
                behaviour.start,
                pod.report(container, attempt, news),
                reports,
            );
            return;
        }
        let started = pod.report(container, attempt, News::Started);
        self.later(behaviour.start, started, reports);
        self.run(pod, container, attempt, behaviour.start, reports);
    }

    fn resume(&self, pod: &PodRun, container: usize, attempt: u32, reports: &Reports) {
        self.run(pod, container, attempt, Duration::ZERO, reports);
    }

    fn stop(&self, pod: &PodRun, grace: Duration, reports: &Reports) {
        let asked = pod.plan.annotations.get("stop-after").map(|text| &**text);
        let wait = asked.and_then(duration).unwrap_or_default().min(grace);
        self.later(wait, pod.report(0, 0, News::PodStopped), reports);
    }

    fn forget(&self, uid: &str) {
        let mut state = self.state.lock();
        if let Some(number) = state.addresses.remove(uid) {
            state.used.remove(&number);
        }
    }

    fn keep_time(&self) -> Sleep<'_> {
        Box::pin(async move {
            loop {
                let changed = self.changed.notified();
                let next = {
                    let mut state = self.state.lock();
                    let now = self.clock.now();
                    while let Some(due) = state
                        .pending
                        .first_entry()
                        .filter(|entry| entry.key().0 <= now)
                    {
                        let (report, reports) = due.remove();
                        send(&reports, report);
                    }
                    state.pending.first_key_value().map(|((at, _), _)| *at)
                };
                let sleep = async {
                    match next {
                        Some(at) => self.clock.sleep_until(at).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = changed => {}
                    () = sleep => {}
                }
            }
        })
    }
}

/// What an annotation should be, if it is something else.
fn mistake_in(name: &str, value: &str) -> Option<&'static str> {
    let is_time = duration(value).is_some();
    let (fits, wanted) = match name {
        "pull-error" => (true, ""),
        "start-after" | "exit-after" | "stop-after" => (is_time, "write a time such as 5s or 2m"),
        "ready-after" => (
            is_time || value == "never",
            "write a time such as 5s, or never",
        ),
        "exit-code" => (value.parse::<i32>().is_ok(), "write a number"),
        "crash" => (
            matches!(value, "true" | "false") || value.parse::<u32>().is_ok(),
            "write \"true\", or how many times",
        ),
        _ => (false, "there is no such wish"),
    };
    (!fits).then_some(wanted)
}

/// `200ms`, `5s`, `2m`, `1h`; nothing if it can't be read.
fn duration(text: &str) -> Option<Duration> {
    let unit = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, unit) = text.split_at(unit);
    let number: f64 = number.parse().ok()?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan(annotations: &[(&str, &str)], is_job: bool) -> Plan {
        let annotations: serde_json::Map<_, _> = annotations
            .iter()
            .map(|(name, value)| (format!("node.quadrille.dev/{name}"), json!(value)))
            .collect();
        let owners = if is_job {
            json!([{ "kind": "Job", "controller": true }])
        } else {
            json!([])
        };
        Plan::read(&json!({
            "metadata": { "annotations": annotations, "ownerReferences": owners },
            "spec": {
                "restartPolicy": if is_job { "Never" } else { "Always" },
                "containers": [{ "name": "main", "image": "x" }],
            },
        }))
    }

    #[test]
    fn images_of_hosts_that_cannot_exist_cannot_be_pulled() {
        for (image, can_be_pulled) in [
            ("registry.invalid/cart:1", false),
            ("registry.invalid:5000/cart:1", false),
            ("registry.example.com/invalid/cart:1", true),
            ("cart:1", true),
        ] {
            assert_eq!(unresolvable(image).is_none(), can_be_pulled, "{image}");
        }
    }

    fn exit(annotations: &[(&str, &str)], is_job: bool, attempt: u32) -> Option<(u64, i32)> {
        let behaviour = Behaviour::of(&plan(annotations, is_job), 0, attempt, Habits::default());
        behaviour.exit.map(|(wait, code)| (wait.as_secs(), code))
    }

    #[test]
    fn containers_run_on_and_those_of_jobs_finish() {
        assert_eq!(exit(&[], false, 0), None);
        assert_eq!(exit(&[], true, 0), Some((1, 0)));
    }

    #[test]
    fn annotations_make_containers_end_or_crash() {
        assert_eq!(
            exit(&[("exit-after", "90s"), ("exit-code", "3")], false, 0),
            Some((90, 3))
        );
        assert_eq!(exit(&[("crash", "true")], true, 5), Some((0, 1)));
        assert_eq!(exit(&[("crash", "2")], false, 1), Some((0, 1)));
        assert_eq!(exit(&[("crash", "2")], false, 2), None);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let runtime = Simulated::new(Arc::new(crate::clock::SystemClock));
        let told = |name: &str, value: &str| runtime.misunderstood(&plan(&[(name, value)], false));
        let fine = [
            ("pull-error", "no such image"),
            ("start-after", "5s"),
            ("ready-after", "never"),
            ("exit-after", "200ms"),
            ("stop-after", "1h"),
            ("exit-code", "-1"),
            ("crash", "true"),
            ("crash", "3"),
        ];
        for (name, value) in fine {
            assert_eq!(told(name, value), Vec::<String>::new(), "{name}: {value}");
        }
        let wrong = [
            ("start-after", "never"),
            ("ready-after", "soon"),
            ("exit-after", "5"),
            ("stop-after", ""),
            ("exit-code", "one"),
            ("crash", "often"),
            ("crush", "true"),
        ];
        for (name, value) in wrong {
            assert_eq!(told(name, value).len(), 1, "{name}: {value}");
        }
        assert_eq!(
            told("ready-after", "soon"),
            [
                "annotation node.quadrille.dev/ready-after is \"soon\" and has no effect: write a time such as 5s, or never"
            ]
        );
    }

    #[test]
    fn a_duration_has_a_number_and_a_unit() {
        assert_eq!(duration("200ms"), Some(Duration::from_millis(200)));
        assert_eq!(duration("1.5m"), Some(Duration::from_secs(90)));
        assert_eq!(duration("5"), None);
        assert_eq!(duration("-5s"), None);
    }
}
