//! What a status says of objects that nobody can judge.

use quadrille_objects::desired;

use super::*;

/// A release of one config map that is in place and was doing well.
fn healthy() -> (Vec<Desired>, Vec<Record>, ReleaseStatus) {
    let object =
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"}}"#;
    let text = object.into();
    let wanted = desired::read([("config", &text)]).expect("it is well-formed");
    let records = vec![Record {
        id: wanted[0].id.clone(),
        identity: wanted[0].identity.clone(),
        version: wanted[0].version.clone(),
        uid: Some("1".into()),
        digest: Some(quadrille_objects::Digest::of(["1"])),
        owned: None,
    }];
    let mut entry = inventory::blank(&records[0]);
    entry.health_status = Some(Health::Healthy);
    let before = ReleaseStatus {
        resources: vec![entry],
        ..ReleaseStatus::default()
    };
    (wanted, records, before)
}

fn known<'a>(desired: &'a [Desired], records: &[Record]) -> Known<'a> {
    Known {
        generation: 1,
        plane: None,
        desired,
        records: records.to_vec(),
        failures: HashMap::new(),
        seen: HashMap::new(),
        blocked: None,
        held: None,
        is_applying: false,
        now: now(),
    }
}

fn said(status: &ReleaseStatus, condition: ConditionType) -> (&str, &str, &str) {
    let said = find(&status.conditions, condition).expect("it is said");
    (&said.status, &said.reason, &said.message)
}

fn is_doubted(status: &ReleaseStatus, reason: &str, words: &str) {
    let (holds, why, message) = said(status, ConditionType::ResourcesReady);
    assert_eq!((holds, why), ("Unknown", reason), "{message}");
    assert!(message.contains(words), "{message}");
    assert_eq!(said(status, ConditionType::Ready).0, "False");
    assert_eq!(status.healthy.as_deref(), Some("0/1"));
    assert_eq!(status.resources[0].health_status, Some(Health::Unknown));
}

#[test]
fn nothing_is_called_well_on_a_plane_that_cannot_be_asked() {
    let (wanted, records, before) = healthy();
    let mut known = known(&wanted, &records);
    let (status, _) = next(&before, &known);
    let ready = said(&status, ConditionType::ResourcesReady);
    assert_eq!((ready.0, status.healthy.as_deref()), ("True", Some("1/1")));
    known.held = Some(("PlaneUnreachable", "it does not answer".to_owned()));
    let (status, _) = next(&status, &known);
    is_doubted(&status, "PlaneUnreachable", "it does not answer");
    let (again, _) = next(&status, &known);
    assert_eq!(again, status, "once is enough");
}

#[test]
fn an_object_that_could_not_be_applied_is_not_called_well() {
    let (wanted, records, before) = healthy();
    let mut known = known(&wanted, &records);
    let error = ObjectError {
        reason: "OwnershipConflict".to_owned(),
        message: "it exists and belongs to Release shop/other".to_owned(),
    };
    known.failures.insert(wanted[0].identity.clone(), error);
    let (status, _) = next(&before, &known);
    is_doubted(&status, "ApplyFailed", "belongs to Release shop/other");
    known.failures.clear();
    let doing = Doing {
        verdict: health::Verdict {
            health: health::Health::Healthy,
            ..health::Verdict::default()
        },
        lasts: Duration::ZERO,
        recheck: None,
        excerpt: None,
    };
    known.seen.insert(wanted[0].identity.clone(), doing);
    let (status, _) = next(&status, &known);
    assert_eq!(said(&status, ConditionType::Ready).0, "True");
}

#[test]
fn a_release_that_cannot_be_understood_and_has_nothing_is_not_called_well() {
    let mut known = known(&[], &[]);
    let (status, _) = next(&ReleaseStatus::default(), &known);
    assert_eq!(said(&status, ConditionType::ResourcesReady).0, "True");
    known.held = Some(("InvalidConfiguration", "a name is missing".to_owned()));
    let (status, _) = next(&ReleaseStatus::default(), &known);
    let invalid = ("InvalidConfiguration", "a name is missing");
    let ready = said(&status, ConditionType::ResourcesReady);
    assert_eq!(ready, ("Unknown", invalid.0, invalid.1));
    assert_eq!(said(&status, ConditionType::Ready).0, "False");
}
