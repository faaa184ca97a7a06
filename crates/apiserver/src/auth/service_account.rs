//! Tokens of service accounts: signed JSON Web Tokens (ES256) with the claims that Kubernetes gives them.
//!
//! Issuing and verifying are pure: key, request and time come in. Whether the account (and the object that
//! a token is bound to) still exists is the caller's question, answered from [`Claims::kubernetes`].

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
        UnparsedPublicKey,
    },
};
use rustls_pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{CREDENTIAL_ID, User};

/// Who signs, and whom tokens are for when nobody says otherwise.
pub const ISSUER: &str = "https://kubernetes.default.svc";
/// Clocks of different machines may differ by this many seconds.
pub(crate) const LEEWAY_SECONDS: i64 = 60;
/// A token is a few hundred bytes; nothing near this size is one of ours.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Why a token is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not one of ours: another issuer, another form, another key.
    #[error("invalid bearer token")]
    Invalid,
    /// `exp` lies in the past.
    #[error("service account token has expired")]
    Expired,
    /// `nbf` lies in the future.
    #[error("service account token is not valid yet")]
    NotYetValid,
    /// `iat` lies in the future.
    #[error("service account token is issued in the future")]
    IssuedInTheFuture,
    /// Meant for somebody else.
    #[error(
        "token audiences {} is invalid for the target audiences {}",
        quoted(held),
        quoted(wanted)
    )]
    Audience {
        /// Whom the token is for.
        held: Vec<String>,
        /// Whom it would have to be for.
        wanted: Vec<String>,
    },
    /// The key is not a P-256 key in PKCS#8 form.
    #[error("the service account key cannot be read")]
    Key,
    /// The random generator or the signature failed.
    #[error("the token cannot be signed")]
    Signing,
}

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Whom the token is for.
    pub aud: Vec<String>,
    /// Unix time after which it is void.
    pub exp: i64,
    /// Unix time of issue.
    pub iat: i64,
    /// Who signed.
    pub iss: String,
    /// The token's own id.
    pub jti: String,
    /// The account and what the token is bound to.
    #[serde(rename = "kubernetes.io")]
    pub kubernetes: Binding,
    /// Unix time before which it is void.
    pub nbf: i64,
    /// `system:serviceaccount:NAMESPACE:NAME`.
    pub sub: String,
}

/// The account of a token, and the object whose life bounds the token's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Namespace of the account.
    pub namespace: String,
    /// The node: of the pod, or bound itself when there is no pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Reference>,
    /// The pod that the token is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<Reference>,
    /// The secret that the token is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Reference>,
    /// The account.
    pub serviceaccount: Reference,
}

/// An object by name and uid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Its name.
    pub name: String,
    /// Its uid: an object of the same name made later is another one.
    pub uid: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    kid: String,
}

/// The key that signs and checks tokens of service accounts.
pub struct ServiceAccountKey {
    pair: EcdsaKeyPair,
    key_id: String,
    random: SystemRandom,
}

impl std::fmt::Debug for ServiceAccountKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ServiceAccountKey")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

impl ServiceAccountKey {
    /// A new key, for a server that keeps nothing.
    pub fn generate() -> Result<Self, TokenError> {
        let pkcs8 =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
                .map_err(|_| TokenError::Signing)?;
        Self::from_pkcs8(pkcs8.as_ref())
    }

