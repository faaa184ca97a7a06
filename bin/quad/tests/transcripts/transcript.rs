//! Transcripts: what is typed and what is answered, in text files that people can read, compared to the letter.
//!
//! A line that begins with `$ quad` is run; the lines below it are what it says, standard output first, then
//! standard error, and its exit code in brackets if that is not 0. What differs from run to run (ages, uids, ports,
//! names of pods, digests in names of releases) is written as a word in angle brackets; what is told while something is waited for is left out.
//!
//! `QUAD_TRANSCRIPTS=write` writes down what is said now, to be read before it is believed.

use std::{
    cell::RefCell,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use regex::{Captures, Regex};

use crate::{
    instance::{DEADLINE, Instance},
    quad::{command, finish},
};

/// Where commands are run, and what they find there.
pub(crate) struct Desk {
    /// The folder that they run in; it is their home, too.
    pub(crate) home: PathBuf,
    /// What is in their environment.
    pub(crate) environment: Vec<(String, String)>,
    /// Words in commands that stand for something of this run: `{web}`.
    pub(crate) words: Vec<(String, String)>,
    /// The ends of releases' names, as they appeared: digests of what is in them.
    releases: RefCell<Vec<String>>,
}

impl Desk {
    /// A desk with the documents on it.
    pub(crate) fn new(home: &Path) -> Self {
        copied(&folder().join("documents"), home);
        copied(&root().join("samples"), &home.join("samples"));
        Self {
            home: home.to_owned(),
            environment: Vec::new(),
            words: Vec::new(),
            releases: RefCell::default(),
        }
    }

    /// A desk that talks to an instance.
    pub(crate) fn of(home: &Path, instance: &Instance) -> Self {
        let mut desk = Self::new(home);
        let kubeconfig = instance.kubeconfig().to_str().unwrap().to_owned();
        desk.environment.push(("KUBECONFIG".to_owned(), kubeconfig));
        desk
    }

    /// A command, as it is typed here.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = command(&self.home);
        command
            .current_dir(&self.home)
            .args(line.split_whitespace().skip(1))
            .envs(self.environment.iter().cloned());
        command
    }

    /// Repeats a command until it says these words.
    pub(crate) fn until(&self, line: &str, words: &str) {
        let started = Instant::now();
        loop {
            let finished = finish(&mut self.command(line));
            if finished.out.contains(words) {
                return;
            }
            assert!(
                started.elapsed() < DEADLINE,
                "{words:?} is not in {finished:?}"
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs a transcript and compares it.
    pub(crate) fn follow(&self, name: &str) {
        self.follow_file(&folder().join("verbs").join(format!("{name}.txt")));
    }

    /// Runs the transcript of a sample.
    pub(crate) fn follow_sample(&self, name: &str) {
        self.follow_file(&root().join("samples").join(name).join("expected.txt"));
    }

    fn follow_file(&self, path: &Path) {
        let expected = fs::read_to_string(path).unwrap();
        let mut said = String::new();
        for line in expected.lines() {
            if let Some(typed) = line.strip_prefix("$ ") {
                said += line;
                said += "\n";
                said += &self.run(typed);
            } else if line.starts_with("# ") {
                // A remark about the command below it.
                said += line;
                said += "\n";
            }
        }
        if std::env::var("QUAD_TRANSCRIPTS").is_ok_and(|wish| wish == "write") {
            fs::write(path, said).unwrap();
            return;
        }
        assert!(said == expected, "{}", difference(path, &expected, &said));
    }

    fn run(&self, typed: &str) -> String {
        let mut line = typed.to_owned();
        for (word, meaning) in &self.words {
            line = line.replace(word, meaning);
        }
        for (index, release) in self.releases.borrow().iter().enumerate() {
            line = line.replace(&format!("<release{}>", index + 1), release);
        }
        let (line, input) = match line.split_once(" < ") {
            Some((line, file)) => (line.to_owned(), Some(self.home.join(file))),
            None => (line, None),
        };
        let mut command = self.command(&line);
        if let Some(input) = input {
            command.stdin(Stdio::from(File::open(input).unwrap()));
        }
        let finished = finish(&mut command);
        let mut said = self.normal(&finished.out);
        said.push_str(&self.normal(&finished.err));
        match finished.code {
            Some(0) => said,
            Some(code) => format!("{said}[{code}]\n"),
            None => format!("{said}[killed]\n"),
        }
    }

    /// Which release it is, in the order in which they appeared.
    fn number_of(&self, end: &str) -> usize {
        let mut known = self.releases.borrow_mut();
        let at = known.iter().position(|one| one == end);
        let at = at.unwrap_or_else(|| {
            known.push(end.to_owned());
            known.len() - 1
        });
        at + 1
    }

    /// The text as every run says it.
    fn normal(&self, text: &str) -> String {
        let mut text = text.replace(self.home.to_str().unwrap(), "~");
        for (word, meaning) in &self.words {
            text = text.replace(meaning, word);
        }
        for (pattern, word) in &*CHANGING {
            let replaced = pattern.replace_all(&text, |found: &Captures<'_>| {
                let before = found.name("before").map_or("", |before| before.as_str());
                format!("{before}{word}")
            });
            text = replaced.into_owned();
        }
        let release = |found: &Captures<'_>| format!("-<release{}>", self.number_of(&found["end"]));
        RELEASE.replace_all(&text, release).into_owned()
    }
}

/// The name of a component's release ends in a digest of what is in it.
static RELEASE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"-(?P<end>[0-9a-f]{10})\b").unwrap());

