//! Plans for small sets, and what holds for any.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{desired, owned::ReplicasOwner};

const US: &str = "release-1";

fn stamp() -> Stamp {
    Stamp {
        labels: vec![("owner", US.to_owned())],
        id_label: "id",
        digest_annotation: "digest",
    }
}

fn object(kind: &str, name: &str, content: i64) -> Desired {
    let api_version = match kind {
        "Deployment" | "StatefulSet" => "apps/v1",
        "NetworkPolicy" => "networking.k8s.io/v1",
        _ => "v1",
    };
    let text: Arc<str> = json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {"name": name, "namespace": "n"}, "spec": {"replicas": content},
    })
    .to_string()
    .into();
    let id = format!("{kind}-{name}");
    desired::read([(id.as_str(), &text)]).unwrap().remove(0)
}

/// What is written down after an object was applied as it is.
fn record(desired: &Desired) -> Record {
    Record {
        id: Arc::clone(&desired.id),
        identity: desired.identity.clone(),
        version: Arc::clone(&desired.version),
        uid: Some("u".into()),
        digest: Some(stamp().digest(&desired.id, &desired.text)),
        owned: Some(Digest::of(["ours"])),
    }
}

/// What is seen after an object was applied as it is.
fn seen(record: &Record) -> Live {
    Live {
        uid: record.uid.clone().unwrap(),
        owner: Some(US.into()),
        applied: record.digest,
        owned: record.owned,
        replicas_owner: Some(ReplicasOwner::Ours),
        replicas: Some(1),
        ..Live::default()
    }
}

fn ask<'live>(
    desired: &[Desired],
    records: &[Record],
    look: impl Fn(&Identity) -> Sight<'live>,
) -> Plan {
    plan(&Question {
        stamp: &stamp(),
        owner: US,
        desired,
        records,
        look,
        may_remove_anything: false,
    })
}

fn why(plan: &Plan) -> Vec<(Mode, Why)> {
    plan.applies
        .iter()
        .map(|apply| (apply.mode, apply.why))
        .collect()
}

#[test]
fn a_new_set_is_written_down_and_created_in_order() {
    let desired = [
        object("Deployment", "d", 1),
        object("ConfigMap", "c", 1),
        object("NetworkPolicy", "p", 1),
    ];
    let plan = ask(&desired, &[], |_| Sight::Unknown);
    assert_eq!(plan.unrecorded, [0, 1, 2]);
    let order: Vec<usize> = plan.applies.iter().map(|apply| apply.index).collect();
    assert_eq!(order, [2, 1, 0]);
    assert!(
        why(&plan)
            .iter()
            .all(|reason| *reason == (Mode::CreateOnly, Why::New))
    );
    assert!(plan.removals.is_empty() && plan.blocked.is_none());
}

#[test]
fn what_is_as_recorded_needs_nothing_whether_seen_or_not() {
    let desired = [object("ConfigMap", "c", 1), object("Deployment", "d", 2)];
    let records = desired.each_ref().map(record);
    let live = records.each_ref().map(seen);
    assert_eq!(ask(&desired, &records, |_| Sight::Unknown), Plan::default());
    let plan = ask(&desired, &records, |identity| {
        Sight::Present(if identity == &desired[0].identity {
            &live[0]
        } else {
            &live[1]
        })
    });
    assert_eq!(plan, Plan::default());
}

#[test]
fn every_difference_has_its_reason() {
    let desired = [object("ConfigMap", "c", 2)];
    let before = record(&object("ConfigMap", "c", 1));
    let now = record(&desired[0]);
    let as_recorded = seen(&now);
    let edited = Live {
        owned: Some(Digest::of(["less"])),
        ..seen(&now)
    };
    let overwritten = Live {
        applied: None,
        ..seen(&now)
    };
    let another = Live {
        uid: "v".into(),
        ..seen(&now)
    };
    let unsaid = Record {
        uid: None,
        digest: None,
        owned: None,
        ..now.clone()
    };
    let cases = [
        (&unsaid, Sight::Unknown, (Mode::CreateOnly, Why::New)),
        (&before, Sight::Unknown, (Mode::Update, Why::Changed)),
        (
            &before,
            Sight::Present(&as_recorded),
            (Mode::Update, Why::Changed),
        ),
        (&now, Sight::Absent, (Mode::CreateOnly, Why::Missing)),
        (
            &now,
            Sight::Present(&another),
            (Mode::CreateOnly, Why::Replaced),
        ),
        (&now, Sight::Present(&edited), (Mode::Update, Why::Drifted)),
        (
            &now,
            Sight::Present(&overwritten),
            (Mode::Update, Why::Drifted),
        ),
    ];
    for (record, sight, expected) in cases {
        let plan = ask(&desired, std::slice::from_ref(record), |_| sight);
        assert_eq!(why(&plan), [expected], "{sight:?}");
        assert!(plan.unrecorded.is_empty());
    }
}