    /// Reads a key from PEM (`PRIVATE KEY`, P-256).
    pub fn from_pem(pem: &[u8]) -> Result<Self, TokenError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem).map_err(|_| TokenError::Key)?;
        Self::from_pkcs8(der.secret_pkcs8_der())
    }

    fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, TokenError> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random)
            .map_err(|_| TokenError::Key)?;
        let key_id = BASE64.encode(Sha256::digest(pair.public_key().as_ref()));
        Ok(Self {
            pair,
            key_id,
            random,
        })
    }

    /// The public half as a JSON Web Key, for those who verify tokens themselves.
    pub fn public_key(&self) -> serde_json::Value {
        // An uncompressed point: one byte that says so, then both coordinates.
        let point = self.pair.public_key().as_ref();
        let (x, y) = point[1..].split_at(point.len() / 2);
        serde_json::json!({
            "use": "sig",
            "kty": "EC",
            "kid": self.key_id,
            "crv": "P-256",
            "alg": "ES256",
            "x": BASE64.encode(x),
            "y": BASE64.encode(y),
        })
    }

    /// Issues a token for an account. Without audiences it is for this server. `now` is Unix time.
    pub fn issue(
        &self,
        binding: Binding,
        audiences: &[String],
        now: i64,
        lifetime_seconds: i64,
    ) -> Result<String, TokenError> {
        let aud = if audiences.is_empty() {
            vec![ISSUER.to_owned()]
        } else {
            audiences.to_vec()
        };
        let claims = Claims {
            aud,
            exp: now.saturating_add(lifetime_seconds),
            iat: now,
            iss: ISSUER.to_owned(),
            jti: uuid::Uuid::new_v4().to_string(),
            nbf: now,
            sub: user_name(&binding.namespace, &binding.serviceaccount.name),
            kubernetes: binding,
        };
        let header = Header {
            alg: "ES256".to_owned(),
            kid: self.key_id.clone(),
        };
        let signed = format!("{}.{}", encode(&header)?, encode(&claims)?);
        let signature = self
            .pair
            .sign(&self.random, signed.as_bytes())
            .map_err(|_| TokenError::Signing)?;
        Ok(format!("{signed}.{}", BASE64.encode(signature)))
    }

    /// Checks a token's form, issuer, signature, time and audience; `audiences` are those that the asker
    /// identifies with (empty: this server).
    pub fn verify(
        &self,
        token: &str,
        audiences: &[String],
        now: i64,
    ) -> Result<Verified, TokenError> {
        let claims = self.checked_claims(token).ok_or(TokenError::Invalid)?;
        let wanted = if audiences.is_empty() {
            vec![ISSUER.to_owned()]
        } else {
            audiences.to_vec()
        };
        let common: Vec<String> = wanted
            .iter()
            .filter(|audience| claims.aud.contains(audience))
            .cloned()
            .collect();
        if common.is_empty() {
            return Err(TokenError::Audience {
                held: claims.aud,
                wanted,
            });
        }
        check_times(&claims, now)?;
        Ok(Verified {
            claims,
            audiences: common,
        })
    }

    /// The claims of a token that this key signed.
    fn checked_claims(&self, token: &str) -> Option<Claims> {
        if token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header: Header = decode(header)?;
        if header.alg != "ES256" {
            return None;
        }
        let signature = BASE64.decode(signature).ok()?;
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.pair.public_key().as_ref())
            .verify(signed.as_bytes(), &signature)
            .ok()?;
        let claims: Claims = decode(claims)?;
        let account = &claims.kubernetes;
        let ours = claims.iss == ISSUER
            && claims.sub == user_name(&account.namespace, &account.serviceaccount.name);
        ours.then_some(claims)
    }
}

/// A token that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// What it says.
    pub claims: Claims,
    /// The asker's audiences that it is for.
    pub audiences: Vec<String>,
}

impl Verified {
    /// The user that the token stands for.
    pub fn user(&self) -> User {
        let binding = &self.claims.kubernetes;
        let mut extra = BTreeMap::from([(
            CREDENTIAL_ID.to_owned(),
            vec![format!("JTI={}", self.claims.jti)],
        )]);
        for (object, what) in [(&binding.pod, "pod"), (&binding.node, "node")] {
            if let Some(Reference { name, uid }) = object {
                let key = |part| format!("authentication.kubernetes.io/{what}-{part}");
                extra.insert(key("name"), vec![name.clone()]);
                extra.insert(key("uid"), vec![uid.clone()]);
            }
        }
        User {
            name: self.claims.sub.clone(),
            uid: binding.serviceaccount.uid.clone(),
            extra,
            ..User::service_account(&binding.namespace, &binding.serviceaccount.name)
        }
    }
}

/// The user name of a service account.
pub fn user_name(namespace: &str, account: &str) -> String {
    format!("system:serviceaccount:{namespace}:{account}")
}

/// A list as Go prints it: `["a" "b"]`.
fn quoted(list: &[String]) -> String {
    let items: Vec<String> = list.iter().map(|item| format!("{item:?}")).collect();
    format!("[{}]", items.join(" "))
}

fn check_times(claims: &Claims, now: i64) -> Result<(), TokenError> {
    if claims.nbf > now.saturating_add(LEEWAY_SECONDS) {
        return Err(TokenError::NotYetValid);
    }
    if claims.exp < now.saturating_sub(LEEWAY_SECONDS) {
        return Err(TokenError::Expired);
    }
    if claims.iat > now.saturating_add(LEEWAY_SECONDS) {
        return Err(TokenError::IssuedInTheFuture);
    }
    Ok(())
}

fn encode<T: Serialize>(part: &T) -> Result<String, TokenError> {
    let json = serde_json::to_vec(part).map_err(|_| TokenError::Signing)?;
    Ok(BASE64.encode(json))
}

fn decode<T: for<'de> Deserialize<'de>>(part: &str) -> Option<T> {
    serde_json::from_slice(&BASE64.decode(part).ok()?).ok()
}

#[cfg(test)]
mod tests;
