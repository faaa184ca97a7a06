//! Tests of kubeconfigs out of Secrets.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::*;

pub(super) fn secret_with_kubeconfig() -> Connection {
    Connection::Kubeconfig {
        secret: "plane".to_owned(),
    }
}

/// A kubeconfig with a token, after some change.
fn kubeconfig(change: impl FnOnce(&mut Value)) -> String {
    let mut config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [
            { "name": "there", "context": { "cluster": "nowhere", "user": "nobody" } },
            { "name": "here", "context": { "cluster": "home", "user": "me" } },
        ],
        "clusters": [{ "name": "home", "cluster": { "server": "https://10.0.0.1:6443/k8s" } }],
        "users": [{ "name": "me", "user": { "token": "s3cr3t-t0k3n" } }],
    });
    change(&mut config);
    config.to_string()
}

fn read_kubeconfig(text: &str) -> Result<Access, AccessProblem> {
    read(
        &secret_with_kubeconfig(),
        Some(&secret(&[("kubeconfig", text)])),
    )
}

#[test]
fn a_kubeconfig_with_a_token_gives_an_access() {
    let access = read_kubeconfig(&kubeconfig(|_| {})).unwrap();
    assert_eq!(access.server, "https://10.0.0.1:6443/k8s");
    assert_eq!(access.ca_pem, None);
    assert_eq!(access.proof, Proof::Token(Sensitive::new("s3cr3t-t0k3n")));
}

#[test]
fn a_kubeconfig_with_a_certificate_gives_an_access() {
    let (certificate, key) = identity();
    let access = read_kubeconfig(&kubeconfig(|config| {
        config["clusters"][0]["cluster"]["certificate-authority-data"] =
            STANDARD.encode(&certificate).into();
        config["clusters"][0]["cluster"]["tls-server-name"] = "api.example.org".into();
        config["users"][0]["user"] = json!({
            "client-certificate-data": STANDARD.encode(&certificate),
            "client-key-data": STANDARD.encode(&key),
            // Tools write empty fields too.
            "token": "",
            "exec": null,
        });
    }))
    .unwrap();
    assert_eq!(access.server_name.as_deref(), Some("api.example.org"));
    assert_eq!(access.ca_pem, Some(Sensitive::new(&*certificate)));
    assert_eq!(
        access.expires(),
        Some("2031-01-01T00:00:00Z".parse().unwrap())
    );
    let proof = Proof::Certificate {
        certificate_pem: Sensitive::new(certificate),
        key_pem: Sensitive::new(key),
    };
    assert_eq!(access.proof, proof);
}

#[test]
fn the_only_context_needs_no_name() {
    let only = kubeconfig(|config| {
        config["current-context"] = Value::Null;
        config["contexts"].as_array_mut().unwrap().remove(0);
    });
    assert!(read_kubeconfig(&only).is_ok());
    let several = kubeconfig(|config| config["current-context"] = "".into());
    let problem = read_kubeconfig(&several).unwrap_err();
    assert!(
        problem
            .to_string()
            .starts_with("current-context in key kubeconfig of Secret acme/plane ")
    );
}

#[test]
fn the_kubeconfig_is_under_one_of_the_usual_keys_or_the_only_one() {
    let text = kubeconfig(|_| {});
    for data in [
        secret(&[("kubeconfig", &*text), ("value", "no"), ("config", "no")]),
        secret(&[("value", &*text), ("config", "no")]),
        secret(&[("config", &*text), ("extra", "no")]),
        secret(&[("admin.conf", &*text)]),
    ] {
        assert!(
            read(&secret_with_kubeconfig(), Some(&data)).is_ok(),
            "{:?}",
            data.keys()
        );
    }
    let problem = read(
        &secret_with_kubeconfig(),
        Some(&secret(&[("a", &*text), ("b", &*text)])),
    );
    assert_eq!(problem.unwrap_err().reason(), "SecretKeyMissing");
    let problem = read(&secret_with_kubeconfig(), None);
    let missing = AccessProblem::SecretMissing {
        name: name("acme", "plane"),
    };
    assert_eq!(problem.unwrap_err(), missing);
}

#[test]
fn what_is_unsafe_in_a_kubeconfig_is_refused_with_its_field_and_a_way_out() {
    for (part, field, value, way_out) in [
        (
            "clusters",
            "certificate-authority",
            json!("/ca.crt"),
            "certificate-authority-data",
        ),
        (
            "clusters",
            "insecure-skip-tls-verify",
            json!(true),
            "certificate-authority-data",
        ),
        (
            "clusters",
            "insecure-skip-tls-verify",
            json!("true"),
            "certificate-authority-data",
        ),
        ("clusters", "proxy-url", json!("http://proxy:3128"), "agent"),
        (
            "users",
            "exec",
            json!({ "command": "steal", "apiVersion": "v1" }),
            "token",
        ),
        ("users", "auth-provider", json!({ "name": "gcp" }), "token"),
        (
            "users",
            "client-certificate",
            json!("/tls.crt"),
            "client-certificate-data",
        ),
        ("users", "client-key", json!("/tls.key"), "client-key-data"),
        ("users", "tokenFile", json!("/token"), "use token"),
        ("users", "username", json!("admin"), "token"),
        ("users", "password", json!("s3cr3t"), "token"),
        ("users", "as", json!("root"), "impersonated"),
        ("users", "as-uid", json!("1"), "impersonated"),
        (
            "users",
            "as-groups",
            json!(["system:masters"]),
            "impersonated",
        ),
        (
            "users",
            "as-user-extra",
            json!({ "a": ["b"] }),
            "impersonated",
        ),
    ] {
        let one = part.trim_end_matches('s');
        let text = kubeconfig(|config| config[part][0][one][field] = value.clone());
        let problem = read_kubeconfig(&text).unwrap_err();
        let words = problem.to_string();
        let place = format!("{one}.{field} in key kubeconfig of Secret acme/plane is refused: ");
        assert_eq!(problem.reason(), "CredentialsRefused", "{words}");
        assert!(
            words.starts_with(&place) && words.contains(way_out),
            "{words}"
        );
    }
}

