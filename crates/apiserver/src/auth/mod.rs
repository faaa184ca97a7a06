//! Who asks, and may they: users, credentials, permissions.
//!
//! ```text
//!   connection ── client certificate ─┐
//!   request ───── bearer token ───────┴─► authenticate ─► User in the request's extensions
//!                                        (impersonate: or whom they name)   └─► Authorizer: Allow | Deny
//! ```
//!
//! The authentication layer ([`authenticate`]) puts a [`User`] into the extensions of every request whose
//! credentials hold; bad credentials are answered 401 right there. Requests without credentials pass on
//! without a user: the server behind takes them for [`User::anonymous`].

pub(crate) mod action;
pub mod authenticate;
pub mod authorize;
pub mod bindings;
pub mod certificate;
pub(crate) mod impersonate;
pub mod rbac;
pub mod service_account;

use std::collections::BTreeMap;

pub use authenticate::{Authenticator, Bindings};
pub use authorize::{Attributes, Authorizer, Decision, MastersOnly, forbidden};
pub use bindings::LookUp;
pub use rbac::Rbac;
use serde_json::{Value, json};

/// The group whose members may do everything.
pub const MASTERS: &str = "system:masters";
/// The group of everybody whose credentials hold.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of everybody who shows no credentials.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The name of everybody who shows no credentials.
pub const ANONYMOUS: &str = "system:anonymous";
/// The key in [`User::extra`] that tells which credential was used.
pub const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Who a request comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name that permissions are bound to.
    pub name: String,
    /// Tells users apart that had the same name at different times; often empty.
    pub uid: String,
    /// The groups that permissions are bound to.
    pub groups: Vec<String>,
    /// What else the credential says.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// The user of the generated kubeconfig and of in-process clients: may do everything.
    pub fn admin() -> Self {
        Self {
            name: "quadrille-admin".to_owned(),
            groups: vec![MASTERS.to_owned(), AUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }

    /// Somebody who shows no credentials.
    pub fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }

    /// A service account.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: service_account::user_name(namespace, name),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
                AUTHENTICATED.to_owned(),
            ],
            ..Self::default()
        }
    }

    /// The user as the API tells of them (`UserInfo`).
    pub(crate) fn info(&self) -> Value {
        let mut info = json!({ "username": self.name, "groups": self.groups });
        if !self.uid.is_empty() {
            info["uid"] = json!(self.uid);
        }
        if !self.extra.is_empty() {
            info["extra"] = json!(self.extra);
        }
        info
    }

    /// Whether the user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|member| member == group)
    }

    /// The same user as a member of [`AUTHENTICATED`], which the server adds and no credential needs to say.
    #[must_use]
    pub fn authenticated(mut self) -> Self {
        if !self.is_in(AUTHENTICATED) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}
