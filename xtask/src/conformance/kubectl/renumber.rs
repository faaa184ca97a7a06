//! Makes two transcripts comparable: what a server, a clock or kubectl itself chooses freely is replaced by
//! numbers that say only what must be equal and in which order. A value that stands in the script stays.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use regex::{Captures, Regex};

use super::run::Record;

static UID: LazyLock<Regex> =
    LazyLock::new(|| pattern("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b10\.\d{1,3}\.\d{1,3}\.\d{1,3}\b"));
static REVISION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"((?:resourceVersion|Resource Version)\\?"?: *\\?"?)(\d+)"#));
/// A revision that a script asks for itself.
static ASKED_FOR: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?i)resource-?version['"\\]*[:=] *['"\\]*(\d+)"#));
static NODE_PORT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b3[0-2]\d{3}\b"));

/// The head of a table, whose columns are as wide as what is in them, and what stands between two columns.
static TABLE: LazyLock<Regex> = LazyLock::new(|| pattern("(?m)^NAME "));
static GAP: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)(\S) +"));

/// What is replaced by a word: nothing about it is compared but its form.
static WORDS: LazyLock<[(Regex, &str); 11]> = LazyLock::new(|| {
    [
        (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
        // The times of the two files in the head of a difference, and the folders that they are in.
        (
            r"\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}",
            "<time>",
        ),
        (r"\b(LIVE|MERGED)-\d+", "$1-<any>"),
        (
            r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d \+0000",
            "<time>",
        ),
        (r"(?m)^([EIW])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "$1 "),
        // At its deadline kubectl may begin to watch anew before it notices that it is over.
        (
            r#"(?m)^E reflector\.go:\d+\] "Failed to watch" err="context deadline exceeded".*\n"#,
            "",
        ),
        (r"(resource version to be \d+, was) \d+", "$1 <rv>"),
        (
            r"(?s)-----BEGIN [A-Z ]+-----.*?-----END [A-Z ]+-----",
            "<pem>",
        ),
        ("X509SHA256=[0-9a-f]{64}", "<credential>"),
        (r"127\.0\.0\.1:\d+", "<server>"),
        (r"(?m) (\d+[smhd])+( |$)", " <age>$2"),
    ]
    .map(|(text, word)| (pattern(text), word))
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant of this file")
}

/// Replaces freely chosen values in all records of one run of a script.
pub(super) fn renumber(records: &mut [Record], script: &str) {
    let mut revisions = BTreeSet::new();
    for text in records.iter_mut().flat_map(texts) {
        for found in REVISION.captures_iter(text) {
            revisions.extend(found[2].parse::<u64>());
        }
    }
    let ranks: BTreeMap<String, usize> = revisions
        .iter()
        .zip(1..)
        .map(|(revision, rank)| (revision.to_string(), rank))
        .collect();
    let asked_for: BTreeSet<&str> = ASKED_FOR
        .captures_iter(script)
        .filter_map(|found| Some(found.get(1)?.as_str()))
        .collect();
    let mut numbers = Numbers {
        script,
        known: BTreeMap::new(),
    };
    for text in records.iter_mut().flat_map(texts) {
        // Words first: a process id in a head of kubectl's own log may look like a port.
        if TABLE.is_match(text) {
            *text = GAP.replace_all(text, "$1 ").into_owned();
        }
        for (pattern, word) in WORDS.iter() {
            *text = pattern.replace_all(text, *word).into_owned();
        }
        *text = REVISION
            .replace_all(text, |found: &Captures<'_>| match ranks.get(&found[2]) {
                Some(rank) if !asked_for.contains(&found[2]) => {
                    format!("{}<rv-{rank}>", &found[1])
                }
                _ => found[0].to_owned(),
            })
            .into_owned();
        for (pattern, word) in [(&UID, "uid"), (&ADDRESS, "ip"), (&NODE_PORT, "port")] {
            *text = pattern
                .replace_all(text, |found: &Captures<'_>| {
                    numbers.numbered(&found[0], word)
                })
                .into_owned();
        }
    }
}

fn texts(record: &mut Record) -> [&mut String; 2] {
    [&mut record.stdout, &mut record.stderr]
}

/// Numbers by first occurrence.
struct Numbers<'a> {
    script: &'a str,
    known: BTreeMap<(&'static str, String), usize>,
}

impl Numbers<'_> {
    fn numbered(&mut self, value: &str, word: &'static str) -> String {
        if self.script.contains(value) {
            return value.to_owned();
        }
        let next = self.known.keys().filter(|(of, _)| *of == word).count() + 1;
        let number = self.known.entry((word, value.to_owned())).or_insert(next);
        format!("<{word}-{number}>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renumbered(stdout: &str, script: &str) -> String {
        let mut records = [Record {
            title: String::new(),
            code: 0,
            stdout: stdout.to_owned(),
            stderr: String::new(),
        }];
        renumber(&mut records, script);
        let [record] = records;
        record.stdout
    }

    #[test]
    fn revisions_are_ranked_and_those_of_the_script_stay() {
        let text = "resourceVersion: \"31\"\n\"resourceVersion\": \"7\"\nresourceVersion: \"1\"\n";
        assert_eq!(
            renumbered(text, "resourceVersion: \"1\""),
            "resourceVersion: \"<rv-3>\"\n\"resourceVersion\": \"<rv-2>\"\nresourceVersion: \"1\"\n"
        );
        assert_eq!(
            renumbered("resourceVersion: \"80\"", "create service --tcp=80:8080"),
            "resourceVersion: \"<rv-1>\""
        );
        assert_eq!(
            renumbered("resourceVersion: \"1\"", "label --resource-version=1"),
            "resourceVersion: \"1\""
        );
    }

    #[test]
    fn an_age_does_not_move_other_columns() {
        assert_eq!(
            renumbered("NAME   AGE     MORE\na      2m10s   x\nb      5s\n", ""),
            "NAME AGE MORE\na <age> x\nb <age>\n"
        );
    }

    #[test]
    fn a_process_id_that_looks_like_a_port_goes_with_its_head() {
        let line = "W1115 17:52:24.966126   31017 diff.go:723] it keeps changing\n";
        assert_eq!(renumbered(line, ""), "W diff.go:723] it keeps changing\n");
    }

    #[test]
    fn a_watch_that_the_deadline_cut_off_is_not_told_and_any_other_is() {
        let told = |why: &str| {
            format!(
                "E1115 17:52:24.966126 31 reflector.go:227] \"Failed to watch\" err=\"{why}\"\n"
            )
        };
        let end = "error: timed out\n";
        let cut_off = told("context deadline exceeded") + end;
        assert_eq!(renumbered(&cut_off, ""), end);
        let refused = renumbered(&(told("forbidden") + end), "");
        assert_eq!(
            refused,
            "E reflector.go:227] \"Failed to watch\" err=\"forbidden\"\nerror: timed out\n"
        );
    }

    #[test]
    fn the_head_of_a_difference_names_no_folder_and_no_time() {
        let head = "--- <home>/LIVE-17/v1.ConfigMap.n.a\t2026-11-15 13:00:00.123456789 +0000\n";
        assert_eq!(
            renumbered(head, ""),
            "--- <home>/LIVE-<any>/v1.ConfigMap.n.a\t<time>\n"
        );
    }
}