/// A kubeconfig with one field set, which is named by a JSON pointer.
fn with(pointer: &str, value: Value) -> String {
    kubeconfig(|config| {
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        config.pointer_mut(parent).unwrap()[field] = value;
    })
}

#[test]
fn what_is_wrong_with_a_kubeconfig_is_said_without_quoting_it() {
    let pem = STANDARD.encode(identity().0);
    let no_pem = STANDARD.encode("s3cr3t");
    let pair = |certificate: Option<&str>, key: Option<&str>| json!({ "client-certificate-data": certificate, "client-key-data": key });
    let server = "/clusters/0/cluster/server";
    let ca = "/clusters/0/cluster/certificate-authority-data";
    let (user, token) = ("/users/0/user", "/users/0/user/token");
    let rows = [
        ("/contexts", json!("s3cr3t"), "key kubeconfig"),
        ("/current-context", json!("s3cr3t"), "current-context"),
        ("/clusters", json!([]), "context.cluster"),
        ("/users", Value::Null, "context.user"),
        (server, Value::Null, "cluster.server"),
        (server, json!(["s3cr3t"]), "cluster.server"),
        (server, json!("10.0.0.1:6443"), "cluster.server"),
        (server, json!("ftp://s3cr3t"), "cluster.server"),
        (server, json!("https://a/?s3cr3t"), "cluster.server"),
        (ca, json!("s3cr3t"), "cluster.certificate-authority-data"),
        (ca, json!(no_pem), "cluster.certificate-authority-data"),
        (token, json!("s3cr3t s3cr3t"), "user.token"),
        (token, json!("s3cr3t\u{e9}"), "user.token"),
        (token, json!(""), "cluster.server"),
        (user, pair(Some(&pem), None), "user.client-key-data"),
        (user, pair(None, Some(&pem)), "user.client-certificate-data"),
        (user, pair(Some(&pem), Some(&pem)), "user.client-key-data"),
        (
            user,
            pair(Some(&no_pem), Some(&pem)),
            "user.client-certificate-data",
        ),
    ];
    let rows = rows.map(|(pointer, value, field)| (with(pointer, value), field));
    let no_kubeconfigs = ["s3cr3t: [", "s3cr3t"].map(|text| (text.to_owned(), "key kubeconfig"));
    for (text, field) in rows.into_iter().chain(no_kubeconfigs) {
        let problem = read_kubeconfig(&text).unwrap_err();
        let words = problem.to_string();
        assert_eq!(problem.reason(), "CredentialsMalformed", "{words}");
        assert!(words.starts_with(field), "{field}: {words}");
        assert!(!words.contains("s3cr3t"), "{words}");
    }
}

#[test]
fn two_proofs_at_once_are_refused() {
    let (certificate, key) = identity();
    let both = kubeconfig(|config| {
        config["users"][0]["user"]["client-certificate-data"] = STANDARD.encode(certificate).into();
        config["users"][0]["user"]["client-key-data"] = STANDARD.encode(key).into();
    });
    assert_eq!(
        read_kubeconfig(&both).unwrap_err().reason(),
        "CredentialsRefused"
    );
}

#[test]
fn a_huge_kubeconfig_is_refused_before_it_is_read() {
    let huge = format!("# {}\n{}", "x".repeat(1024 * 1024), kubeconfig(|_| {}));
    assert_eq!(
        read_kubeconfig(&huge).unwrap_err().reason(),
        "CredentialsRefused"
    );
}

#[test]
fn tokens_are_sent_in_clear_only_on_loopback() {
    for (server, accepted) in [
        ("http://127.0.0.1:8001", true),
        ("http://[::1]:8001", true),
        ("http://localhost:8001", true),
        ("http://10.0.0.1:8001", false),
        ("http://localhost.example.org", false),
        ("https://user:word@10.0.0.1", false),
    ] {
        let text = kubeconfig(|config| config["clusters"][0]["cluster"]["server"] = server.into());
        match read_kubeconfig(&text) {
            Ok(access) => assert!(accepted, "{:?}", access.server),
            Err(problem) => {
                assert!(!accepted, "{problem}");
                assert_eq!(problem.reason(), "CredentialsRefused");
                assert!(!problem.to_string().contains("word"));
            }
        }
    }
}

#[test]
fn no_proof_is_needed_on_loopback_alone() {
    let nobody = |server: &str| {
        kubeconfig(|config| {
            config["clusters"][0]["cluster"]["server"] = server.into();
            config["users"][0]["user"] = json!({});
        })
    };
    let access = read_kubeconfig(&nobody("http://127.0.0.1:8001")).unwrap();
    assert_eq!((access.expires(), &access.proof), (None, &Proof::Nothing));
    assert!(read_kubeconfig(&nobody("https://10.0.0.1")).is_err());
}

#[test]
fn secrets_are_never_printed() {
    let access = read_kubeconfig(&kubeconfig(|_| {})).unwrap();
    assert!(!format!("{access:?}").contains("s3cr3t"));
}
