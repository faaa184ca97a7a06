//! What the server's own log says that the controllers asked for.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead as _, BufReader, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use serde_json::Value;

/// Reads a log from where it was left.
pub(super) struct Log {
    path: PathBuf,
    offset: u64,
}

impl Log {
    /// From its end on.
    pub(super) fn from_here(path: &Path) -> Result<Self> {
        let offset = std::fs::metadata(path)
            .with_context(|| format!("read {}", path.display()))?
            .len();
        Ok(Self {
            path: path.to_owned(),
            offset,
        })
    }

    /// Requests of the controllers since the last look, by verb and resource.
    pub(super) fn since(&mut self) -> Result<BTreeMap<String, usize>> {
        let mut file = BufReader::new(File::open(&self.path)?);
        file.seek(SeekFrom::Start(self.offset))?;
        let mut counts = BTreeMap::new();
        let mut line = String::new();
        loop {
            line.clear();
            let read = file.read_line(&mut line)?;
            // A line that is being written is left for the next look.
            if read == 0 || !line.ends_with('\n') {
                return Ok(counts);
            }
            self.offset += u64::try_from(read)?;
            let entry: Value = serde_json::from_str(&line)?;
            if let Some(what) = of_controllers(&entry) {
                *counts.entry(what).or_default() += 1;
            }
        }
    }
}

/// What an entry of either log says, if it is a finished request of the controllers.
fn of_controllers(entry: &Value) -> Option<String> {
    let agent = entry["userAgent"].as_str().unwrap_or_default();
    let is_ours = agent.starts_with("quadrille/");
    let stage = entry["stage"].as_str().unwrap_or("ResponseComplete");
    if !is_ours || stage != "ResponseComplete" {
        return None;
    }
    let verb = entry["verb"].as_str()?;
    let object = &entry["objectRef"];
    let resource = object["resource"]
        .as_str()
        .or_else(|| entry["resource"].as_str())
        .unwrap_or("-");
    let subresource = object["subresource"]
        .as_str()
        .or_else(|| entry["subresource"].as_str());
    Some(match subresource {
        Some(subresource) => format!("{verb} {resource}/{subresource}"),
        None => format!("{verb} {resource}"),
    })
}

/// How many of them are work: watches, their lists and the lease are what it takes to be there at all.
pub(super) fn work(counts: &BTreeMap<String, usize>) -> usize {
    counts
        .iter()
        .filter(|(what, _)| {
            !what.starts_with("watch ") && !what.starts_with("list ") && !what.ends_with(" leases")
        })
        .map(|(_, count)| count)
        .sum()
}

/// Waits until what was done before has come to rest.
pub(super) async fn settle(log: &mut Log) -> Result<()> {
    loop {
        tokio::time::sleep(Duration::from_secs(3)).await;
        if work(&log.since()?) == 0 {
            return Ok(());
        }
    }
}

/// How many of them are applies of objects.
pub(super) fn applies(counts: &BTreeMap<String, usize>) -> usize {
    let kinds = ["configmaps", "serviceaccounts", "services", "deployments"];
    let of = |kind: &&str| counts.get(&format!("patch {kind}")).copied();
    kinds.iter().filter_map(of).sum()
}
