//! Credentials out of Secrets, and whether they have the form they must have.

use http::HeaderValue;
use quadrille_types::data_plane::{Credential, Sensitive};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

use super::{AccessProblem, Proof, SecretData, SecretName};

/// The most that a kubeconfig may have: what a Secret can hold.
const LARGEST_KUBECONFIG: usize = 1024 * 1024;

/// The keys that hold a kubeconfig, the usual one first.
const KUBECONFIG_KEYS: [&str; 3] = ["kubeconfig", "value", "config"];

/// A text and where it is from.
pub(super) struct Found {
    pub(super) place: String,
    pub(super) text: Sensitive,
}

/// Where credentials are looked up.
pub(super) struct Credentials<'a, Secrets> {
    pub(super) plane_namespace: &'a str,
    pub(super) secrets: &'a Secrets,
}

impl<'s, Secrets: Fn(&SecretName) -> Option<&'s SecretData>> Credentials<'_, Secrets> {
    /// The text of a credential that is given in `field`, or in the Secret that is named there.
    pub(super) fn text(
        &self,
        credential: &Credential,
        field: &str,
    ) -> Result<Found, AccessProblem> {
        let key = match credential {
            Credential::Given(text) => {
                return Ok(Found {
                    place: field.to_owned(),
                    text: text.clone(),
                });
            }
            Credential::InSecret(key) => key,
        };
        let namespace = key.namespace.as_deref().unwrap_or(self.plane_namespace);
        let (secret, data) = self.secret(namespace, &key.name)?;
        let Some(bytes) = data.get(&key.key) else {
            let key = key.key.clone();
            return Err(AccessProblem::KeyMissing { secret, key });
        };
        let place = place(&secret, &key.key);
        match str::from_utf8(&bytes.0) {
            Ok(text) => Ok(Found {
                text: Sensitive::new(text),
                place,
            }),
            Err(_) => Err(AccessProblem::malformed(place, "is no text")),
        }
    }

    /// The kubeconfig in a Secret of the plane's namespace, and where it is.
    pub(super) fn kubeconfig(&self, name: &str) -> Result<(String, &'s str), AccessProblem> {
        let (secret, data) = self.secret(self.plane_namespace, name)?;
        let usual = KUBECONFIG_KEYS
            .into_iter()
            .find_map(|key| data.get_key_value(key));
        let only = || data.iter().next().filter(|_| data.len() == 1);
        let Some((key, bytes)) = usual.or_else(only) else {
            return Err(AccessProblem::KeyMissing {
                secret,
                key: KUBECONFIG_KEYS.join(", nor "),
            });
        };
        let place = place(&secret, key);
        if bytes.0.len() > LARGEST_KUBECONFIG {
            return Err(AccessProblem::refused(
                place,
                "it is larger than 1 MiB; keep only the context that is used",
            ));
        }
        match str::from_utf8(&bytes.0) {
            Ok(text) => Ok((place, text)),
            Err(_) => Err(AccessProblem::malformed(place, "is no text")),
        }
    }

    fn secret(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<(SecretName, &'s SecretData), AccessProblem> {
        let name = SecretName {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        match (self.secrets)(&name) {
            Some(data) => Ok((name, data)),
            None => Err(AccessProblem::SecretMissing { name }),
        }
    }
}

fn place(secret: &SecretName, key: &str) -> String {
    format!("key {key} of Secret {secret}")
}

/// Authorities in PEM: at least one certificate, and nothing that is broken.
pub(super) fn authorities(found: Found) -> Result<Sensitive, AccessProblem> {
    certificates(&found)?;
    Ok(found.text)
}

/// A certificate and its key in PEM.
pub(super) fn certificate(certificate: Found, key: Found) -> Result<Proof, AccessProblem> {
    certificates(&certificate)?;
    if PrivateKeyDer::from_pem_slice(key.text.reveal().as_bytes()).is_err() {
        return Err(AccessProblem::malformed(
            key.place,
            "has no private key in PEM (PKCS#8, PKCS#1 or SEC1, not encrypted)",
        ));
    }
    Ok(Proof::Certificate {
        certificate_pem: certificate.text,
        key_pem: key.text,
    })
}

/// A token; white space around it does not count.
pub(super) fn token(found: Found) -> Result<Proof, AccessProblem> {
    let token = found.text.reveal().trim();
    if token.is_empty() {
        return Err(AccessProblem::malformed(found.place, "is empty"));
    }
    let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_plain || HeaderValue::from_str(token).is_err() {
        return Err(AccessProblem::malformed(
            found.place,
            "is no token: it has white space or characters beyond ASCII inside",
        ));
    }
    Ok(Proof::Token(Sensitive::new(token)))
}

fn certificates(found: &Found) -> Result<(), AccessProblem> {
    let read: Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(found.text.reveal().as_bytes()).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(()),
        Ok(_) => Err(AccessProblem::malformed(
            &found.place,
            "has no certificate in PEM",
        )),
        Err(_) => Err(AccessProblem::malformed(&found.place, "is broken PEM")),
    }
}