#[test]
fn what_is_on_its_way_out_is_waited_for() {
    let desired = [object("ConfigMap", "c", 1)];
    let leaving = Live {
        deleting: true,
        ..seen(&record(&desired[0]))
    };
    let plan = ask(&desired, &[record(&desired[0])], |_| {
        Sight::Present(&leaving)
    });
    assert_eq!((plan.waiting.as_slice(), plan.applies.len()), (&[0][..], 0));
}

#[test]
fn removal_is_by_identity_in_reverse_order_and_never_of_what_others_own() {
    let keep = object("ConfigMap", "keep", 1);
    let gone = [
        object("ConfigMap", "a", 1),
        object("Deployment", "b", 1),
        object("ConfigMap", "handed-over", 1),
    ];
    let mut records: Vec<Record> = gone.iter().map(record).collect();
    records.push(record(&keep));
    let theirs = Live {
        owner: Some("release-2".into()),
        ..seen(&records[2])
    };
    let plan = ask(&[keep], &records, |identity| {
        if *identity == gone[2].identity {
            Sight::Present(&theirs)
        } else {
            Sight::Unknown
        }
    });
    let removed: Vec<_> = plan
        .removals
        .iter()
        .map(|removal| (removal.index, removal.how))
        .collect();
    assert_eq!(
        removed,
        [(1, Leave::Delete), (0, Leave::Delete), (2, Leave::LetGo)]
    );
    assert!(plan.applies.is_empty() && plan.blocked.is_none());
}

#[test]
fn a_move_makes_the_new_object_and_removes_the_old_one() {
    let before = object("ConfigMap", "old", 1);
    let plan = ask(&[object("ConfigMap", "new", 1)], &[record(&before)], |_| {
        Sight::Unknown
    });
    assert_eq!((plan.applies.len(), plan.removals.len()), (1, 1));
    assert_eq!(plan.blocked, None);
}

#[test]
fn too_much_is_not_removed_without_a_word() {
    let all: Vec<Desired> = (0..9)
        .map(|n| object("ConfigMap", &n.to_string(), 1))
        .collect();
    let records: Vec<Record> = all.iter().map(record).collect();
    let blocked = |keep: &[Desired]| ask(keep, &records, |_| Sight::Unknown).blocked;
    assert_eq!(blocked(&all[..5]), None, "4 of 9 may go");
    assert_eq!(
        blocked(&all[..4]),
        Some(Blocked::TooMuch { lost: 5, of: 9 })
    );
    let renamed: Vec<Desired> = (10..19)
        .map(|n| object("ConfigMap", &n.to_string(), 1))
        .collect();
    assert_eq!(blocked(&renamed), None, "on balance nothing is lost");
    assert_eq!(blocked(&[]), Some(Blocked::Everything { count: 9 }));
    let few = ask(&[], &records[..1], |_| Sight::Unknown).blocked;
    assert_eq!(
        few,
        Some(Blocked::Everything { count: 1 }),
        "an empty render removes nothing"
    );

    let data = [record(&object("StatefulSet", "db", 1)), records[0].clone()];
    let plan = ask(&all[..1], &data, |_| Sight::Unknown);
    assert_eq!(
        plan.blocked.unwrap().to_string(),
        "StatefulSet n/db may hold data and would be removed"
    );
    let allowed = Question {
        stamp: &stamp(),
        owner: US,
        desired: &all[..1],
        records: &data,
        look: |_: &Identity| Sight::Unknown,
        may_remove_anything: true,
    };
    assert_eq!(super::plan(&allowed).blocked, None);
}

#[test]
fn replicas_of_an_autoscaler_are_left_out_once_it_has_them() {
    let desired = [object("Deployment", "d", 3)];
    let scaled = Live {
        replicas_owner: Some(ReplicasOwner::Scaler("kube-controller-manager".to_owned())),
        replicas: Some(7),
        ..seen(&record(&desired[0]))
    };
    let first = ask(&desired, &[record(&desired[0])], |_| {
        Sight::Present(&scaled)
    });
    assert_eq!(why(&first), [(Mode::Update, Why::Changed)]);
    assert!(!first.applies[0].text.contains("replicas"));

    let after = Record {
        digest: Some(first.applies[0].digest),
        ..record(&desired[0])
    };
    let seen_after = Live {
        applied: after.digest,
        ..scaled
    };
    let again = ask(&desired, std::slice::from_ref(&after), |_| {
        Sight::Present(&seen_after)
    });
    assert_eq!(again, Plan::default(), "once is enough");
    let unseen = ask(&desired, std::slice::from_ref(&after), |_| Sight::Unknown);
    assert_eq!(
        unseen,
        Plan::default(),
        "also after a restart, before anybody looked"
    );
    let changed = [object("Deployment", "d", 4)];
    assert_eq!(
        why(&ask(&changed, &[record(&desired[0])], |_| Sight::Unknown)),
        [(Mode::LookFirst, Why::Changed)],
        "a change before anybody looked must look first"
    );
}

