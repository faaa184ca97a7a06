//! `quad man`: manual pages.

use std::{fs, path::PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::{
    arguments::{self, TEMPLATE},
    failure::Failure,
    output,
    version::VERSION,
};

/// Write manual pages: one to standard output, or all of them into a folder.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad man get | man -l -                      read one page\n  quad man --into ~/.local/share/man/man1      install them all",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// The verb; `quad` itself where none is given.
    verb: Option<String>,
    /// Write all pages into this folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "verb", value_hint = clap::ValueHint::DirPath)]
    into: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut command = arguments::Arguments::command();
    command.build();
    let Some(folder) = &arguments.into else {
        let command = match &arguments.verb {
            None => command,
            Some(verb) => found(&command, verb)?,
        };
        return output::write(&page(command)?);
    };
    let unwritten = |path: &PathBuf, error: &std::io::Error| {
        Failure::new(format!("{} cannot be written", path.display()))
            .because(error)
            .next("Choose a folder that you may write to: quad man --into FOLDER")
    };
    fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
    let all = all(command);
    let count = all.len();
    for command in all {
        let path = folder.join(format!("{}.1", name(&command)));
        fs::write(&path, page(command)?).map_err(|error| unwritten(&path, &error))?;
    }
    output::say(&format!("{count} pages are in {}", folder.display()))
}

fn found(command: &Command, verb: &str) -> Result<Command, Failure> {
    let found = command.find_subcommand(verb).cloned();
    found.ok_or_else(|| {
        let failure = Failure::usage(format!("there is no verb {verb:?}"));
        let verbs = command.get_subcommands().map(Command::get_name);
        match crate::nearest::nearest(verb, verbs) {
            Some(near) => failure.next(format!("Did you mean {near}?")),
            None => failure.next("See them all: quad --help"),
        }
    })
}

/// A command and everything below it.
fn all(command: Command) -> Vec<Command> {
    let below: Vec<Command> = command.get_subcommands().cloned().flat_map(all).collect();
    std::iter::once(command).chain(below).collect()
}

/// `quad user add` has the page `quad-user-add`.
fn name(command: &Command) -> String {
    let full = command.get_bin_name().unwrap_or(command.get_name());
    full.replace(' ', "-")
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let title = name(&command);
    let examples = command.get_before_help().map(ToString::to_string);
    let has_more = command.get_after_help().is_some();
    let has_verbs = command.has_subcommands();
    let man = Man::new(command.name(title).version(VERSION));
    let mut page = Vec::new();
    let mut write = || {
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        if let Some(examples) = &examples {
            page.extend_from_slice(literal("EXAMPLES", examples).as_bytes());
        }
        man.render_options_section(&mut page)?;
        if has_verbs {
            man.render_subcommands_section(&mut page)?;
        }
        if has_more {
            man.render_extra_section(&mut page)?;
        }
        std::io::Result::Ok(())
    };
    write().map_err(|error| Failure::new("the page cannot be written").because(&error))?;
    Ok(page)
}

/// A section of lines that stay as they are; its own heading replaces the text's.
fn literal(heading: &str, text: &str) -> String {
    let lines = text.lines().skip(1).map(|line| {
        let line = line.trim_start().replace('\\', "\\\\").replace('-', "\\-");
        format!("{line}\n")
    });
    format!(".SH {heading}\n.nf\n{}.fi\n", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_with_its_examples() {
        let mut command = arguments::Arguments::command();
        command.build();
        let all = all(command);
        let names: Vec<String> = all.iter().map(name).collect();
        for wanted in ["quad", "quad-get", "quad-user-add"] {
            assert!(names.iter().any(|name| name == wanted), "{names:?}");
        }
        for command in all {
            let text = String::from_utf8(page(command).unwrap()).unwrap();
            assert!(text.contains(".SH EXAMPLES\n.nf\nquad "), "{text}");
        }
    }
}
