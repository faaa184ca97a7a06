//! One plane: every call to it goes through here.
//!
//! ```text
//!  call ──► breaker ──► limiter ──► the work itself, within its deadline ──► Trouble or value
//!              ▲            ▲                      │
//!              └────────────┴── how it went ◄──────┴──► state, for conditions
//! ```
//! It does not decide what is sent. A watch is not a call: open it on [`Plane::client`], and tell what it sees by
//! [`Plane::heard`] and [`Plane::failed`]; a live watch is the best probe there is.

mod state;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use kube::Client;
use parking_lot::Mutex;
pub use state::{PlaneState, Probe};
use tokio::{sync::watch, time::Instant};

use crate::{
    breaker::{Breaker, BreakerSettings, Fault, Pass},
    kinds::{Kinds, Served},
    limit::{Limiter, Outcome, Pace},
    planes::Connected,
    trouble::Trouble,
};

/// Which `DataPlane` object it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaneName {
    /// The namespace of the object.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
}

impl fmt::Display for PlaneName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.namespace, self.name)
    }
}

/// How a plane is treated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// When to leave it alone.
    pub breaker: BreakerSettings,
    /// How many calls it gets at once, to begin with.
    pub pace: Pace,
    /// How long a probe may take.
    pub probe_deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            breaker: BreakerSettings::default(),
            pace: Pace::default(),
            probe_deadline: Duration::from_secs(10),
        }
    }
}

/// What a call does to the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// It only looks.
    Read,
    /// It may change something: without an answer, nobody knows whether it did.
    Write,
}

/// One plane; clones are the same plane.
#[derive(Clone)]
pub struct Plane {
    inner: Arc<Inner>,
}

struct Inner {
    name: PlaneName,
    connected: Arc<Connected>,
    settings: Settings,
    breaker: Mutex<Breaker>,
    limiter: Limiter,
    state: watch::Sender<PlaneState>,
}

impl Plane {
    /// A plane that nothing is known about yet.
    pub fn new(name: PlaneName, connected: Arc<Connected>, settings: Settings) -> Self {
        Self {
            inner: Arc::new(Inner {
                name,
                connected,
                settings,
                breaker: Mutex::new(Breaker::new(settings.breaker)),
                limiter: Limiter::new(settings.pace),
                state: watch::Sender::new(PlaneState::Unknown),
            }),
        }
    }

    /// Which plane it is.
    pub fn name(&self) -> &PlaneName {
        &self.inner.name
    }

    /// The plane's client, for work inside [`Self::call`] and for watches.
    pub fn client(&self) -> Client {
        self.inner.connected.client()
    }

