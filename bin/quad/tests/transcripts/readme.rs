//! The README, from top to bottom: what it says that commands print is what they print. Numbers that differ from run to
//! run (durations, ages, ports) are told apart from words; nothing else may differ.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::tempdir;

use crate::{
    kubectl::kubectl,
    quad::{command, finish},
};

/// A command of the README and what it prints there.
struct Step {
    command: String,
    printed: String,
}

/// The steps of all `console` blocks, in order.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_console = false;
    for line in text.lines() {
        match (line.strip_prefix("```"), line.strip_prefix("$ ")) {
            (Some(fence), _) => is_console = fence == "console",
            (None, Some(command)) if is_console => steps.push(Step {
                command: command.to_owned(),
                printed: String::new(),
            }),
            (None, _) if is_console => {
                let step = steps.last_mut().expect("a block begins with a command");
                step.printed += line;
                step.printed += "\n";
            }
            (None, _) => {}
        }
    }
    steps
}

/// What is said while something is waited for depends on the moment.
fn without_waiting(text: &str) -> String {
    let is_told = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        !matches!(words.as_slice(), [_, "in", place] if place.ends_with(':'))
    };
    text.lines().filter(is_told).collect::<Vec<_>>().join("\n")
}

/// Text without what no two runs have in common: how long, how old, which port, how wide the columns are.
fn constant(text: &str) -> String {
    let words = |line: &str| {
        let words: Vec<String> = line.split_whitespace().map(constant_word).collect();
        words.join(" ")
    };
    text.trim_end()
        .lines()
        .map(words)
        .collect::<Vec<_>>()
        .join("\n")
}

fn constant_word(word: &str) -> String {
    let is_number =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    // The name of a component's release ends in a digest of what is in it, which the next version may change.
    let is_digest = |end: &str| {
        end.len() == 10
            && end
                .chars()
                .all(|c| c.is_ascii_digit() || "abcdef".contains(c))
    };
    if let Some((component, end)) = word.rsplit_once('-')
        && is_digest(end)
    {
        return format!("{component}-#");
    }
    let age = word.strip_suffix('s').or_else(|| word.strip_suffix("ms"));
    if is_number(word) || age.is_some_and(is_number) {
        return "#".to_owned();
    }
    match word.strip_prefix("https://127.0.0.1:") {
        Some(port) if is_number(port) => "https://127.0.0.1:#".to_owned(),
        _ => word.to_owned(),
    }
}

/// A running `quad up`, killed with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts `quad up` and gives its first screen.
fn up(home: &Path) -> (Running, String) {
    let child = command(home)
        .args(["up", "--port", "0", "--sample", "greeter"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut running = Running(child.unwrap());
    let mut screen = String::new();
    let mut reader = BufReader::new(running.0.stdout.take().unwrap());
    while !screen.contains("Ctrl-C stops it") {
        assert_ne!(reader.read_line(&mut screen).unwrap(), 0, "ended: {screen}");
    }
    (running, screen)
}

#[test]
fn every_command_prints_what_the_readme_says() {
    let Some(kubectl) = kubectl() else {
        return;
    };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("README.md")).unwrap();
    let steps = steps(&text);
    let (first, rest) = steps.split_first().unwrap();
    assert_eq!(first.command, "cargo run --release -- up --sample greeter");
    let home = tempdir().unwrap();
    let (_running, screen) = up(home.path());
    assert_eq!(constant(&screen), constant(&first.printed));

    let folder_of = |binary: &Path| binary.parent().unwrap().to_path_buf();
    let quad = PathBuf::from(env!("CARGO_BIN_EXE_quad"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder_of(&quad), folder_of(&kubectl)];
    let path =
        std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path))).unwrap();
    // What is exported stays so; the path is the test's own.
    let mut exports = String::new();
    assert!(!rest.is_empty());
    for step in rest {
        if step.command.starts_with("export PATH=") {
            continue;
        }
        if step.command.starts_with("export ") {
            exports += &step.command;
            exports += "; ";
            continue;
        }
        let mut shell = Command::new("sh");
        let finished = finish(
            shell
                .args(["-c", &format!("{exports}{}", step.command)])
                .current_dir(&root)
                .env_clear()
                .env("HOME", home.path())
                .env("PATH", &path)
                .stdin(Stdio::null()),
        );
        // What is waited for is said on standard error, and depends on the moment.
        let said = match finished.code {
            Some(0) => finished.out,
            // A diff that finds something is no failure, whatever its code.
            _ if finished.err.is_empty() => finished.out,
            _ => format!("{}{}", finished.out, without_waiting(&finished.err)),
        };
        assert_eq!(
            constant(&said),
            constant(&step.printed),
            "$ {}",
            step.command
        );
    }
}

#[test]
fn only_numbers_and_widths_may_differ() {
    assert_eq!(constant("NAME   AGE\nweb    12s\n"), "NAME AGE\nweb #");
    assert_eq!(
        constant("API  https://127.0.0.1:6440   0.2 s"),
        "API https://127.0.0.1:# # s"
    );
    assert_ne!(constant("web 2/2"), constant("web 1/2"));
}
