//! Lists, events and our own writes, in any order.

use parking_lot::Mutex;
use serde_json::json;

use super::*;

const LENS: Lens = Lens {
    owner_label: "owner",
    digest_annotation: "digest",
    manager: "us",
};

type Heard = Arc<Mutex<Vec<String>>>;

fn sights() -> (Sights, Heard) {
    let told = Heard::default();
    let heard = Arc::clone(&told);
    let tell: Tell = Arc::new(move |identity, owner| {
        heard.lock().push(format!("{owner}: {identity}"));
    });
    (Sights::new(LENS, tell), told)
}

fn config(name: &str, uid: &str, revision: u64, owner: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": name, "namespace": "n", "uid": uid,
            "resourceVersion": revision.to_string(), "labels": {"owner": owner},
        },
    })
}

fn shown(name: &str, uid: &str, revision: u64, owner: &str) -> Told {
    config(name, uid, revision, owner).into()
}

fn kind() -> GroupKind {
    GroupKind::new("", "ConfigMap")
}

fn id(name: &str) -> Identity {
    Identity::new("", "ConfigMap", "n", name)
}

fn word(sights: &Sights, name: &str) -> &'static str {
    sights.with(&id(name), |sight| match sight {
        Sight::Unknown => "unknown",
        Sight::Absent => "absent",
        Sight::Present(_) => "present",
    })
}

fn hear(sights: &Sights, news: impl IntoIterator<Item = News>) {
    for one in news {
        sights.hear(&kind(), "v1", one);
    }
}

#[test]
fn nothing_is_known_until_a_list_is_complete() {
    let (sights, told) = sights();
    assert_eq!(word(&sights, "a"), "unknown");
    hear(
        &sights,
        [News::Listing, News::Listed(vec![shown("a", "1", 5, "r")])],
    );
    assert_eq!(
        (word(&sights, "a"), word(&sights, "b")),
        ("present", "unknown")
    );
    hear(&sights, [News::Complete(6)]);
    assert_eq!(word(&sights, "b"), "absent");
    assert_eq!(*told.lock(), ["r: ConfigMap n/a"]);
}

#[test]
fn an_older_event_does_not_undo_what_our_own_write_showed() {
    let (sights, told) = sights();
    hear(&sights, [News::Listing, News::Complete(5)]);
    sights.note(&id("a"), &config("a", "1", 10, "r"));
    hear(&sights, [News::Changed(shown("a", "1", 8, "other"))]);
    assert_eq!(
        sights.with(&id("a"), |sight| match sight {
            Sight::Present(live) => live.owner.clone(),
            _ => None,
        }),
        Some("r".into())
    );
    hear(&sights, [News::Gone(shown("a", "0", 9, "r"))]);
    assert_eq!(
        word(&sights, "a"),
        "present",
        "the one that went was another"
    );
    assert!(
        told.lock().is_empty(),
        "our own writes and old news are no news"
    );
    hear(&sights, [News::Gone(shown("a", "1", 11, "r"))]);
    assert_eq!((word(&sights, "a"), told.lock().len()), ("absent", 1));
}

#[test]
fn a_new_list_takes_away_what_it_lacks_except_what_was_written_after_it() {
    let (sights, told) = sights();
    hear(
        &sights,
        [
            News::Listing,
            News::Listed(vec![shown("old", "1", 5, "r"), shown("kept", "2", 5, "r")]),
            News::Complete(6),
            News::Listing,
            News::Listed(vec![shown("kept", "2", 5, "r")]),
        ],
    );
    sights.note(&id("new"), &config("new", "3", 20, "r"));
    told.lock().clear();
    hear(&sights, [News::Complete(15)]);
    assert_eq!(
        [
            word(&sights, "old"),
            word(&sights, "kept"),
            word(&sights, "new")
        ],
        ["absent", "present", "present"]
    );
    assert_eq!(*told.lock(), ["r: ConfigMap n/old"]);
}

#[test]
fn both_owners_hear_of_a_handover() {
    let (sights, told) = sights();
    hear(&sights, [News::Changed(shown("a", "1", 5, "r"))]);
    told.lock().clear();
    hear(&sights, [News::Changed(shown("a", "1", 6, "s"))]);
    assert_eq!(*told.lock(), ["r: ConfigMap n/a", "s: ConfigMap n/a"]);
    hear(&sights, [News::Changed(shown("a", "1", 7, "s"))]);
    assert_eq!(told.lock().len(), 2, "a new revision alone is no news");
}

#[test]
fn an_answer_that_comes_after_the_watch_told_the_end_brings_nothing_back() {
    let (sights, _) = sights();
    hear(&sights, [News::Listing, News::Complete(1)]);
    sights.note(&id("a"), &config("a", "u", 2, "r"));
    assert_eq!(word(&sights, "a"), "present");
    hear(&sights, [News::Gone(shown("a", "u", 4, "r"))]);
    sights.note(&id("a"), &config("a", "u", 3, "r"));
    assert_eq!(word(&sights, "a"), "absent");
    sights.note(&id("a"), &config("a", "v", 5, "r"));
    assert_eq!(word(&sights, "a"), "present", "a newer one is another one");
}

#[test]
fn what_was_written_and_went_while_a_list_was_under_way_is_not_there() {
    let (sights, told) = sights();
    hear(&sights, [News::Listing]);
    sights.note(&id("a"), &config("a", "1", 10, "r"));
    sights.note(&id("b"), &config("b", "2", 14, "r"));
    hear(&sights, [News::Listed(Vec::new()), News::Complete(13)]);
    assert_eq!(word(&sights, "a"), "absent");
    assert_eq!(word(&sights, "b"), "present", "it is newer than the list");
    assert_eq!(*told.lock(), ["r: ConfigMap n/a"]);
}
