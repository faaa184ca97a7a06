//! The settings that are asked for, as they are written: each with its field, so that what is wrong with it can be told.

use std::collections::BTreeSet;

use quadrille_types::{
    application::Application,
    workload::{ResolvedContainer, Source},
};

use super::error::{At, Found};

/// What settings come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// A `ConfigurationGroup`, by its name.
    Group(String),
    /// A `SecretReference`, by its name.
    Secret(String),
}

/// An environment variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) at: At,
    pub(super) key: String,
    pub(super) source: Source,
}

/// A file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) at: At,
    pub(super) path: String,
    pub(super) source: Source,
}

/// All keys of something as environment variables.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) at: At,
    pub(super) origin: Origin,
}

/// All keys of something as files of a folder.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) at: At,
    pub(super) origin: Origin,
    pub(super) path: String,
}

/// All settings that are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) env: Vec<Variable>,
    pub(super) env_from: Vec<Whole>,
    pub(super) files: Vec<File>,
    pub(super) files_from: Vec<Folder>,
}

impl Settings {
    /// Those of an application.
    pub(super) fn of_application(written: &Application, at: &At, found: &mut Found) -> Self {
        let mut settings = Self::default();
        let mut keys = BTreeSet::new();
        for (index, env) in written.env.iter().enumerate() {
            let at = at.entry("env", index);
            if !keys.insert(&env.key) {
                found.push(
                    at.below("key")
                        .wrong(format!("is {:?}, which comes twice", env.key)),
                );
                continue;
            }
            let source = Source::read(env.value.as_ref(), env.value_from.as_ref(), &at.field);
            if let Some(source) = found.keep(source.map_err(|problem| at.problem(problem))) {
                let key = env.key.clone();
                settings.env.push(Variable { at, key, source });
            }
        }
        for (index, whole) in written.env_from.iter().enumerate() {
            let at = at.entry("envFrom", index);
            let group = whole.configuration_group_ref.as_ref().map(|of| &of.name);
            let secret = whole.secret_ref.as_ref().map(|of| &of.name);
            if let Some(origin) = origin(group, secret, &at, found) {
                settings.env_from.push(Whole { at, origin });
            }
        }
        let mut paths = BTreeSet::new();
        for (index, file) in written.file_mounts.iter().enumerate() {
            let at = at.entry("fileMounts", index);
            check_path(&file.mount_path, &at.below("mountPath"), found);
            if !paths.insert(&file.mount_path) {
                found.push(
                    at.below("mountPath")
                        .wrong(format!("is {:?}, which comes twice", file.mount_path)),
                );
                continue;
            }
            let source = Source::read(file.value.as_ref(), file.value_from.as_ref(), &at.field);
            if let Some(source) = found.keep(source.map_err(|problem| at.problem(problem))) {
                let path = file.mount_path.clone();
                settings.files.push(File { at, path, source });
            }
        }
        for (index, folder) in written.file_mounts_from.iter().enumerate() {
            let at = at.entry("fileMountsFrom", index);
            let (group, secret) = (&folder.configuration_group_ref, &folder.secret_ref);
            let of = origin(
                group.as_ref().map(|of| &of.name),
                secret.as_ref().map(|of| &of.name),
                &at,
                found,
            );
            if let (Some(origin), Some(given)) = (of, group.as_ref().or(secret.as_ref())) {
                check_path(&given.mount_path, &at, found);
                let path = given.mount_path.clone();
                settings.files_from.push(Folder { at, origin, path });
            }
        }
        settings
    }

    /// Those of a workload's container.
    pub(super) fn of_container(container: &ResolvedContainer, at: &At) -> Self {
        let env = container.env.iter().map(|env| Variable {
            at: at.below(&format!("env.{}", env.key)),
            key: env.key.clone(),
            source: env.source.clone(),
        });
        let files = container.files.iter().map(|file| File {
            at: at.below(&format!("files.{}", file.key)),
            path: format!("{}/{}", file.mount_path.trim_end_matches('/'), file.key),
            source: file.source.clone(),
        });
        Self {
            env: env.collect(),
            files: files.collect(),
            ..Self::default()
        }
    }

    /// These, with those of an environment over them: one of the same key, path or origin takes the place of ours, others
    /// come after.
    #[must_use]
    pub(super) fn overridden(mut self, by: Self) -> Self {
        replace(&mut self.env, by.env, |one, other| one.key == other.key);
        replace(&mut self.files, by.files, |one, other| {
            one.path == other.path
        });
        replace(&mut self.env_from, by.env_from, |one, other| {
            one.origin == other.origin
        });
        replace(&mut self.files_from, by.files_from, |one, other| {
            one.origin == other.origin
        });
        self
    }

    /// Everything that settings come from, with a setting that says so.
    pub(super) fn origins(&self) -> Vec<(Origin, &At)> {
        let of_source = |source: &Source| match source {
            Source::Given(_) => None,
            Source::ConfigurationGroup(key) => Some(Origin::Group(key.name.clone())),
            Source::Secret(key) => Some(Origin::Secret(key.name.clone())),
        };
        let env = self
            .env
            .iter()
            .filter_map(|env| Some((of_source(&env.source)?, &env.at)));
        let files = self
            .files
            .iter()
            .filter_map(|file| Some((of_source(&file.source)?, &file.at)));
        let wholes = self
            .env_from
            .iter()
            .map(|one| (one.origin.clone(), &one.at));
        let folders = self
            .files_from
            .iter()
            .map(|one| (one.origin.clone(), &one.at));
        env.chain(files).chain(wholes).chain(folders).collect()
    }

    /// The configuration groups and the secret references that settings come from, each once.
    pub(super) fn names(&self) -> (Vec<String>, Vec<String>) {
        let origins: BTreeSet<Origin> = self.origins().into_iter().map(|(one, _)| one).collect();
        let mut names = (Vec::new(), Vec::new());
        for origin in origins {
            match origin {
                Origin::Group(name) => names.0.push(name),
                Origin::Secret(name) => names.1.push(name),
            }
        }
        names
    }
}

fn replace<T>(ours: &mut Vec<T>, theirs: Vec<T>, same: impl Fn(&T, &T) -> bool) {
    for one in theirs {
        match ours.iter_mut().find(|known| same(known, &one)) {
            Some(known) => *known = one,
            None => ours.push(one),
        }
    }
}

fn origin(
    group: Option<&String>,
    secret: Option<&String>,
    at: &At,
    found: &mut Found,
) -> Option<Origin> {
    match (group, secret) {
        (Some(name), None) => Some(Origin::Group(name.clone())),
        (None, Some(name)) => Some(Origin::Secret(name.clone())),
        (None, None) => {
            found.push(at.wrong("is empty: give configurationGroupRef or secretRef"));
            None
        }
        (Some(_), Some(_)) => {
            found.push(
                at.wrong("has both configurationGroupRef and secretRef: only one can be meant"),
            );
            None
        }
    }
}

fn check_path(path: &str, at: &At, found: &mut Found) {
    if !path.starts_with('/') {
        found.push(at.wrong(format!("is {path:?}, must be a path that starts with /")));
    }
}
