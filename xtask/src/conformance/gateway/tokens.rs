//! Tokens, and the keys that they are checked with: made anew in each run.

use anyhow::anyhow;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::{Value, json};

use super::case::Token;

/// The issuer that cases trust where they trust one by name.
const ISSUER: &str = "https://issuer.test";
const KEY_ID: &str = "of-this-run";

/// Somebody who signs tokens, and somebody else whom nobody trusts.
pub(super) struct Issuer {
    trusted: EcdsaKeyPair,
    forger: EcdsaKeyPair,
    random: SystemRandom,
}

impl Issuer {
    pub(super) fn new() -> anyhow::Result<Self> {
        let random = SystemRandom::new();
        let pair = || {
            let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
            let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random)?;
            EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random)
                .map_err(|_| ring::error::Unspecified)
        };
        let made = pair().and_then(|trusted| Ok((trusted, pair()?)));
        let (trusted, forger) = made.map_err(|_| anyhow!("no keys could be made"))?;
        Ok(Self {
            trusted,
            forger,
            random,
        })
    }

    /// The keys that tokens are checked with.
    pub(super) fn key_set(&self) -> Value {
        // An uncompressed point: one byte that says so, and two numbers of 32.
        let point = self.trusted.public_key().as_ref();
        let number = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        json!({ "keys": [{
            "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": KEY_ID,
            "x": number(&point[1..33]), "y": number(&point[33..65]),
        }]})
    }

    /// A token. Claims of the case come over the usual ones.
    pub(super) fn token(&self, asked: &Token) -> anyhow::Result<String> {
        let now = jiff::Timestamp::now().as_second();
        let expires = if asked.is_expired {
            now - 3600
        } else {
            now + 3600
        };
        let mut claims = json!({
            "iss": ISSUER, "sub": "ada", "aud": "shop", "iat": now - 7200, "exp": expires,
            "scope": asked.scopes.join(" "),
        });
        for (name, value) in &asked.claims {
            claims[name.as_str()] = value.clone();
        }
        let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({ "alg": "ES256", "typ": "JWT", "kid": KEY_ID });
        let signed = format!("{}.{}", part(&header), part(&claims));
        let pair = if asked.is_forged {
            &self.forger
        } else {
            &self.trusted
        };
        let signature = pair
            .sign(&self.random, signed.as_bytes())
            .map_err(|_| anyhow!("a token could not be signed"))?;
        Ok(format!(
            "{signed}.{}",
            BASE64_URL_SAFE_NO_PAD.encode(signature)
        ))
    }
}
