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
/// On a Release that was rendered: a digest of what it was rendered from, and the generation that came of it.
pub const RENDERED_FROM: &str = "openchoreo.dev/rendered-from";
/// On a Release that was rendered from a component: the component release that it runs.
pub const COMPONENT_RELEASE: &str = "openchoreo.dev/component-release";
/// On a Release that was rendered from a component: the uid of the component release that it runs. One of the same name
/// may have been made anew.
pub const COMPONENT_RELEASE_UID: &str = "openchoreo.dev/component-release-uid";
/// On a binding: who asked for its release. The API server lets nobody name somebody else.
pub const REQUESTED_BY: &str = "openchoreo.dev/requested-by";
/// On a binding: the hash of the snapshot that was last deployed by itself. A rollback by hand leaves it, so that the same
/// snapshot is not deployed again until a developer changes something.
pub const AUTO_DEPLOYED: &str = "openchoreo.dev/auto-deployed";
/// On a binding: the release that was last promoted by itself, for the same reason.
pub const AUTO_PROMOTED: &str = "openchoreo.dev/auto-promoted";
/// On a project, an environment or a plane: `enforce` closes cells for what leaves them, too.
pub const CELL_EGRESS: &str = "openchoreo.dev/cell-egress";
/// On a project or an environment: what the pods of a cell may use together, such as `cpu=4,memory=8Gi,pods=20`.
pub const CELL_QUOTA: &str = "openchoreo.dev/cell-quota";
/// On a component or its project: how many snapshots that nobody uses are kept.
pub const KEPT_RELEASES: &str = "openchoreo.dev/kept-releases";
/// On a plane: where its secrets come from: `external-secrets`, `csi` or `native`.
pub const SECRET_PROVIDER: &str = "openchoreo.dev/secretprovider";
/// On a plane: the address of the Vault that `vaultKey`s of configuration groups lead to.
pub const VAULT_ADDRESS: &str = "openchoreo.dev/vault-address";
/// On a plane: the role in that Vault that may read them.
pub const VAULT_ROLE: &str = "openchoreo.dev/vault-role";
/// On a plane: the address of a KEDA scaler that counts waiting requests, so that what nobody asks can sleep.
pub const SCALE_TO_ZERO: &str = "openchoreo.dev/scale-to-zero";
