//! Tests of tokens: what holds, what does not, and whom they stand for.

use super::*;

const NOW: i64 = 1_800_000_000;

fn builder() -> Binding {
    Binding {
        namespace: "shop".to_owned(),
        serviceaccount: Reference {
            name: "builder".to_owned(),
            uid: "u-1".to_owned(),
        },
        ..Binding::default()
    }
}

fn key() -> ServiceAccountKey {
    ServiceAccountKey::generate().unwrap()
}

#[test]
fn an_issued_token_stands_for_its_account() {
    let key = key();
    let token = key.issue(builder(), &[], NOW, 3600).unwrap();
    let verified = key.verify(&token, &[], NOW + 10).unwrap();
    let user = verified.user();
    assert_eq!(user.name, "system:serviceaccount:shop:builder");
    assert_eq!(user.uid, "u-1");
    assert_eq!(
        user.groups,
        [
            "system:serviceaccounts",
            "system:serviceaccounts:shop",
            "system:authenticated"
        ]
    );
    assert_eq!(
        user.extra[CREDENTIAL_ID],
        [format!("JTI={}", verified.claims.jti)]
    );
    assert_eq!(verified.audiences, [ISSUER]);
}

#[test]
fn a_bound_pod_and_its_node_are_told() {
    let key = key();
    let reference = |name: &str| {
        Some(Reference {
            name: name.to_owned(),
            uid: format!("uid-of-{name}"),
        })
    };
    let binding = Binding {
        pod: reference("web-0"),
        node: reference("worker"),
        ..builder()
    };
    let token = key.issue(binding, &[], NOW, 3600).unwrap();
    let user = key.verify(&token, &[], NOW).unwrap().user();
    assert_eq!(
        user.extra["authentication.kubernetes.io/pod-name"],
        ["web-0"]
    );
    assert_eq!(
        user.extra["authentication.kubernetes.io/node-uid"],
        ["uid-of-worker"]
    );
}

#[test]
fn times_are_kept_with_a_minute_of_leeway() {
    let key = key();
    let token = key.issue(builder(), &[], NOW, 600).unwrap();
    let at = |now| key.verify(&token, &[], now).map(|_| ());
    assert_eq!(at(NOW + 660), Ok(()));
    assert_eq!(at(NOW + 661), Err(TokenError::Expired));
    assert_eq!(at(NOW - 60), Ok(()));
    assert_eq!(at(NOW - 61), Err(TokenError::NotYetValid));
}

#[test]
fn a_token_for_somebody_else_is_refused_and_the_common_audiences_are_told() {
    let key = key();
    let audiences = ["vault".to_owned(), "mesh".to_owned()];
    let token = key.issue(builder(), &audiences, NOW, 600).unwrap();
    let error = key.verify(&token, &[], NOW).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"token audiences ["vault" "mesh"] is invalid for the target audiences ["https://kubernetes.default.svc"]"#
    );
    let asked = ["other".to_owned(), "mesh".to_owned()];
    assert_eq!(key.verify(&token, &asked, NOW).unwrap().audiences, ["mesh"]);
}

#[test]
fn foreign_changed_and_malformed_tokens_are_invalid() {
    let key = key();
    let foreign = ServiceAccountKey::generate()
        .unwrap()
        .issue(builder(), &[], NOW, 600)
        .unwrap();
    let token = key.issue(builder(), &[], NOW, 600).unwrap();
    let parts: Vec<&str> = token.split('.').collect();
    let unsigned_header = BASE64.encode(r#"{"alg":"none","kid":""}"#);
    let unsigned = format!("{unsigned_header}.{}.", parts[1]);
    let other_claims: Vec<u8> = {
        let mut claims: Claims = decode(parts[1]).unwrap();
        claims.kubernetes.serviceaccount.name = "admin".to_owned();
        serde_json::to_vec(&claims).unwrap()
    };
    let changed = format!("{}.{}.{}", parts[0], BASE64.encode(other_claims), parts[2]);
    let long = "a".repeat(MAX_TOKEN_BYTES + 1);
    for bad in [
        &foreign, &unsigned, &changed, &long, "", "a.b", "..", "x.y.z",
    ] {
        assert_eq!(
            key.verify(bad, &[], NOW).unwrap_err(),
            TokenError::Invalid,
            "{bad}"
        );
    }
}
