//! What of the platform is worth a line on the first screen: the data plane and the environments that `quad up` made,
//! as the controllers see them.

use std::time::{Duration, Instant};

use kube::{Api, Client};
use quadrille_types::{
    DataPlane, DeploymentPipeline,
    conditions::{self, ConditionType},
};

use super::defaults::NAMESPACE;

/// How long the first screen waits for the controllers.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often to look.
const OFTEN: Duration = Duration::from_millis(10);

/// What was seen. Somebody may have deleted either.
#[derive(Default)]
pub(crate) struct FirstLook {
    plane: Option<DataPlane>,
    pipeline: Option<DeploymentPipeline>,
}

impl FirstLook {
    /// Looks, where there are controllers that make something of it.
    pub(crate) async fn of(client: &Client, has_controllers: bool) -> Self {
        if has_controllers {
            Self::at(client).await
        } else {
            Self::default()
        }
    }

    /// Looks until both are in order, or the first screen can wait no longer.
    async fn at(client: &Client) -> Self {
        let planes: Api<DataPlane> = Api::namespaced(client.clone(), NAMESPACE);
        let pipelines: Api<DeploymentPipeline> = Api::namespaced(client.clone(), NAMESPACE);
        let started = Instant::now();
        loop {
            let (plane, pipeline) =
                tokio::join!(planes.get_opt("default"), pipelines.get_opt("default"));
            // An error is shown as nothing: this is a greeting, and whoever asks again is told.
            let look = Self {
                plane: plane.unwrap_or_default(),
                pipeline: pipeline.unwrap_or_default(),
            };
            if look.is_settled() || started.elapsed() > PATIENCE {
                return look;
            }
            tokio::time::sleep(OFTEN).await;
        }
    }

    fn is_settled(&self) -> bool {
        let is_reachable = |plane: &DataPlane| ready(plane).is_some_and(|(is_ready, _)| is_ready);
        self.plane.as_ref().is_none_or(is_reachable)
            && self
                .pipeline
                .as_ref()
                .is_none_or(|pipeline| environments(pipeline).is_some())
    }

    /// The lines, each with a name: whether it is good, and what there is to say.
    pub(crate) fn lines(&self) -> Vec<(&'static str, bool, String)> {
        let mut lines = Vec::new();
        if let Some(plane) = &self.plane {
            let (is_ready, said) = ready(plane).unwrap_or((false, "not looked at yet"));
            let said = if is_ready { "reachable" } else { said };
            let which = match reached_by(plane) {
                Some("local") => "this cluster",
                _ => "DataPlane default",
            };
            lines.push(("data plane", is_ready, format!("{which:<32}  {said}")));
        }
        if let Some(status) = self.pipeline.as_ref().and_then(|it| it.status.as_ref()) {
            let ready = conditions::find(&status.conditions, ConditionType::Ready);
            let (is_good, message) = ready.map_or((false, "not looked at yet"), |condition| {
                (condition.status == "True", condition.message.as_str())
            });
            let shown = status.environments.as_deref().filter(|_| is_good);
            lines.push(("environments", is_good, shown.unwrap_or(message).to_owned()));
        }
        lines
    }

    /// Whether everything is there that the first sample needs.
    pub(crate) fn is_good(&self) -> bool {
        let lines = self.lines();
        lines.len() == 2 && lines.iter().all(|(_, is_good, _)| *is_good)
    }
}

/// Whether a plane is ready, and what is said about it.
fn ready(plane: &DataPlane) -> Option<(bool, &str)> {
    let conditions = &plane.status.as_ref()?.conditions;
    let ready = conditions::find(conditions, ConditionType::Ready)?;
    Some((ready.status == "True", &ready.message))
}

fn reached_by(plane: &DataPlane) -> Option<&str> {
    plane.status.as_ref()?.reached_by.as_deref()
}

fn environments(pipeline: &DeploymentPipeline) -> Option<&str> {
    pipeline.status.as_ref()?.environments.as_deref()
}
