//! The kubeconfig that clients get: where the server is, whom to trust, and a client certificate.

use std::net::SocketAddr;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};

use super::authority::Identity;

/// The name of cluster, user and context in our kubeconfigs.
pub const CONTEXT: &str = "quadrille";

/// A kubeconfig as YAML.
pub fn render(address: SocketAddr, authority: &str, client: &Identity) -> String {
    let authority = BASE64.encode(authority);
    let certificate = BASE64.encode(&client.certificate);
    let key = BASE64.encode(&client.key);
    format!(
        "# Written by quad up, anew at every start.
apiVersion: v1
kind: Config
current-context: {CONTEXT}
clusters:
- name: {CONTEXT}
  cluster:
    server: https://{address}
    certificate-authority-data: {authority}
contexts:
- name: {CONTEXT}
  context:
    cluster: {CONTEXT}
    user: {CONTEXT}
users:
- name: {CONTEXT}
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
"
    )
}