#[test]
fn replicas_that_a_person_changed_are_put_back() {
    let desired = [object("Deployment", "d", 3)];
    let scaled = Live {
        replicas_owner: Some(ReplicasOwner::Scaler("kubectl".to_owned())),
        replicas: Some(7),
        ..seen(&record(&desired[0]))
    };
    let plan = ask(&desired, &[record(&desired[0])], |_| {
        Sight::Present(&scaled)
    });
    assert_eq!(why(&plan), [(Mode::Update, Why::Drifted)]);
    assert!(plan.applies[0].text.contains("replicas"));
}

/// A cluster that does what it is told.
#[derive(Default)]
struct Model {
    live: BTreeMap<Identity, Live>,
    next: u32,
}

impl Model {
    fn carry_out(&mut self, plan: &Plan, desired: &[Desired], records: &mut Vec<Record>) {
        for index in &plan.unrecorded {
            let object = &desired[*index];
            records.push(Record {
                uid: None,
                digest: None,
                owned: None,
                ..record(object)
            });
        }
        for apply in &plan.applies {
            let identity = &desired[apply.index].identity;
            let entry = self.live.entry(identity.clone()).or_insert_with(|| {
                self.next += 1;
                Live {
                    uid: self.next.to_string().into(),
                    ..Live::default()
                }
            });
            entry.owner = Some(US.into());
            entry.applied = Some(apply.digest);
            entry.owned = Some(Digest::of(["ours"]));
            entry.replicas_owner = Some(ReplicasOwner::Ours);
            let written = records
                .iter_mut()
                .find(|record| &record.identity == identity)
                .unwrap();
            written.uid = Some(Arc::clone(&entry.uid));
            written.digest = entry.applied;
            written.owned = entry.owned;
        }
        if plan.blocked.is_none() {
            let leaving: Vec<Identity> = plan
                .removals
                .iter()
                .map(|removal| records[removal.index].identity.clone())
                .collect();
            for identity in leaving {
                self.live.remove(&identity);
                records.retain(|record| record.identity != identity);
            }
        }
    }
}

fn sets() -> impl Strategy<Value = Vec<BTreeMap<(u8, u8), i64>>> {
    let set = prop::collection::btree_map((0..3_u8, 0..4_u8), 0..3_i64, 0..8);
    prop::collection::vec(set, 1..5)
}

proptest! {
    #[test]
    fn carrying_out_a_plan_leaves_nothing_to_plan(
        sets in sets(),
        seen in any::<bool>(),
        harm in prop::collection::vec((0..16_usize, 0..4_u8), 0..3),
    ) {
        let mut model = Model::default();
        let mut records = Vec::new();
        for set in &sets {
            let desired: Vec<Desired> = set
                .iter()
                .map(|((kind, name), content)| {
                    let kind = ["ConfigMap", "Deployment", "NetworkPolicy"][usize::from(*kind)];
                    object(kind, &name.to_string(), *content)
                })
                .collect();
            for (which, how) in &harm {
                let Some(identity) = model.live.keys().nth(*which).cloned() else { continue };
                match how {
                    0 => { model.live.remove(&identity); }
                    1 => model.live.get_mut(&identity).unwrap().owned = None,
                    2 => model.live.get_mut(&identity).unwrap().applied = None,
                    _ => model.live.get_mut(&identity).unwrap().uid = "foreign".into(),
                }
            }
            let ask_now = |model: &Model, records: &[Record]| ask(&desired, records, |identity| {
                match model.live.get(identity) {
                    Some(live) => Sight::Present(live),
                    None => Sight::Absent,
                }
            });
            // Harm that nobody has seen is mended as soon as it is seen.
            if !seen {
                let plan = ask(&desired, &records, |_| Sight::Unknown);
                model.carry_out(&plan, &desired, &mut records);
            }
            let plan = ask_now(&model, &records);
            let stages: Vec<Stage> =
                plan.applies.iter().map(|apply| desired[apply.index].stage).collect();
            prop_assert!(stages.is_sorted());
            model.carry_out(&plan, &desired, &mut records);
            let again = ask_now(&model, &records);
            prop_assert!(again.applies.is_empty() && again.unrecorded.is_empty());
            prop_assert!(again.removals.is_empty() || again.blocked.is_some());
            for object in &desired {
                let live = &model.live[&object.identity];
                prop_assert_eq!(live.applied, Some(stamp().digest(&object.id, &object.text)));
            }
        }
    }
}

#[test]
fn what_another_owner_has_by_now_is_asked_for_anew() {
    let desired = [object("ConfigMap", "c", 1)];
    let records = [record(&desired[0])];
    let mut live = seen(&records[0]);
    live.owner = Some("release-2".into());
    live.owned = Some(Digest::of(["theirs"]));
    let plan = ask(&desired, &records, |_| Sight::Present(&live));
    assert_eq!(why(&plan), [(Mode::CreateOnly, Why::Drifted)]);
    live.owner = None;
    let plan = ask(&desired, &records, |_| Sight::Present(&live));
    assert_eq!(why(&plan), [(Mode::Update, Why::Drifted)]);
}
