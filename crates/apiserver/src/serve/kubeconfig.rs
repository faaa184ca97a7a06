//! The kubeconfig that clients get: where the server is, whom to trust, and a client certificate.

use std::fmt::Display;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};

use super::authority::Identity;

/// The name of the cluster in our kubeconfigs, and of the administrator and their context.
pub const CONTEXT: &str = "quadrille";

/// The administrator's kubeconfig as YAML.
pub fn render(address: impl Display, authority: &str, client: &Identity) -> String {
    Context::default().render(address, authority, client)
}

/// Whom a kubeconfig is for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// The user's name; the administrator has none.
    pub user: Option<&'a str>,
    /// The namespace that they work in.
    pub namespace: Option<&'a str>,
}

impl Context<'_> {
    /// The kubeconfig as YAML. `address` is the server's `host:port`.
    pub fn render(&self, address: impl Display, authority: &str, client: &Identity) -> String {
        let authority = BASE64.encode(authority);
        let certificate = BASE64.encode(&client.certificate);
        let key = BASE64.encode(&client.key);
        let (origin, name) = match self.user {
            Some(user) => ("quad user add", format!("{CONTEXT}-{user}")),
            None => ("quad up, anew at every start", CONTEXT.to_owned()),
        };
        let namespace = self
            .namespace
            .map(|namespace| format!("    namespace: {namespace}\n"))
            .unwrap_or_default();
        format!(
            "# Written by {origin}.
apiVersion: v1
kind: Config
current-context: {name}
clusters:
- name: {CONTEXT}
  cluster:
    server: https://{address}
    certificate-authority-data: {authority}
contexts:
- name: {name}
  context:
    cluster: {CONTEXT}
    user: {name}
{namespace}users:
- name: {name}
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
"
        )
    }
}
