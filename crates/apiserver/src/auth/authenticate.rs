//! From credentials to a [`User`]: certificate first, then bearer token, as Kubernetes asks them.

use std::{collections::HashMap, sync::Arc};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use futures::future::BoxFuture;
use http::{HeaderMap, header};
use quadrille_machinery::status::Status;
use sha2::{Digest, Sha256};

use super::{
    User,
    certificate::PeerCertificate,
    service_account::{Binding, ServiceAccountKey, TokenError},
};
use crate::reply;

/// Says whether what a service account token is bound to still exists: the account itself by name and uid,
/// and the pod, secret or node that the token names.
pub trait Bindings: Send + Sync {
    /// `Err` carries the reason for a review of the token.
    fn check<'a>(&'a self, binding: &'a Binding) -> BoxFuture<'a, Result<(), String>>;
}

/// Why credentials do not hold. The client learns only "Unauthorized"; the log learns this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthenticationError {
    /// The client certificate is not from our authority, or out of its time.
    #[error("the client certificate is not accepted: {0}")]
    Certificate(String),
    /// The bearer token is nobody's, expired or revoked.
    #[error("{0}")]
    Token(String),
}

/// Knows all credentials that are accepted.
#[derive(Default)]
pub struct Authenticator {
    /// By digest, so that comparing takes no time that depends on the secret.
    tokens: HashMap<[u8; 32], User>,
    service_accounts: Option<(Arc<ServiceAccountKey>, Arc<dyn Bindings>)>,
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Authenticator")
            .field("static_tokens", &self.tokens.len())
            .field("service_accounts", &self.service_accounts.is_some())
            .finish()
    }
}

impl Authenticator {
    /// Accepts client certificates only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also accepts this token for this user.
    #[must_use]
    pub fn with_token(mut self, token: &str, user: User) -> Self {
        self.tokens.insert(digest(token), user.authenticated());
        self
    }

    /// Also accepts tokens of service accounts.
    #[must_use]
    pub fn with_service_accounts(
        mut self,
        key: Arc<ServiceAccountKey>,
        bindings: Arc<dyn Bindings>,
    ) -> Self {
        self.service_accounts = Some((key, bindings));
        self
    }

    /// Finds out who a request comes from; `None` when it carries no credentials at all.
    pub async fn authenticate(
        &self,
        peer: &PeerCertificate,
        headers: &HeaderMap,
        now: i64,
    ) -> Result<Option<User>, AuthenticationError> {
        let refused = match peer {
            PeerCertificate::Trusted { user, not_after } if !is_past(*not_after, now) => {
                return Ok(Some(user.clone()));
            }
            PeerCertificate::Trusted { .. } => Some("it has expired".to_owned()),
            PeerCertificate::Untrusted(why) => Some(why.clone()),
            PeerCertificate::Absent => None,
        };
        if let Some(token) = bearer_token(headers) {
            let reviewed = self.review(token, &[], now).await;
            return reviewed
                .map(|(user, _)| Some(user))
                .map_err(AuthenticationError::Token);
        }
        refused.map_or(Ok(None), |why| Err(AuthenticationError::Certificate(why)))
    }

    /// Checks a bearer token for these audiences (empty: this server); gives the user and the audiences that
    /// both know, or the words that a `TokenReview` shows.
    pub async fn review(
        &self,
        token: &str,
        audiences: &[String],
        now: i64,
    ) -> Result<(User, Vec<String>), String> {
        if let Some(user) = self.tokens.get(&digest(token)) {
            return Ok((user.clone(), audiences.to_vec()));
        }
        let Some((key, bindings)) = &self.service_accounts else {
            return Err("invalid bearer token".to_owned());
        };
        let explained = |why: &dyn std::fmt::Display| format!("[invalid bearer token, {why}]");
        let verified = match key.verify(token, audiences, now) {
            Ok(verified) => verified,
            Err(TokenError::Invalid) => return Err(TokenError::Invalid.to_string()),
            Err(error) => return Err(explained(&error)),
        };
        let binding = &verified.claims.kubernetes;
        let checked = bindings.check(binding).await;
        checked.map_err(|why| explained(&why))?;
        Ok((verified.user(), verified.audiences))
    }
}

fn is_past(unix_time: u64, now: i64) -> bool {
    u64::try_from(now).is_ok_and(|now| now > unix_time)
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// The token of an `Authorization: Bearer` header.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, rest) = text.split_once(' ')?;
    let token = rest.split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The layer: puts the [`User`] into the extensions of request and response (the request log reads the
/// latter), or answers 401.
pub async fn layer(
    State(authenticator): State<Arc<Authenticator>>,
    mut request: Request,
    next: Next,
) -> Response {
    let now = jiff::Timestamp::now().as_second();
    let peer = request.extensions().get::<Arc<PeerCertificate>>().cloned();
    let peer = peer.as_deref().unwrap_or(&PeerCertificate::Absent);
    let found = authenticator
        .authenticate(peer, request.headers(), now)
        .await;
    match found {
        Ok(Some(user)) => {
            // Nobody behind this point needs the secret.
            request.headers_mut().remove(header::AUTHORIZATION);
            request.extensions_mut().insert(user.clone());
            let mut response = next.run(request).await;
            response.extensions_mut().insert(user);
            response
        }
        Ok(None) => next.run(request).await,
        Err(error) => {
            tracing::debug!(%error, path = request.uri().path(), "credentials refused");
            reply::status(&Status::unauthorized())
        }
    }
}

#[cfg(test)]
mod tests;
