//! Everything is deleted, in every order: nothing is left, and nothing hangs.

use futures::{StreamExt as _, stream};
use quadrille_testkit::ClusterKind;
use quadrille_types::{DataPlane, DeploymentPipeline, Environment, Organization, Project, Release};

use crate::stage::Stage;

/// What is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Organization,
    Project,
    Environment,
    Plane,
    Pipeline,
    Release,
}

const ALL: [What; 6] = [
    What::Organization,
    What::Project,
    What::Environment,
    What::Plane,
    What::Pipeline,
    What::Release,
];

/// Every order of what is left, after what came before.
fn orders(before: &[What]) -> Vec<Vec<What>> {
    let left: Vec<What> = ALL
        .into_iter()
        .filter(|what| !before.contains(what))
        .collect();
    if left.is_empty() {
        return vec![before.to_vec()];
    }
    left.into_iter()
        .flat_map(|what| {
            let mut before = before.to_vec();
            before.push(what);
            orders(&before)
        })
        .collect()
}

/// Deletes one of them, if it is there.
pub(crate) async fn delete(stage: &Stage, organization: &str, what: What) {
    match what {
        What::Organization => {
            let api = stage.cluster.all::<Organization>();
            stage.delete(&api, organization).await;
        }
        What::Project => {
            let api = stage.api::<Project>(organization);
            stage.delete(&api, "shop").await;
        }
        What::Environment => {
            let api = stage.api::<Environment>(organization);
            stage.delete(&api, "development").await;
        }
        What::Plane => {
            let api = stage.api::<DataPlane>(organization);
            stage.delete(&api, "local").await;
        }
        What::Pipeline => {
            let api = stage.api::<DeploymentPipeline>(organization);
            stage.delete(&api, "main").await;
        }
        What::Release => {
            let api = stage.api::<Release>(organization);
            stage.delete(&api, "cart").await;
        }
    }
}

/// How many organizations come and go at once.
const AT_ONCE: usize = 24;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_deleted_first_everything_ends() {
    let mut stage = Stage::at_rest().await;
    let all = orders(&[]);
    assert_eq!(all.len(), 720);
    // On a real cluster, which takes its time, some of them.
    let chosen: Vec<(String, Vec<What>)> = all
        .into_iter()
        .enumerate()
        .filter(|(index, _)| stage.cluster.kind() == ClusterKind::Embedded || index % 120 == 7)
        .map(|(index, order)| (stage.cluster.unique(&format!("o{index}")), order))
        .collect();
    let names: Vec<&str> = chosen.iter().map(|(name, _)| name.as_str()).collect();
    stage.run(&names);
    let stage = &stage;
    stream::iter(&chosen)
        .for_each_concurrent(AT_ONCE, async |(organization, order)| {
            stage.furnished(organization).await;
            for what in order {
                delete(stage, organization, *what).await;
            }
            stage.nothing_left(organization).await;
        })
        .await;
}
