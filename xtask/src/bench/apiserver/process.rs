//! What a process takes: resident memory and processor time, as the kernel counts them.

use std::{fs, time::Duration};

use anyhow::{Context, Result};

/// Resident memory in MiB.
pub(super) fn resident(pids: &[u32]) -> Result<f64> {
    let mut kibibytes = 0.0;
    for pid in pids {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))
            .with_context(|| format!("read the status of process {pid}"))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("no resident size in the status")?;
        let number: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
        kibibytes += number;
    }
    Ok(kibibytes / 1024.0)
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
