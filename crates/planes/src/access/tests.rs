//! Tests of [`super`].

mod kubeconfigs;

use base64::Engine as _;
use quadrille_types::data_plane::SecretKey;
use rcgen::{CertificateParams, KeyPair};

use super::*;

/// A certificate that ends at the beginning of 2031, and its key, in PEM.
fn identity() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["example.org".to_owned()]).unwrap();
    params.not_after = rcgen::date_time_ymd(2031, 1, 1);
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), key.serialize_pem())
}

fn secret(pairs: &[(&str, &str)]) -> SecretData {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), ByteString(value.as_bytes().to_vec())))
        .collect()
}

fn name(namespace: &str, name: &str) -> SecretName {
    SecretName {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

/// Reads a connection that needs the Secret `acme/plane`, if any.
fn read(connection: &Connection, data: Option<&SecretData>) -> Result<Access, AccessProblem> {
    let way = access(connection, "acme", |wanted| {
        data.filter(|_| *wanted == name("acme", "plane"))
    })?;
    match way {
        Way::Remote(access) => Ok(access),
        Way::Local => panic!("a remote plane became a local one"),
    }
}

fn in_secret(namespace: Option<&str>, key: &str) -> Credential {
    Credential::InSecret(SecretKey {
        namespace: namespace.map(str::to_owned),
        name: "plane".to_owned(),
        key: key.to_owned(),
    })
}

#[test]
fn direct_credentials_come_from_their_fields_or_from_secrets() {
    let (certificate, key) = identity();
    let data = secret(&[
        ("ca.crt", &*certificate),
        ("tls.crt", &*certificate),
        ("tls.key", &*key),
    ]);
    let direct = |ca: &str, certificate: Credential| Connection::Direct {
        server: "https://10.0.0.1".to_owned(),
        ca: Some(in_secret(None, ca)),
        auth: Auth::Certificate {
            certificate,
            key: in_secret(Some("acme"), "tls.key"),
        },
    };
    let from_secret = direct("ca.crt", in_secret(None, "tls.crt"));
    let given = direct("ca.crt", Credential::Given(Sensitive::new(&*certificate)));
    let one = read(&from_secret, Some(&data)).unwrap();
    assert_eq!(one, read(&given, Some(&data)).unwrap());
    assert_eq!(one.ca_pem, Some(Sensitive::new(certificate)));

    let problem = read(&direct("root.crt", in_secret(None, "tls.crt")), Some(&data)).unwrap_err();
    assert_eq!(problem.to_string(), "Secret acme/plane has no key root.crt");
    let problem = read(&from_secret, None).unwrap_err();
    assert_eq!(problem.to_string(), "there is no Secret acme/plane");
    let broken = Credential::Given(Sensitive::new("s3cr3t"));
    let problem = read(&direct("ca.crt", broken), Some(&data)).unwrap_err();
    let words = "spec.kubernetesCluster.auth.mtls.clientCert has no certificate in PEM";
    assert_eq!(problem.to_string(), words);
}

#[test]
fn the_needed_secrets_are_named_once() {
    let token = |namespace, ca| Connection::Direct {
        server: "https://10.0.0.1".to_owned(),
        ca,
        auth: Auth::Token(in_secret(namespace, "token")),
    };
    let agent = Connection::Agent {
        plane: "edge".into(),
        client_ca: in_secret(None, "ca.crt"),
    };
    let own = name("acme", "plane");
    for (connection, expected) in [
        (Connection::Local, vec![]),
        (kubeconfigs::secret_with_kubeconfig(), vec![own.clone()]),
        (
            token(None, Some(in_secret(Some("acme"), "ca.crt"))),
            vec![own.clone()],
        ),
        (
            token(None, Some(in_secret(Some("zoo"), "ca.crt"))),
            vec![own.clone(), name("zoo", "plane")],
        ),
        (
            token(None, Some(Credential::Given(Sensitive::new("")))),
            vec![own.clone()],
        ),
        (agent.clone(), vec![own]),
    ] {
        assert_eq!(needed_secrets(&connection, "acme"), expected);
    }
    assert_eq!(access(&Connection::Local, "acme", |_| None), Ok(Way::Local));
    assert_eq!(
        access(&agent, "acme", |_| None),
        Err(AccessProblem::AgentNeeded)
    );
}

fn with_token(token: &str) -> Access {
    Access {
        server: "https://10.0.0.1".parse().unwrap(),
        server_name: None,
        ca_pem: None,
        proof: Proof::Token(Sensitive::new(token)),
    }
}

#[test]
fn a_digest_tells_any_two_accesses_apart() {
    let base = with_token("token");
    let change = |change: &dyn Fn(&mut Access)| {
        let mut access = base.clone();
        change(&mut access);
        access.digest()
    };
    let mut digests = vec![
        base.digest(),
        change(&|access| access.proof = Proof::Token(Sensitive::new("other"))),
        change(&|access| access.proof = Proof::Nothing),
        change(&|access| access.server = "https://10.0.0.2".parse().unwrap()),
        change(&|access| access.server_name = Some(String::new())),
        change(&|access| access.ca_pem = Some(Sensitive::new(""))),
        change(&|access| {
            access.proof = Proof::Certificate {
                certificate_pem: Sensitive::new("tok"),
                key_pem: Sensitive::new("en"),
            };
        }),
        change(&|access| {
            access.proof = Proof::Certificate {
                certificate_pem: Sensitive::new("toke"),
                key_pem: Sensitive::new("n"),
            };
        }),
    ];
    let count = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), count);
    assert_eq!(base.digest(), with_token("token").digest());
}

#[test]
fn a_token_that_says_when_it_ends_is_believed() {
    let jwt = |claims: &str| {
        let part = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(claims);
        with_token(&format!("e30.{part}.c2ln")).expires()
    };
    let end = Some("2031-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(jwt(r#"{"exp":1924992000}"#), end);
    assert_eq!(jwt(r#"{"exp":1924992000.5}"#), end);
    for claims in ["{}", r#"{"exp":"soon"}"#, r#"{"exp":1e300}"#, "[]", ""] {
        assert_eq!(jwt(claims), None, "{claims}");
    }
    assert_eq!(with_token("abcdef.0123456789abcdef").expires(), None);
    assert_eq!(with_token("a.b.c").expires(), None);
}
