//! From a plane's connection and the Secrets it names to how its cluster is reached.
//!
//! Pure: Secrets come in as data, an [`Access`] or the reason why there is none goes out. Whatever could make us
//! run a program, read a local file, trust an unknown server or send a token in clear is refused here. No text
//! that leaves this room contains anything out of a Secret.

mod expiry;
mod kubeconfig;
mod material;
mod problem;
mod server;

use std::{collections::BTreeMap, fmt};

use http::Uri;
use jiff::Timestamp;
use k8s_openapi::ByteString;
pub use problem::AccessProblem;
use quadrille_types::data_plane::{Auth, Connection, Credential, Sensitive};
use sha2::{Digest as _, Sha256};

/// The data of a Secret.
pub type SecretData = BTreeMap<String, ByteString>;

/// Which Secret is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl fmt::Display for SecretName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.namespace, self.name)
    }
}

/// The way to a plane that needs no agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is the cluster that we run in; its client is handed in.
    Local,
    /// Over the network.
    Remote(Access),
}

/// How a cluster is reached over the network. Everything in it was checked to be of the right form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The address of the API server; it may have a path.
    pub server: Uri,
    /// The name that the server's certificate must carry, where it is not the address's.
    pub server_name: Option<String>,
    /// The authorities that may have signed the server's certificate, in PEM; `None` means the system's.
    pub ca_pem: Option<Sensitive>,
    /// How we prove who we are.
    pub proof: Proof,
}

/// How we prove who we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// With a certificate.
    Certificate {
        /// The certificate and what it needs up to its authority, in PEM.
        certificate_pem: Sensitive,
        /// Its key in PEM.
        key_pem: Sensitive,
    },
    /// With a token.
    Token(Sensitive),
    /// Not at all: only to a proxy on loopback, which does it for us.
    Nothing,
}

/// The Secrets that a connection needs, each once. For an agent that is the authority of its certificates.
pub fn needed_secrets(connection: &Connection, plane_namespace: &str) -> Vec<SecretName> {
    let credentials = match connection {
        Connection::Local => vec![],
        Connection::Kubeconfig { secret } => {
            return vec![SecretName {
                namespace: plane_namespace.to_owned(),
                name: secret.clone(),
            }];
        }
        Connection::Direct { ca, auth, .. } => {
            let proof = match auth {
                Auth::Certificate { certificate, key } => vec![certificate, key],
                Auth::Token(token) => vec![token],
            };
            ca.iter().chain(proof).collect()
        }
        Connection::Agent { client_ca, .. } => vec![client_ca],
    };
    let mut names: Vec<SecretName> = credentials
        .into_iter()
        .filter_map(|credential| match credential {
            Credential::Given(_) => None,
            Credential::InSecret(key) => Some(SecretName {
                namespace: key
                    .namespace
                    .clone()
                    .unwrap_or_else(|| plane_namespace.to_owned()),
                name: key.name.clone(),
            }),
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Reads a connection. `secrets` finds the data of those Secrets that [`needed_secrets`] names.
pub fn access<'a>(
    connection: &Connection,
    plane_namespace: &str,
    secrets: impl Fn(&SecretName) -> Option<&'a SecretData>,
) -> Result<Way, AccessProblem> {
    let credentials = material::Credentials {
        plane_namespace,
        secrets: &secrets,
    };
    match connection {
        Connection::Local => Ok(Way::Local),
        Connection::Agent { .. } => Err(AccessProblem::AgentNeeded),
        Connection::Kubeconfig { secret } => {
            let (place, text) = credentials.kubeconfig(secret)?;
            kubeconfig::read(&place, text).map(Way::Remote)
        }
        Connection::Direct { server, ca, auth } => {
            let field = "spec.kubernetesCluster.server";
            let server = server::read(field, server)?;
            let ca = ca
                .as_ref()
                .map(|ca| credentials.text(ca, "spec.kubernetesCluster.tls.ca"))
                .transpose()?;
            let auth = match auth {
                Auth::Certificate { certificate, key } => material::certificate(
                    credentials.text(certificate, "spec.kubernetesCluster.auth.mtls.clientCert")?,
                    credentials.text(key, "spec.kubernetesCluster.auth.mtls.clientKey")?,
                )?,
                Auth::Token(token) => material::token(
                    credentials.text(token, "spec.kubernetesCluster.auth.bearerToken")?,
                )?,
            };
            let access = Access {
                server,
                server_name: None,
                ca_pem: ca.map(material::authorities).transpose()?,
                proof: auth,
            };
            access.fitting(field).map(Way::Remote)
        }
    }
}

/// The content of an [`Access`] in 32 bytes: the same access has the same digest, a rotated one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Access {
    /// A digest of everything in it, to tell whether credentials have changed.
    pub fn digest(&self) -> Digest {
        let (kind, first, second) = match &self.proof {
            Proof::Certificate {
                certificate_pem,
                key_pem,
            } => ("certificate", certificate_pem.reveal(), key_pem.reveal()),
            Proof::Token(token) => ("token", token.reveal(), ""),
            Proof::Nothing => ("nothing", "", ""),
        };
        let server = self.server.to_string();
        let parts = [
            Some(server.as_str()),
            self.server_name.as_deref(),
            self.ca_pem.as_ref().map(Sensitive::reveal),
            Some(kind),
            Some(first),
            Some(second),
        ];
        let mut hash = Sha256::new();
        for part in parts {
            // Lengths keep parts apart; an absent one is longer than any can be.
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            hash.update(length.to_be_bytes());
            hash.update(part.unwrap_or_default());
        }
        Digest(hash.finalize().into())
    }

    /// When the credentials end by themselves, as far as they say so: a certificate does, a JSON web token may.
    pub fn expires(&self) -> Option<Timestamp> {
        match &self.proof {
            Proof::Certificate {
                certificate_pem, ..
            } => expiry::of_certificate(certificate_pem.reveal()),
            Proof::Token(token) => expiry::of_token(token.reveal()),
            Proof::Nothing => None,
        }
    }

    /// Checks what only the whole can tell: proof and address must fit. `field` is where the address is.
    fn fitting(self, field: &str) -> Result<Self, AccessProblem> {
        let in_clear = self.server.scheme_str() == Some("http");
        match &self.proof {
            Proof::Certificate { .. } if in_clear => Err(AccessProblem::malformed(
                field,
                "starts with http://, where a client certificate can't be shown: use https://",
            )),
            Proof::Nothing if !in_clear => Err(AccessProblem::malformed(
                field,
                "comes with neither a token nor a client certificate: give one of them",
            )),
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests;
