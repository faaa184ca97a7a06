//! Keys and certificates of one control plane: a CA, a serving certificate, a key for service accounts, and a
//! kubeconfig per user.

use std::{fs, path::Path};

use anyhow::Context;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use serde_json::json;

/// The certificate authority of a control plane.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(super) fn generate() -> anyhow::Result<Self> {
        let mut params = named("quadrille-test-ca", None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        Ok(Self { issuer })
    }

    /// Writes what kube-apiserver and kube-controller-manager need into `folder`.
    pub(super) fn write_server_files(&self, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(folder)?;
        let mut params = CertificateParams::new(vec![
            "127.0.0.1".to_owned(),
            "10.0.0.1".to_owned(),
            "localhost".to_owned(),
            "kubernetes".to_owned(),
            "kubernetes.default".to_owned(),
            "kubernetes.default.svc".to_owned(),
        ])?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let service_accounts = KeyPair::generate()?;
        for (name, content) in [
            ("ca.crt", self.issuer.pem()),
            ("ca.key", self.issuer.key().serialize_pem()),
            ("server.crt", certificate.pem()),
            ("server.key", key.serialize_pem()),
            ("service-accounts.key", service_accounts.serialize_pem()),
            ("service-accounts.pub", service_accounts.public_key_pem()),
        ] {
            let path = folder.join(name);
            fs::write(&path, content).with_context(|| format!("write {}", path.display()))?;
        }
        Ok(())
    }

    /// A kubeconfig for a user of group `system:masters`, as JSON (which is YAML).
    pub(super) fn kubeconfig(&self, server: &str, user: &str) -> anyhow::Result<String> {
        let mut params = named(user, Some("system:masters"));
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "real",
            "clusters": [{ "name": "real", "cluster": {
                "server": server,
                "certificate-authority-data": BASE64_STANDARD.encode(self.issuer.pem()),
            }}],
            "users": [{ "name": user, "user": {
                "client-certificate-data": BASE64_STANDARD.encode(certificate.pem()),
                "client-key-data": BASE64_STANDARD.encode(key.serialize_pem()),
            }}],
            "contexts": [{ "name": "real", "context": { "cluster": "real", "user": user }}],
        });
        Ok(serde_json::to_string_pretty(&kubeconfig)?)
    }
}

fn named(common_name: &str, organization: Option<&str>) -> CertificateParams {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    if let Some(organization) = organization {
        name.push(DnType::OrganizationName, organization);
    }
    let mut params = CertificateParams::default();
    params.distinguished_name = name;
    params
}
