//! A data plane as everybody else sees it.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    data_plane::{DataPlaneSpec, FeatureFlags, KubernetesCluster, Sensitive, ValueFrom},
    gateway::Sides,
    names::PlaneId,
    problem::Problem,
};

/// A data plane as everybody else sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// How the plane is reached.
    pub connection: Connection,
    /// The plane's own gateways.
    pub sides: Sides,
    /// The first part of image names.
    pub registry_prefix: Option<String>,
    /// The Secret with the credentials to pull images.
    pub registry_secret: Option<String>,
    /// The secret store of the plane.
    pub secret_store: Option<String>,
    /// What the cluster can do, as far as it is said.
    pub features: FeatureFlags,
}

/// How a plane is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// It is the cluster that we run in.
    Local,
    /// By a kubeconfig in a Secret of the plane's namespace.
    Kubeconfig {
        /// The name of the Secret.
        secret: String,
    },
    /// With address and credentials.
    Direct {
        /// The address of the API server.
        server: String,
        /// The authority that signed its certificate; `None` means the system's.
        ca: Option<Credential>,
        /// How we prove who we are.
        auth: Auth,
    },
    /// By an agent that dials in.
    Agent {
        /// The name by which the agent knows the plane.
        plane: PlaneId,
        /// The authority that signs the agent's certificates.
        client_ca: Credential,
    },
}

/// How we prove who we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// With a certificate.
    Certificate {
        /// The certificate in PEM.
        certificate: Credential,
        /// Its key in PEM.
        key: Credential,
    },
    /// With a token.
    Token(Credential),
}

/// A credential, or where to find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Here it is, decoded.
    Given(Sensitive),
    /// It is in a Secret, as PEM or as a plain token.
    InSecret(SecretKey),
}

/// One key of a Secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SecretKey {
    /// The namespace; `None` is the plane's own.
    pub namespace: Option<String>,
    /// The name of the Secret.
    pub name: String,
    /// The key within it.
    pub key: String,
}

impl Connection {
    /// The word that status shows.
    pub fn reached_by(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Kubeconfig { .. } | Self::Direct { .. } => "push",
            Self::Agent { .. } => "pull",
        }
    }
}

impl DataPlaneSpec {
    /// Reads the variants of all generations into one form. `name` is the object's own name, by which
    /// its agent knows it unless another is given.
    pub fn resolve(&self, name: &str) -> Result<Resolved, Problem> {
        let gateway = self.gateway.clone().unwrap_or_default();
        let cluster = self.kubernetes_cluster.as_ref();
        Ok(Resolved {
            connection: self.connection(name)?,
            sides: Sides::read(
                gateway.ingress.as_ref(),
                gateway.egress.as_ref(),
                gateway.public_virtual_host.as_deref(),
                gateway.organization_virtual_host.as_deref(),
            ),
            registry_prefix: self
                .registry
                .as_ref()
                .map(|registry| registry.prefix.clone()),
            registry_secret: self
                .registry
                .as_ref()
                .and_then(|registry| registry.secret_ref.clone()),
            secret_store: self
                .secret_store_ref
                .as_ref()
                .map(|store| store.name.clone()),
            features: cluster
                .and_then(|cluster| cluster.feature_flags.clone())
                .unwrap_or_default(),
        })
    }

    fn connection(&self, name: &str) -> Result<Connection, Problem> {
        match (&self.kubernetes_cluster, &self.cluster_agent) {
            (Some(cluster), None) => cluster.connection(),
            (None, Some(agent)) => {
                let plane = self.plane_id.clone().unwrap_or_else(|| PlaneId::new(name));
                let client_ca = agent
                    .client_ca
                    .pem("spec.clusterAgent.clientCA", "ca.crt")?
                    .ok_or_else(|| Problem::new("spec.clusterAgent.clientCA", "is empty"))?;
                Ok(Connection::Agent { plane, client_ca })
            }
            (None, None) => Err(Problem::new(
                "spec",
                "needs kubernetesCluster or clusterAgent",
            )),
            (Some(_), Some(_)) => Err(Problem::new(
                "spec",
                "has both kubernetesCluster and clusterAgent: only one can be meant",
            )),
        }
    }
}