    /// Whether another plane is reached by the same connection, and so is the same cluster. One that is reached by
    /// other credentials may be the same nevertheless.
    pub fn is_same_cluster(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner.connected, &other.inner.connected)
    }

    /// The kinds that the plane serves.
    pub fn kinds(&self) -> &Kinds {
        self.inner.connected.kinds()
    }

    /// How the plane is doing, now and whenever it changes.
    pub fn state(&self) -> watch::Receiver<PlaneState> {
        self.inner.state.subscribe()
    }

    /// How many calls may go at once now.
    pub fn limit(&self) -> usize {
        self.inner.limiter.limit()
    }

    /// Does some work on the plane: at most this one request or a few that belong together. The deadline counts
    /// from now, so that whoever may write until a certain time can tell now whether there is enough of it left.
    pub async fn call<T, E: Into<Trouble>>(
        &self,
        call: Call,
        deadline: Duration,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Trouble> {
        let ends = Instant::now() + deadline;
        let pass = self.admit()?;
        let Ok(permit) = tokio::time::timeout_at(ends, self.inner.limiter.acquire()).await else {
            return Err(Trouble::Crowded(deadline));
        };
        // Much may have happened while we stood in line.
        let pass = match pass.pass {
            Some(Pass::Probe) => pass,
            _ => self.admit()?,
        };
        let begun = Instant::now();
        let result = match tokio::time::timeout_at(ends, work).await {
            Ok(result) => result.map_err(Into::into),
            Err(_) => Err(Trouble::Deadline {
                after: deadline,
                writes: call == Call::Write,
            }),
        };
        permit.finish(outcome(result.as_ref().err(), begun.elapsed()));
        if let Err(trouble) = &result {
            let (plane, reason) = (&self.inner.name, trouble.reason());
            tracing::debug!(%plane, ?call, reason, "a call failed");
        }
        pass.tell(result.as_ref().err());
        result
    }

    /// Finds a kind; the plane is asked only where it must be.
    pub async fn resolve(
        &self,
        deadline: Duration,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Result<Served, Trouble> {
        if let Some(served) = self.kinds().known(group, version, kind) {
            return Ok(served);
        }
        let work = self.kinds().resolve(group, version, kind);
        self.call(Call::Read, deadline, work).await
    }

    /// Finds a kind in any version that the plane serves now, this one first, whatever it served before.
    pub async fn resolve_anew(
        &self,
        deadline: Duration,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Result<Served, Trouble> {
        let work = self.kinds().resolve_anew(group, version, kind);
        self.call(Call::Read, deadline, work).await
    }

    /// Asks the plane for its version, past all calls that wait.
    pub async fn probe(&self) -> Result<Probe, Trouble> {
        let pass = self.admit()?;
        let (deadline, client) = (self.inner.settings.probe_deadline, self.client());
        let begun = Instant::now();
        let result = match tokio::time::timeout(deadline, client.apiserver_version()).await {
            Ok(Ok(info)) => Ok(Probe::new(&info.git_version, begun.elapsed())),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(Trouble::Deadline {
                after: deadline,
                writes: false,
            }),
        };
        pass.tell(result.as_ref().err());
        if let Ok(probe) = &result {
            self.inner.show(PlaneState::Reachable(Some(probe.clone())));
        }
        result
    }

    /// A watch of the plane saw something: it is alive.
    pub fn heard(&self) {
        self.inner.learn(Pass::Normal, None);
    }

    /// A watch of the plane failed.
    pub fn failed(&self, trouble: &Trouble) {
        self.inner.learn(Pass::Normal, Some(trouble));
    }

    fn admit(&self) -> Result<Admitted<'_>, Trouble> {
        let admitted = self.inner.breaker.lock().admit(Instant::now());
        let pass = admitted.map_err(Trouble::Paused)?;
        let inner = &*self.inner;
        Ok(Admitted {
            inner,
            pass: Some(pass),
        })
    }
}

impl Inner {
    /// Tells the breaker how it went, and shows what that means for the plane.
    fn learn(&self, pass: Pass, trouble: Option<&Trouble>) {
        let fault = trouble.filter(|trouble| trouble.is_about_plane());
        let is_answered = trouble.is_none_or(|trouble| !trouble.is_unsent());
        let is_closed = {
            let mut breaker = self.breaker.lock();
            match fault {
                Some(trouble) => {
                    let fault = if trouble.is_about_credentials() {
                        Fault::Credentials
                    } else {
                        Fault::Plane
                    };
                    breaker.failed(pass, fault, Instant::now(), rand::random());
                }
                None if is_answered => breaker.succeeded(),
                None => breaker.abandoned(pass, Instant::now()),
            }
            breaker.is_closed()
        };
        match fault {
            Some(trouble) if !is_closed => self.show(PlaneState::troubled(trouble)),
            None if is_answered => self.show(PlaneState::Reachable(None)),
            _ => {}
        }
    }

    /// Shows a state where it says something new.
    fn show(&self, next: PlaneState) {
        self.state.send_if_modified(|state| {
            let next = state.next(next);
            let is_new = *state != next;
            *state = next;
            is_new
        });
    }
}

/// Leave to call, which is given back when the call is dropped half-way.
struct Admitted<'a> {
    inner: &'a Inner,
    pass: Option<Pass>,
}

impl Admitted<'_> {
    fn tell(mut self, trouble: Option<&Trouble>) {
        if let Some(pass) = self.pass.take() {
            self.inner.learn(pass, trouble);
        }
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        if let Some(pass) = self.pass.take() {
            self.inner.breaker.lock().abandoned(pass, Instant::now());
        }
    }
}

/// What a call means for the pace.
fn outcome(trouble: Option<&Trouble>, latency: Duration) -> Outcome {
    match trouble {
        Some(trouble @ Trouble::Throttled(_)) => Outcome::Throttled {
            retry_after: trouble.retry_after(),
        },
        Some(trouble @ Trouble::ServerFault(status)) if status.code == 503 => Outcome::Throttled {
            retry_after: trouble.retry_after(),
        },
        Some(trouble) if trouble.is_about_plane() => Outcome::Fault,
        _ => Outcome::Done { latency },
    }
}
