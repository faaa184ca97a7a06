//! Numbers about this process, from `/proc` (none where there is no such thing).

use std::fs;

/// `/proc` counts processor time in these; fixed in the interface of Linux for decades.
const TICKS_PER_SECOND: f64 = 100.0;

/// Name, help and value of what can be read.
pub(super) fn numbers() -> Vec<(&'static str, &'static str, f64)> {
    [
        (
            "process_resident_memory_bytes",
            "Resident memory.",
            resident_bytes(),
        ),
        (
            "process_cpu_seconds_total",
            "Processor time, user and system.",
            cpu_seconds(),
        ),
        ("process_open_fds", "Open file descriptors.", open_files()),
    ]
    .into_iter()
    .filter_map(|(name, help, value)| Some((name, help, value?)))
    .collect()
}

fn resident_bytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024.0)
}

fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the command in parentheses and may hold spaces.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = |index: usize| fields.split_whitespace().nth(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

fn open_files() -> Option<f64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    u32::try_from(count).ok().map(f64::from)
}
