//! Random transactions against the store and against a model that is obviously right.

use std::collections::BTreeMap;

use proptest::prelude::*;
use quadrille_store::{
    Change, Expect, Op, Options, ReadError, Revision, Store, Watch, WatchEnd, WriteError,
};

use crate::{builders::bytes, simulated_disk::Disk};

#[derive(Clone, Debug)]
enum Step {
    Commit(Vec<(u8, Write, Demand)>),
    Compact(u8),
    Reopen,
    /// Take some events from the watch, or start it again where it was.
    Watch(u8),
    ResumeWatch,
    /// Read everything at some revision between the floor and now.
    ReadAt(u8),
}

#[derive(Clone, Copy, Debug)]
enum Write {
    Put(u16),
    Delete,
    DeleteShowing(u16),
}

#[derive(Clone, Copy, Debug)]
enum Demand {
    Any,
    Absent,
    Present,
    /// The right revision, or one that is off by this much.
    At(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let write = prop_oneof![
        4 => (0..2000_u16).prop_map(Write::Put),
        1 => Just(Write::Delete),
        1 => (0..100_u16).prop_map(Write::DeleteShowing),
    ];
    let demand = prop_oneof![
        4 => Just(Demand::Any),
        1 => Just(Demand::Absent),
        1 => Just(Demand::Present),
        2 => (0..2_u8).prop_map(Demand::At),
    ];
    prop_oneof![
        12 => proptest::collection::vec((0..8_u8, write, demand), 1..5).prop_map(Step::Commit),
        1 => any::<u8>().prop_map(Step::Compact),
        1 => Just(Step::Reopen),
        3 => (0..20_u8).prop_map(Step::Watch),
        1 => Just(Step::ResumeWatch),
        3 => any::<u8>().prop_map(Step::ReadAt),
    ]
}

/// One change: key, value after (or last), value before.
#[derive(Clone, Debug, PartialEq)]
struct Changed {
    change: Change,
    key: String,
    value: String,
    previous: Option<String>,
}

/// Value, created, modified.
type State = BTreeMap<String, (String, u64, u64)>;

/// Keeps everything: all changes and the state after each.
#[derive(Debug)]
struct Model {
    changes: Vec<Changed>,
    states: Vec<State>,
    floor: u64,
}

impl Model {
    fn newest(&self) -> u64 {
        self.changes.len() as u64
    }

    fn state(&self, at: u64) -> &State {
        &self.states[usize::try_from(at).unwrap()]
    }

    /// Applies the transaction, or says which change does not fit.
    fn commit(&mut self, ops: &[Op]) -> Result<(), usize> {
        let before = self.changes.len();
        for (index, op) in ops.iter().enumerate() {
            if !self.apply(op) {
                self.changes.truncate(before);
                self.states.truncate(before + 1);
                return Err(index);
            }
        }
        Ok(())
    }

    fn apply(&mut self, op: &Op) -> bool {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut state = self.states.last().unwrap().clone();
        let key = text(op.key());
        let old = state.get(&key).cloned();
        let fits = match op.expect() {
            Expect::Any => true,
            Expect::Absent => old.is_none(),
            Expect::Present => old.is_some(),
            Expect::At(Revision(at)) => old.as_ref().is_some_and(|old| old.2 == at),
        };
        let revision = self.newest() + 1;
        let previous = old.as_ref().map(|old| old.0.clone());
        let (change, value) = match op {
            Op::Put { value, .. } => {
                let created = old.as_ref().map_or(revision, |old| old.1);
                state.insert(key.clone(), (text(value), created, revision));
                let change = if old.is_some() {
                    Change::Updated
                } else {
                    Change::Created
                };
                (change, text(value))
            }
            Op::Delete { last, .. } => {
                let Some(previous) = &previous else {
                    return false;
                };
                state.remove(&key);
                let shown = last
                    .as_ref()
                    .map_or_else(|| previous.clone(), |last| text(last));
                (Change::Deleted, shown)
            }
        };
        self.changes.push(Changed {
            change,
            key,
            value,
            previous,
        });
        self.states.push(state);
        fits
    }

