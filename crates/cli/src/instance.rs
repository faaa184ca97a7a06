//! The running instance of a data folder: at most one, found by others through its lock file.
//!
//! The lock belongs to the process and goes with it, however it ends; so a lock that is held means that the
//! process named in the file is alive, and one that can be taken means that there is none.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// What a running instance tells others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The process.
    pub(crate) pid: i32,
    /// Where the API is; empty while it starts.
    #[serde(default)]
    pub(crate) url: String,
}

/// The lock of this process on a data folder.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

/// What the lock file of a folder says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nobody runs there.
    Nobody,
    /// Somebody does; the facts may not be written yet.
    Running(Option<Facts>),
}

/// Why the lock was not taken.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Somebody else has it.
    Running(Option<Facts>),
    /// The file cannot be used.
    Io(PathBuf, io::Error),
}

fn lock_file(folder: &Path) -> PathBuf {
    folder.join("quad.lock")
}

impl Lock {
    /// Takes the lock and writes who has it.
    pub(crate) fn take(folder: &Path) -> Result<Self, Refused> {
        let path = lock_file(folder);
        let failed = |error| Refused::Io(path.clone(), error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Refused::Running(read(&mut file))),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut lock = Self { file };
        let facts = Facts {
            pid: i32::try_from(std::process::id()).unwrap_or_default(),
            url: String::new(),
        };
        lock.tell(&facts).map_err(failed)?;
        Ok(lock)
    }

    /// Tells others more.
    pub(crate) fn tell(&mut self, facts: &Facts) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        serde_json::to_writer(&mut self.file, facts)?;
        self.file.write_all(b"\n")
    }
}

/// Looks who runs on a folder, without taking anything.
pub(crate) fn find(folder: &Path) -> io::Result<Found> {
    let mut file = match File::open(lock_file(folder)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nobody),
        Err(error) => return Err(error),
    };
    // Shared, so that two who look do not take each other for an instance.
    match file.try_lock_shared() {
        Ok(()) => Ok(Found::Nobody),
        Err(TryLockError::WouldBlock) => Ok(Found::Running(read(&mut file))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn read(file: &mut File) -> Option<Facts> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instance_per_folder_and_others_can_see_who() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find(folder.path()).unwrap(), Found::Nobody);
        let mut lock = Lock::take(folder.path()).unwrap();
        let facts = Facts {
            pid: 7,
            url: "https://127.0.0.1:1".to_owned(),
        };
        lock.tell(&facts).unwrap();
        assert_eq!(
            find(folder.path()).unwrap(),
            Found::Running(Some(facts.clone()))
        );
        assert!(matches!(
            Lock::take(folder.path()),
            Err(Refused::Running(Some(told))) if told == facts
        ));
        drop(lock);
        assert_eq!(find(folder.path()).unwrap(), Found::Nobody);
        Lock::take(folder.path()).unwrap();
    }
}
