//! Documents that people hand over: files, folders, addresses, standard input; YAML or JSON, one or many in each.

mod fetch;
mod parts;

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use quadrille_types::older;
use serde_json::Value;

use crate::{failure::Failure, kinds, object, runtime::block_on};

/// The most that is read of one file.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Which documents.
#[derive(Debug, clap::Args)]
pub(crate) struct Files {
    /// A file, a folder, an https:// address, or - for standard input; can be given more than once.
    #[arg(short, long = "filename", value_name = "FILE", value_hint = clap::ValueHint::AnyPath)]
    filename: Vec<PathBuf>,
    /// Also what is in folders within folders.
    #[arg(short = 'R', long)]
    recursive: bool,
}

/// A document, and where it was found.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The file, and which document of it.
    pub(crate) place: String,
    /// What it says.
    pub(crate) object: Value,
    /// Where its text is.
    pub(crate) source: Source,
}

/// The text of a document: the file, the line where it begins, and what is written there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    file: Arc<str>,
    line: usize,
    text: Arc<str>,
}

impl Document {
    /// The file, the line where the document begins there, and its text.
    pub(crate) fn source(&self) -> (&str, usize, &str) {
        (
            &self.source.file,
            self.source.line.max(1),
            &self.source.text,
        )
    }

    /// Its kind.
    pub(crate) fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or_default()
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// As it is called: `environment.openchoreo.dev/staging`.
    pub(crate) fn called(&self) -> String {
        let api_version = self.object["apiVersion"].as_str().unwrap_or_default();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        kinds::called(group, self.kind(), self.name())
    }

    /// Whether it is a release of ours.
    pub(crate) fn is_release(&self) -> bool {
        let api_version = self.object["apiVersion"].as_str().unwrap_or_default();
        self.kind() == "Release" && api_version.starts_with(quadrille_types::GROUP)
    }

    /// Its namespace, if it says one.
    pub(crate) fn namespace(&self) -> Option<&str> {
        let namespace = self.object["metadata"]["namespace"].as_str();
        namespace.filter(|namespace| !namespace.is_empty())
    }
}

impl Files {
    /// One file or folder.
    pub(crate) fn of(path: PathBuf) -> Self {
        Self {
            filename: vec![path],
            recursive: false,
        }
    }

    /// Whether there are any.
    pub(crate) fn are_given(&self) -> bool {
        !self.filename.is_empty()
    }

    /// Reads all of them. Those of the first generation become ours.
    pub(crate) fn read(&self) -> Result<Vec<Document>, Failure> {
        if !self.are_given() {
            return Err(Failure::usage("which documents?")
                .next("Give a file or a folder: -f FILE")
                .next("or standard input: -f -"));
        }
        let mut documents = Vec::new();
        for path in &self.filename {
            let place = path.display().to_string();
            if path.as_os_str() == "-" {
                let place = "standard input";
                documents.extend(parse(place, &read_all(io::stdin(), place)?)?);
            } else if fetch::is_address(&place) {
                let text = block_on(fetch::text(&place, LARGEST))?;
                documents.extend(parse(&place, &text)?);
            } else {
                for file in files(path, self.recursive)? {
                    let shown = file.display().to_string();
                    let opened = fs::File::open(&file).map_err(|error| {
                        Failure::new(format!("{shown} cannot be read")).because(&error)
                    })?;
                    documents.extend(parse(&shown, &read_all(opened, &shown)?)?);
                }
            }
        }
        if documents.is_empty() {
            return Err(Failure::new("there is nothing in these files")
                .next("A document has apiVersion, kind and metadata.name."));
        }
        Ok(documents)
    }
}

fn read_all(from: impl io::Read, place: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let read = from.take(LARGEST + 1).read_to_string(&mut text);
    let read =
        read.map_err(|error| Failure::new(format!("{place} cannot be read")).because(&error))?;
    if read as u64 > LARGEST {
        return Err(too_large(place));
    }
    Ok(text)
}