    /// Turns the random numbers of a step into changes.
    fn ops(&self, writes: &[(u8, Write, Demand)]) -> Vec<Op> {
        let state = self.states.last().unwrap();
        let op = |&(key, write, demand): &(u8, Write, Demand)| {
            let name = format!("{}/{key}", key % 2);
            let expect = match demand {
                Demand::Any => Expect::Any,
                Demand::Absent => Expect::Absent,
                Demand::Present => Expect::Present,
                Demand::At(off) => {
                    let modified = state.get(&name).map_or(0, |known| known.2);
                    Expect::At(Revision(modified + u64::from(off)))
                }
            };
            let value = |size: u16| bytes(&format!("{size}{}", "v".repeat(size.into())));
            let key = bytes(&name);
            match write {
                Write::Put(size) => Op::Put {
                    key,
                    value: value(size),
                    expect,
                },
                Write::Delete => Op::Delete {
                    key,
                    expect,
                    last: None,
                },
                Write::DeleteShowing(size) => Op::Delete {
                    key,
                    expect,
                    last: Some(value(size)),
                },
            }
        };
        writes.iter().map(op).collect()
    }
}

fn options() -> Options {
    Options {
        history_events: 6,
        watcher_buffer_events: 12,
        cache_bytes: 64 << 10,
        ..Options::default()
    }
}

/// A watch of half of the keys, and what it has given so far.
struct Watched {
    watch: Watch,
    seen: u64,
}

const WATCHED: &str = "1/";

impl Watched {
    /// Takes events and compares them with the model. Ends are allowed where they are due.
    fn take(&mut self, store: &Store, model: &Model, count: u8) {
        for _ in 0..count {
            match self.watch.try_next() {
                Ok(Some(event)) => {
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                    let given = Changed {
                        change: event.change,
                        key: text(&event.key),
                        value: text(&event.value),
                        previous: event.previous.as_deref().map(text),
                    };
                    let due = model
                        .next_watched(self.seen)
                        .expect("an event that happened");
                    assert_eq!((event.revision.0, &given), due);
                    self.seen = event.revision.0;
                }
                Ok(None) => {
                    assert_eq!(model.next_watched(self.seen), None);
                    assert_eq!(self.watch.progress(), Revision(model.newest()));
                    return;
                }
                Err(WatchEnd::TooSlow { resume_after }) => {
                    let due = model
                        .next_watched(self.seen)
                        .expect("a reason to be too slow");
                    assert!((self.seen..due.0).contains(&resume_after.0));
                    self.seen = resume_after.0;
                    self.resume(store, model);
                }
                Err(WatchEnd::Compacted | WatchEnd::Closed) => self.resume(store, model),
                Err(end @ WatchEnd::Failed { .. }) => panic!("{end}"),
            }
        }
    }

    fn resume(&mut self, store: &Store, model: &Model) {
        match store.watch(WATCHED.as_bytes(), Revision(self.seen)) {
            Ok(watch) => self.watch = watch,
            Err(ReadError::Compacted { floor }) => {
                assert!(self.seen < model.floor);
                assert_eq!(floor, Revision(model.floor));
                self.seen = model.floor;
                self.watch = store.watch(WATCHED.as_bytes(), floor).unwrap();
            }
            Err(other) => panic!("{other}"),
        }
    }
}

impl Model {
    fn next_watched(&self, after: u64) -> Option<(u64, &Changed)> {
        let later = (1..)
            .zip(&self.changes)
            .skip(usize::try_from(after).unwrap());
        later
            .into_iter()
            .find(|(_, changed)| changed.key.starts_with(WATCHED))
    }

    fn check_state(&self, store: &Store, at: u64) {
        let page = store.list(b"", None, 0, Some(Revision(at))).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let found = page.records.iter().map(|record| {
            let state = (text(&record.value), record.created.0, record.modified.0);
            (text(&record.key), state)
        });
        assert_eq!(&found.collect::<State>(), self.state(at), "at {at}");
        let half = store
            .list(b"1/", Some(b"1/3"), 1, Some(Revision(at)))
            .unwrap();
        let mut expected = self.state(at).keys().filter(|key| key.as_str() > "1/3");
        assert_eq!(
            half.records.first().map(|r| text(&r.key)).as_ref(),
            expected.next()
        );
        let rest = expected.count() as u64;
        assert_eq!(half.more, rest > 0);
        if let Some(record) = half.records.first() {
            let remaining = store.remaining_after(b"1/", &record.key, Some(Revision(at)));
            assert_eq!(remaining.unwrap(), rest);
            let again = store.get_at(&record.key, Revision(at)).unwrap();
            assert_eq!(again.as_ref(), Some(record));
        }
    }
}

async fn run(steps: Vec<Step>) {
    let disk = Disk::default();
    let mut store = Store::with_backend(disk.clone(), options()).unwrap();
    let mut model = Model {
        changes: Vec::new(),
        states: vec![State::new()],
        floor: 0,
    };
    let mut watched = Watched {
        watch: store.watch(WATCHED.as_bytes(), Revision(0)).unwrap(),
        seen: 0,
    };
    for step in steps {
        match step {
            Step::Commit(writes) => {
                let ops = model.ops(&writes);
                let expected = model.commit(&ops);
                match (store.commit(ops).await, expected) {
                    (Ok(revisions), Ok(())) => {
                        assert_eq!(revisions.last(), Some(&Revision(model.newest())));
                    }
                    (Err(WriteError::Mismatch { index, .. }), Err(due)) => assert_eq!(index, due),
                    (got, expected) => panic!("{got:?} instead of {expected:?}"),
                }
            }
            Step::Compact(part) => {
                let to = model.newest() * u64::from(part) / 255;
                store.compact(Revision(to)).await.unwrap();
                model.floor = model.floor.max(to);
            }
            Step::Reopen => {
                store.close().await;
                store = Store::with_backend(disk.clone(), options()).unwrap();
                // What was queued is still given out; then the watch ends.
            }
            Step::Watch(count) => watched.take(&store, &model, count),
            Step::ResumeWatch => watched.resume(&store, &model),
            Step::ReadAt(part) => {
                let span = model.newest() - model.floor;
                model.check_state(&store, model.floor + span * u64::from(part) / 255);
            }
        }
        assert_eq!(store.revision(), Revision(model.newest()));
        assert_eq!(store.floor(), Revision(model.floor));
    }
    model.check_state(&store, model.newest());
    watched.take(&store, &model, u8::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_behaves_like_the_model(steps in proptest::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(steps));
    }
}
