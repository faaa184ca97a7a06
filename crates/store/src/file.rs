//! The data file: made in one step, private to its owner, locked against other processes.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use redb::backends::FileBackend;

use crate::{Fault, OpenError, Options, backend::Guarded, engine};

/// Opens the data file, creating it if needed.
pub(crate) fn open(path: &Path) -> Result<Arc<Guarded>, OpenError> {
    let file = open_file(path).map_err(|error| refused(path, error))?;
    lock(path, &file)?;
    let backend = FileBackend::new(file).map_err(|error| failed(path, error.into()))?;
    Ok(Guarded::new(Box::new(backend)))
}

/// Makes sure that there is a complete data file. It is built beside its place and moved there,
/// because a half-made one could not be told from a damaged one.
pub(crate) fn create_if_missing(path: &Path, options: &Options) -> Result<(), OpenError> {
    if fs::metadata(path).is_ok_and(|meta| meta.len() > 0) {
        return Ok(());
    }
    let folder = folder_of(path);
    fs::create_dir_all(&folder).map_err(|error| refused(path, error))?;
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    let file = open_file(&unfinished).map_err(|error| refused(path, error))?;
    lock(path, &file)?;
    file.set_len(0).map_err(|error| refused(path, error))?;
    let backend = FileBackend::new(file).map_err(|error| failed(path, error.into()))?;
    let storage = Guarded::new(Box::new(backend));
    let engine = engine::open_staged(&storage, options).map_err(|fault| failed(path, fault))?;
    storage.release().map_err(|error| refused(path, error))?;
    drop(engine);
    storage
        .sync_storage()
        .and_then(|()| fs::rename(&unfinished, path))
        // The folder too, or a power loss could take the name away again.
        .and_then(|()| File::open(&folder)?.sync_all())
        .map_err(|error| refused(path, error))
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        // Values may be secrets.
        .mode(0o600)
        .open(path)
}

fn lock(path: &Path, file: &File) -> Result<(), OpenError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(refused(path, error)),
    }
}

fn refused(path: &Path, error: io::Error) -> OpenError {
    match error.kind() {
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::StorageFull
        | io::ErrorKind::QuotaExceeded => OpenError::NotWritable {
            path: path.to_owned(),
            source: error,
        },
        _ => failed(path, error.into()),
    }
}

/// Sorts a failure of the engine into what its reader can do about it.
pub(crate) fn failed(path: &Path, fault: Fault) -> OpenError {
    let path = path.to_owned();
    if fault.is_in_use() {
        OpenError::InUse { path }
    } else if fault.is_damage() {
        OpenError::Damaged {
            path,
            reason: fault.to_string(),
        }
    } else {
        OpenError::Io {
            path,
            source: fault,
        }
    }
}
