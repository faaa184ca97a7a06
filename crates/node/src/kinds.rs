//! The kinds that are read and written here, and where the API has them.

use kube::core::{ApiResource, GroupVersionKind};

macro_rules! kinds {
    ($($kind:ident $group:literal $version:literal $plural:literal $scope:ident)*) => {
        /// A kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Kind { $($kind),* }

        impl Kind {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$kind),*];

            /// Its name in objects.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$kind => stringify!($kind)),* }
            }

            /// The kind of that name.
            pub(crate) fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }

            fn parts(self) -> (&'static str, &'static str, &'static str, bool) {
                match self { $(Self::$kind => ($group, $version, $plural, kinds!(@ $scope))),* }
            }
        }
    };
    (@ namespaced) => { true };
    (@ cluster) => { false };
}

kinds! {
    Pod "" "v1" "pods" namespaced
    Node "" "v1" "nodes" cluster
    ReplicationController "" "v1" "replicationcontrollers" namespaced
    ReplicaSet "apps" "v1" "replicasets" namespaced
    Deployment "apps" "v1" "deployments" namespaced
    StatefulSet "apps" "v1" "statefulsets" namespaced
    DaemonSet "apps" "v1" "daemonsets" namespaced
    ControllerRevision "apps" "v1" "controllerrevisions" namespaced
    Job "batch" "v1" "jobs" namespaced
    CronJob "batch" "v1" "cronjobs" namespaced
    Service "" "v1" "services" namespaced
    Endpoints "" "v1" "endpoints" namespaced
    EndpointSlice "discovery.k8s.io" "v1" "endpointslices" namespaced
    PersistentVolumeClaim "" "v1" "persistentvolumeclaims" namespaced
    PersistentVolume "" "v1" "persistentvolumes" cluster
    StorageClass "storage.k8s.io" "v1" "storageclasses" cluster
    HorizontalPodAutoscaler "autoscaling" "v2" "horizontalpodautoscalers" namespaced
    PodDisruptionBudget "policy" "v1" "poddisruptionbudgets" namespaced
}

impl Kind {
    /// As the API client names it.
    pub(crate) fn resource(self) -> ApiResource {
        let (group, version, plural, _) = self.parts();
        let kind = GroupVersionKind::gvk(group, version, self.name());
        ApiResource::from_gvk_with_plural(&kind, plural)
    }

    /// `apps/v1`.
    pub(crate) fn api_version(self) -> String {
        let (group, version, ..) = self.parts();
        if group.is_empty() {
            version.to_owned()
        } else {
            format!("{group}/{version}")
        }
    }

    /// The path of a collection, or with a name of an object.
    pub(crate) fn path(self, namespace: &str, name: &str) -> String {
        let (group, version, plural, namespaced) = self.parts();
        let root = if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        };
        let space = if namespaced {
            format!("/namespaces/{namespace}")
        } else {
            String::new()
        };
        let slash = if name.is_empty() { "" } else { "/" };
        format!("{root}{space}/{plural}{slash}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(
            Kind::Deployment.path("shop", "web"),
            "/apis/apps/v1/namespaces/shop/deployments/web"
        );
        assert_eq!(Kind::Node.path("", ""), "/api/v1/nodes");
        assert_eq!(Kind::named("Job"), Some(Kind::Job));
        assert_eq!(Kind::Job.api_version(), "batch/v1");
    }
}
