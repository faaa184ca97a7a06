//! The `DataPlane` controller: a way to every plane, kept open, and told in its status.
//!
//! A task per plane follows its object, the Secrets that it names and the plane's own state. Whatever happens to
//! one plane stays in its task.

mod secrets;
mod status;
mod task;

use std::{collections::HashMap, sync::Arc};

use quadrille_engine::{Fence, Marks};
use quadrille_objects::live::Lens;
use quadrille_planes::{
    PlaneName, Planes, Settings,
    feed::{self, News},
};
use quadrille_types::{DataPlane, annotations, labels::tracking};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use crate::{chain, key::Key, platform, releases::Context};

/// What every plane's task needs.
pub(crate) struct Surroundings {
    pub(crate) context: Arc<Context>,
    pub(crate) planes: Planes,
    pub(crate) fence: Fence,
    pub(crate) settings: Settings,
}

impl Surroundings {
    /// How objects of ours are told from others, on every plane.
    pub(crate) fn marks() -> Marks {
        Marks {
            lens: Lens {
                owner_label: tracking::RELEASE_UID,
                digest_annotation: annotations::APPLIED_DIGEST,
                manager: tracking::RELEASE_CONTROLLER,
            },
            selector: format!("{}={}", tracking::MANAGED_BY, tracking::RELEASE_CONTROLLER),
            name_labels: [tracking::RELEASE_NAMESPACE, tracking::RELEASE_NAME],
        }
    }
}

/// A plane's task.
struct Running {
    object: watch::Sender<Arc<DataPlane>>,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Works for ever.
pub(crate) async fn work(surroundings: Arc<Surroundings>) {
    let source = surroundings.context.source::<DataPlane>();
    let (told, mut news) = mpsc::unbounded_channel();
    let following = feed::follow(source, move |one| {
        // The other end lives as long as this future.
        let _ = told.send(one);
    });
    let hearing = async {
        let mut tasks = Tasks {
            surroundings,
            running: HashMap::new(),
        };
        while let Some(one) = news.recv().await {
            tasks.hear(one);
        }
    };
    tokio::join!(following, hearing);
}

struct Tasks {
    surroundings: Arc<Surroundings>,
    running: HashMap<Key, Running>,
}

impl Tasks {
    fn hear(&mut self, news: News) {
        let context = Arc::clone(&self.surroundings.context);
        let heard = platform::hear(&context, |shelves| &mut shelves.planes, news);
        chain::platform_changed(&context, &heard, chain::wake::plane);
        for key in &heard.changed {
            let plane = context.world.look().shelves.planes.get(key).cloned();
            if let Some(plane) = plane {
                self.put(key, plane);
            }
        }
        for key in &heard.gone {
            self.lose(key);
        }
        if heard.is_complete_now {
            context.everything_changed();
        }
    }

    fn put(&mut self, key: &Key, plane: Arc<DataPlane>) {
        let is_same =
            |running: &&mut Running| running.object.borrow().metadata.uid == plane.metadata.uid;
        if let Some(running) = self.running.get_mut(key).filter(is_same) {
            running.object.send_replace(plane);
            return;
        }
        let (sender, receiver) = watch::channel(plane);
        let work = task::run(Arc::clone(&self.surroundings), name_of(key), receiver);
        let running = Running {
            object: sender,
            task: tokio::spawn(work),
        };
        self.running.insert(key.clone(), running);
    }

    fn lose(&mut self, key: &Key) {
        self.running.remove(key);
        let (context, name) = (&self.surroundings.context, name_of(key));
        context.world.look().planes.remove(&name);
        context.plane_changed(&name);
    }
}

fn name_of(key: &Key) -> PlaneName {
    PlaneName {
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
    }
}
