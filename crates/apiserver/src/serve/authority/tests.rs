//! Tests of the certificate authority: what is kept, what is replaced, who may read it.

use std::{fs, os::unix::fs::PermissionsExt};

use super::*;
use crate::auth::{certificate::PeerCertificate, service_account::Binding};

const NOW: i64 = 1_800_000_000;

fn day(number: i64) -> Timestamp {
    Timestamp::from_second(NOW + number * DAY).unwrap()
}

#[test]
fn the_authority_survives_a_restart_and_its_keys_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let pki = folder.path().join("pki");
    let first = Authority::open(&pki, day(0)).unwrap();
    let second = Authority::open(&pki, day(1)).unwrap();
    assert_eq!(first.certificate(), second.certificate());
    for name in ["ca.key", "service-account.key"] {
        let mode = fs::metadata(pki.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    assert_eq!(
        fs::metadata(&pki).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[test]
fn tokens_of_before_a_restart_still_hold() {
    let folder = tempfile::tempdir().unwrap();
    let issue = Authority::open(folder.path(), day(0)).unwrap();
    let token = issue
        .service_account_key()
        .issue(Binding::default(), &[], NOW, 600)
        .unwrap();
    let verify = Authority::open(folder.path(), day(0)).unwrap();
    verify
        .service_account_key()
        .verify(&token, &[], NOW)
        .unwrap();
}

#[test]
fn an_authority_near_its_end_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let first = Authority::open(folder.path(), day(0)).unwrap();
    let still = Authority::open(folder.path(), day(AUTHORITY_DAYS - ISSUED_DAYS - 1)).unwrap();
    assert_eq!(first.certificate(), still.certificate());
    let late = Authority::open(folder.path(), day(AUTHORITY_DAYS - ISSUED_DAYS + 1)).unwrap();
    assert_ne!(first.certificate(), late.certificate());
}

#[test]
fn a_damaged_file_is_named_and_left_alone() {
    for name in ["ca.crt", "ca.key", "service-account.key"] {
        let folder = tempfile::tempdir().unwrap();
        Authority::open(folder.path(), day(0)).unwrap();
        let path = folder.path().join(name);
        fs::write(&path, "not a key").unwrap();
        let error = Authority::open(folder.path(), day(0)).unwrap_err();
        let words = error.to_string();
        assert!(words.contains(name) && words.contains("damaged"), "{words}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "not a key");
    }
}

#[test]
fn a_client_certificate_is_read_back_as_its_user_and_a_foreign_one_is_not_trusted() {
    let now = day(0);
    let (ours, foreign) = (
        Authority::ephemeral(now).unwrap(),
        Authority::ephemeral(now).unwrap(),
    );
    let server = ours.issue_server(&[], now).unwrap();
    let (_, clients) = ours.tls(&server).unwrap();
    let read = |authority: &Authority, at: Timestamp| {
        let mut user = User::admin();
        user.groups.insert(1, "crew".to_owned());
        let identity = authority.issue_client(&user, now).unwrap();
        let chain = [der(&identity.certificate).unwrap()];
        let at = u64::try_from(at.as_second()).unwrap();
        let at = rustls_pki_types::UnixTime::since_unix_epoch(std::time::Duration::from_secs(at));
        clients.read(Some(&chain), at)
    };
    let PeerCertificate::Trusted { user, not_after } = read(&ours, now) else {
        panic!("our own certificate is not trusted");
    };
    assert_eq!(
        (user.name.as_str(), user.groups.as_slice()),
        (
            "quadrille-admin",
            ["system:masters", "crew", "system:authenticated"]
                .map(str::to_owned)
                .as_slice()
        )
    );
    assert_eq!(
        not_after,
        u64::try_from(day(ISSUED_DAYS).as_second()).unwrap()
    );
    assert!(matches!(read(&foreign, now), PeerCertificate::Untrusted(_)));
    assert!(matches!(
        read(&ours, day(ISSUED_DAYS + 1)),
        PeerCertificate::Untrusted(_)
    ));
}

#[test]
fn a_third_group_is_refused_rather_than_lost() {
    let authority = Authority::ephemeral(day(0)).unwrap();
    let user = User {
        name: "anna".to_owned(),
        groups: ["a", "b", "c"].map(str::to_owned).to_vec(),
        ..User::default()
    };
    let refused = authority.issue_client(&user, day(0));
    assert!(matches!(refused, Err(AuthorityError::TooManyGroups)));
}
