//! Tests of authentication without a network: which credential wins, and what is refused.

use http::HeaderValue;

use super::*;
use crate::auth::service_account::Reference;

const NOW: i64 = 1_800_000_000;

struct OnlyUid(&'static str);

impl Bindings for OnlyUid {
    fn check<'a>(&'a self, binding: &'a Binding) -> BoxFuture<'a, Result<(), String>> {
        let known = binding.serviceaccount.uid == self.0;
        Box::pin(async move {
            known
                .then_some(())
                .ok_or_else(|| "service account is gone".to_owned())
        })
    }
}

fn named(name: &str) -> User {
    User {
        name: name.to_owned(),
        ..User::default()
    }
}

fn trusted(name: &str) -> PeerCertificate {
    PeerCertificate::Trusted {
        user: named(name),
        not_after: u64::try_from(NOW).unwrap() + 60,
    }
}

fn with_authorization(text: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::AUTHORIZATION, HeaderValue::from_str(text).unwrap());
    headers
}

async fn who(
    authenticator: &Authenticator,
    peer: &PeerCertificate,
    authorization: Option<&str>,
) -> Result<Option<String>, AuthenticationError> {
    let headers = authorization.map(with_authorization).unwrap_or_default();
    let user = authenticator.authenticate(peer, &headers, NOW).await?;
    Ok(user.map(|user| user.name))
}

#[tokio::test]
async fn a_trusted_certificate_wins_over_a_token() {
    let authenticator = Authenticator::new().with_token("secret", named("tom"));
    let found = who(&authenticator, &trusted("anna"), Some("Bearer secret")).await;
    assert_eq!(found, Ok(Some("anna".to_owned())));
}

#[tokio::test]
async fn a_token_helps_where_the_certificate_does_not() {
    let authenticator = Authenticator::new().with_token("secret", named("tom"));
    let foreign = PeerCertificate::Untrusted("unknown issuer".to_owned());
    let found = who(&authenticator, &foreign, Some("bearer  ")).await;
    assert!(matches!(found, Err(AuthenticationError::Certificate(_))));
    let found = who(&authenticator, &foreign, Some("bearer secret")).await;
    assert_eq!(found, Ok(Some("tom".to_owned())));
}

#[tokio::test]
async fn an_expired_certificate_is_refused_on_an_open_connection() {
    let expired = PeerCertificate::Trusted {
        user: named("anna"),
        not_after: u64::try_from(NOW).unwrap() - 1,
    };
    let found = who(&Authenticator::new(), &expired, None).await;
    assert!(matches!(found, Err(AuthenticationError::Certificate(_))));
}

#[tokio::test]
async fn no_credentials_are_no_error_but_wrong_ones_are() {
    let authenticator = Authenticator::new().with_token("secret", named("tom"));
    let absent = PeerCertificate::Absent;
    assert_eq!(who(&authenticator, &absent, None).await, Ok(None));
    assert_eq!(
        who(&authenticator, &absent, Some("Basic abc")).await,
        Ok(None)
    );
    let found = who(&authenticator, &absent, Some("Bearer wrong")).await;
    assert!(matches!(found, Err(AuthenticationError::Token(_))));
}

#[tokio::test]
async fn a_service_account_token_is_good_only_while_its_account_lives() {
    let key = Arc::new(ServiceAccountKey::generate().unwrap());
    let token_of = |uid: &str| {
        let binding = Binding {
            namespace: "shop".to_owned(),
            serviceaccount: Reference {
                name: "builder".to_owned(),
                uid: uid.to_owned(),
            },
            ..Binding::default()
        };
        format!("Bearer {}", key.issue(binding, &[], NOW, 600).unwrap())
    };
    let authenticator =
        Authenticator::new().with_service_accounts(key.clone(), Arc::new(OnlyUid("new")));
    let absent = PeerCertificate::Absent;
    assert_eq!(
        who(&authenticator, &absent, Some(&token_of("new"))).await,
        Ok(Some("system:serviceaccount:shop:builder".to_owned()))
    );
    let found = who(&authenticator, &absent, Some(&token_of("old"))).await;
    assert!(matches!(found, Err(AuthenticationError::Token(_))));
}
