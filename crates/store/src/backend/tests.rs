//! Held back calls look as if they had been done, and are not done.

use std::sync::Arc;

use proptest::prelude::*;
use redb::{StorageBackend, backends::InMemoryBackend};

use super::{Guarded, Handle};

#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = proptest::collection::vec(1..=u8::MAX, 1..40);
    prop_oneof![
        4 => (0..100_u64, bytes).prop_map(|(offset, data)| Step::Write(offset, data)),
        2 => (0..140_u64).prop_map(Step::SetLen),
        1 => Just(Step::Sync),
    ]
}

fn run(backend: &dyn StorageBackend, step: &Step) {
    match step {
        Step::Write(offset, data) => {
            // The storage refuses writes behind its end, so they are cut.
            let room = backend.len().unwrap().saturating_sub(*offset);
            let room = usize::try_from(room).unwrap().min(data.len());
            if room > 0 {
                backend.write(*offset, &data[..room]).unwrap();
            }
        }
        Step::SetLen(len) => backend.set_len(*len).unwrap(),
        Step::Sync => backend.sync_data().unwrap(),
    }
}

fn content(backend: &dyn StorageBackend) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(backend.len().unwrap()).unwrap()];
    backend.read(0, &mut bytes).unwrap();
    bytes
}

/// Another handle to the same bytes, to look below the guard.
#[derive(Clone, Debug, Default)]
struct Shared(Arc<InMemoryBackend>);

impl StorageBackend for Shared {
    fn len(&self) -> std::io::Result<u64> {
        self.0.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        StorageBackend::read(&*self.0, offset, out)
    }
    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> std::io::Result<()> {
        self.0.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        StorageBackend::write(&*self.0, offset, data)
    }
}

proptest! {
    #[test]
    fn staged_calls_show_but_reach_the_storage_only_on_release(
        before in proptest::collection::vec(step(), 0..6),
        staged in proptest::collection::vec(step(), 0..12),
    ) {
        let (below, plain) = (Shared::default(), InMemoryBackend::new());
        let guarded = Guarded::new(Box::new(below.clone()));
        let handle = Handle(Arc::clone(&guarded));
        for step in &before {
            run(&handle, step);
            run(&plain, step);
        }
        let untouched = content(&below);
        prop_assert_eq!(&untouched, &content(&plain));
        guarded.stage().unwrap();
        for step in &staged {
            run(&handle, step);
            run(&plain, step);
            prop_assert_eq!(content(&handle), content(&plain));
        }
        prop_assert_eq!(&content(&below), &untouched);
        guarded.release().unwrap();
        prop_assert_eq!(content(&below), content(&plain));
    }
}
