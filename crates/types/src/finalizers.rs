//! Finalizers: what must be cleaned up before an object may go.

/// On an Organization: its namespace.
pub const ORGANIZATION: &str = "openchoreo.dev/delete-namespace";
/// On a Project: its components and cells.
pub const PROJECT: &str = "openchoreo.dev/project-cleanup";
/// On an Environment: what is deployed in it.
pub const ENVIRONMENT: &str = "openchoreo.dev/environment-cleanup";
/// On a `DataPlane`: the environments that use it.
pub const DATA_PLANE: &str = "openchoreo.dev/dataplane-cleanup";
/// On a `DeploymentPipeline`: the projects that use it.
pub const DEPLOYMENT_PIPELINE: &str = "openchoreo.dev/deployment-pipeline-cleanup";
/// On a Component: its bindings, snapshots and workloads.
pub const COMPONENT: &str = "openchoreo.dev/component-cleanup";
/// On a `ReleaseBinding`: its Release.
pub const RELEASE_BINDING: &str = "openchoreo.dev/releasebinding-cleanup";
/// On a Release: its objects in the plane. The same word as a `DataPlane`'s, by old agreement.
pub const RELEASE: &str = "openchoreo.dev/dataplane-cleanup";
/// On a Deployment: its Release and its Endpoints. One letter apart from a Release's, by old agreement.
pub const DEPLOYMENT: &str = "openchoreo.dev/data-plane-cleanup";
/// On a `DeploymentTrack`: its deployments, artifacts and builds.
pub const DEPLOYMENT_TRACK: &str = "openchoreo.dev/deploymenttrack-cleanup";
/// On a `DeployableArtifact`: the deployments of it.
pub const DEPLOYABLE_ARTIFACT: &str = "openchoreo.dev/deployableartifact-cleanup";
/// On an Endpoint: its Release.
pub const ENDPOINT: &str = "openchoreo.dev/endpoint-deletion";
/// On the binding of a class or an API: its Release.
pub const BINDING: &str = "openchoreo.dev/binding-cleanup";
