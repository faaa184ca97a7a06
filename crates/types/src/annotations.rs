//! Annotation keys.

/// What people call the object.
pub const DISPLAY_NAME: &str = "openchoreo.dev/display-name";
/// What the object is for, in a sentence.
pub const DESCRIPTION: &str = "openchoreo.dev/description";
/// On every applied object: the digest of what was applied.
pub const APPLIED_DIGEST: &str = "openchoreo.dev/applied-digest";
/// On a Release: lets it take over an object that somebody else made.
pub const ADOPT: &str = "openchoreo.dev/adopt";
/// On a Release: allows the prune that is waiting; the value names the generation it is for.
pub const ALLOW_PRUNE: &str = "openchoreo.dev/allow-prune";
/// On an object that cannot be torn down because its plane is gone for good: leave it.
pub const ABANDON: &str = "openchoreo.dev/abandon";
/// On a `DataPlane`: when it is deleted, its environments go first, instead of holding it.
pub const CASCADE: &str = "openchoreo.dev/cascade";
/// On a workload: any new value restarts it.
pub const RESTARTED_AT: &str = "openchoreo.dev/restartedAt";
/// On an object of a Release: lets it be replaced when a field changes that cannot, although that interrupts it.
pub const ALLOW_REPLACE: &str = "openchoreo.dev/allow-replace";
/// On a pod template: a digest of the configuration that its pods read, so that another one restarts them.
pub const CONFIG_DIGEST: &str = "openchoreo.dev/dp-resource-hash";
/// On a route: the path of the endpoint's address, where it is not the route's own.
pub const ENDPOINT_BASE_PATH: &str = "openchoreo.dev/endpoint-base-path";
/// On a plane: what enforces network policies there: `cilium`, or whatever knows the standard ones.
pub const NETWORK_POLICY_PROVIDER: &str = "openchoreo.dev/networkpolicyprovider";
/// On a plane: where its secrets come from: `external-secrets`, `csi` or `native`.
pub const SECRET_PROVIDER: &str = "openchoreo.dev/secretprovider";
