//! Label keys, and the values that have a meaning of their own.
//!
//! Control-plane keys are prefixed with the group; the data plane's older ones are bare words, since
//! dashboards and log queries select by them.

/// On control-plane objects: which organization, project … they belong to.
pub mod hierarchy {
    /// The organization.
    pub const ORGANIZATION: &str = "openchoreo.dev/organization";
    /// The control-plane namespace, the newer word for the organization.
    pub const NAMESPACE: &str = "openchoreo.dev/namespace";
    /// The project.
    pub const PROJECT: &str = "openchoreo.dev/project";
    /// The component.
    pub const COMPONENT: &str = "openchoreo.dev/component";
    /// The resource (database, queue …).
    pub const RESOURCE: &str = "openchoreo.dev/resource";
    /// The deployment track.
    pub const DEPLOYMENT_TRACK: &str = "openchoreo.dev/deployment-track";
    /// The build.
    pub const BUILD: &str = "openchoreo.dev/build";
    /// The environment.
    pub const ENVIRONMENT: &str = "openchoreo.dev/environment";
    /// The deployable artifact.
    pub const DEPLOYABLE_ARTIFACT: &str = "openchoreo.dev/deployable-artifact";
    /// The deployment.
    pub const DEPLOYMENT: &str = "openchoreo.dev/deployment";
    /// The data plane.
    pub const DATA_PLANE: &str = "openchoreo.dev/dataplane";
    /// The logical name of the object itself; may differ from its metadata name.
    pub const NAME: &str = "openchoreo.dev/name";
    /// `true` on a namespace that is an organization without an Organization object.
    pub const CONTROL_PLANE: &str = "openchoreo.dev/control-plane";
}

/// On rendered objects and pod selectors: uids of the control-plane objects behind them.
pub mod uids {
    /// The project's uid.
    pub const PROJECT: &str = "openchoreo.dev/project-uid";
    /// The component's uid.
    pub const COMPONENT: &str = "openchoreo.dev/component-uid";
    /// The environment's uid.
    pub const ENVIRONMENT: &str = "openchoreo.dev/environment-uid";
    /// The resource's uid.
    pub const RESOURCE: &str = "openchoreo.dev/resource-uid";
}

/// On rendered routes: which endpoint they lead to.
pub mod endpoint {
    /// The endpoint.
    pub const NAME: &str = "openchoreo.dev/endpoint-name";
    /// Who the route is for: `external`, or anything else for the organization.
    pub const VISIBILITY: &str = "openchoreo.dev/endpoint-visibility";
}

/// On pods of the platform itself: gateways may reach endpoints that are visible beyond the project.
pub const SYSTEM_COMPONENT: &str = "openchoreo.dev/system-component";

/// On every object that a release put into a plane: how it is found again.
pub mod tracking {
    /// Who looks after the object.
    pub const MANAGED_BY: &str = "openchoreo.dev/managed-by";
    /// Who made the object.
    pub const CREATED_BY: &str = "openchoreo.dev/created-by";
    /// The id of the object within its release.
    pub const RESOURCE_ID: &str = "openchoreo.dev/release-resource-id";
    /// The uid of the release.
    pub const RELEASE_UID: &str = "openchoreo.dev/release-uid";
    /// The name of the release.
    pub const RELEASE_NAME: &str = "openchoreo.dev/release-name";
    /// The namespace of the release.
    pub const RELEASE_NAMESPACE: &str = "openchoreo.dev/release-namespace";
    /// The value of [`MANAGED_BY`] on released objects, and the field manager that applies them.
    pub const RELEASE_CONTROLLER: &str = "release-controller";
    /// The value of [`MANAGED_BY`] on an organization's namespace.
    pub const CONTROL_PLANE: &str = "openchoreo-control-plane";
}

/// On rendered data-plane objects: bare words that observers query by.
pub mod data_plane {
    /// The organization.
    pub const ORGANIZATION_NAME: &str = "organization-name";
    /// The project.
    pub const PROJECT_NAME: &str = "project-name";
    /// The component.
    pub const COMPONENT_NAME: &str = "component-name";
    /// The component's type.
    pub const COMPONENT_TYPE: &str = "component-type";
    /// The environment.
    pub const ENVIRONMENT_NAME: &str = "environment-name";
    /// The deployment track.
    pub const DEPLOYMENT_TRACK_NAME: &str = "deployment-track-name";
    /// The deployment.
    pub const DEPLOYMENT_NAME: &str = "deployment-name";
    /// The build.
    pub const BUILD_NAME: &str = "build-name";
    /// Who looks after the object.
    pub const MANAGED_BY: &str = "managed-by";
    /// Whose object it is.
    pub const BELONG_TO: &str = "belong-to";
    /// Which gateway a route hangs on.
    pub const GATEWAY_VISIBILITY: &str = "gateway-visibility";
    /// A build's uid.
    pub const UUID: &str = "uuid";
    /// What a pod is for: `build`, `runtime` or `gateway`.
    pub const TARGET: &str = "target";
    /// The value of [`MANAGED_BY`] on objects of the deployment system.
    pub const DEPLOYMENT_CONTROLLER: &str = "choreo-deployment-controller";
    /// The value of [`BELONG_TO`] on what users run.
    pub const USER_WORKLOADS: &str = "user-workloads";
}
