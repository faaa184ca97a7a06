//! `cargo xtask layers`: a room may use only rooms above it, and some of them may not use certain things at all.
//! The table is the one that the design draws; the facts come from `cargo metadata`.

use anyhow::bail;
use serde::Deserialize;

use crate::workspace;

/// Options of `cargo xtask layers`.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

/// A row of the table: packages that stand beside each other and don't know each other.
struct Room {
    packages: &'static [&'static str],
    /// Packages, ours or others', that these must not depend on directly, even if they are above.
    must_not_use: &'static [&'static str],
}

const fn room(packages: &'static [&'static str], must_not_use: &'static [&'static str]) -> Room {
    Room {
        packages,
        must_not_use,
    }
}

const TYPES: &str = "quadrille-types";
const TESTKIT: &str = "quadrille-testkit";

/// What a room that does no I/O has no use for.
const INPUT_AND_OUTPUT: &[&str] = &[
    "tokio",
    "hyper",
    "hyper-util",
    "axum",
    "kube-client",
    "redb",
];

/// The house, from the top down.
const ROOMS: &[Room] = &[
    room(&[TYPES], INPUT_AND_OUTPUT),
    room(&["quadrille-objects"], &[TYPES]),
    room(
        &["quadrille-expr"],
        &[TYPES, "quadrille-objects", "kube", "k8s-openapi"],
    ),
    room(
        &["quadrille-machinery"],
        &[TYPES, "tokio", "hyper", "hyper-util", "axum", "redb"],
    ),
    room(&["quadrille-template"], &[TYPES]),
    room(&["quadrille-render"], INPUT_AND_OUTPUT),
    room(
        &["quadrille-store"],
        &[
            TYPES,
            "quadrille-objects",
            "quadrille-machinery",
            "http",
            "hyper",
            "axum",
            "kube",
            "k8s-openapi",
        ],
    ),
    room(&["quadrille-apiserver"], &[TYPES]),
    room(&["quadrille-planes"], &["quadrille-apiserver"]),
    room(&["quadrille-node"], &[TYPES, "quadrille-apiserver"]),
    room(&[TESTKIT], &[]),
    room(
        &["quadrille-engine"],
        &["quadrille-template", "quadrille-render"],
    ),
    room(&["quadrille-link"], &[]),
    room(&["quadrille-hub", "quadrille-agent"], &[]),
    room(&["quadrille-controllers"], &[]),
    room(&["quadrille-cli"], &[]),
    room(&["quad", "quad-controller", "quad-agent"], &[]),
    room(&["quadrille-tests", "quadrille-fuzz"], &[]),
    room(&["xtask"], &[]),
];

/// The only packages that may link testkit; everybody may use it in tests.
const MAY_LINK_TESTKIT: &[&str] = &["quadrille-tests", "xtask"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or nothing for a normal one.
    kind: Option<String>,
}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<()> {
    let mut command =
        workspace::cargo(&["metadata", "--format-version=1", "--no-deps", "--locked"]);
    let metadata: Metadata = serde_json::from_str(&workspace::output(&mut command)?)?;
    let complaints: Vec<String> = metadata.packages.iter().flat_map(complaints).collect();
    if !complaints.is_empty() {
        bail!("layers:\n  {}", complaints.join("\n  "));
    }
    println!(
        "layers: {} packages, each in its room",
        metadata.packages.len()
    );
    Ok(())
}

/// Where a package of ours stands, counted from the top.
fn place(package: &str) -> Option<usize> {
    ROOMS
        .iter()
        .position(|room| room.packages.contains(&package))
}

fn complaints(package: &Package) -> Vec<String> {
    let Some(own) = place(&package.name) else {
        return vec![format!(
            "{} has no room in the table of xtask/src/layers.rs",
            package.name
        )];
    };
    package
        .dependencies
        .iter()
        .filter_map(|dependency| complaint(&package.name, own, dependency))
        .collect()
}

fn complaint(package: &str, own: usize, dependency: &Dependency) -> Option<String> {
    let used = dependency.name.as_str();
    let is_for_tests = dependency.kind.as_deref() == Some("dev");
    if used == TESTKIT {
        let is_allowed = is_for_tests || MAY_LINK_TESTKIT.contains(&package);
        return (!is_allowed).then(|| format!("{package} links testkit outside its tests"));
    }
    if !is_for_tests && ROOMS[own].must_not_use.contains(&used) {
        return Some(format!("{package} must not use {used}"));
    }
    match place(used) {
        Some(place) if place >= own => {
            Some(format!("{package} uses {used}, which is not above it"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|(name, kind)| Dependency {
                name: (*name).into(),
                kind: kind.map(Into::into),
            })
            .collect();
        Package {
            name: name.into(),
            dependencies,
        }
    }

    #[test]
    fn a_room_may_use_rooms_above_it_and_none_below() {
        assert!(complaints(&package("quadrille-cli", &[("quadrille-apiserver", None)])).is_empty());
        assert_eq!(
            complaints(&package("quadrille-apiserver", &[("quadrille-cli", None)])),
            ["quadrille-apiserver uses quadrille-cli, which is not above it"]
        );
    }

    #[test]
    fn rooms_beside_each_other_do_not_know_each_other() {
        let complaints = complaints(&package("quadrille-hub", &[("quadrille-agent", None)]));
        assert_eq!(
            complaints,
            ["quadrille-hub uses quadrille-agent, which is not above it"]
        );
    }

    #[test]
    fn testkit_is_for_tests() {
        assert!(complaints(&package("quadrille-types", &[(TESTKIT, Some("dev"))])).is_empty());
        assert!(complaints(&package("xtask", &[(TESTKIT, None)])).is_empty());
        assert_eq!(
            complaints(&package("quadrille-cli", &[(TESTKIT, None)])),
            ["quadrille-cli links testkit outside its tests"]
        );
    }

    #[test]
    fn what_a_room_must_not_use_is_refused_even_if_it_is_above() {
        let complaints = complaints(&package("quadrille-apiserver", &[(TYPES, None)]));
        assert_eq!(
            complaints,
            ["quadrille-apiserver must not use quadrille-types"]
        );
    }

    #[test]
    fn a_package_without_a_room_is_refused() {
        assert_eq!(complaints(&package("quadrille-new", &[])).len(), 1);
    }
}
