//! Which kinds a plane serves, and under which paths.
//!
//! Kinds that every cluster has are known without asking. For any other, the group and version is asked once and
//! remembered; a kind that is missing there is looked for again at most once a second, so that one whose definition
//! arrives late is found. What other groups answer does not matter here.

mod builtin;

use std::{collections::HashMap, sync::Arc, time::Duration};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::{
    Client,
    core::{ApiResource, GroupVersionKind, Status},
};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::trouble::Trouble;

/// How long an answer without the kind in question is believed.
const BELIEVED: Duration = Duration::from_secs(1);

/// A kind that a plane serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Its names, as [`kube::Api`] takes them.
    pub resource: ApiResource,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
}

/// The kinds of one plane; clones are the same.
#[derive(Clone)]
pub struct Kinds {
    client: Client,
    pages: Arc<Mutex<HashMap<(String, String), SharedPage>>>,
}

/// Held while it is asked for, so that it is asked for once.
type SharedPage = Arc<tokio::sync::Mutex<Page>>;

/// What a plane serves in one group and version.
#[derive(Debug, Default)]
struct Page {
    asked: Option<Instant>,
    kinds: HashMap<String, Served>,
}

impl Page {
    fn renew(&mut self, kinds: HashMap<String, Served>) {
        self.kinds = kinds;
        self.asked = Some(Instant::now());
    }
}

impl Kinds {
    /// Nothing is known yet, and nothing asked.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            pages: Arc::default(),
        }
    }

    /// A kind, if it is known without asking.
    pub fn known(&self, group: &str, version: &str, kind: &str) -> Option<Served> {
        if let Some(served) = builtin::find(group, version, kind) {
            return Some(served);
        }
        let key = (group.to_owned(), version.to_owned());
        let page = Arc::clone(self.pages.lock().get(&key)?);
        // Who is asking right now will know more.
        let page = page.try_lock().ok()?;
        page.kinds.get(kind).cloned()
    }

    /// Finds a kind, asking the plane if need be. A kind that the plane does not serve is
    /// [`Trouble::NotServed`].
    pub async fn resolve(&self, group: &str, version: &str, kind: &str) -> Result<Served, Trouble> {
        if let Some(served) = builtin::find(group, version, kind) {
            return Ok(served);
        }
        let page = self.page(group, version);
        let mut page = page.lock().await;
        if let Some(served) = page.kinds.get(kind) {
            return Ok(served.clone());
        }
        let is_fresh = page.asked.is_some_and(|asked| asked.elapsed() < BELIEVED);
        if !is_fresh {
            page.renew(self.ask(group, version).await?);
        }
        let served = page.kinds.get(kind).cloned();
        served.ok_or_else(|| not_served(group, version, kind))
    }

    /// Finds a kind in any version that the plane serves now, this one first and then the preferred one: versions go, and
    /// objects stay. Also kinds that every cluster has are asked for, and only a plane that names what it serves can say
    /// that a kind is [`Trouble::NotServed`].
    pub async fn resolve_anew(
        &self,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Result<Served, Trouble> {
        self.forget(group);
        let mut versions = self.versions(group).await?;
        versions.sort_by_key(|served| served != version);
        for version in versions {
            let page = self.page(group, &version);
            let mut page = page.lock().await;
            // A version that has just been named is there.
            let list = self.list(group, &version).await.map_err(unheard)?;
            page.renew(read(group, &version, list));
            if let Some(served) = page.kinds.get(kind) {
                return Ok(served.clone());
            }
        }
        Err(not_served(group, "*", kind))
    }

    async fn versions(&self, group: &str) -> Result<Vec<String>, Trouble> {
        if group.is_empty() {
            let core = self.client.list_core_api_versions().await;
            return core.map(|core| core.versions).map_err(unheard);
        }
        let groups = self.client.list_api_groups().await.map_err(unheard)?;
        let found = groups.groups.into_iter().find(|found| found.name == group);
        let Some(found) = found else {
            return Ok(Vec::new());
        };
        let preferred = found.preferred_version.map(|preferred| preferred.version);
        let mut versions: Vec<String> = found.versions.into_iter().map(|one| one.version).collect();
        versions.sort_by_key(|version| Some(version) != preferred.as_ref());
        Ok(versions)
    }

    /// Forgets a group: its definitions have changed.
    pub fn forget(&self, group: &str) {
        self.pages.lock().retain(|(of, _), _| of != group);
    }

    fn page(&self, group: &str, version: &str) -> SharedPage {
        let key = (group.to_owned(), version.to_owned());
        Arc::clone(self.pages.lock().entry(key).or_default())
    }

    async fn ask(&self, group: &str, version: &str) -> Result<HashMap<String, Served>, Trouble> {
        match self.list(group, version).await.map_err(Trouble::from) {
            Ok(list) => Ok(read(group, version, list)),
            // No such group, or not yet: the same as a group without kinds.
            Err(Trouble::NotServed(_) | Trouble::NotFound(_)) => Ok(HashMap::new()),
            Err(trouble) => Err(trouble),
        }
    }

    async fn list(&self, group: &str, version: &str) -> kube::Result<APIResourceList> {
        if group.is_empty() {
            return self.client.list_core_api_resources(version).await;
        }
        let group_version = format!("{group}/{version}");
        self.client.list_api_group_resources(&group_version).await
    }
}

/// The kinds of a list; subresources such as `deployments/scale` are none.
fn read(group: &str, version: &str, list: APIResourceList) -> HashMap<String, Served> {
    list.resources
        .into_iter()
        .filter(|resource| !resource.name.contains('/'))
        .map(|resource| {
            let kind = GroupVersionKind::gvk(group, version, &resource.kind);
            let served = Served {
                resource: ApiResource::from_gvk_with_plural(&kind, &resource.name),
                namespaced: resource.namespaced,
            };
            (resource.kind, served)
        })
        .collect()
}

/// Who has no answer to what every cluster can be asked is none: something that stands before one and does not reach it,
/// perhaps. Nothing is concluded from that.
fn unheard(error: kube::Error) -> Trouble {
    match Trouble::from(error) {
        Trouble::NotServed(status) | Trouble::NotFound(status) => Trouble::Unreadable(format!(
            "who answers for the plane does not say which kinds it serves ({})",
            status.code
        )),
        trouble => trouble,
    }
}

fn not_served(group: &str, version: &str, kind: &str) -> Trouble {
    let api_version = GroupVersionKind::gvk(group, version, kind).api_version();
    let words = format!("the plane does not serve kind {kind} of {api_version}");
    Trouble::NotServed(Status::failure(&words, "NotFound").with_code(404).boxed())
}

#[cfg(test)]
mod tests;
