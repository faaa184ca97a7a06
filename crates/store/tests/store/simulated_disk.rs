//! A disk in memory that can lose its power, and run out of room.
//!
//! Like a real one it may lose everything that was not synced, or keep any part of it: each
//! unsynced write survives sector by sector, or not.

use std::{collections::HashSet, io, sync::Arc};

use parking_lot::Mutex;
use rand::{Rng, rngs::StdRng};
use redb::StorageBackend;

const SECTOR: usize = 512;
const BLOCK: u64 = 4096;

/// The disk; clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// What would be there after the power went off now, at worst.
    synced: Vec<u8>,
    /// What a reader sees.
    seen: Vec<u8>,
    unsynced: Vec<Call>,
    calls: u64,
    syncs: u64,
    /// The power goes off at this call.
    off_at: Option<u64>,
    off: bool,
    room: Room,
    sync_fails: bool,
    used: HashSet<u64>,
}

/// What may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Room {
    /// Anything.
    #[default]
    Plenty,
    /// Only blocks that were written before.
    Full,
    /// Nothing at all.
    None,
}

#[derive(Debug)]
enum Call {
    Write(usize, Vec<u8>),
    SetLen(usize),
}

impl Disk {
    /// Lets the power go off after this many more calls.
    pub(crate) fn power_off_after(&self, calls: u64) {
        let mut state = self.0.lock();
        state.off_at = Some(state.calls + calls);
    }

    pub(crate) fn is_off(&self) -> bool {
        self.0.lock().off
    }

    /// How often the disk was synced.
    pub(crate) fn syncs(&self) -> u64 {
        self.0.lock().syncs
    }

    pub(crate) fn set_room(&self, room: Room) {
        self.0.lock().room = room;
    }

    pub(crate) fn let_syncs_fail(&self, fail: bool) {
        self.0.lock().sync_fails = fail;
    }

    /// The same disk after the power came back. Of what was not synced some of it is there.
    pub(crate) fn after_power_loss(&self, random: &mut StdRng) -> Self {
        let state = self.0.lock();
        let mut left = state.synced.clone();
        // Sometimes nothing of it, sometimes nearly all, mostly something in between.
        let chance = [0.0, 0.1, 0.5, 0.9, 1.0][random.random_range(0..5)];
        for call in &state.unsynced {
            match call {
                Call::SetLen(len) if random.random_bool(chance) => left.resize(*len, 0),
                Call::SetLen(_) => {}
                Call::Write(offset, data) => {
                    for (index, sector) in data.chunks(SECTOR).enumerate() {
                        if random.random_bool(chance) {
                            let start = offset + index * SECTOR;
                            let end = start + sector.len();
                            if left.len() < end {
                                left.resize(end, 0);
                            }
                            left[start..end].copy_from_slice(sector);
                        }
                    }
                }
            }
        }
        Self(Arc::new(Mutex::new(State {
            seen: left.clone(),
            synced: left,
            ..State::default()
        })))
    }
}

impl State {
    fn call(&mut self) -> io::Result<()> {
        self.calls += 1;
        self.off |= self.off_at.is_some_and(|at| self.calls > at);
        if self.off {
            return Err(io::Error::other("the power is off"));
        }
        Ok(())
    }
}

fn out_of_range() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.0.lock();
        if state.off {
            return Err(io::Error::other("the power is off"));
        }
        let offset = usize::try_from(offset).map_err(|_| out_of_range())?;
        let bytes = state.seen.get(offset..offset + out.len());
        out.copy_from_slice(bytes.ok_or_else(out_of_range)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call()?;
        let len = usize::try_from(len).map_err(|_| out_of_range())?;
        state.seen.resize(len, 0);
        state.unsynced.push(Call::SetLen(len));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call()?;
        state.syncs += 1;
        if state.sync_fails {
            return Err(io::Error::other("the disk does not answer"));
        }
        let State { synced, seen, .. } = &mut *state;
        synced.clone_from(seen);
        state.unsynced.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.0.lock();
        state.call()?;
        let blocks = offset / BLOCK..=(offset + data.len() as u64 - 1) / BLOCK;
        let grows = blocks.clone().any(|block| !state.used.contains(&block));
        if state.room == Room::None || (state.room == Room::Full && grows) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.used.extend(blocks);
        let offset = usize::try_from(offset).map_err(|_| out_of_range())?;
        let place = state.seen.get_mut(offset..offset + data.len());
        place.ok_or_else(out_of_range)?.copy_from_slice(data);
        state.unsynced.push(Call::Write(offset, data.to_vec()));
        Ok(())
    }
}