fn too_large(place: &str) -> Failure {
    Failure::new(format!("{place} is larger than {} MiB", LARGEST >> 20)).next("Split it.")
}

/// The files of a folder that look like documents, in order; a file that was named is taken as it is.
fn files(path: &Path, recursive: bool) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: io::Error| {
        Failure::new(format!("{} cannot be read", path.display())).because(&error)
    };
    if !fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let inner = entry.map_err(unreadable)?.path();
        if inner.is_dir() {
            if recursive {
                found.extend(files(&inner, true)?);
            }
        } else if inner
            .extension()
            .is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending == *known))
        {
            found.push(inner);
        }
    }
    found.sort();
    Ok(found)
}

/// The documents of a text.
pub(crate) fn parse(place: &str, text: &str) -> Result<Vec<Document>, Failure> {
    let values = parts::read(text).map_err(|unreadable| {
        let place = match unreadable.line {
            1 => place.to_owned(),
            line => format!("{place} (from line {line} on)"),
        };
        let failure =
            Failure::new(format!("{place} is neither YAML nor JSON")).saying(&unreadable.words);
        if text.trim_start().starts_with('<') {
            failure.next("It looks like a web page: give the address of the raw file.")
        } else {
            failure
        }
    })?;
    let mut documents = Vec::new();
    let file: Arc<str> = place.into();
    for (index, part) in values.into_iter().enumerate() {
        let source = Source {
            file: file.clone(),
            line: part.line,
            text: part.text.into(),
        };
        let value = part.value;
        let place = match index {
            0 => place.to_owned(),
            more => format!("{place} (document {})", more + 1),
        };
        let items = match value {
            Value::Object(mut list) if is_list(&list) => match list.remove("items") {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            },
            one => vec![one],
        };
        for object in items {
            documents.push(checked(&place, object, source.clone())?);
        }
    }
    Ok(documents)
}

fn is_list(object: &serde_json::Map<String, Value>) -> bool {
    let kind = object
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default();
    kind.ends_with("List") && object.contains_key("items")
}

fn checked(place: &str, object: Value, source: Source) -> Result<Document, Failure> {
    for (field, pointer) in [
        ("apiVersion", "/apiVersion"),
        ("kind", "/kind"),
        ("metadata.name", "/metadata/name"),
    ] {
        let said = object.pointer(pointer).and_then(Value::as_str);
        if said.is_none_or(str::is_empty) {
            return Err(Failure::new(format!("{place}: {field} is missing"))
                .next("A document has apiVersion, kind and metadata.name."));
        }
    }
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    if name.is_some_and(|name| !object::is_name(name)) {
        return Err(Failure::new(format!("{place}: metadata.name is no name")));
    }
    let object =
        older::convert(object).map_err(|error| Failure::new(format!("{place}: {error}")))?;
    Ok(Document {
        place: place.to_owned(),
        object,
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_documents_lists_and_older_ones_are_read() {
        let text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n---\n\
                    apiVersion: v1\nkind: List\nitems:\n- {apiVersion: core.choreo.dev/v1, kind: Project, metadata: {name: b}}\n";
        let documents = parse("x.yaml", text).unwrap();
        let said: Vec<_> = documents
            .iter()
            .map(|one| {
                (
                    one.object["apiVersion"].as_str().unwrap(),
                    one.kind(),
                    one.name(),
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                ("v1", "Namespace", "a"),
                ("openchoreo.dev/v1alpha1", "Project", "b")
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, words) in [
            (
                "kind: Namespace\nmetadata: {name: a}",
                "apiVersion is missing",
            ),
            (
                "apiVersion: v1\nkind: Pod\nmetadata: {}",
                "metadata.name is missing",
            ),
            ("a: [", "neither YAML nor JSON"),
            (
                "apiVersion: core.choreo.dev/v1\nkind: Gadget\nmetadata: {name: a}",
                "kind Gadget",
            ),
        ] {
            let said = parse("x.yaml", text).unwrap_err().to_string();
            assert!(said.starts_with("x.yaml") && said.contains(words), "{said}");
        }
    }
}