/// What differs from run to run.
static CHANGING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        // What is told while something is waited for.
        (r"(?m)^  [a-z]+(\.[a-z0-9.]+)?/\S+: .*\n", ""),
        (r"(?m)^  \S+ in \S+: .*\n", ""),
        // Ages below stages, in the first column and between others.
        (r"(?m)^ +((\d+[smhd]){1,2} ago *)+$", " <ages>"),
        (r"(?m)^(\d+[smhd]){1,2} ago +", "<age> ago   "),
        (r"(?P<before>  )(\d+[smhd]){1,2} ago +", "<age> ago   "),
        (r"(?m)(?P<before>  )(\d+[smhd]){1,2} ago$", "<age> ago"),
        (r"(?P<before>SINCE|MADE)  +", "   "),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<uid>"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>"),
        (
            r"(?P<before>(ReplicaSet|Pod) [a-z]+)(-[a-z0-9]+)+",
            "-<hash>",
        ),
        // A column of ages is as wide as the oldest.
        (r"(?m)(?P<before>\s\s)(\d+[smhd]){1,2}$", "<age>"),
        (r"(?P<before>\s\s)(\d+[smhd]){1,2} {2,}", "<age>   "),
        (r"(?m)^\s+(\d+[smhd]){1,2} ago", "  <age> ago"),
        (r"(?P<before>https?://127\.0\.0\.1):\d+", ":<port>"),
        (r"(?P<before>connect to 127\.0\.0\.1):\d+", ":<port>"),
        (r#"(?P<before>resourceVersion"?: )"\d+""#, "<revision>"),
    ];
    patterns
        .into_iter()
        .map(|(pattern, word)| (Regex::new(pattern).unwrap(), word))
        .collect()
});

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copied(&path, &copy);
        } else {
            fs::copy(&path, &copy).unwrap();
        }
    }
}

/// The first lines that differ, with the command that said them.
fn difference(path: &Path, expected: &str, said: &str) -> String {
    let (wanted, got): (Vec<&str>, Vec<&str>) =
        (expected.lines().collect(), said.lines().collect());
    let pairs = wanted.iter().zip(&got);
    let at = pairs.take_while(|(one, other)| one == other).count();
    let before = &got[..at];
    let typed = before.iter().rposition(|line| line.starts_with("$ "));
    let from_there = |lines: &[&str]| {
        let end = lines.len().min(at + 12);
        lines[at.min(end)..end].join("\n    ")
    };
    format!(
        "{} line {}:\n{}\n  is written down:\n    {}\n  was said:\n    {}",
        path.display(),
        at + 1,
        before[typed.unwrap_or_default()..].join("\n"),
        from_there(&wanted),
        from_there(&got),
    )
}