impl KubernetesCluster {
    fn connection(&self) -> Result<Connection, Problem> {
        let in_cluster = self.in_cluster.unwrap_or_default();
        let kubeconfig = |secret: &String| Connection::Kubeconfig {
            secret: secret.clone(),
        };
        match (
            in_cluster,
            &self.server,
            &self.secret_ref,
            &self.connection_config_ref,
        ) {
            (true, None, None, None) => Ok(Connection::Local),
            (false, Some(server), None, None) => self.direct(server),
            (false, None, Some(secret), None) | (false, None, None, Some(secret)) => {
                Ok(kubeconfig(secret))
            }
            _ => Err(Problem::new(
                "spec.kubernetesCluster",
                "must say in exactly one way how the cluster is reached: server, secretRef, \
                 connectionConfigRef or inCluster: true",
            )),
        }
    }

    fn direct(&self, server: &str) -> Result<Connection, Problem> {
        let field = "spec.kubernetesCluster.auth";
        let missing = |what: &str| Problem::new(format!("{field}.{what}"), "is empty");
        let auth = self.auth.clone().unwrap_or_default();
        let auth = if let Some(mtls) = &auth.mtls {
            let certificate = mtls
                .client_cert
                .pem(&format!("{field}.mtls.clientCert"), "tls.crt")?;
            let key = mtls
                .client_key
                .pem(&format!("{field}.mtls.clientKey"), "tls.key")?;
            Auth::Certificate {
                certificate: certificate.ok_or_else(|| missing("mtls.clientCert"))?,
                key: key.ok_or_else(|| missing("mtls.clientKey"))?,
            }
        } else if let Some(token) = &auth.bearer_token {
            let token = token.credential("token", |text| Ok(text.to_owned()))?;
            Auth::Token(token.ok_or_else(|| missing("bearerToken"))?)
        } else {
            return Err(Problem::new(field, "needs mtls or bearerToken"));
        };
        let ca = self
            .tls
            .as_ref()
            .map(|tls| tls.ca.pem("spec.kubernetesCluster.tls.ca", "ca.crt"));
        Ok(Connection::Direct {
            server: server.to_owned(),
            ca: ca.transpose()?.flatten(),
            auth,
        })
    }
}

impl ValueFrom {
    /// A credential in PEM, which may be written as it is or in base64.
    fn pem(&self, field: &str, usual_key: &str) -> Result<Option<Credential>, Problem> {
        self.credential(usual_key, |text| {
            let is_pem = |text: &str| text.contains("-----BEGIN ");
            if is_pem(text) {
                return Ok(text.to_owned());
            }
            let packed: String = text.split_whitespace().collect();
            let decoded = STANDARD
                .decode(packed)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok());
            decoded.filter(|text| is_pem(text)).ok_or_else(|| {
                Problem::new(format!("{field}.value"), "is neither PEM nor PEM in base64")
            })
        })
    }

    /// A credential; `None` where nothing is given.
    fn credential(
        &self,
        usual_key: &str,
        decode: impl Fn(&str) -> Result<String, Problem>,
    ) -> Result<Option<Credential>, Problem> {
        let written = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(value) = self
            .value
            .as_ref()
            .filter(|value| !value.reveal().is_empty())
        {
            return Ok(Some(Credential::Given(Sensitive::new(decode(
                value.reveal(),
            )?))));
        }
        if let Some(secret) = &self.secret_key_ref {
            return Ok(Some(Credential::InSecret(SecretKey {
                namespace: secret.namespace.clone(),
                name: secret.name.clone(),
                key: secret.key.clone(),
            })));
        }
        Ok(written(&self.secret_ref).map(|name| {
            Credential::InSecret(SecretKey {
                namespace: None,
                name,
                key: usual_key.to_owned(),
            })
        }))
    }
}

#[cfg(test)]
mod tests;
