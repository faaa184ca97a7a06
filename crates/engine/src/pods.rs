//! Pods of a workload that is in trouble: watched until it recovers, held as small summaries.

use std::{collections::HashMap, sync::Arc};

use kube::{
    Client,
    core::{ApiResource, GroupVersionKind},
};
use quadrille_objects::{
    Identity,
    health::{Pod, PodSelector},
};
use quadrille_planes::feed::{self, News, Source, Told};

use crate::sights::Sights;

/// The most pods of one workload that are looked at: the trouble of some is the trouble of all.
const MOST: usize = 200;

pub(crate) async fn follow(
    client: Client,
    sights: Arc<Sights>,
    identity: Identity,
    selector: PodSelector,
) {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
    let source = Source::namespaced(client, &kind, &selector.namespace).labels(selector.labels);
    let mut pods: HashMap<String, Pod> = HashMap::new();
    let mut is_complete = false;
    feed::follow(source, |news| {
        let mut put = |object: &Told| {
            let pod = Pod::read(&object.value());
            if pods.len() < MOST || pods.contains_key(pod.name()) {
                pods.insert(pod.name().to_owned(), pod);
            }
        };
        match news {
            News::Listing => {
                pods.clear();
                is_complete = false;
            }
            News::Listed(objects) => objects.iter().for_each(put),
            News::Complete(_) => is_complete = true,
            News::Changed(object) => put(&object),
            News::Gone(object) => {
                pods.remove(&object.head().name);
            }
            News::Failed(_) => return,
        }
        if is_complete {
            sights.hear_pods(&identity, Some(pods.values().cloned().collect()));
        }
    })
    .await;
}
