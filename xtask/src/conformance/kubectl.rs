//! The suite `kubectl`: what people type, on a real kube-apiserver and on the embedded one. Both transcripts
//! (standard output, standard error and exit code of every step) must be the same after renumbering.
//!
//! ```text
//! tests/conformance/kubectl/<name>.yaml ─ script ─► run ×2 ─► renumber ×2 ─► compare ─► scoreboard
//! ```

mod renumber;
mod run;
mod script;

use std::{fmt::Write as _, fs};

use anyhow::{Context, Result};
use quadrille_testkit::assets as parts;
use tempfile::TempDir;

use self::{
    run::{Record, Side},
    script::{Script, load},
};
use super::{
    diff::{Arguments, servers::Servers},
    expectations::Expectations,
    scoreboard::{Outcome, finish},
};
use crate::{assets, workspace};

/// Runs the suite. It has the options of `diff`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = workspace::root().join("tests/conformance");
    let scripts = load(&folder.join("kubectl"), arguments.only.as_deref())?;
    assets::ensure()?;
    let runtime = tokio::runtime::Runtime::new().context("start a runtime")?;
    let servers = runtime.block_on(Servers::start(
        arguments.real.as_deref(),
        arguments.with.as_deref(),
    ))?;
    let home = tempfile::Builder::new()
        .prefix("quadrille-kubectl-")
        .tempdir()?;
    let real = side("real", &servers.real_kubeconfig, &servers.run, &home)?;
    let ours = side("ours", &servers.our_kubeconfig, &servers.run, &home)?;
    let mut outcomes = Vec::new();
    for script in &scripts {
        let outcome = outcome(script, &real, &ours, arguments.show);
        eprint!("{}", if outcome.passed { '.' } else { 'F' });
        outcomes.push(outcome);
    }
    eprintln!();
    runtime.block_on(servers.stop());
    let mut expectations = Expectations::read(&folder.join("kubectl.yaml"))?;
    if arguments.only.is_some() {
        expectations.limit_to(|name| scripts.iter().any(|script| script.name == name));
    }
    finish("kubectl", &outcomes, &expectations)
}

/// A home for kubectl, with its caches and the kubeconfig of one server.
fn side(name: &str, kubeconfig: &str, run: &str, home: &TempDir) -> Result<Side> {
    let home = home.path().join(name);
    fs::create_dir(&home)?;
    fs::write(home.join("kubeconfig"), kubeconfig)?;
    Ok(Side {
        kubectl: parts::binary("kubectl")?,
        home,
        run: run.to_owned(),
    })
}

fn outcome(script: &Script, real: &Side, ours: &Side, show: bool) -> Outcome {
    let (real, ours) = std::thread::scope(|scope| {
        let real = scope.spawn(|| transcript(script, real));
        let ours = transcript(script, ours);
        let real = real.join();
        (
            real.unwrap_or_else(|_| Err(anyhow::anyhow!("the thread panicked"))),
            ours,
        )
    });
    let detail = match (real, ours) {
        (Ok(real), Ok(ours)) => {
            if show {
                println!("== {}: {}", script.name, script.content.description);
                print_transcript("real", &real);
                print_transcript("ours", &ours);
            }
            detail(&real, &ours)
        }
        (Err(error), _) => format!("on the real server: {error:#}"),
        (_, Err(error)) => format!("on ours: {error:#}"),
    };
    if detail.is_empty() {
        Outcome::passed(&script.name)
    } else {
        let description = &script.content.description;
        Outcome::failed(&script.name, format!("{description}\n{detail}"))
    }
}

fn transcript(script: &Script, side: &Side) -> Result<Vec<Record>> {
    let mut records = run::run(script, side)?;
    renumber::renumber(&mut records, &script.text);
    Ok(records)
}

fn detail(real: &[Record], ours: &[Record]) -> String {
    let mut text = String::new();
    for (real, ours) in real.iter().zip(ours) {
        if real != ours {
            let _ = writeln!(text, "{}", real.title);
            if real.code != ours.code {
                let _ = writeln!(text, "  exit code: real {}, ours {}", real.code, ours.code);
            }
            for (name, real, ours) in [
                ("stdout", &real.stdout, &ours.stdout),
                ("stderr", &real.stderr, &ours.stderr),
            ] {
                tell_lines(&mut text, name, real, ours);
            }
        }
    }
    text
}

/// Tells the lines between the common beginning and the common end of two texts.
fn tell_lines(text: &mut String, name: &str, real: &str, ours: &str) {
    let (real, ours): (Vec<&str>, Vec<&str>) = (real.lines().collect(), ours.lines().collect());
    let shortest = real.len().min(ours.len());
    let equal = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let start = equal(&mut real.iter().zip(&ours));
    let end = equal(&mut real.iter().rev().zip(ours.iter().rev())).min(shortest - start);
    for (side, lines) in [("real", &real), ("ours", &ours)] {
        for line in &lines[start..lines.len() - end] {
            let _ = writeln!(text, "  {name} {side}: {line}");
        }
    }
}

fn print_transcript(name: &str, records: &[Record]) {
    for record in records {
        println!(
            "-- {name} {}: {}\n{}{}",
            record.title, record.code, record.stdout, record.stderr
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let mut text = String::new();
        tell_lines(&mut text, "stdout", "a\nb\nc\n", "a\nx\ny\nc\n");
        assert_eq!(
            text,
            "  stdout real: b\n  stdout ours: x\n  stdout ours: y\n"
        );
        text.clear();
        tell_lines(&mut text, "stderr", "a\na\n", "a\n");
        assert_eq!(text, "  stderr real: a\n");
    }
}
