//! Brings everything together: watches, workers, the clock, the runtime's reports.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt as _;
use kube::Client;
use quadrille_planes::{Trouble, feed};
use tokio::task::JoinSet;

use crate::{
    Clock, Runtime, Simulated, SystemClock, autoscaler, budget, cron, daemon, deployment,
    endpoints,
    hands::{Hands, Outcome},
    job,
    kinds::Kind,
    kubelet::{self, Kubelet},
    queue::{Key, Task},
    replicas, scheduler, stateful, volumes,
};

/// What runs, and by which clock.
#[derive(Clone)]
pub struct Options {
    /// The name of the node that pods run on.
    pub node: String,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// What runs containers.
    pub runtime: Arc<dyn Runtime>,
    /// How many objects are looked at at once.
    pub workers: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self::simulated(Arc::new(SystemClock))
    }
}

impl Options {
    /// Pods whose containers are simulated.
    pub fn simulated(clock: Arc<dyn Clock>) -> Self {
        Self {
            node: "quadrille".to_owned(),
            runtime: Arc::new(Simulated::new(clock.clone())),
            clock,
            workers: 16,
        }
    }
}

/// Runs workloads until dropped.
pub async fn run(client: Client, options: Options) {
    let (kubelet, mut reports) = Kubelet::new(options.node, options.runtime, options.clock.clone());
    let hands = Arc::new(Hands::new(client.clone(), options.clock, kubelet));
    // Tasks end with this value.
    let mut tasks = JoinSet::new();
    for kind in Kind::ALL {
        tasks.spawn(follow(hands.clone(), client.clone(), *kind));
    }
    let timed = hands.clone();
    tasks.spawn(async move { timed.queue.keep_time(&*timed.clock).await });
    let told = hands.clone();
    tasks.spawn(async move {
        while let Some(report) = reports.recv().await {
            told.kubelet.hear(report, &told.queue);
        }
    });
    let timed = hands.clone();
    tasks.spawn(async move { timed.kubelet.runtime().keep_time().await });
    tasks.spawn(kubelet::present(hands.clone()));
    tasks.spawn(volumes::present(hands.clone()));
    for _ in 0..options.workers {
        tasks.spawn(work(hands.clone()));
    }
    while tasks.join_next().await.is_some() {}
}

/// Keeps what is seen of a kind up to date.
async fn follow(hands: Arc<Hands>, client: Client, kind: Kind) {
    let source = feed::Source::all(client, &kind.resource());
    feed::follow(source, |news| {
        if let feed::News::Failed(trouble) = &news {
            tracing::debug!(kind = kind.name(), %trouble, "the watch failed and is tried again");
        }
        let changes = hands.seen.hear(kind, news);
        for changed in &changes {
            hands.tell(changed);
        }
        if !hands.queue.is_open() && hands.seen.is_complete() {
            hands.queue.open();
        }
    })
    .await;
}

/// Looks at one object after the other.
async fn work(hands: Arc<Hands>) {
    loop {
        let key = hands.queue.next().await;
        // A mistake of ours about one object must not end the work on all others.
        let outcome = AssertUnwindSafe(look(&hands, &key)).catch_unwind().await;
        match &outcome {
            Ok(Ok(())) => {}
            Ok(Err(trouble)) => report(&key, trouble),
            Err(_) => {
                tracing::error!(task = ?key.task, place = ?key.place, "panicked; trying again");
            }
        }
        hands.queue.done(key, !matches!(outcome, Ok(Ok(()))));
    }
}

fn report(key: &Key, trouble: &Trouble) {
    let Key { task, place } = key;
    let (namespace, name) = (&*place.namespace, &*place.name);
    if matches!(
        trouble,
        Trouble::Conflict(_) | Trouble::NotFound(_) | Trouble::AlreadyExists(_)
    ) {
        tracing::debug!(?task, namespace, name, %trouble, "changed meanwhile; looking again");
    } else {
        tracing::info!(?task, namespace, name, %trouble, "failed; trying again");
    }
}

async fn look(hands: &Arc<Hands>, Key { task, place }: &Key) -> Outcome {
    match task {
        Task::Schedule => scheduler::look(hands, place).await,
        Task::Kubelet => kubelet::look(hands, place).await,
        Task::ReplicaSet => replicas::look(hands, Kind::ReplicaSet, place).await,
        Task::ReplicationController => {
            replicas::look(hands, Kind::ReplicationController, place).await
        }
        Task::Deployment => deployment::look(hands, place).await,
        Task::StatefulSet => stateful::look(hands, place).await,
        Task::DaemonSet => daemon::look(hands, place).await,
        Task::Job => job::look(hands, place).await,
        Task::CronJob => cron::look(hands, place).await,
        Task::Endpoints => endpoints::look(hands, place).await,
        Task::Claim => volumes::look_at_claim(hands, place).await,
        Task::Volume => volumes::look_at_volume(hands, place).await,
        Task::Autoscaler => autoscaler::look(hands, place).await,
        Task::Budget => budget::look(hands, place).await,
    }
}
