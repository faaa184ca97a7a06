//! Prints the score of the conformance vectors in a folder: `conformance <folder> [-v]`.

use std::path::Path;

use quadrille_expr::conformance;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("usage: conformance <folder> [-v]")?;
    let verbose = args.next().is_some();
    let mut files: Vec<_> = std::fs::read_dir(Path::new(&folder))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for file in files {
        let report = conformance::run(&serde_json::from_str(&std::fs::read_to_string(&file)?)?);
        let name = file
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        println!(
            "{name}: {}/{} ({} left out)",
            report.passed,
            report.total() - report.skipped.len(),
            report.skipped.len()
        );
        if verbose {
            for (test, reason) in &report.failed {
                println!("    {test}: {reason}");
            }
        }
        passed += report.passed;
        failed += report.failed.len();
        skipped += report.skipped.len();
    }
    println!("all: {passed}/{} ({skipped} left out)", passed + failed);
    Ok(())
}
