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
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use crate::{releases, releases::Context};

/// What every plane's task needs.
pub(crate) struct Surroundings {
    pub(crate) context: Arc<Context>,
    pub(crate) planes: Planes,
    pub(crate) fence: Fence,
    pub(crate) settings: Settings,
}

impl Surroundings {
    /// How objects of ours are told from others, on every plane.
    fn marks() -> Marks {
        Marks {
            lens: Lens {
                owner_label: tracking::RELEASE_UID,
                digest_annotation: annotations::APPLIED_DIGEST,
                manager: tracking::RELEASE_CONTROLLER,
            },
            selector: format!("{}={}", tracking::MANAGED_BY, tracking::RELEASE_CONTROLLER),
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
            listed: Vec::new(),
        };
        while let Some(one) = news.recv().await {
            tasks.hear(one);
        }
    };
    tokio::join!(following, hearing);
}

struct Tasks {
    surroundings: Arc<Surroundings>,
    running: HashMap<PlaneName, Running>,
    listed: Vec<PlaneName>,
}

impl Tasks {
    fn hear(&mut self, news: News) {
        match news {
            News::Listing => self.listed.clear(),
            News::Listed(objects) => {
                for object in objects {
                    let name = self.put(object);
                    self.listed.extend(name);
                }
            }
            News::Complete(_) => {
                let gone: Vec<PlaneName> = self
                    .running
                    .keys()
                    .filter(|name| !self.listed.contains(name))
                    .cloned()
                    .collect();
                for name in gone {
                    self.lose(&name);
                }
                let context = &self.surroundings.context;
                let is_first = !std::mem::replace(&mut context.world.look().has_planes, true);
                if is_first {
                    context.everything_changed();
                }
            }
            News::Changed(object) => {
                self.put(object);
            }
            News::Gone(object) => {
                if let Some(plane) = releases::read::<DataPlane>(object) {
                    self.lose(&name_of(&plane));
                }
            }
            News::Failed(error) => tracing::warn!(%error, "data planes cannot be watched"),
        }
    }

    fn put(&mut self, object: Value) -> Option<PlaneName> {
        let plane: DataPlane = releases::read(object)?;
        let name = name_of(&plane);
        let plane = Arc::new(plane);
        let is_same =
            |running: &&mut Running| running.object.borrow().metadata.uid == plane.metadata.uid;
        if let Some(running) = self.running.get_mut(&name).filter(is_same) {
            running.object.send_replace(plane);
            return Some(name);
        }
        let (sender, receiver) = watch::channel(plane);
        let work = task::run(Arc::clone(&self.surroundings), name.clone(), receiver);
        let running = Running {
            object: sender,
            task: tokio::spawn(work),
        };
        self.running.insert(name.clone(), running);
        Some(name)
    }

    fn lose(&mut self, name: &PlaneName) {
        self.running.remove(name);
        let context = &self.surroundings.context;
        context.world.look().planes.remove(name);
        context.plane_changed(name);
    }
}

fn name_of(plane: &DataPlane) -> PlaneName {
    PlaneName {
        namespace: plane.metadata.namespace.clone().unwrap_or_default(),
        name: plane.metadata.name.clone().unwrap_or_default(),
    }
}
