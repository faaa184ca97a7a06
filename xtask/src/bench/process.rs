//! What a process takes: resident memory and processor time, as the kernel counts them.

use std::{fs, time::Duration};

use anyhow::{Context, Result};

/// Resident memory in MiB.
pub(super) fn resident(pids: &[u32]) -> Result<f64> {
    let mut kibibytes = 0.0;
    for pid in pids {
        kibibytes += status(*pid, "VmRSS:")?;
    }
    Ok(kibibytes / 1024.0)
}

/// How much of the resident memory of processes is their program, mapped from its file, and how much are their data, in MiB.
pub(super) fn program_and_data(pids: &[u32]) -> Result<(f64, f64)> {
    let mut sizes = (0.0, 0.0);
    for pid in pids {
        sizes.0 += status(*pid, "RssFile:")? / 1024.0;
        sizes.1 += status(*pid, "RssAnon:")? / 1024.0;
    }
    Ok(sizes)
}

/// A size of a process in KiB.
fn status(pid: u32, field: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))
        .with_context(|| format!("read the status of process {pid}"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .with_context(|| format!("no {field} in the status"))?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
}

/// The most resident memory that a process ever had, in MiB.
pub(super) fn peak(pid: u32) -> Result<f64> {
    Ok(status(pid, "VmHWM:")? / 1024.0)
}

/// Processor time that a process took so far, in seconds.
pub(super) fn processor_seconds(pid: u32) -> Result<f64> {
    // Linux counts in hundredths of a second.
    Ok(ticks(&[pid])? / 100.0)
}

/// Share of one processor that the processes take over a time, in percent.
pub(super) async fn processor_share(pids: &[u32], over: Duration) -> Result<f64> {
    let before = ticks(pids)?;
    tokio::time::sleep(over).await;
    let used = ticks(pids)? - before;
    // Linux counts in hundredths of a second.
    Ok(used / over.as_secs_f64())
}

fn ticks(pids: &[u32]) -> Result<f64> {
    let mut sum = 0.0;
    for pid in pids {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name in parentheses may hold spaces; the numbers follow it.
        let (_, numbers) = stat.rsplit_once(')').context("no name in the stat line")?;
        for field in numbers.split_whitespace().skip(11).take(2) {
            sum += field.parse::<f64>()?;
        }
    }
    Ok(sum)
}
